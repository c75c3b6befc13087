"""Dots with intervals along a scale, one row a category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from audit_lib.figures.drawing import fit, short, text_width, ticks

_ROW = 26
_TOP = 30
_BOTTOM = 26


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """One row of a chart.

    Parameters
    ----------
    label : str
        What the row is.
    value : float or None
        Where the dot is; None draws none, for a number that is undefined.
    low, high : float or None
        Ends of the interval; None draws none, infinity runs to the edge.
    printed : str
        The value as the tables print it.
    flagged, hollow : bool
        Whether the dot has the flag's colour, and whether it is drawn open (the comparator).
    heading : bool
        A row that only names those below it.
    inner : tuple of float or None
        Ends of a shorter interval, drawn thicker.
    """

    label: str
    value: float | None
    printed: str
    low: float | None = None
    high: float | None = None
    flagged: bool = False
    hollow: bool = False
    heading: bool = False
    inner: tuple[float, float] | None = None


def dot_chart(
    title: str,
    description: str,
    dots: Sequence[Dot],
    *,
    span: tuple[float, float],
    guide: tuple[float, str] | None = None,
    origin: float | None = None,
    width: int = 760,
    names: int = 250,
) -> str:
    """Draw dots with intervals over a common scale.

    Parameters
    ----------
    title, description : str
        For those who do not see the chart.
    dots : sequence of Dot
        Rows, from the top.
    span : tuple of float
        Ends of the scale; an interval that leaves it ends in an arrow head.
    guide : tuple of float and str, optional
        A dashed line and its name.
    origin : float, optional
        A solid line: where nothing differs.
    width, names : int
        Pixels of the whole, and the least of the column of labels; with 0 labels stand above their row.

    Examples
    --------
    >>> svg = dot_chart("Ratios", "Two rows", [Dot(label="a", value=0.5, printed="0.500")], span=(0, 1))
    >>> svg.startswith("<svg") and "0.500" in svg
    True
    """
    stacked = names == 0
    if not stacked:
        widest = max((text_width(dot.label) for dot in dots if not dot.heading), default=0)
        names = int(min(max(names, widest + 20), 0.46 * width))
    row = _ROW + 16 if stacked else _ROW
    # Bounds are longer than a number, and no interval is drawn under them.
    numbers = max((text_width(dot.printed) for dot in dots if dot.low is not None), default=0)
    left, right = (8 if stacked else names), width - max(64, int(numbers) + 14)
    height = _TOP + row * len(dots) + _BOTTOM

    def x(value: float) -> float:
        share = (min(max(value, span[0]), span[1]) - span[0]) / (span[1] - span[0])
        return round(left + share * (right - left), 1)

    parts = [
        f'<svg class="chart" viewBox="0 0 {width} {height}" role="img" xmlns="http://www.w3.org/2000/svg">',
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>",
    ]
    bottom = height - _BOTTOM
    for tick in ticks(*span):
        parts.append(f'<line class="grid" x1="{x(tick)}" x2="{x(tick)}" y1="{_TOP - 6}" y2="{bottom}"/>')
        parts.append(
            f'<text class="tick" x="{x(tick)}" y="{bottom + 16}" text-anchor="middle">{short(tick)}</text>'
        )
    if origin is not None:
        parts.append(
            f'<line class="origin" x1="{x(origin)}" x2="{x(origin)}" y1="{_TOP - 6}" y2="{bottom}"/>'
        )
    if guide is not None:
        at, name = guide
        parts.append(f'<line class="guide" x1="{x(at)}" x2="{x(at)}" y1="{_TOP - 6}" y2="{bottom}"/>')
        parts.append(
            f'<text class="guide-name" x="{x(at)}" y="{_TOP - 12}" text-anchor="middle">{escape(name)}</text>'
        )
    for number, dot in enumerate(dots):
        top = _TOP + number * row
        y = top + (row - 12 if stacked else row / 2)
        if dot.heading:
            parts.append(
                f'<text class="heading" x="{4 if not stacked else left}" y="{y + 4}">{escape(dot.label)}</text>'
            )
            continue
        label_x, label_y, anchor = (left, top + 12, "start") if stacked else (names - 14, y + 4, "end")
        shown = fit(dot.label, width - 80 if stacked else names - 18)
        parts.append(
            f'<text class="name" x="{label_x}" y="{label_y}" text-anchor="{anchor}">{escape(shown)}</text>'
        )
        parts += _interval(dot, x, y, span)
        if dot.value is not None:
            kind = " ".join(
                ["dot", *(["flagged"] if dot.flagged else []), *(["hollow"] if dot.hollow else [])]
            )
            parts.append(f'<circle class="{kind}" cx="{x(dot.value)}" cy="{y}" r="5"/>')
        parts.append(
            f'<text class="value" x="{width - 4}" y="{y + 4}" text-anchor="end">{escape(dot.printed)}</text>'
        )
    return "".join([*parts, "</svg>"])


def _interval(dot: Dot, x: object, y: float, span: tuple[float, float]) -> list[str]:
    if dot.low is None or dot.high is None or not callable(x):
        return []
    low, high = x(dot.low), x(dot.high)
    parts = [f'<line class="bar" x1="{low}" x2="{high}" y1="{y}" y2="{y}"/>']
    if dot.inner is not None:
        parts.append(
            f'<line class="bar inner" x1="{x(dot.inner[0])}" x2="{x(dot.inner[1])}" y1="{y}" y2="{y}"/>'
        )
    for value, at, sign in ((dot.low, low, -1), (dot.high, high, 1)):
        if span[0] <= value <= span[1]:
            parts.append(f'<line class="bar" x1="{at}" x2="{at}" y1="{y - 4}" y2="{y + 4}"/>')
        else:
            parts.append(f'<path class="arrow" d="M{at} {y - 4}L{at + 6 * sign} {y}L{at} {y + 4}Z"/>')
    return parts
