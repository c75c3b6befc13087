"""Gaps of two rates at once: of those that are truly qualified, and of those that are not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.parameters import CLASS, WITHOUT_DECISION, WITHOUT_OUTCOME
from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.estimates.bounded_means import bounded_mean, end_of, turned
from audit_lib.measure.estimates.error_rates import all_labels
from audit_lib.measure.estimates.missing_outcomes import EventShare, OutcomeRates, with_missing_outcomes
from audit_lib.measure.inference import Contrast, Estimator, compare, undirected
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import Side, Variable
from audit_lib.metrics.error_rates import average_odds_gap, equalised_odds_gap
from audit_lib.results import Estimate, Interval, Undefined
from audit_lib.spec import AuditSpec
from audit_lib.stats.clusters import difference_interval, t_test
from audit_lib.stats.distances import ErrorDraws
from audit_lib.stats.largest_gap import largest_gap_errors
from audit_lib.stats.two_sided import variance_of_sums

_FLAT = "all people of a rate are decided alike: no spread to estimate"


def odds_gaps(
    name: str, rows: Rows, spec: AuditSpec, estimator: Estimator, *, method: str, flags: tuple[str, ...] = ()
) -> list[Estimate]:
    """Compare decisions given outcomes between every group and its reference; of each class too, where there are some.

    The estimator's values are 2 * outcome + decision, of the rows that have both.
    """
    estimates: list[Estimate] = []
    for labels in all_labels(rows, spec, of_truth=True):
        known = (labels.made >= 0) & (labels.true >= 0)
        codes = np.where(known, 2 * labels.true + labels.made, -1).astype(np.int8)
        parameters: dict[str, int | float | str] = {} if labels.of is None else {CLASS: labels.of}
        parameters[WITHOUT_DECISION] = int((labels.made < 0).sum())
        parameters[WITHOUT_OUTCOME] = int(((labels.made >= 0) & (labels.true < 0)).sum())
        reason = labels.unknown if (labels.true < 0).all() else None
        found = compare(
            name, Variable.of(rows, codes, labels.unit), spec, estimator, method=method, parameters=parameters,
            flags=flags, reason=reason,
        )  # fmt: skip
        rates = OutcomeRates(
            shares=[_share(labels.made, among) for among in (1, 0)], there=labels.made >= 0, made=labels.made,
            true=labels.true, unit=labels.unit, of_two="largest" if "undirected" in flags else "mean",
        )  # fmt: skip
        estimates += found if reason is not None else with_missing_outcomes(found, rows, spec, rates)
    return estimates


def _share(made: NDArray[np.int8], among: int) -> EventShare:
    """Return the share of the selected among those of one outcome."""
    return lambda true: np.where(true == among, made == 1, np.nan).astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rate:
    """P(selected) among the people of one side who have one outcome."""

    side: Side
    members: NDArray[np.bool_]
    gap: int
    """0 of the true positive rate, 1 of the false one."""
    sign: int
    """1 of the group, -1 of the reference."""

    @property
    def values(self) -> NDArray[np.float64]:
        return (self.side.values[self.members] % 2).astype(np.float64)

    @property
    def clusters(self) -> NDArray[np.int32]:
        return self.side.clusters[self.members]

    @property
    def end(self) -> int | None:
        """At which bound all values lie, if they do."""
        return end_of(self.values, (0.0, 1.0))

    def sums(self) -> NDArray[np.float64]:
        """Influence on the gap, by unit."""
        values = self.values
        influence = self.sign * (values - float(values.mean())) / values.size
        return np.bincount(self.clusters, influence, self.side.units).astype(np.float64, copy=False)


def _rates(group: Side, reference: Side) -> list[_Rate]:
    return [
        _Rate(side=side, members=(side.values >= 2) == (gap == 0), gap=gap, sign=sign)
        for side, sign in ((group, 1), (reference, -1))
        for gap in (0, 1)
    ]


def average_odds(group: Side, reference: Side, level: float) -> Contrast:
    """Half of the sum of both gaps, which is linear in the four rates.

    Where a rate is 0 or 1 in all its people it has limits and no spread: the interval is then MOVER's from the limits
    of the four rates, whose reaches are added where a unit has people in several of them.
    """
    value = average_odds_gap(*_columns(group.values, reference.values))
    rates = _rates(group, reference)
    ours, theirs = (sum((one.sums() for one in rates if one.sign == sign), np.zeros(group.units)) / 2
                    for sign in (1, -1))  # fmt: skip
    if any(one.end is not None for one in rates):
        return _from_limits(value, rates, level)
    try:
        found = variance_of_sums(ours, theirs, group.people, reference.people)
        interval = difference_interval(value, found, level)
    except UndefinedMetricError as error:
        nothing = Undefined(str(error))
        return Contrast(
            value=value, interval=nothing, test=nothing, standard_error=nothing, sums=(ours, theirs)
        )
    deviation = math.sqrt(found.variance)
    test = t_test(value, deviation, found.df, found.clusters, "cluster influence function")
    return Contrast(value=value, interval=interval, test=test, standard_error=deviation, sums=(ours, theirs))


def equalised_odds(seed: int) -> Estimator:
    """Make an estimator of the larger of both gaps, a distance: above 0 on any sample."""

    def error(group: Side, reference: Side) -> ErrorDraws:
        rates = _rates(group, reference)
        ours, theirs = (
            np.column_stack([one.sums() for one in rates if one.sign == sign]) for sign in (1, -1)
        )
        # A rate of 0 can only be too low, and one of 1 too high; the reference's counts against the gap.
        flat = [
            (one.gap, one.sign * (1 if one.end == 1 else -1), int(np.unique(one.clusters).size))
            for one in rates
            if one.end is not None
        ]
        return largest_gap_errors(ours, theirs, group.people, reference.people, flat, seed=seed)

    return undirected(lambda ours, theirs: equalised_odds_gap(*_columns(ours, theirs)), error)


def _columns(group: NDArray[Any], reference: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Outcome, decision and members, as the kernels take them, from the values of both sides."""
    codes = np.concatenate([group, reference])
    ours = np.arange(codes.size) < group.size
    return codes >= 2, codes % 2 == 1, ours, ~ours


