"""The metric from one half of the rounds, the gap from the other: a correlation without the noise that both share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.metrics.validity import predictive_validity
from audit_lib.results import Interval, Undefined
from audit_lib.seeds import generator
from audit_lib.stats.correlations import correlation_of_moments, jackknife_interval
from audit_lib.validity.model_sums import model_sums
from audit_lib.validity.points import PointTable, measured_points
from audit_lib.validity.scored_panel import ScoredPanel
from audit_lib.validity.setting import SEED, Setting

SPLITS: Final = 20
"""Random halves over which is averaged."""

_FEWEST: Final = 4


@dataclass(frozen=True, slots=True)
class HeldOut:
    """A metric's mean correlation with the gaps of rounds that it has not seen, and its interval over models."""

    mean: float | Undefined
    interval: Interval | Undefined

    @classmethod
    def undefined(cls, reason: str) -> HeldOut:
        """Return that there is none."""
        return cls(Undefined(reason), Undefined(reason))


def held_out(panel: ScoredPanel, settings: Sequence[Setting], names: Sequence[str]) -> dict[str, HeldOut]:
    """Return each metric's mean correlation with the gaps of rounds that it has not seen.

    The halves are of the rounds' names, so that all models are split in the same way: what
    candidates of a round bring along is on one side for every model.
    """
    if any(one.drawn is not None for one in panel.scores):
        reason = "candidates are drawn into many rounds, so halves of the rounds share them"
        return dict.fromkeys(names, HeldOut.undefined(reason))
    rounds = sorted({name for one in panel.scores for name in one.rounds})
    if len(rounds) < _FEWEST:
        return dict.fromkeys(names, HeldOut.undefined(f"{len(rounds)} rounds: too few to halve"))
    found: dict[str, list[float]] = {name: [] for name in names}
    without: dict[str, list[NDArray[np.float64]]] = {name: [] for name in names}
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
                without[name].append(_without_each_model(panel, table, name, settings))
        except UndefinedMetricError as error:
            return dict.fromkeys(
                names, HeldOut.undefined(f"a half of the rounds has no correlation: {error}")
            )
    return {
        name: _held_out(float(np.mean(found[name])), np.mean(without[name], axis=0), panel.level)
        for name in names
    }


def _held_out(mean: float, without: NDArray[np.float64], level: float) -> HeldOut:
    try:
        return HeldOut(mean, jackknife_interval(mean, without, level, scale="fisher_z"))
    except UndefinedMetricError as error:
        return HeldOut(mean, Undefined(str(error)))


def _without_each_model(
    panel: ScoredPanel, table: PointTable, metric: str, settings: Sequence[Setting]
) -> NDArray[np.float64]:
    sums = np.stack([model_sums(panel, table, metric, one) for one in settings])
    sums = sums[:, sums[:, :, 0].sum(axis=0) > 0]
    return np.asarray(correlation_of_moments(sums.sum(axis=1, keepdims=True) - sums).mean(axis=0))


def _correlation(table: PointTable, metric: str, setting: Setting) -> float:
    x, y = table.pair(metric, setting.k)
    known = table.select(setting.task, setting.gap) & ~table.left_out & ~np.isnan(x) & ~np.isnan(y)
    return predictive_validity(x[known], y[known]) if known.any() else _nothing()


def _nothing() -> float:
    raise UndefinedMetricError("no point has both the metric and the gap")
