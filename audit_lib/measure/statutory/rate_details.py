"""What is told next to a rate and its ratio: missing-data bounds, shortfall, flip-flop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from audit_lib.documents.rate_tables import AdverseImpact, Bounds, Ends, FlipFlop, Shortfall
from audit_lib.errors import UndefinedMetricError
from audit_lib.metrics.impact import ImpactRow
from audit_lib.policies import Policy
from audit_lib.results import Undefined
from audit_lib.spec import AuditSpec
from audit_lib.stats import missing as stats
from audit_lib.stats.adverse_impact import flip_flop, shortfall
from audit_lib.stats.missing import rate_bounds, ratio_bounds

T = TypeVar("T")

ITSELF = Undefined("the comparator itself")


def bounds(row: ImpactRow, comparator: ImpactRow | Undefined, missing: int) -> Bounds:
    """Bound a rate and its ratio by what `missing` people could change, over the comparator's observed rate."""

    def ratio() -> Ends:
        found = _defined(comparator)
        return _ends(ratio_bounds(row.selected, row.total, missing, found.selected, found.total))

    return Bounds(
        n=missing,
        rate_bounds=_or_reason(lambda: _ends(rate_bounds(row.selected, row.total, missing))),
        ratio_bounds=_or_reason(ratio),
    )


def adverse_impact(
    row: ImpactRow, comparator: ImpactRow | Undefined, spec: AuditSpec, policy: Policy
) -> AdverseImpact:
    """Say what the difference amounts to, and what one selection more would do.

    The shortfall is in people, at the common rate and at the comparator's. What could have been found is in the plan.
    """

    def short() -> Shortfall:
        counts = _counts(row, comparator)
        return Shortfall(pooled=shortfall(*counts), comparator=shortfall(*counts, expected_at="comparator"))

    def flips() -> FlipFlop:
        found = flip_flop(
            *_counts(row, comparator), threshold=policy.guidance.threshold, alpha=spec.measure.alpha
        )
        return FlipFlop(
            below_threshold=found.below_threshold,
            threshold_reverses=found.threshold_reverses,
            significant=found.significant,
            significance_reverses=found.significance_reverses,
            ratio=float(found.ratio),
            ratio_after=None if found.ratio_after is None else float(found.ratio_after),
            p_value=found.p_value,
            p_value_after=found.p_value_after,
        )

    return AdverseImpact(
        shortfall=_or_reason(short),
        flip_flop=_or_reason(flips),
        alpha=spec.measure.alpha,
        method="rows taken as independent",
    )


def _counts(row: ImpactRow, comparator: ImpactRow | Undefined) -> tuple[int, int, int, int]:
    found = _defined(comparator)
    return row.selected, row.total, found.selected, found.total


def _defined(comparator: ImpactRow | Undefined) -> ImpactRow:
    if isinstance(comparator, Undefined):
        raise UndefinedMetricError(comparator.reason)
    return comparator


def _ends(limits: stats.ValueBounds) -> Ends:
    return float(limits.low), None if limits.high is None else float(limits.high)


def _or_reason(work: Callable[[], T]) -> T | Undefined:
    try:
        return work()
    except UndefinedMetricError as error:
        return Undefined(str(error))
