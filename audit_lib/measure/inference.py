"""Inference for every metric, in one place: units, clusters, interval, test, small cells, undefined.

Which rows are independent decides every interval. Scores that a model gives one candidate at a time
depend on each other through the application they are versions of; ranks, and places won in a pool,
depend on each other through the round.

Interval and test of a comparison come from the same sums of influence values by cluster, and so agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.statuses import ANSWERED, STATUSES
from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.influence import Influence, is_kept, keep
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import Side, Variable
from audit_lib.metrics.allocation import score_gap
from audit_lib.results import Estimate, Interval, TestResult, Undefined
from audit_lib.spec import AuditSpec
from audit_lib.stats.cells import pair_reason
from audit_lib.stats.clusters import difference_interval, t_test
from audit_lib.stats.distances import ErrorDraws, distance_interval, distance_test
from audit_lib.stats.ranks import index_interval, index_test
from audit_lib.stats.two_sided import SideSums, require_two, variance_of_sides

NOBODY_QUALIFIED: Final = "no row says who is qualified; map the column `qualified`"
_ANSWERED = [STATUSES.index(status) for status in ANSWERED]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared(Estimate):
    """An estimate with its standard error, for what combines estimates.

    Parameters
    ----------
    standard_error : float or Undefined
        Of the estimate on its scale.
    scale : {"identity", "logit"}
        ``logit``: of the rank index x, log((1 + x) / (1 - x)).
    """

    standard_error: float | Undefined
    scale: Literal["identity", "logit"] = "identity"

    @property
    def location(self) -> float | Undefined:
        """The estimate on its scale."""
        if isinstance(self.value, Undefined) or self.scale == "identity":
            return self.value
        if abs(self.value) == 1.0:
            return Undefined("the samples do not overlap: infinite log odds")
        return 2 * math.atanh(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """What an estimator says of two sides."""

    value: float
    interval: Interval | Undefined
    test: TestResult | Undefined
    standard_error: float | Undefined
    scale: Literal["identity", "logit"] = "identity"
    sums: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    """Influence on the value, summed by unit: of the group's rows, and of the reference's."""
    parameters: Mapping[str, int] = field(default_factory=dict)
    """What was counted for these two sides, next to the parameters of the metric."""


Estimator = Callable[[Side, Side, float], Contrast]
PointEstimator = Callable[[Side, Side], float]
"""What a kernel of `audit_lib.metrics` gives for two sides."""


def none_answered(n: int) -> str:
    """Return why a group has no number though it has members."""
    return f"{n} people, none answered" if n != 1 else "1 person, not answered"


def compare(
    name: str,
    variable: Variable,
    spec: AuditSpec,
    estimator: Estimator,
    *,
    method: str,
    parameters: Mapping[str, int | float | str] | None = None,
    flags: tuple[str, ...] = (),
    reason: str | None = None,
) -> list[Estimate]:
    """Compare every group of the spec with its reference.

    Parameters
    ----------
    name : str
        The metric.
    variable : Variable
        What is compared.
    estimator : callable
        (group's side, reference's side, level) -> Contrast; raises UndefinedMetricError where there is none.
        `mean_gap` and `rank_index` are here; any function of two samples will do.
    method : str
        How the value is computed, in words.
    flags : tuple of str
        Marks of the metric, such as ``undirected``.
    reason : str, optional
        Why the metric exists for no group, where that is so.
    """
    comparison = _Comparison(
        name=name, variable=variable, spec=spec, estimator=estimator, method=method, parameters=parameters or {},
        flags=flags, reason=reason, unit_names=variable.unit_names() if is_kept() else None,
    )  # fmt: skip
    found: list[Estimate] = []
    common: tuple[Mapping[str, str], Side] | None = None
    for group, reference in spec.groups.comparisons():
        if common is None or common[0] != reference:  # many groups have one reference
            common = reference, variable.side(reference)
        found.append(comparison.of(group, *common))
    return found


def gap_of_means(point: PointEstimator) -> Estimator:
    """Make an estimator of a difference of means, whose value is what the kernel gives.

    Influence of a row: its deviation from its side's mean, over the side's size.
    """

    def estimator(group: Side, reference: Side, level: float) -> Contrast:
        _require_both(group, reference)
        value = point(group, reference)
        sums = None
        try:
            _require_two_values(group, reference)
            sums = group.above_mean, reference.below_mean
            _require_spread(group, reference)
            require_two(group.present, reference.present)
            found = variance_of_sides(group.moved_up, reference.moved_down)
            interval = difference_interval(value, found, level)
        except UndefinedMetricError as error:
            nothing = Undefined(str(error))
            return Contrast(value=value, interval=nothing, test=nothing, standard_error=nothing, sums=sums)
        deviation = math.sqrt(found.variance)
        test = t_test(value, deviation, found.df, found.clusters, "cluster influence function")
        return Contrast(value=value, interval=interval, test=test, standard_error=deviation, sums=sums)

    return estimator


def mean_gap(group: Side, reference: Side, level: float) -> Contrast:
    """Difference of the means of the values."""
    return gap_of_means(lambda ours, theirs: score_gap(ours.values, theirs.values))(group, reference, level)


def rank_index(group: Side, reference: Side, level: float) -> Contrast:
    """(wins - losses) / pairs of integer ranks; influence of a row: its share of pairs won, centred.

    The value is `rabbi`'s, from the same whole numbers of pairs.
    """
    _require_both(group, reference)
    n, m = group.values.size, reference.values.size
    # Twice the wins of each row, ties once: whole numbers.
    won, lost = reference.standing.twice_won(group.values)
    twice = int(won.sum(dtype=np.int64))
    value = (twice - n * m) / (n * m)
    theta = twice / (2 * n * m)
    sums = None
    try:
        a = group.sums(_centred(won / (2 * m), theta, n))
        b = reference.sums(_centred(1.0 - lost / (2 * n), theta, m))
        sums = (a, b)
        require_two(group.present, reference.present)
        spread = variance_of_sides(
            SideSums.of(a, group.occurs, group.worth), SideSums.of(b, reference.occurs, reference.worth)
        )
        interval = index_interval(theta, spread, level)
        test = index_test(theta, spread)
    except UndefinedMetricError as error:
        nothing = Undefined(str(error))
        return Contrast(
            value=value,
            interval=nothing,
            test=nothing,
            standard_error=nothing,
            scale="logit",
            sums=_doubled(sums),
        )
    deviation: float | Undefined = Undefined("the samples do not overlap: infinite log odds")
    if 0.0 < theta < 1.0:
        deviation = math.sqrt(spread.variance) / (theta * (1 - theta))
    return Contrast(
        value=value,
        interval=interval,
        test=test,
        standard_error=deviation,
        scale="logit",
        sums=_doubled(sums),
    )


def _doubled(
    sums: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Double sums where they are: the index is 2 theta - 1, so that a row moves it twice as far as theta."""
    for one in sums or ():
        one *= 2.0
    return sums


