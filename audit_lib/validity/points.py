"""What metrics say of each group of each job, and the gaps that were measured: the points of a study.

The parity gap is of all candidates, and so are the metrics that are compared with it; the opportunity gap is of the
qualified, who competed in the whole pool, and metrics compared with it see the qualified alone (Chen, Ji and Evans,
arXiv:2408.01285).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.validity import Gap, Point
from audit_lib.errors import UndefinedMetricError
from audit_lib.metrics.allocation import (
    earth_movers_distance,
    jensen_shannon_divergence,
    rabbi,
    score_gap,
)
from audit_lib.metrics.pairwise import pairwise_win_gap
from audit_lib.metrics.selection import demographic_parity_gap, equal_opportunity_gap
from audit_lib.results import Undefined
from audit_lib.validity.scored_panel import JobScores, ScoredPanel

GAPS: Final[tuple[Gap, ...]] = ("demographic_parity_gap", "equal_opportunity_gap")
UNDIRECTED: Final = frozenset({"jensen_shannon_divergence", "earth_movers_distance"})
"""Metrics without direction: they are compared with the gap's absolute value."""

GapValue = float | Undefined
Kernel = Callable[[NDArray[Any], NDArray[Any]], float]

_WIN_GAP: Final = "pairwise_win_gap"
_NO_PAIRS: Final = Undefined("no pair was asked about")
_NOBODY_QUALIFIED: Final = "no row says who is qualified"


def metric_names(panel: ScoredPanel) -> tuple[str, ...]:
    """Return the metrics of a panel: of scores, and of pairs where some were asked about."""
    pairs = (_WIN_GAP,) if any(one.pairs is not None for one in panel.scores) else ()
    return ("rabbi", "score_gap", "jensen_shannon_divergence", "earth_movers_distance", *pairs)


def gap_names(panel: ScoredPanel) -> tuple[Gap, ...]:
    """Return the gaps of a panel: that of opportunity where somebody says who is qualified."""
    known = any((one.qualified >= 0).any() for one in panel.scores)
    return GAPS if known else GAPS[:1]


