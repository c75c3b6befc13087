"""Models ranked by a metric against their ranking by the measured gap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.figures.arrays import numbers, undefined
from audit_lib.figures.drawing import SMALL, TEXT, Drawing, Floats, fit, short, text_width, wrap
from audit_lib.translation import t

_ROW = 26
_LINKS = 36
"""Least half width of the lines between the two rankings, in pixels."""


def rank_bump(
    models: Sequence[str],
    metric: ArrayLike,
    gap: ArrayLike,
    *,
    title: str | None = None,
    metric_name: str | None = None,
    gap_name: str | None = None,
    width: int = 760,
) -> str:
    """Draw the ranking of models by a metric (left) and by the measured gap (right), fairest first.

    Parameters
    ----------
    models : sequence of str, length m
        Names; each once.
    metric, gap : array_like, shape (m,)
        Size of the bias of each model, at least 0, such as the root mean square over its non-reference
        groups. Models with an undefined side are left out and counted.
    title, metric_name, gap_name : str, optional
        Heading, and what the two columns rank by.
    width : int
        Pixels of the whole, such as 760, or 360 for a phone.

    Returns
    -------
    str
        An ``<svg>`` element. Rank 1 is the smallest value; equal values print their mean rank and stand in
        the order of `models`. Lines of models that the metric ranks fairer than the gap does have the
        colour of a warning.

    Raises
    ------
    InputError
        If there is no model, lengths differ, a model comes twice, or a value is below 0.
    UndefinedMetricError
        If fewer than two models have both sides defined.

    Examples
    --------
    >>> svg = rank_bump(["a", "b", "c"], metric=[0.1, 0.2, 0.3], gap=[0.02, 0.01, 0.05])
    >>> [svg.count(f'class="{kind}"') for kind in ("link flagged", "link", "link same")]  # one in the legend
    [2, 2, 2]
    """
    x, y = numbers(metric, "metric"), numbers(gap, "gap")
    if not len(models) == x.size == y.size:
        raise InputError(f"models, metric and gap: {len(models)}, {x.size} and {y.size} values")
    if len(set(models)) != len(models):
        raise InputError("models: a model comes twice")
    for name, values in (("metric", x), ("gap", y)):
        if (values < 0).any():
            raise InputError(f"{name}: expected sizes of at least 0; give the root mean square over groups")
    known = np.flatnonzero(~(np.isnan(x) | np.isnan(y))).tolist()
    if len(known) < 2:
        raise UndefinedMetricError(f"{len(known)} models have both sides; a ranking needs two")
    ranks = [_mean_ranks(x[known]), _mean_ranks(y[known])]
    orders = [np.argsort(np.argsort(rank, kind="stable"), kind="stable") for rank in ranks]
    kinds = [
        "link same" if a == b else "link flagged" if a < b else "link" for a, b in zip(*ranks, strict=True)
    ]

    metric_name = t("metric") if metric_name is None else metric_name
    gap_name = t("measured gap") if gap_name is None else gap_name
    title = t("Models ranked by metric and by measured gap") if title is None else title
    drawing = Drawing(title, width, t("Rank 1: the fairest, with the smallest value."))
    signs = {
        "link flagged": t("fairer by the metric than by the gap"),
        "link": t("less fair by the metric"),
        "link same": t("same rank"),
    }
    drawing.legend([], [(kind, words) for kind, words in signs.items() if kind in kinds])
    drawing.bottom += 24
    digits = max(text_width(short(float(rank)), SMALL) for rank in np.concatenate(ranks)) + 10
    most = width / 2 - digits - _LINKS
    size = TEXT if all(text_width(models[i]) <= most for i in known) else SMALL
    labels = [_lines(models[i], most, size) for i in known]
    room = min(most, max(text_width(words, size) for lines in labels for words in lines) + 6)
    row = _ROW if all(len(lines) == 1 for lines in labels) else _ROW + 12
    ends = (room + digits + 12, width - room - digits - 12)
    left, right = t("by {metric}", metric=metric_name), t("by {metric}", metric=gap_name)
    drawing.text("axis", ends[0] + 4, drawing.bottom - 8, fit(left, ends[0], SMALL), "end")
    drawing.text("axis", ends[1] - 4, drawing.bottom - 8, fit(right, width - ends[1], SMALL))
    top = drawing.bottom + row / 2
    places = [[top + row * int(place) for place in order] for order in orders]
    # Steady ranks first, so that the lines to look at lie on top.
    for kind in ("link same", "link", "link flagged"):
        for i in range(len(known)):
            if kinds[i] == kind:
                drawing.line(kind, ends[0], places[0][i], ends[1], places[1][i])
    for i, lines in enumerate(labels):
        for side, sign, anchor in ((0, -1, "end"), (1, 1, "start")):
            at, line = ends[side], places[side][i]
            drawing.line(f"tip {kinds[i]}", at, line, at, line)
            drawing.text("tick", at + sign * 10, line + 4, short(float(ranks[side][i])), anchor)
            for j, words in enumerate(lines):
                below = 14 * (j - (len(lines) - 1) / 2)
                kind = "name" if size == TEXT else "name small"
                drawing.text(kind, at + sign * (10 + digits), line + 4 + below, words, anchor)
    if len(known) < x.size:
        drawing.note(undefined(x.size - len(known), x.size, "models"))
    listed = "; ".join(
        t(
            "{model} {one} and {other}",
            model=models[j],
            one=short(float(ranks[0][i])),
            other=short(float(ranks[1][i])),
        )
        for i, j in enumerate(known)
    )
    return drawing.svg(
        t(
            "Ranks of {models} models by {metric} and by {gap}: {listed}.",
            models=len(known),
            metric=metric_name,
            gap=gap_name,
            listed=listed,
        ),
        top + row * (len(known) - 0.5) + 6,
    )


def _mean_ranks(values: Floats) -> Floats:
    """Ranks from 1, ascending; equal values share their mean rank."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[inverse])


def _lines(model: str, room: float, size: float) -> list[str]:
    """A name over at most two lines."""
    lines = wrap(model, room, size)
    return lines if len(lines) < 3 else [lines[0], fit(" ".join(lines[1:]), room, size)]
