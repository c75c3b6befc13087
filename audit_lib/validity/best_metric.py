"""Which metric foretells gaps best here, and how sure that choice is: picking the best of several is a selection."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.validity import BestMetric, Contender
from audit_lib.errors import UndefinedMetricError
from audit_lib.results import Interval, Undefined
from audit_lib.seeds import generator
from audit_lib.stats.correlations import correlation_of_moments, jackknife_interval
from audit_lib.validity.held_out import SPLITS, HeldOut, held_out
from audit_lib.validity.model_sums import model_sums
from audit_lib.validity.points import PointTable, gap_names
from audit_lib.validity.scored_panel import ScoredPanel
from audit_lib.validity.setting import SEED, Setting
from audit_lib.validity.verdict import sentence_of

Floats = NDArray[np.float64]

DRAWS: Final = 2_000
SURE: Final = 0.95
"""Share of the draws of models in which a metric has to lead, for the choice to count as sure."""

_ON_A_LINE: Final = Undefined("all points lie on a line: no spread to measure")


def best_metric(panel: ScoredPanel, table: PointTable) -> BestMetric:
    """Average each metric's correlations over tasks, gaps and quotas, and say which is highest and how surely."""
    every = [Setting(task, gap, k) for task in panel.tasks for gap in gap_names(panel) for k in panel.quotas]
    contest = _Contest.of(panel, table, every)
    held = held_out(panel, contest.settings, contest.order) if contest.order else {}
    draws = contest.draws()
    shares = _shares(contest.order, draws)
    contenders = [
        Contender(
            metric=name,
            mean_r=contest.mean[name],
            interval=_interval(contest.mean[name], contest.without[name], panel.level, "fisher_z"),
            share_best=shares.get(name),
            held_out=held[name].mean,
            held_out_interval=held[name].interval,
        )
        for name in contest.order
    ]
    for name, reason in contest.lacking.items():
        contenders.append(
            Contender(
                metric=name,
                mean_r=reason,
                interval=reason,
                share_best=None,
                held_out=reason,
                held_out_interval=reason,
            )
        )
    order = contest.order
    alone = Undefined("fewer than two metrics can be compared")
    difference: float | Undefined = alone
    interval: Interval | Undefined = alone
    if len(order) > 1:
        difference, interval = contest.difference(order[0], order[1], panel.level)
    leads = shares.get(order[0], 0.0) if order else 0.0
    best = BestMetric(
        metric=order[0] if order else Undefined("no correlation is defined"),
        runner_up=order[1] if len(order) > 1 else None,
        settings=len(contest.settings),
        undefined_settings=len(every) - len(contest.settings),
        points=int((~table.left_out).sum()),
        models=int(np.unique(table.model[~table.left_out]).size),
        difference=difference,
        interval=interval,
        draws=DRAWS,
        undefined_draws=DRAWS - _defined(draws),
        splits=SPLITS,
        decided=isinstance(interval, Interval)
        and interval.low > 0
        and leads >= SURE
        and _foretells(order[0], held),
        sentence="",
        contenders=tuple(contenders),
    )
    return replace(best, sentence=sentence_of(best))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Contest:
    """The metrics that are defined in the same settings, and their sums by model.

    Parameters
    ----------
    settings : list of Setting
        In which any metric has a correlation.
    order : list of str
        The metrics that have one in all of these, the highest mean first.
    mean : dict of str to float
        Their mean correlation.
    sums : dict of str to ndarray, shape (settings, models, 6)
        Of the models that have points.
    without : dict of str to ndarray, shape (models,)
        Mean correlation without each model.
    lacking : dict of str to Undefined
        The other metrics, and why they are not compared.
    """

    settings: list[Setting]
    order: list[str]
    mean: dict[str, float]
    sums: dict[str, Floats]
    without: dict[str, Floats]
    lacking: dict[str, Undefined]

    @classmethod
    def of(cls, panel: ScoredPanel, table: PointTable, every: list[Setting]) -> _Contest:
        sums = {
            name: np.stack([model_sums(panel, table, name, one) for one in every]) for name in table.metrics
        }
        r = {name: correlation_of_moments(own.sum(axis=1)) for name, own in sums.items()}
        kept = np.flatnonzero([not all(math.isnan(own[i]) for own in r.values()) for i in range(len(every))])
        missing = {name: int(np.isnan(own[kept]).sum()) for name, own in r.items()}
        names = [name for name, n in missing.items() if kept.size and n == 0]
        mean = {name: float(r[name][kept].mean()) for name in names}
        present = np.zeros(len(panel.labels), bool)
        for name in names:
            present |= sums[name][kept, :, 0].sum(axis=0) > 0
        used = {name: sums[name][kept][:, present] for name in names}
        return cls(
            settings=[every[i] for i in kept.tolist()],
            order=sorted(names, key=lambda name: -mean[name]),
            mean=mean,
            sums=used,
            without={
                name: np.asarray(correlation_of_moments(own.sum(axis=1, keepdims=True) - own).mean(axis=0))
                for name, own in used.items()
            },
            lacking={
                name: Undefined(f"undefined in {n} of {kept.size} settings, so not compared")
                for name, n in missing.items()
                if name not in names
            },
        )

    def draws(self) -> Floats:
        """Mean correlation of each metric (in their order) over draws of as many models, with replacement."""
        count = self.sums[self.order[0]].shape[1] if self.order else 0
        if count < 2:
            return np.full((len(self.order), DRAWS), np.nan)
        rng = generator(SEED, "validity", "models")
        weights = rng.multinomial(count, np.full(count, 1 / count), size=DRAWS).astype(float)
        return np.stack(
            [
                correlation_of_moments(np.einsum("bm,smx->bsx", weights, self.sums[name])).mean(axis=1)
                for name in self.order
            ]
        )

    def difference(
        self, best: str, rival: str, level: float
    ) -> tuple[float | Undefined, Interval | Undefined]:
        """Difference of two mean correlations on Fisher's z, where equal steps are equally sure, and its interval."""
        mean = self.mean[best], self.mean[rival]
        without = self.without[best], self.without[rival]
        if max(map(abs, mean)) >= 1 or any((np.abs(own) >= 1).any() for own in without):
            return _ON_A_LINE, _ON_A_LINE
        difference = math.atanh(mean[0]) - math.atanh(mean[1])
        return difference, _interval(difference, np.arctanh(without[0]) - np.arctanh(without[1]), level)


