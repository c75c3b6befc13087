"""A finding as a bar: its interval and its number on a line, between a scale's two ends."""

from __future__ import annotations

from html import escape
from math import isinf

from audit_lib.figures import Dot

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _Y = 232, 30, 8, 170, 15


def finding_bar(
    title: str,
    dot: Dot,
    *,
    span: tuple[float, float],
    origin: float | None = None,
    guide: float | None = None,
) -> str:
    """Draw one number with its interval.

    Parameters
    ----------
    title : str
        For those who do not see it.
    dot : Dot
        The number and its interval; one that leaves the scale ends in an arrow head.
    span : tuple of float
        Ends of the scale.
    origin, guide : float or None
        A solid line where nothing differs, and a dashed one.

    Examples
    --------
    >>> dot = Dot(label="Female", value=0.5, low=0.4, high=0.7, printed="0.500")
    >>> bar = finding_bar("Female", dot, span=(0.0, 1.25), origin=1.0, guide=0.8)
    >>> bar.startswith("<svg") and bar.count("<circle") == 1 and "0.500" in bar
    True
    """
    printed = dot.printed

    def x(at: float) -> float:
        share = (min(max(at, span[0]), span[1]) - span[0]) / (span[1] - span[0])
        return round(_LEFT + share * (_RIGHT - _LEFT), 1)

    parts = [
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" xmlns="http://www.w3.org/2000/svg">',
        f"<title>{escape(title)}</title><desc>{escape(printed)}</desc>",
        f'<line class="grid" x1="{_LEFT}" x2="{_RIGHT}" y1="{_Y}" y2="{_Y}"/>',
    ]
    for kind, at in (("origin", origin), ("guide", guide)):
        if at is not None:
            parts.append(f'<line class="{kind}" x1="{x(at)}" x2="{x(at)}" y1="3" y2="{_HEIGHT - 3}"/>')
    if (low := dot.low) is not None and (high := dot.high) is not None:
        parts.append(f'<line class="bar" x1="{x(low)}" x2="{x(high)}" y1="{_Y}" y2="{_Y}"/>')
        for end, sign in ((low, -1), (high, 1)):
            if isinf(end) or not span[0] <= end <= span[1]:
                parts.append(
                    f'<path class="arrow" d="M{x(end)} {_Y - 4}L{x(end) + 6 * sign} {_Y}L{x(end)} {_Y + 4}Z"/>'
                )
            else:
                parts.append(f'<line class="bar" x1="{x(end)}" x2="{x(end)}" y1="{_Y - 5}" y2="{_Y + 5}"/>')
    if (value := dot.value) is not None:
        parts.append(
            f'<circle class="dot{" flagged" if dot.flagged else ""}" cx="{x(value)}" cy="{_Y}" r="5"/>'
        )
    parts.append(
        f'<text class="value" x="{_WIDTH - 2}" y="{_Y + 5}" text-anchor="end">{escape(printed)}</text>'
    )
    return "".join([*parts, "</svg>"])
