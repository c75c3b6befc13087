"""A metric against the gap that was measured: one point a (model, sub-task, group)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.figures.arrays import numbers, undefined
from audit_lib.figures.drawing import LINE, Drawing, Floats, fixed, scale_over, y_room
from audit_lib.figures.weak_correlations import WEAK
from audit_lib.metrics.validity import predictive_validity_table
from audit_lib.translation import archived, t


def metric_against_gap(
    metric: ArrayLike,
    gap: ArrayLike,
    *,
    series: Sequence[str] | None = None,
    title: str | None = None,
    metric_name: str | None = None,
    gap_name: str | None = None,
    line: Literal["zero", "identity"] = "zero",
    width: int = 760,
) -> str:
    """Draw a metric (across) against the measured gap (up), with Pearson's r, its p-value and n.

    Parameters
    ----------
    metric, gap : array_like, shape (n,)
        One entry a point. Compare an undirected metric with the absolute value of the gap. Points with an
        undefined side are left out and counted.
    series : sequence of str, shape (n,), optional
        What a point belongs to, such as its model; each has its own mark.
    title, metric_name, gap_name : str, optional
        Heading, and what the axes show, with units.
    line : {"zero", "identity"}
        Lines where each side is 0, or the line on which both are equal (where they share a unit).
    width : int
        Pixels of the whole, such as 760, or 360 for a phone.

    Returns
    -------
    str
        An ``<svg>`` element. A correlation that does not exist is printed as undefined, with the reason.

    Raises
    ------
    InputError
        If there is no point, or lengths differ.
    UndefinedMetricError
        If no point has both sides defined.

    Examples
    --------
    >>> svg = metric_against_gap([0.1, 0.2, 0.4, None], [0.0, 0.1, 0.3, 0.2], metric_name="RABBI")
    >>> "Pearson r = 1.000 (p &lt; 0.001), n = 3" in svg
    True
    """
    x, y = numbers(metric, "metric"), numbers(gap, "gap")
    if x.size != y.size:
        raise InputError(f"metric and gap: {x.size} and {y.size} values")
    labels = list(series) if series is not None else [""] * x.size
    if len(labels) != x.size:
        raise InputError(f"series: {len(labels)} labels for {x.size} points")
    if line not in ("zero", "identity"):
        raise InputError(f'line: expected "zero" or "identity", got {line!r}')
    known = ~(np.isnan(x) | np.isnan(y))
    if not known.any():
        raise UndefinedMetricError("no point has both a metric and a gap")
    names = list(dict.fromkeys(labels))

    found = correlation_words(x[known], y[known])
    metric_name = t("metric") if metric_name is None else metric_name
    gap_name = t("measured gap") if gap_name is None else gap_name
    drawing = Drawing(t("Metric against measured gap") if title is None else title, width, found)
    if series is not None:
        drawing.legend(names)
    drawing.bottom += LINE + 14
    top, height = drawing.bottom, min(0.62 * width, 380.0)
    both = np.concatenate([x[known], y[known]])
    up = scale_over(_with_zero(both if line == "identity" else y[known], line), top + height, top)
    left = y_room(up) + 4
    across = scale_over(_with_zero(both if line == "identity" else x[known], line), left, width - 10)
    bottom = drawing.x_axis(across, top, top + height, metric_name)
    drawing.y_axis(up, left, width - 10, gap_name)
    if line == "zero":
        drawing.line("origin", across(0), top, across(0), top + height)
        drawing.line("origin", left, up(0), width - 10, up(0))
    else:
        low, high = max(across.low, up.low), min(across.high, up.high)
        drawing.line("guide", across(low), up(low), across(high), up(high))
    for i in np.flatnonzero(known):
        drawing.mark(names.index(labels[i]), across(float(x[i])), up(float(y[i])), radius=4)
    if line == "identity":
        drawing.note(t("On the dashed line metric and gap are equal."))
    if not known.all():
        drawing.note(undefined(int((~known).sum()), x.size, "points"))
    said = t("Scatter plot of {metric} (across) and {gap} (up).", metric=metric_name, gap=gap_name)
    return drawing.svg(f"{said} {found}", bottom)


def correlation_words(x: Floats, y: Floats) -> str:
    """Pearson's r, p and n in words, or why there is no r."""
    try:
        found = predictive_validity_table(x, y)
    except UndefinedMetricError as error:
        return t("Pearson r is undefined ({reason}), n = {n:,}", reason=archived(str(error)), n=x.size)
    p = "p < 0.001" if found.p_value < 0.001 else f"p = {found.p_value:.2g}"
    if found.p_value > WEAK:
        p = t("{p}; p above {limit:g}", p=p, limit=WEAK)
    return t("Pearson r = {r} ({p}), n = {n:,}", r=fixed(found.correlation), p=p, n=found.n)


def _with_zero(values: Floats, line: str) -> Floats:
    return np.append(values, 0.0) if line == "zero" else values