def _from_limits(value: float, rates: list[_Rate], level: float) -> Contrast:
    cells = [np.unique(one.clusters, return_inverse=True) for one in rates]
    held = np.concatenate([units for units, _ in cells])
    added = np.unique(held).size < held.size

    def reaches(wanted: float) -> Iterator[tuple[float, float]]:
        for one, (units, own) in zip(rates, cells, strict=True):
            values = one.values
            found = bounded_mean(values, own, units.size, wanted, (0.0, 1.0)).interval
            if isinstance(found, Undefined):
                raise UndefinedMetricError(found.reason)
            below, above = float(values.mean()) - found.low, found.high - float(values.mean())
            yield (below / 2, above / 2) if one.sign == 1 else (above / 2, below / 2)

    def at(wanted: float) -> Interval:
        below, above = zip(*reaches(wanted), strict=True)
        if added:
            method = "limits of four rates, added up"
            return Interval(low=value - sum(below), high=value + sum(above), level=wanted, method=method)
        low, high = value - math.hypot(*below), value + math.hypot(*above)
        return Interval(low=low, high=high, level=wanted, method="MOVER of the limits of four rates")

    nothing = Undefined(_FLAT)
    try:
        interval = at(level)
    except UndefinedMetricError as error:
        undefined = Undefined(str(error))
        return Contrast(value=value, interval=undefined, test=undefined, standard_error=undefined)
    test = turned(at, value, np.unique(held).size, "added_limits_test" if added else "mover_test")
    return Contrast(value=value, interval=interval, test=test, standard_error=nothing)
