"""Is a number within what the spec tolerates? Two one-sided tests, by the interval at level 1 - 2 alpha.

A small number of a small sample shows nothing: only an interval that lies inside the tolerance does.
Source of the test: Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, Literal

from audit_lib.errors import SpecError
from audit_lib.measure.metric import METRICS, Measured, record_of
from audit_lib.results import Equivalence, Estimate, Interval, Undefined
from audit_lib.spec import AuditSpec

_BY_GUIDELINE: Final = ("impact_ratio", "scoring_rate_impact_ratio")
"""Metrics that are tables of ratios: the policy says what is too low."""
_AT_MOST_ONE: Final = ("share", "similarity", "AUC", "index")
"""Units in which no value is further than 1 from parity."""
EquivalenceVerdict = Literal["within", "outside"] | Undefined
_DOUBTED: Final = ("unperceived", "uninterpretable")


def check_tolerances(spec: AuditSpec) -> None:
    """Refuse a tolerance that no number could be held against.

    Raises
    ------
    SpecError
        If its metric is not measured, has no parity, is a table of ratios, or could not fail it.
    """
    for name, tolerance in spec.measure.tolerance.items():
        own = name if name in METRICS.names() else name.removesuffix("_gap")
        if own not in spec.measure.metrics:
            raise SpecError(
                f"measure.tolerance: {name} is not in measure.metrics; add it there, or leave it out here"
            )
        if own in _BY_GUIDELINE:
            raise SpecError(
                f"measure.tolerance: {name} is a table of ratios, which the policy's guideline judges; take a "
                "difference, such as decision_rate_gap"
            )
        if record_of(name).parity is None:
            raise SpecError(f"measure.tolerance: {name} has no parity to be near to; leave it out")
        if record_of(name).unit in _AT_MOST_ONE and tolerance >= 1:
            raise SpecError(
                f"measure.tolerance: {name} is never further than 1 from parity, so that nothing could fail a "
                f"tolerance of {tolerance:g}; give one below 1"
            )


def held_to_tolerance(
    name: str, found: Measured, spec: AuditSpec, again: Callable[[AuditSpec], Measured]
) -> Measured:
    """Say of each estimate with a tolerance whether it is within it.

    Parameters
    ----------
    name : str
        The metric.
    found : Measured
        What it gave.
    again : callable
        Measures the same under another spec: intervals at the level that two one-sided tests at alpha need.
    """
    tolerated = spec.measure.tolerance
    if not {name, f"{name}_gap"} & tolerated.keys():
        return found
    level = 1 - 2 * spec.measure.alpha
    wider = spec.model_copy(update={"measure": spec.measure.model_copy(update={"level": level})})
    pairs = zip(found.estimates, again(wider).estimates, strict=True)
    return replace(
        found,
        estimates=[
            replace(one, equivalence=equivalence(one, other.interval, tolerated[one.metric], level))
            if one.metric in tolerated
            else one
            for one, other in pairs
        ],
    )


def equivalence(
    estimate: Estimate, interval: Interval | Undefined, tolerance: float, level: float
) -> Equivalence:
    """Hold an estimate's interval against a tolerance around parity.

    Examples
    --------
    >>> gap = Estimate(metric="decision_rate_gap", value=0.01, interval=Undefined("-"), n=900, method="-")
    >>> def verdict(low, high):
    ...     return equivalence(gap, Interval(low=low, high=high, method="-", level=0.9), 0.05, 0.9).verdict
    >>> verdict(-0.02, 0.04), verdict(0.06, 0.09), verdict(-0.02, 0.06)
    ('within', 'outside', Undefined(reason='the interval reaches beyond the tolerance, and does not lie outside of it'))
    """
    parity = record_of(estimate.metric).parity or 0.0
    verdict = _verdict(estimate, interval, parity - tolerance, parity + tolerance)
    return Equivalence(tolerance=tolerance, level=level, interval=interval, verdict=verdict)


def _verdict(
    estimate: Estimate, interval: Interval | Undefined, low: float, high: float
) -> EquivalenceVerdict:
    if isinstance(estimate.value, Undefined):
        return estimate.value
    if isinstance(interval, Undefined):
        return interval
    if "small_cell" in estimate.flags:
        return Undefined("a group is smaller than the smallest cell of the spec")
    if interval.low > high or interval.high < low:
        return "outside"
    if not low <= interval.low <= interval.high <= high:
        return Undefined("the interval reaches beyond the tolerance, and does not lie outside of it")
    if {*_DOUBTED} & {*estimate.flags}:
        return Undefined(
            "the model did not tell this attribute as it was meant, so a small number shows no equal treatment"
        )
    return "within"
