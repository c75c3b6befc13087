"""What people whose true outcome is not known could change: bounds without any assumption, and what chance would give.

Bounds are Manski's: each missing outcome is put where it makes the gap lowest, and where it makes it highest. Their
interval holds all of what the missing outcomes allow. Where the spec says that outcomes are missing at random among
like people, those who are known stand for the others of their kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.estimates.bounded_means import bounded_gap
from audit_lib.measure.rows.scored import Floats, Rows, compact
from audit_lib.measure.sides import ClusterUnit, Side, Variable
from audit_lib.results import Estimate, Interval, MissingOutcomes, Undefined
from audit_lib.spec import AuditSpec
from audit_lib.stats.clusters import difference_interval
from audit_lib.stats.two_sided import variance_of_sums

EventShare = Callable[[NDArray[np.int8]], Floats]
"""From true outcomes to what each row counts in a rate, NaN where it is not one of its people."""

_DISTANCE: Final = (
    "a distance: read false_negative_rate_gap and false_positive_rate_gap, which it is the larger of"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRates:
    """The rates that a metric compares, as functions of the true outcomes.

    Parameters
    ----------
    shares : sequence of callable
        One rate, or two.
    there : ndarray of bool, shape (rows,)
        Rows that have what the metric compares: a decision, or a score.
    made : ndarray of int, shape (rows,)
        What was decided: rows are alike that were decided alike.
    true : ndarray of int8, shape (rows,)
        Outcomes; -1 where they are not known.
    unit : {"application", "round"}
        Independent unit.
    of_two : {"mean", "largest"}
        What is made of the gaps of two rates.
    """

    shares: Sequence[EventShare]
    there: NDArray[np.bool_]
    made: NDArray[np.int8]
    true: NDArray[np.int8]
    unit: ClusterUnit
    of_two: Literal["mean", "largest"] = "mean"

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which rows lack nothing but their outcome."""
        return np.asarray(self.there & (self.true < 0))


def with_missing_outcomes(
    estimates: Sequence[Estimate], rows: Rows, spec: AuditSpec, rates: OutcomeRates
) -> list[Estimate]:
    """Add to each estimate what the missing outcomes of its two groups could change; nothing where none is missing.

    Parameters
    ----------
    estimates : sequence of Estimate
        Of every group against its reference.
    rows : Rows
        The stratum.
    rates : OutcomeRates
        What they are made of.
    """
    if not rates.missing.any():
        return list(estimates)
    ends = [_ends(share, rates) for share in rates.shares]
    return [
        replace(one, missing_outcomes=_of_groups(one.group, one.reference, rows, spec, rates, ends))
        for one in estimates
    ]


def _ends(share: EventShare, rates: OutcomeRates) -> tuple[Floats, Floats]:
    """Return what each row counts where its outcome makes the rate lowest, and where it makes it highest."""
    if_not, if_so = share(np.zeros_like(rates.true)), share(np.ones_like(rates.true))
    # Being no part of a rate of shares lies between a 0 and a 1.
    ways = [np.where(np.isnan(way), 0.5, way) for way in (if_not, if_so)]
    known = np.where(rates.true < 0, np.nan, share(rates.true))
    found = []
    for choose in (np.minimum, np.maximum):
        end = choose(*ways)
        way = np.where(end == ways[0], if_not, if_so)
        found.append(np.where(rates.there, np.where(rates.missing, way, known), np.nan))
    return found[0], found[1]


def _of_groups(
    group: Mapping[str, str],
    reference: Mapping[str, str],
    rows: Rows,
    spec: AuditSpec,
    rates: OutcomeRates,
    ends: Sequence[tuple[Floats, Floats]],
) -> MissingOutcomes:
    ours, theirs = rows.members(group), rows.members(reference)
    bounds: tuple[float, float] | Undefined
    interval: Interval | Undefined
    # With two rates each has half of the error: together they then hold at the level.
    level = 1 - (1 - spec.measure.level) / len(ends)
    try:
        gaps = [
            [_bound(np.where(ours, pair[end], pair[1 - end]), rows, rates, (group, reference), level) for end in (0, 1)]
            for pair in ends
        ]  # fmt: skip
        bounds = _joined([(low[0], high[0]) for low, high in gaps], rates.of_two)
    except UndefinedMetricError as error:
        bounds = interval = Undefined(str(error))
    else:
        reach = [(low[1], high[1]) for low, high in gaps]
        reasons = [one.reason for pair in reach for one in pair if isinstance(one, Undefined)]
        if reasons:
            interval = Undefined(reasons[0])
        else:
            outer = [
                (low.low, high.high)
                for low, high in reach
                if isinstance(low, Interval) and isinstance(high, Interval)
            ]
            least, most = _joined(outer, rates.of_two)
            method = "of all that the missing outcomes allow (Horowitz and Manski)"
            interval = Interval(low=least, high=most, level=spec.measure.level, method=method)
    alike = spec.measure.outcomes_at_random
    at_random, its_interval = (
        (None, None) if alike is None else _at_random((group, reference), rows, spec, rates)
    )
    return MissingOutcomes(
        group=int((rates.missing & ours).sum()), reference=int((rates.missing & theirs).sum()), bounds=bounds,
        interval=interval, at_random=at_random, at_random_interval=its_interval,
    )  # fmt: skip