def _foretells(metric: str, held: dict[str, HeldOut]) -> bool:
    """Tell whether a metric is correlated with the gaps of rounds that it has not seen, and none is more so.

    Metric and gap of the same rounds share their noise: models without any bias give a correlation of 0.8.
    """
    interval = held[metric].interval
    means = {name: own.mean for name, own in held.items() if isinstance(own.mean, float)}
    return isinstance(interval, Interval) and interval.low > 0 and means[metric] >= max(means.values())


def _defined(draws: Floats) -> int:
    return int((~np.isnan(draws)).all(axis=0).sum()) if draws.size else 0


def _shares(names: list[str], draws: Floats) -> dict[str, float]:
    """Share of the draws in which each metric is the highest, a tie shared out."""
    if not _defined(draws):
        return {}
    known = draws[:, ~np.isnan(draws).any(axis=0)]
    first = known >= known.max(axis=0) - 1e-12
    return dict(zip(names, (first / first.sum(axis=0)).mean(axis=1).tolist(), strict=True))


def _interval(
    value: float, without: Floats, level: float, scale: Literal["identity", "fisher_z"] = "identity"
) -> Interval | Undefined:
    try:
        return jackknife_interval(value, without, level, scale=scale)
    except UndefinedMetricError as error:
        return Undefined(str(error))
