"""Forest plot: estimates with their intervals under headings, such as an effect in each prompt and task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.figures.dots import Dot, dot_chart
from audit_lib.figures.drawing import NARROWEST
from audit_lib.translation import t


def forest(
    groups: Mapping[str, Sequence[Dot]],
    *,
    title: str | None = None,
    parity: float = 0.0,
    span: tuple[float, float] | None = None,
    guide: tuple[float, str] | None = None,
    width: int = 760,
) -> str:
    """Draw groups of estimates over one scale.

    Parameters
    ----------
    groups : mapping of str to sequence of Dot
        Heading -> its rows; an empty heading draws none. A dot's ``inner`` interval is drawn thicker.
    title : str, optional
        Heading.
    parity : float
        Where nothing differs: 0 for differences, 1 for ratios; a solid line.
    span : tuple of float, optional
        Ends of the scale; by default they hold every finite limit and lie evenly about parity.
    guide : tuple of float and str, optional
        A dashed line and its name.
    width : int
        Pixels of the whole, such as 760, or 360 for a phone.

    Returns
    -------
    str
        An ``<svg>`` element.

    Raises
    ------
    InputError
        If there is no row, or the figure would be narrower than a phone.
    UndefinedMetricError
        If no value is defined.

    Examples
    --------
    >>> rows = [Dot(label="female against male", value=0.2, low=0.1, high=0.3, printed="+0.200")]
    >>> svg = forest({"as asked": rows, "prompt second": rows})
    >>> svg.count('class="dot"'), "as asked: female against male +0.200" in svg
    (2, True)
    """
    if width < NARROWEST:
        raise InputError(f"width: expected at least {NARROWEST} pixels, got {width}")
    rows = [dot for dots in groups.values() for dot in dots]
    if not rows:
        raise InputError("groups: nothing to draw")
    values = [dot.value for dot in rows if dot.value is not None]
    if not values:
        raise UndefinedMetricError(f"none of the {len(rows)} values is defined")
    if span is None:
        ends = [x for dot in rows for x in (dot.value, dot.low, dot.high) if x is not None and isfinite(x)]
        reach = max(*(abs(x - parity) for x in ends), 1e-6) * 1.08
        span = (parity - reach, parity + reach)
    drawn: list[Dot] = []
    for heading, dots in groups.items():
        if heading and dots:
            drawn.append(Dot(label=heading, value=None, printed="", heading=True))
        drawn += dots
    said = "; ".join(
        f"{heading}: " + ", ".join(f"{dot.label} {dot.printed}" for dot in dots)
        for heading, dots in groups.items()
    )
    return dot_chart(
        t("Effects") if title is None else title,
        said,
        drawn,
        span=span,
        origin=parity,
        guide=guide,
        width=width,
        names=270 if width >= 560 else 0,
    )