def undirected(
    kernel: Callable[[NDArray[Any], NDArray[Any]], float], error: Callable[[Side, Side], ErrorDraws]
) -> Estimator:
    """Make an estimator of a distance between two samples; `error` draws what bounds its error.

    A distance is never below 0, and in a sample it is above 0 even where the groups do not differ. There
    neither a normal interval nor a bootstrap, which adds its own distance to the sample's, covers it.
    """
    deviation = Undefined(
        "a distance is biased away from 0: no standard error describes it; see its interval"
    )

    def estimator(group: Side, reference: Side, level: float) -> Contrast:
        value = kernel(group.values, reference.values)
        try:
            errors = error(group, reference)
        except UndefinedMetricError as undefined:
            nothing = Undefined(str(undefined))
            return Contrast(value=value, interval=nothing, test=nothing, standard_error=nothing)
        return Contrast(
            value=value,
            interval=distance_interval(value, errors, level),
            test=distance_test(value, errors),
            standard_error=deviation,
        )

    return estimator


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparison:
    """What all comparisons of one metric share."""

    name: str
    variable: Variable
    spec: AuditSpec
    estimator: Estimator
    method: str
    parameters: Mapping[str, int | float | str]
    flags: tuple[str, ...]
    reason: str | None
    unit_names: NDArray[Any] | None

    def of(self, group: Mapping[str, str], reference: Mapping[str, str], b: Side) -> Compared:
        """Compare a group with its reference, whose side is `b`."""
        a = self.variable.side(group)
        value: float | Undefined
        found: Contrast | None = None
        try:
            if self.reason is not None:
                raise UndefinedMetricError(self.reason)
            found = self.estimator(a, b, self.spec.measure.level)
            value, interval, test, error = found.value, found.interval, found.test, found.standard_error
            scale = found.scale
        except UndefinedMetricError as undefined:
            value = interval = test = error = Undefined(str(undefined))
            scale = "identity"
        sides = ((a, group), (b, reference))
        silent = [0 if side.values.size else _unanswered(self.variable.rows, cell) for side, cell in sides]
        if any(silent) and isinstance(value, Undefined) and self.reason is None:
            words = [
                f"{side}: {none_answered(n)}"
                for side, n in zip(("group", "reference"), silent, strict=True)
                if n
            ]
            value = interval = test = error = Undefined("; ".join(words))
        # A side of whom nobody was answered is not small; nothing is known of it.
        sizes = [side.values.size for side, n in zip((a, b), silent, strict=True) if not n]
        small = min(sizes, default=self.spec.measure.small_cell) < self.spec.measure.small_cell
        compared = Compared(
            metric=self.name,
            value=value,
            interval=interval,
            standard_error=error,
            scale=scale,
            n=int(a.values.size + b.values.size),
            n_group=int(a.values.size),
            n_reference=int(b.values.size),
            clusters=int(np.count_nonzero(a.occurs | b.occurs)),
            method=f"{self.method}; clustered by {self.variable.unit}",
            group=dict(group),
            reference=dict(reference),
            stratum=dict(self.variable.rows.levels),
            parameters={**self.parameters, **(found.parameters if found is not None else {})},
            flags=(*self.flags, *(("small_cell",) if small else ())),
            tests=() if isinstance(test, Undefined) else (test,),
        )
        if found is not None and found.sums is not None and self.unit_names is not None:
            keep(
                Influence(
                    estimate=compared, unit=self.variable.unit, names=self.unit_names,
                    group=found.sums[0], reference=found.sums[1], group_rows=a.people, reference_rows=b.people,
                )
            )  # fmt: skip
        return compared


def _unanswered(rows: Rows, cell: Mapping[str, str]) -> int:
    """Return how many rows a cell has where none of them has a score or a decision, else 0."""
    slices = rows.slices(cell)
    for where in slices:
        if np.isin(rows.status[where], _ANSWERED).any() or (rows.decisions.selected[where] >= 0).any():
            return 0
    return sum(where.stop - where.start for where in slices)


def _require_both(group: Side, reference: Side) -> None:
    reason = pair_reason(group.values.size, reference.values.size)
    if reason is not None:
        raise UndefinedMetricError(reason)


def _require_two_values(group: Side, reference: Side) -> None:
    reason = pair_reason(group.values.size, reference.values.size, minimum=2)
    if reason is not None:
        raise UndefinedMetricError(reason)


def _require_spread(group: Side, reference: Side) -> None:
    if all(side.values.min() == side.values.max() for side in (group, reference)):
        raise UndefinedMetricError("no value differs within its group: the spread cannot be estimated")


def _centred(shares: NDArray[np.float64], mean: float, n: int) -> NDArray[np.float64]:
    """Return the influence of shares on their mean, in their place."""
    shares -= mean
    shares /= n
    return shares