def _bound(
    values: Floats,
    rows: Rows,
    rates: OutcomeRates,
    cells: tuple[Mapping[str, str], Mapping[str, str]],
    level: float,
) -> tuple[float, Interval | Undefined]:
    """Return a gap of completed outcomes, and its interval."""
    variable = Variable.of(rows, values, rates.unit)
    sides = [variable.side(cell) for cell in cells]
    for name, side in zip(("group", "reference"), sides, strict=True):
        if not side.values.size:
            raise UndefinedMetricError(f"{name}: nobody would be left in the rate")
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    found = bounded_gap((min(low, 0.0), max(high, 1.0)), opposed=True)(sides[0], sides[1], level)
    return found.value, found.interval


def _joined(gaps: Sequence[tuple[float, float]], of_two: Literal["mean", "largest"]) -> tuple[float, float]:
    """Return the ends of one gap, of the mean of two, or of the larger of two distances."""
    if len(gaps) == 1 or of_two == "mean":
        low, high = (math.fsum(ends) / len(gaps) for ends in zip(*gaps, strict=True))
        return low, high
    least = max(0.0 if low <= 0.0 <= high else min(abs(low), abs(high)) for low, high in gaps)
    return least, max(max(abs(low), abs(high)) for low, high in gaps)


def _at_random(
    cells: tuple[Mapping[str, str], Mapping[str, str]], rows: Rows, spec: AuditSpec, rates: OutcomeRates
) -> tuple[float | Undefined, Interval | Undefined]:
    """Return the gap where known outcomes stand for their kind: by group, decision and the spec's columns."""
    kind = rates.made.astype(np.int64) + 1
    for name in spec.measure.outcomes_at_random or ():
        codes = rows.columns[name].codes
        kind = compact(kind * (int(codes.max(initial=0)) + 2) + codes + 1)[0].astype(np.int64)
    variable = Variable.of(rows, np.where(rates.there, kind, -1), rates.unit)
    sides = [variable.side(cell) for cell in cells]
    try:
        values, sums = zip(
            *(_weighted(side, rates, sign) for side, sign in zip(sides, (1, -1), strict=True)), strict=True
        )
        gaps = [ours - theirs for ours, theirs in zip(*values, strict=True)]
        if len(gaps) > 1 and rates.of_two == "largest":
            return max(map(abs, gaps)), Undefined(_DISTANCE)
        value = math.fsum(gaps) / len(gaps)
        spread = variance_of_sums(sums[0], sums[1], sides[0].people, sides[1].people)
        if spread.variance == 0.0:
            return value, Undefined("no value differs within its group: the spread cannot be estimated")
        return value, difference_interval(value, spread, spec.measure.level)
    except UndefinedMetricError as error:
        nothing = Undefined(str(error))
        return nothing, nothing


def _weighted(side: Side, rates: OutcomeRates, sign: int) -> tuple[list[float], Floats]:
    """Return each rate of a side, and the influence on their mean by unit; the reference's counts against it."""
    index = side.index
    true = rates.true[index]
    known, (kind, kinds) = true >= 0, compact(side.values.astype(np.int64))
    there, seen = np.bincount(kind, minlength=kinds), np.bincount(kind[known], minlength=kinds)
    if alone := int(there[seen == 0].sum()):
        raise UndefinedMetricError(
            f"{alone} people without an outcome are like nobody whose outcome is known"
        )
    values, influence = [], np.zeros(index.size)
    for share in rates.shares:
        counted = share(np.where(rates.true < 0, 0, rates.true).astype(np.int8))[index]
        inside = (known & ~np.isnan(counted)).astype(np.float64)
        event = np.where(inside > 0, np.nan_to_num(counted), 0.0)
        means = [np.bincount(kind, np.where(known, one, 0.0), kinds) / seen for one in (event, inside)]
        top, bottom = (float((there * one).sum()) for one in means)
        if bottom == 0.0:
            raise UndefinedMetricError("nobody would be left in the rate")
        rate = top / bottom
        own = (means[0] - rate * means[1])[kind]
        drawn = np.where(known, (there / seen)[kind] * (event - rate * inside - own), 0.0)
        influence += (drawn + own) / bottom / len(rates.shares)
        values.append(rate)
    return values, side.sums(sign * influence)
