"""Figures of the estimates of one metric: its record names the one that draws them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol
from xml.etree import ElementTree

from audit_lib.errors import PluginError
from audit_lib.figures.dots import Dot, dot_chart
from audit_lib.registry import Registry


class MetricFigure(Protocol):
    """Draws estimates as one accessible ``<svg>`` element (`audit_lib.figures`)."""

    def __call__(
        self,
        title: str,
        description: str,
        dots: Sequence[Dot],
        *,
        span: tuple[float, float],
        origin: float | None,
        width: int,
    ) -> str:
        """Draw the rows `dots` from the top, over the scale `span`, with a line at `origin`; 760 or 360 pixels wide."""
        ...


FIGURES: Final[Registry[MetricFigure]] = Registry("figures", "audit_lib.figures", callable)


def draw(name: str, title: str, description: str, dots: Sequence[Dot], **scale: Any) -> str:
    """Draw with the figure `name`; what a package's figure gives is checked, as it becomes part of the page.

    Raises
    ------
    SpecError
        If there is none of that name.
    PluginError
        If a package's figure raises, or gives anything but one ``<svg>`` element without script or links.

    Examples
    --------
    >>> row = Dot(label="women against men", value=0.2, low=0.1, high=0.3, printed="+0.200")
    >>> draw("dots", "Score gap", "", [row], span=(-0.4, 0.4), origin=0.0, width=760)[:4]
    '<svg'
    """
    figure = FIGURES.get(name)
    with FIGURES.naming(name):
        svg = figure(title, description, dots, **scale)
        package = FIGURES.plugins.package_of(name)
        if package is not None and (fault := _fault(svg)) is not None:
            raise PluginError(
                f"figure {name!r} of the package {package}: {fault}; it gives one <svg> element"
            )
    return svg


def try_figure(name: str) -> None:
    """Draw made-up estimates, with and without a parity, so that what a figure cannot do shows before a run.

    Raises
    ------
    SpecError, PluginError
        As `draw`.

    Examples
    --------
    >>> try_figure("dots")
    """
    rows = [
        Dot(label="a against b", value=0.2, low=0.1, high=0.3, printed="+0.200"),
        Dot(label="c < d & e", value=-0.1, low=None, high=None, printed="-0.100"),
    ]
    for origin in (0.0, None):
        for width in (760, 360):
            draw(name, "A try", "Made up", rows, span=(-0.4, 0.4), origin=origin, width=width)


def _fault(svg: object) -> str | None:
    """Return what keeps the text of a figure out of a page; None if nothing does."""
    if not isinstance(svg, str):
        return f"gave {type(svg).__name__} and no text"
    try:
        root = ElementTree.fromstring(svg)
    except ElementTree.ParseError as error:
        return f"gave no XML ({error})"
    if root.tag.rpartition("}")[2] != "svg":
        return f"gave <{root.tag.rpartition('}')[2]}>"
    for element in root.iter():
        tag = str(element.tag).rpartition("}")[2].lower()
        if tag in ("script", "foreignobject", "image", "iframe", "style", "use", "a"):
            return f"gave <{tag}> in its <svg>, which no page of ours holds"
        for key, value in element.attrib.items():
            if key.rpartition("}")[2].lower().startswith(("on", "href")) or "url(" in value.lower():
                return f"gave the attribute {key} in its <svg>, which no page of ours holds"
    return None


@FIGURES("dots")
def dots_with_intervals(
    title: str,
    description: str,
    dots: Sequence[Dot],
    *,
    span: tuple[float, float],
    origin: float | None,
    width: int,
) -> str:
    """Draw a dot with its interval for each estimate.

    Examples
    --------
    >>> rows = [Dot(label="women against men", value=0.2, low=0.1, high=0.3, printed="+0.200")]
    >>> svg = dots_with_intervals("Score gap", "", rows, span=(-0.4, 0.4), origin=0.0, width=760)
    >>> svg.startswith("<svg"), svg.count('class="dot"')
    (True, 1)
    """
    names = 270 if width >= 560 else 0
    return dot_chart(title, description, dots, span=span, origin=origin, width=width, names=names)
