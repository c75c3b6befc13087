"""Predictive validity of each metric: by task, gap and quota; over all points, by group and by job."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from audit_lib.documents.validity import Correlation, Gap
from audit_lib.errors import UndefinedMetricError
from audit_lib.metrics.validity import predictive_validity_table
from audit_lib.results import Interval, Undefined
from audit_lib.stats.correlations import (
    cluster_moments,
    correlation_of_moments,
    fisher_interval,
    jackknife_interval,
)
from audit_lib.validity.points import UNDIRECTED, PointTable, gap_names
from audit_lib.validity.scored_panel import ScoredPanel


def correlations(panel: ScoredPanel, table: PointTable) -> tuple[Correlation, ...]:
    """Correlate each metric with each gap at each quota: over all points, then by group, then by job."""
    return tuple(
        _correlation(panel, table, metric, k, _Slice(task, gap, job, group))
        for task in panel.tasks
        for gap in gap_names(panel)
        for job, group in _parts(panel, table, task)
        for k in panel.quotas
        for metric in table.metrics
    )


class _Slice:
    """Which points a correlation is of."""

    def __init__(self, task: str, gap: Gap, job: str | None, group: str | None) -> None:
        self.task, self.gap, self.job, self.group = task, gap, job, group


def _parts(panel: ScoredPanel, table: PointTable, task: str) -> Iterator[tuple[str | None, str | None]]:
    yield None, None
    if len(panel.compared) > 1:
        yield from ((None, group) for group in panel.compared)
    jobs = list(dict.fromkeys(table.job[table.task == task].tolist()))
    if len(jobs) > 1:
        yield from ((job, None) for job in jobs)


def _correlation(panel: ScoredPanel, table: PointTable, metric: str, k: int, part: _Slice) -> Correlation:
    chosen = table.select(part.task, part.gap, job=part.job, group=part.group)
    x, y = table.pair(metric, k)
    inside = chosen & ~table.left_out
    known = inside & ~np.isnan(x) & ~np.isnan(y)
    x, y, models = x[known], y[known], table.model[known]
    r: float | Undefined
    p: float | Undefined
    interval: Interval | Undefined
    of_points: Interval | Undefined
    try:
        if not x.size:
            raise UndefinedMetricError(_why_none(bool(inside.any())))
        found = predictive_validity_table(x, y)
        r, p = found.correlation, found.p_value
    except UndefinedMetricError as error:
        r = p = interval = of_points = Undefined(str(error))
    else:
        try:
            of_points = fisher_interval(r, found.n, panel.level)
        except UndefinedMetricError as error:
            of_points = Undefined(str(error))
        try:
            moments = cluster_moments(x, y, models)
            without = correlation_of_moments(moments.sum(axis=0) - moments)
            interval = jackknife_interval(r, without, panel.level, scale="fisher_z")
        except UndefinedMetricError as error:
            interval = Undefined(str(error))
    return Correlation(
        task=part.task,
        gap=part.gap,
        k=k,
        metric=metric,
        undirected=metric in UNDIRECTED,
        job=part.job,
        group=part.group,
        n=int(x.size),
        models=int(np.unique(models).size),
        left_out=int((chosen & table.left_out).sum()),
        undefined_points=int(inside.sum() - known.sum()),
        r=r,
        p_value=p,
        interval=interval,
        interval_of_points=of_points,
    )


def _why_none(any_inside: bool) -> str:
    return "no point has both the metric and the gap" if any_inside else "every model is left out"
