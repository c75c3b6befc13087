"""Score distributions by group, each over the reference's."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.figures.arrays import numbers, undefined
from audit_lib.figures.drawing import (
    LINE,
    SMALL,
    TEXT,
    Drawing,
    Floats,
    Scale,
    fit,
    fixed,
    polygon,
    polyline,
    text_width,
)
from audit_lib.translation import t

_PLOT = 84
_MOST_BINS = 24
_TICK = 40
"""Pixels for each tick of a small axis."""


def score_distributions(
    scores: Mapping[str, ArrayLike],
    reference: str,
    *,
    title: str | None = None,
    score_name: str | None = None,
    width: int = 760,
) -> str:
    """Draw a histogram a group (filled) over the reference's (outlined), on common bins and axes.

    Heights are shares of a group's own scores, so groups of different size compare.

    Parameters
    ----------
    scores : mapping of str to array_like, shape (n_group,)
        Scores by group, in any unit; missing and infinite ones are left out and counted.
    reference : str
        The group that all others are drawn against.
    title, score_name : str, optional
        Heading, and what the horizontal axis shows, with its unit.
    width : int
        Pixels of the whole, such as 760, or 360 for a phone.

    Returns
    -------
    str
        An ``<svg>`` element. Up to 24 evenly spaced values each have their own bar; more are put into 24
        bins of equal width.

    Raises
    ------
    InputError
        If the reference is no group, there is no other, or a group has no row at all.
    UndefinedMetricError
        If no score of the reference, or of all others, is defined.

    Examples
    --------
    >>> svg = score_distributions({"Women": [3, 4, 4, None], "Men": [2, 3, 4]}, reference="Men")
    >>> "n = 3, mean 3.67" in svg, "1 of 7 scores is undefined and not drawn (Women 1)." in svg
    (True, True)
    """
    if reference not in scores:
        raise InputError(f"reference: no group {reference!r} among the {len(scores)} groups of scores")
    if len(scores) < 2:
        raise InputError("scores: expected the reference and at least one other group")
    arrays = {group: numbers(values, f"scores[{group!r}]") for group, values in scores.items()}
    missing = {group: int(np.isnan(values).sum()) for group, values in arrays.items()}
    known = {group: values[~np.isnan(values)] for group, values in arrays.items()}
    if not known[reference].size:
        raise UndefinedMetricError("no score of the reference group is defined")
    compared = [group for group in scores if group != reference]
    if not any(known[group].size for group in compared):
        raise UndefinedMetricError("no score of any compared group is defined")

    edges, values = _bins(np.concatenate(list(known.values())))
    shares = {g: np.histogram(v, edges)[0] / v.size for g, v in known.items() if v.size}
    top = max(float(share.max()) for share in shares.values())

    score_name = t("score") if score_name is None else score_name
    title = t("Scores by group") if title is None else title
    drawing = Drawing(title, width, t("Up: share of a group's scores. Across: {score}.", score=score_name))
    drawing.legend(
        [], [("area-key", t("the group named")), ("outline", f"{reference}, {_summary(known[reference])}")]
    )
    drawing.bottom += 6
    up = Scale(0, top, 0, -_PLOT)
    left = 4 + text_width("100%", SMALL) + 6
    columns = max(1, int((width - left) // 152))
    columns = min(columns, len(compared))
    wide = (width - left) / columns
    start = drawing.bottom
    height = 2 * LINE + _PLOT + 36
    for number, group in enumerate(compared):
        row, column = divmod(number, columns)
        x0, base = left + column * wide, start + row * height + 2 * LINE + _PLOT + 4
        across = Scale(float(edges[0]), float(edges[-1]), x0, x0 + wide - 14)
        heading = base - _PLOT - 8
        drawing.text("heading", x0, heading - LINE, fit(group, (wide - 8) * 0.88, TEXT))
        _frame(drawing, across, up, base, values, labels=column == 0)
        if group in shares:
            drawing.text("tick", x0, heading, fit(_summary(known[group]), wide - 8, SMALL))
            steps = _steps(edges, shares[group], across, up, base)
            drawing.path("area", polygon(steps))
        else:
            drawing.text("tick", x0, heading, t("no score defined"))
        drawing.path("outline", polyline(_steps(edges, shares[reference], across, up, base)))
    if sum(missing.values()):
        drawing.note(
            undefined(sum(missing.values()), sum(a.size for a in arrays.values()), "scores", missing)
        )
    words = "; ".join(f"{g}: {_summary(known[g])}" for g in scores if known[g].size)
    said = t(
        "Histograms of {score} of {groups} groups, each over that of {reference}.",
        score=score_name,
        groups=len(compared),
        reference=reference,
    )
    return drawing.svg(
        f"{said} {words}.",
        start + height * -(-len(compared) // columns),
    )


def _summary(values: Floats) -> str:
    size = float(np.abs(values).max())
    mean = fixed(float(values.mean()), 2 if 1 <= size < 1000 else 0 if size >= 1000 else 3)
    return t("n = {n:,}, mean {mean}", n=values.size, mean=mean)


def _bins(values: Floats) -> tuple[Floats, list[float]]:
    """Edges of bins, around each value (given too) where they are few and evenly spaced, else 24 of equal width."""
    distinct = np.unique(values)
    if np.abs(distinct).max() > 1e100:
        raise InputError(f"a score of {np.abs(distinct).max():g} is too large to draw")
    if distinct.size == 1:
        half = 0.5 * max(1.0, 1e-3 * abs(float(distinct[0])))
        return np.array([distinct[0] - half, distinct[0] + half]), distinct.tolist()
    step = float(np.diff(distinct).min())
    count = (distinct[-1] - distinct[0]) / step
    if count < _MOST_BINS and np.allclose(
        places := (distinct - distinct[0]) / step, np.round(places), atol=1e-6
    ):
        middles = distinct[0] + step * np.arange(round(count) + 1)
        return np.append(middles - step / 2, middles[-1] + step / 2), middles.tolist()
    return np.linspace(distinct[0], distinct[-1], _MOST_BINS + 1), []


def _steps(edges: Floats, shares: Floats, across: Scale, up: Scale, base: float) -> list[tuple[float, float]]:
    points = [(across(float(edges[0])), base)]
    for low, high, share in zip(edges, edges[1:], shares, strict=False):
        y = base + up(float(share))
        points += [(across(float(low)), y), (across(float(high)), y)]
    return [*points, (across(float(edges[-1])), base)]


def _frame(
    drawing: Drawing, across: Scale, up: Scale, base: float, values: list[float], *, labels: bool
) -> None:
    for share in up.ticks(36):
        drawing.line("grid", across.start, base + up(share), across.end, base + up(share))
        if labels:
            drawing.text("tick", across.start - 6, base + up(share) + 4, f"{100 * share:g}%", "end")
    every = math.ceil(len(values) / max(1, (across.end - across.start) // _TICK)) if values else 1
    drawing.x_axis(across, base, base, at=values[::every] or across.ticks(_TICK))