def measured_points(
    panel: ScoredPanel, seen: Sequence[JobScores] | None = None, later: Sequence[JobScores] | None = None
) -> tuple[Point, ...]:
    """Measure each group of each job and model.

    Parameters
    ----------
    panel : ScoredPanel
        What is studied.
    seen, later : sequence of JobScores, optional
        The scores that metrics see, and those that gaps are measured of; all of the panel's for both, unless given.
    """
    seen = panel.scores if seen is None else seen
    later = [one.drawn or one for one in seen] if later is None else later
    return tuple(
        point
        for ours, theirs in zip(seen, later, strict=True)
        for gap in gap_names(panel)
        for point in _points(panel, JobCandidates.of(ours, gap), JobCandidates.of(theirs, gap))
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JobCandidates:
    """The candidates of a job who count for a gap: all, or the qualified.

    Parameters
    ----------
    scores : JobScores
        All candidates.
    counted : ndarray of bool
        Who counts.
    gap : str
        For which gap.
    """

    scores: JobScores
    counted: NDArray[np.bool_]
    gap: Gap

    @classmethod
    def of(cls, scores: JobScores, gap: Gap) -> JobCandidates:
        """Return those who count for a gap."""
        all_count = gap == "demographic_parity_gap"
        counted = np.ones(scores.score.size, bool) if all_count else scores.qualified == 1
        return cls(scores=scores, counted=counted, gap=gap)

    def scored(self, group: int) -> NDArray[np.float64]:
        """Return the scores of a group's members who have one."""
        known = self.counted & (self.scores.group == group) & ~np.isnan(self.scores.score)
        return np.asarray(self.scores.score[known])

    def metrics(self, panel: ScoredPanel) -> list[dict[str, GapValue]]:
        """Return what the metrics say of each compared group."""
        kernels: dict[str, Kernel] = {
            "rabbi": rabbi,
            "score_gap": score_gap,
            "jensen_shannon_divergence": lambda a, b: jensen_shannon_divergence(a, b, bins=panel.bins),
            "earth_movers_distance": earth_movers_distance,
        }
        reference = self.scored(len(panel.compared))
        found = []
        for number in range(len(panel.compared)):
            own = self.scored(number)
            values: dict[str, GapValue] = {
                name: _defined(kernel, own, reference) for name, kernel in kernels.items()
            }
            if _WIN_GAP in metric_names(panel):
                values[_WIN_GAP] = self._win_gap(number)
            found.append(values)
        return found

    def gaps(self, panel: ScoredPanel) -> list[dict[str, GapValue]]:
        """Return the measured gap of each compared group at each quota."""
        found: list[dict[str, GapValue]] = [{} for _ in panel.compared]
        members = [np.flatnonzero(self.scores.group == number) for number in range(len(panel.groups))]
        for k in panel.quotas:
            shares = self.scores.pools.shares(k)
            played = [rows[~np.isnan(shares[rows])] for rows in members]
            reason = None if not np.isnan(shares).all() else self._why_no_gap(k)
            for values, own in zip(found, played[:-1], strict=True):
                undefined = None if reason is None else Undefined(reason)
                values[str(k)] = undefined or _defined(self._gap, shares, own, played[-1])
        return found

    def sizes(self, panel: ScoredPanel) -> list[int]:
        """Return how many of each group have a score, the reference last."""
        return [int(self.scored(number).size) for number in range(len(panel.groups))]

    def _why_no_gap(self, k: int) -> str:
        competing = (self.scores.round >= 0).any()
        return f"no round has {k} scored candidates" if competing else "no round: candidates do not compete"

    def _gap(
        self, shares: NDArray[np.float64], own: NDArray[np.int64], reference: NDArray[np.int64]
    ) -> float:
        if self.gap == "demographic_parity_gap":
            return demographic_parity_gap(shares[own], shares[reference])
        if (self.scores.qualified < 0).all():
            raise UndefinedMetricError(_NOBODY_QUALIFIED)
        return equal_opportunity_gap(
            shares[own], self.counted[own], shares[reference], self.counted[reference]
        )

    def _win_gap(self, group: int) -> GapValue:
        pairs = self.scores.pairs
        if pairs is None:
            return _NO_PAIRS
        own = pairs.group == group
        if self.gap == "equal_opportunity_gap":
            own &= pairs.qualified
        return _defined(pairwise_win_gap, pairs.outcome[own])


def _points(panel: ScoredPanel, seen: JobCandidates, later: JobCandidates) -> Iterator[Point]:
    sizes = seen.sizes(panel)
    measured = zip(panel.compared, sizes[:-1], seen.metrics(panel), later.gaps(panel), strict=True)
    for group, n, metrics, gaps in measured:
        yield Point(
            model=seen.scores.model,
            task=seen.scores.task,
            job=seen.scores.job,
            group=group,
            gap=seen.gap,
            n_group=n,
            n_reference=sizes[-1],
            metrics=metrics,
            gaps=gaps,
        )


def _defined(compute: Callable[..., float], *arguments: Any) -> GapValue:
    try:
        return compute(*arguments)
    except UndefinedMetricError as error:
        return Undefined(str(error))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PointTable:
    """Points as columns, to be chosen from quickly.

    Parameters
    ----------
    task, job, group, gap : ndarray of str
        What each point is of.
    model : ndarray of int
        Place of each point's model in `ScoredPanel.labels`.
    left_out : ndarray of bool
        Whether the point's model answered too many pairs inconsistently.
    metrics : mapping of str to ndarray of float
        NaN where undefined.
    gaps : mapping of int to ndarray of float
        By quota.
    """

    task: NDArray[np.str_]
    job: NDArray[np.str_]
    group: NDArray[np.str_]
    gap: NDArray[np.str_]
    model: NDArray[np.int64]
    left_out: NDArray[np.bool_]
    metrics: Mapping[str, NDArray[np.float64]]
    gaps: Mapping[int, NDArray[np.float64]]

    @classmethod
    def of(cls, panel: ScoredPanel, points: tuple[Point, ...]) -> PointTable:
        """Turn points into columns."""
        excluded = {(one.label, one.task) for one in panel.models if one.left_out_of_validity}
        places = {label: number for number, label in enumerate(panel.labels)}
        return cls(
            task=np.array([p.task for p in points]),
            job=np.array([p.job for p in points]),
            group=np.array([p.group for p in points]),
            gap=np.array([p.gap for p in points]),
            model=np.array([places[p.model] for p in points]),
            left_out=np.array([(p.model, p.task) in excluded for p in points]),
            metrics={
                name: np.array([_number(p.metrics[name]) for p in points]) for name in metric_names(panel)
            },
            gaps={k: np.array([_number(p.gaps[str(k)]) for p in points]) for k in panel.quotas},
        )

    def select(self, task: str, gap: Gap, **fixed: str | None) -> NDArray[np.bool_]:
        """Return which points are of a task and gap, and of a job or group where these are given."""
        chosen = cast(NDArray[np.bool_], (self.task == task) & (self.gap == gap))
        for name, value in fixed.items():
            if value is not None:
                chosen = chosen & (getattr(self, name) == value)
        return chosen

    def pair(self, metric: str, k: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return a metric and the gap at a quota, the gap's absolute value for a metric without direction."""
        gap = self.gaps[k]
        return self.metrics[metric], np.abs(gap) if metric in UNDIRECTED else gap


def _number(value: GapValue) -> float:
    return float("nan") if isinstance(value, Undefined) else value
