"""Reliability by group: in each bin of scores, how many of those people turned out to have the outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.figures.arrays import undefined
from audit_lib.figures.drawing import LINE, SMALL, TEXT, Drawing, Scale, fit, fixed, y_room
from audit_lib.translation import t

_WIDEST = 240
"""Pixels of a panel, at most: one alone is no wider."""
_GAP = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityPoint:
    """One bin of scores of one group.

    Parameters
    ----------
    score, outcome : float
        Mean score, and share of outcome 1, in [0, 1].
    n : int
        People in it.
    low, high : float, optional
        Interval of the share; both or neither.
    """

    score: float
    outcome: float
    n: int
    low: float | None = None
    high: float | None = None


def reliability_diagram(
    groups: Mapping[str, Sequence[ReliabilityPoint]],
    *,
    title: str | None = None,
    interval_name: str | None = None,
    width: int = 760,
) -> str:
    """Draw a reliability diagram of every group: mean score (across) against the share of outcome 1 (up).

    Parameters
    ----------
    groups : mapping of str to sequence of ReliabilityPoint
        Bins of each group that hold anybody; a panel a group. Compare `audit_lib.metrics.reliability_table`.
    title, interval_name : str, optional
        Heading, and what the bars are.
    width : int
        Pixels of the whole, such as 760, or 360 for a phone.

    Returns
    -------
    str
        An ``<svg>`` element; both axes run from 0 to 1, and scores are right on the dashed line.

    Raises
    ------
    InputError
        If there is no group, a number is outside [0, 1], or an interval has one end or does not hold its share.
    UndefinedMetricError
        If no group has a bin.

    Examples
    --------
    >>> point = ReliabilityPoint(score=0.75, outcome=0.5, n=40, low=0.35, high=0.65)
    >>> svg = reliability_diagram({"Women": [point], "Men": []})
    >>> "Women (n = 40): 0.750 against 0.500" in svg, "Men (n = 0): nobody" in svg
    (True, True)
    """
    if not groups:
        raise InputError("reliability_diagram: expected at least one group")
    for name, points in groups.items():
        for point in points:
            _check(name, point)
    every = [point for points in groups.values() for point in points]
    if not every:
        raise UndefinedMetricError("no group has a score with an outcome")
    drawing = Drawing(t("Reliability by group") if title is None else title, width)
    signs = [("guide", t("scores are right"))]
    if any(point.low is not None for point in every):
        signs.append(("bar", t("95% interval") if interval_name is None else interval_name))
    drawing.legend([t("bin of scores")], signs)
    room = y_room(Scale(0.0, 1.0, 100.0, 0.0))
    columns = max(1, min(len(groups), width // (150 + int(room))))
    wide = min((width - 4) / columns, _WIDEST + room)
    bottom = drawing.bottom + 6
    for number, (name, points) in enumerate(groups.items()):
        if number % columns == 0:
            top = bottom
        left = 4 + (number % columns) * wide
        bottom = _panel(drawing, name, points, (left, top, wide, room))
    drawing.note(t("Across: mean score of the bin. Up: share of its people with the outcome."))
    bare = {name: len([point for point in points if point.low is None]) for name, points in groups.items()}
    if len(signs) > 1 and any(bare.values()):
        drawing.note(undefined(sum(bare.values()), len(every), "intervals", bare))
    said = t(
        "Reliability diagram: mean score against the share of people with the outcome, by bin of scores."
    )
    return drawing.svg(" ".join([said, *(_words(name, points) for name, points in groups.items())]), bottom)


def _check(name: str, point: ReliabilityPoint) -> None:
    where = f"groups[{name!r}]"
    if (point.low is None) != (point.high is None):
        raise InputError(f"{where}: an interval has one end only")
    ends = [value for value in (point.low, point.high) if value is not None]
    for value in (point.score, point.outcome, *ends):
        if not -1e-9 <= value <= 1 + 1e-9:
            raise InputError(f"{where}: expected values from 0 to 1, got {value:g}")
    if ends and not ends[0] - 1e-9 <= point.outcome <= ends[1] + 1e-9:
        raise InputError(f"{where}: an interval does not hold its share")
    if point.n < 1:
        raise InputError(f"{where}: a bin holds nobody; leave it out")


def _panel(
    drawing: Drawing,
    name: str,
    points: Sequence[ReliabilityPoint],
    place: tuple[float, float, float, float],
) -> float:
    left, top, wide, room = place
    people = f"n = {sum(point.n for point in points):,}"
    drawing.text("heading", left, top + LINE - 4, fit(name, (wide - _GAP) * 0.88, TEXT))
    drawing.text("tick", left, top + 2 * LINE - 4, fit(people, wide - _GAP, SMALL))
    begin, side = top + 2 * LINE + 10, wide - room - _GAP - 8
    across = Scale(0.0, 1.0, left + room, left + room + side)
    up = Scale(0.0, 1.0, begin + side, begin)
    bottom = drawing.x_axis(across, begin, begin + side, at=(0.0, 0.5, 1.0))
    drawing.y_axis(up, across.start, across.end, at=(0.0, 0.5, 1.0))
    drawing.line("guide", across(0), up(0), across(1), up(1))
    for point in points:
        if point.low is not None and point.high is not None:
            drawing.line("bar", across(point.score), up(point.low), across(point.score), up(point.high))
    for point in points:
        drawing.mark(0, across(point.score), up(point.outcome))
    return bottom + 6


def _words(name: str, points: Sequence[ReliabilityPoint]) -> str:
    """The panel for those who do not see it."""
    n = sum(point.n for point in points)
    if not points:
        return t("{group} (n = 0): nobody.", group=name)
    listed = ", ".join(
        t("{score} against {share}", score=fixed(point.score), share=fixed(point.outcome)) for point in points
    )
    return t("{group} (n = {n}): {points}.", group=name, n=f"{n:,}", points=listed)
