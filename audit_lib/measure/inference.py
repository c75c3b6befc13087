"""Inference for every metric, in one place: units, clusters, interval, small cells, undefined.

Which rows are independent decides every interval. Scores that a model gives one candidate at a time
depend on each other through the application they are versions of; ranks, and places won in a pool,
depend on each other through the round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.rows import Rows
from audit_lib.results import Estimate, Interval, Undefined
from audit_lib.spec import AuditSpec

Kernel = Callable[[np.ndarray, np.ndarray], float]
IntervalOf = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float], Interval]


def score_clusters(rows: Rows, spec: AuditSpec) -> tuple[np.ndarray, Literal["application", "round"]]:
    """Return the independent units of the scores, and what they are called."""
    if spec.task == "listwise":
        return rows.round, "round"
    return rows.application, "application"


def compare(
    name: str,
    rows: Rows,
    spec: AuditSpec,
    group: Mapping[str, str],
    reference: Mapping[str, str],
    *,
    values: np.ndarray,
    clusters: np.ndarray,
    unit: str,
    kernel: Kernel,
    interval: IntervalOf,
    method: str,
    parameters: Mapping[str, int | float | str] | None = None,
) -> Estimate:
    """Compare one group with its reference by a kernel, with its interval.

    Parameters
    ----------
    values : ndarray of shape (rows,)
        What is compared; NaN leaves the row out (the model gave no answer).
    clusters : ndarray of shape (rows,)
        Independent unit of each row.
    unit : str
        What the units are, for `method`.
    kernel : callable
        (group's values, reference's values) -> number; raises UndefinedMetricError where there is none.
    interval : callable
        (group's values, reference's, group's clusters, reference's, level) -> Interval.
    """
    known = ~np.isnan(values)
    in_group, in_reference = rows.members(group) & known, rows.members(reference) & known
    a, b = values[in_group], values[in_reference]
    try:
        value: float | Undefined = kernel(a, b)
    except UndefinedMetricError as error:
        value = Undefined(str(error))
    limits: Interval | Undefined
    if isinstance(value, Undefined):
        limits = value
    else:
        try:
            limits = interval(a, b, clusters[in_group], clusters[in_reference], spec.measure.level)
        except UndefinedMetricError as error:
            limits = Undefined(str(error))
    small = min(a.size, b.size) < spec.measure.small_cell
    return Estimate(
        metric=name,
        value=value,
        interval=limits,
        n=int(a.size + b.size),
        n_group=int(a.size),
        n_reference=int(b.size),
        clusters=int(np.unique(np.concatenate([clusters[in_group], clusters[in_reference]])).size),
        method=f"{method}; clustered by {unit}",
        group=dict(group),
        reference=dict(reference),
        stratum=dict(rows.levels),
        parameters=dict(parameters or {}),
        flags=("small_cell",) if small else (),
    )
