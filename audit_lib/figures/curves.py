"""Curves over k or N: predictive validity by quota, and fairness NDCG by length of the list."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.figures.arrays import What, numbers, table, undefined, within
from audit_lib.figures.drawing import (
    LINE,
    SMALL,
    Drawing,
    Floats,
    Scale,
    fixed,
    polyline,
    scale_over,
    series,
    short,
    text_width,
    y_room,
)
from audit_lib.figures.weak_correlations import open_mark, weak
from audit_lib.translation import t

_DODGE = 7.0


def correlation_by_k(
    k: ArrayLike,
    correlations: Mapping[str, ArrayLike],
    p_values: Mapping[str, ArrayLike] | None = None,
    *,
    title: str | None = None,
    k_name: str | None = None,
    width: int = 760,
) -> str:
    """Draw the correlation of each metric with the measured gap over the quotas.

    Parameters
    ----------
    k : array_like, shape (m,)
        Quotas, ascending.
    correlations : mapping of str to array_like, shape (m,)
        Pearson's r by metric, in [-1, 1]; undefined ones are left out and counted, and break the line.
    p_values : mapping of str to array_like, shape (m,), optional
        Their p-values; correlations with p above 0.01 have open marks.
    title, k_name : str, optional
        Heading, and name of the horizontal axis.
    width : int
        Pixels of the whole, such as 760, or 360 for a phone.

    Returns
    -------
    str
        An ``<svg>`` element. Marks of one quota stand side by side, that none hides another.

    Raises
    ------
    InputError
        If there is nothing to draw, lengths differ, quotas do not ascend, a correlation is out of range, or
        a correlation has no p-value although others have.
    UndefinedMetricError
        If no correlation is defined.

    Examples
    --------
    >>> svg = correlation_by_k([1, 2], {"RABBI": [0.9, 0.4]}, {"RABBI": [0.001, 0.2]})
    >>> svg.count('class="mark s1"'), svg.count('class="mark s1 hollow"')  # the legend's, and k = 1
    (2, 1)
    """
    places = _places(k, "k")
    rows = within(table(correlations, places.size, "correlations"), -1, 1, "correlations")
    open_marks = weak(rows, p_values, list(correlations))
    low = min(0.0, float(np.floor(np.nanmin(rows, initial=0.0) * 4) / 4))
    k_name = t("quota k") if k_name is None else k_name
    drawing = Drawing(t("Correlation with the measured gap, by quota") if title is None else title, width)
    drawing.legend(list(correlations), open_mark() if p_values is not None else (), lines=True)
    by_name = dict(zip(correlations, rows, strict=True))
    _curves(drawing, places, by_name, open_marks, low, k_name, t("Pearson r"))
    _leave_out(drawing, correlations, rows, "correlations")
    said = t(
        "Pearson correlation with the measured gap, {k} {low} to {high}.",
        k=k_name,
        low=short(float(places[0])),
        high=short(float(places[-1])),
    )
    return drawing.svg(f"{said} {_words(correlations, rows)}")


def fairness_ndcg_curve(
    n: ArrayLike,
    ndcg: Mapping[str, ArrayLike],
    *,
    title: str | None = None,
    width: int = 760,
) -> str:
    """Draw fairness NDCG at N of each metric (see `audit_lib.metrics.fairness_ndcg`).

    Parameters
    ----------
    n : array_like, shape (m,)
        Lengths of the list, ascending.
    ndcg : mapping of str to array_like, shape (m,)
        Mean NDCG over sub-tasks, in [0, 1]; undefined ones are left out and counted, and break the line.
    title : str, optional
        Heading.
    width : int
        Pixels of the whole, such as 760, or 360 for a phone.

    Returns
    -------
    str
        An ``<svg>`` element; the vertical axis runs from 0 to 1.

    Raises
    ------
    InputError
        If there is nothing to draw, lengths differ, N does not ascend, or a value is out of range.
    UndefinedMetricError
        If no value is defined.

    Examples
    --------
    >>> svg = fairness_ndcg_curve([1, 2, 3], {"RABBI": [1.0, 0.9, 0.95], "score gap": [0.5, None, 0.8]})
    >>> "1 of 6 values is undefined and not drawn (score gap 1)." in svg
    True
    """
    places = _places(n, "n")
    rows = within(table(ndcg, places.size, "ndcg"), 0, 1, "ndcg")
    drawing = Drawing(t("Does the metric list the fairest models first?") if title is None else title, width)
    drawing.legend(list(ndcg), lines=True)
    closed, by_name = np.zeros(rows.shape, bool), dict(zip(ndcg, rows, strict=True))
    _curves(drawing, places, by_name, closed, 0.0, t("N, models listed"), t("NDCG at N"))
    _leave_out(drawing, ndcg, rows, "values")
    said = t(
        "NDCG of the list of models, fairest first, N {low} to {high}.",
        low=short(float(places[0])),
        high=short(float(places[-1])),
    )
    return drawing.svg(f"{said} {_words(ndcg, rows)}")


def _curves(
    drawing: Drawing,
    places: Floats,
    rows: Mapping[str, Floats],
    open_marks: NDArray[np.bool_],
    low: float,
    x_name: str,
    y_name: str,
) -> None:
    drawing.bottom += LINE + 14
    top, height = drawing.bottom, min(0.55 * drawing.width, 300.0)
    up = Scale(low, 1.0, top + height, top)
    left, right = y_room(up) + 4, drawing.width - 10.0
    gap = (right - left) / max(places.size, 2)
    across = scale_over(places, left, right, margin=min(gap / 2, 60))
    # Marks side by side, as far as neighbours leave room.
    dodge = min(_DODGE, 0.6 * gap / len(rows))
    labels = [short(float(k)) for k in places]
    every = max(1, math.ceil(max(text_width(words, SMALL) + 10 for words in labels) / gap))
    drawing.bottom = drawing.x_axis(across, top, top + height, x_name, places[::every].tolist())
    drawing.y_axis(up, left, right, y_name)
    drawing.line("origin", left, up(0), right, up(0))
    points = [
        [
            (across(float(k)) + dodge * (i - (len(rows) - 1) / 2), up(float(v)))
            for k, v in zip(places, row, strict=True)
        ]
        for i, row in enumerate(rows.values())
    ]
    for i, row in enumerate(rows.values()):
        for run in _runs(~np.isnan(row)):
            if len(run) > 1:
                drawing.path(f"curve {series(i)}", polyline(points[i][j] for j in run))
    for i, row in enumerate(rows.values()):
        for j in np.flatnonzero(~np.isnan(row)):
            drawing.mark(i, *points[i][j], hollow=bool(open_marks[i, j]))


def _runs(known: NDArray[np.bool_]) -> list[list[int]]:
    """Places of values that stand next to each other with none undefined between."""
    runs: list[list[int]] = [[]]
    for place, is_known in enumerate(known):
        if is_known:
            runs[-1].append(place)
        elif runs[-1]:
            runs.append([])
    return runs


def _places(values: ArrayLike, name: str) -> Floats:
    places = numbers(values, name)
    if np.isnan(places).any() or (np.diff(places) <= 0).any():
        raise InputError(f"{name}: expected ascending numbers, none missing")
    return places


def _leave_out(drawing: Drawing, names: Iterable[str], rows: Floats, what: What) -> None:
    missing = np.isnan(rows).sum(axis=1)
    if missing.sum() == rows.size:
        raise UndefinedMetricError(f"none of the {rows.size} {what} is defined")
    if missing.any():
        by = dict(zip(names, missing.tolist(), strict=True))
        drawing.note(undefined(int(missing.sum()), rows.size, what, by))


def _words(names: Iterable[str], rows: Floats) -> str:
    curves = [
        f"{name}: {', '.join(t('undefined') if np.isnan(v) else fixed(float(v)) for v in row)}"
        for name, row in zip(names, rows, strict=True)
    ]
    return f"{'; '.join(curves)}."
