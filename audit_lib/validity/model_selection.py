"""Model selection: does a metric list the models from the fairest on, as the measured gaps do?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, get_args

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.validity import Gain, Gap, ModelSelection
from audit_lib.errors import UndefinedMetricError
from audit_lib.metrics.validity import fairness_ndcg
from audit_lib.results import Undefined
from audit_lib.validity.points import PointTable, gap_names
from audit_lib.validity.scored_panel import ScoredPanel

LONGEST: Final = 10
"""NDCG is at N = 1 to 10, as in the paper."""


def selections(panel: ScoredPanel, table: PointTable) -> tuple[ModelSelection, ...]:
    """Compute NDCG at N of each metric, gap and quota in both readings of the gain."""
    return tuple(
        _selection(panel, table, (task, gap, k, metric), gain, length)
        for task in panel.tasks
        for gap in gap_names(panel)
        for k in panel.quotas
        for metric in table.metrics
        for gain in get_args(Gain)
        for length in range(1, min(LONGEST, _models(panel, task)) + 1)
    )


def _models(panel: ScoredPanel, task: str) -> int:
    return sum(one.task == task for one in panel.models)


def _selection(
    panel: ScoredPanel, table: PointTable, what: tuple[str, Gap, int, str], gain: Gain, length: int
) -> ModelSelection:
    task, gap, k, metric = what
    out = {one.label for one in panel.models if one.task == task and one.left_out_of_selection}
    values, reasons, models, jobs = [], [], 0, 0
    for rows in _jobs(table, task, gap):
        jobs += 1
        x, y = table.pair(metric, k)
        labels = {
            panel.labels[number]: rows[table.model[rows] == number] for number in np.unique(table.model[rows])
        }
        kept = {label: own for label, own in labels.items() if label not in out}
        # A model of which a group is undefined cannot be placed among the others.
        known = {label: own for label, own in kept.items() if not (np.isnan(x[own]) | np.isnan(y[own])).any()}
        models = max(models, len(known))
        try:
            if len(known) < len(kept):
                raise UndefinedMetricError(
                    f"{len(kept) - len(known)} of {len(kept)} models lack the metric or the gap of a group"
                )
            values.append(
                fairness_ndcg(
                    {label: x[own] for label, own in known.items()},
                    {label: y[own] for label, own in known.items()},
                    length,
                    gain,
                )
            )
        except UndefinedMetricError as error:
            reasons.append(str(error))
    ndcg: float | Undefined = (
        math.fsum(values) / len(values) if values else Undefined(reasons[0] if reasons else "no job")
    )
    return ModelSelection(
        task=task,
        gap=gap,
        k=k,
        metric=metric,
        gain=gain,
        length=length,
        models=models,
        left_out=len(out),
        jobs=jobs,
        undefined_jobs=len(reasons),
        ndcg=ndcg,
        low=min(values, default=None),
        high=max(values, default=None),
        chance=ndcg if isinstance(ndcg, Undefined) else _chance(models, length, gain),
    )


def _jobs(table: PointTable, task: str, gap: Gap) -> Iterator[NDArray[np.int64]]:
    rows = np.flatnonzero(table.select(task, gap))
    for job in dict.fromkeys(table.job[rows].tolist()):
        yield rows[table.job[rows] == job]


def _chance(models: int, length: int, gain: Gain) -> float:
    """Return the expected NDCG of a list in random order, where no two models have the same gap."""
    gains = np.arange(models, 0, -1, dtype=float) - (1 if gain == "distance" else 0)
    discount = 1 / np.log2(np.arange(2, min(length, models) + 2))
    return float(gains.mean() * discount.sum() / (gains[: discount.size] * discount).sum())
