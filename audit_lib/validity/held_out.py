"""The metric from one half of the rounds, the gap from the other: a correlation without the noise that both share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from audit_lib.errors import UndefinedMetricError
from audit_lib.metrics.validity import predictive_validity
from audit_lib.results import Undefined
from audit_lib.seeds import generator
from audit_lib.validity.points import PointTable, measured_points
from audit_lib.validity.scored_panel import ScoredPanel
from audit_lib.validity.setting import SEED, Setting

SPLITS: Final = 20
"""Random halves over which is averaged."""

_FEWEST: Final = 4


def held_out(
    panel: ScoredPanel, settings: Sequence[Setting], names: Sequence[str]
) -> dict[str, float | Undefined]:
    """Return each metric's mean correlation with the gaps of rounds that it has not seen.

    The halves are of the rounds' names, so that all models are split in the same way: what
    candidates of a round bring along is on one side for every model.
    """
    if any(one.drawn is not None for one in panel.scores):
        reason = "candidates are drawn into many rounds, so halves of the rounds share them"
        return dict.fromkeys(names, Undefined(reason))
    rounds = sorted({name for one in panel.scores for name in one.rounds})
    if len(rounds) < _FEWEST:
        return dict.fromkeys(names, Undefined(f"{len(rounds)} rounds: too few to halve"))
    found: dict[str, list[float]] = {name: [] for name in names}
    for split in range(SPLITS):
        order = generator(SEED, "validity", "rounds", split).permutation(len(rounds))
        first = dict(zip(rounds, (order < len(rounds) // 2).tolist(), strict=True))
        halves = [np.array([first[name] for name in one.rounds], bool) for one in panel.scores]
        seen = [one.of_rounds(half) for one, half in zip(panel.scores, halves, strict=True)]
        later = [one.of_rounds(~half) for one, half in zip(panel.scores, halves, strict=True)]
        table = PointTable.of(panel, measured_points(panel, seen, later))
        try:
            for name in names:
                found[name].append(float(np.mean([_correlation(table, name, one) for one in settings])))
        except UndefinedMetricError as error:
            return dict.fromkeys(names, Undefined(f"a half of the rounds has no correlation: {error}"))
    return {name: float(np.mean(values)) for name, values in found.items()}


def _correlation(table: PointTable, metric: str, setting: Setting) -> float:
    x, y = table.pair(metric, setting.k)
    known = table.select(setting.task, setting.gap) & ~table.left_out & ~np.isnan(x) & ~np.isnan(y)
    return predictive_validity(x[known], y[known]) if known.any() else _nothing()


def _nothing() -> float:
    raise UndefinedMetricError("no point has both the metric and the gap")
