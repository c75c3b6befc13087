"""The windows of an audit as a strip: one mark for each, told apart by shape and colour, with its text beside it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby
from typing import Final

from audit_lib.report.blocks import Chart
from audit_lib.windows import OwedWindow

_WIDTH: Final = 7
_HEIGHT: Final = 16
_WIDE, _NARROW = 104, 48
"""Windows of a chart of its own, on a wide and a narrow screen."""
_FULL: Final = "M{x} 1h4v14h-4z"
_HALF: Final = "M{x} 9h4v6h-4z"
_CROSS: Final = "M{x} 2l4 12m0 -12l-4 12"
_SHAPES: Final = {
    "audited": ("mark s1", _FULL),
    "failed": ("mark s2", _CROSS),
    "not verified": ("mark s2", _CROSS),
    "missed": ("mark hollow s2", _FULL),
    "late": ("mark s6", _HALF),
    "unfinished": ("mark hollow s8", _HALF),
    "due": ("mark hollow s8", _HALF),
}
SHAPES_IN_WORDS: Final = (
    "A full bar is a window that was audited, a cross one that failed or does not verify, an empty bar one that was "
    "missed, a half bar one that is late, and an empty half one that is due or unfinished. The latest is on the right."
)


def window_strip(states: Sequence[str]) -> str:
    """Return the strip of some windows, the oldest first, as SVG.

    Examples
    --------
    >>> print(window_strip(["audited", "missed"]))  # doctest: +ELLIPSIS
    <svg class="chart" role="img" aria-label="1 audited, 1 missed" viewBox="0 0 14 16" style="width:14px">...</svg>
    """
    width = _WIDTH * max(len(states), 1)
    paths: dict[str, list[str]] = {}
    for place, state in enumerate(states):
        mark, shape = _SHAPES[state]
        paths.setdefault(mark, []).append(shape.format(x=_WIDTH * place + 2))
    drawn = "".join(f'<path class="{mark}" d="{"".join(shapes)}"/>' for mark, shapes in paths.items())
    return (
        f'<svg class="chart" role="img" aria-label="{escape(in_words(states))}" viewBox="0 0 {width} {_HEIGHT}" '
        f'style="width:{width}px">{drawn}</svg>'
    )


def in_words(states: Sequence[str]) -> str:
    """Say the states in their order, equal ones next to each other as one.

    Examples
    --------
    >>> in_words(["audited", "audited", "late"])
    '2 audited, 1 late'
    """
    runs = [f"{sum(1 for _ in same)} {state}" for state, same in groupby(states)]
    return ", ".join(runs) or "no window has ended yet"


def strip_chart(owed: Sequence[OwedWindow]) -> Chart:
    """Return the latest windows as a chart of their own."""
    states = [one.state for one in owed]
    return Chart(window_strip(states[-_WIDE:]), window_strip(states[-_NARROW:]), SHAPES_IN_WORDS)
