"""Figures of the estimates of one metric: its record names the one that draws them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from audit_lib.figures.dots import Dot, dot_chart
from audit_lib.registry import Registry


class Figure(Protocol):
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


FIGURES: Final[Registry[Figure]] = Registry("figures", "audit_lib.figures")


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
