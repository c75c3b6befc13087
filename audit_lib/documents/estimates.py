"""What readers ask of an estimate, hidden or not: its number, its limits, and its p-values."""

from __future__ import annotations

from audit_lib.documents.metrics import Heterogeneity
from audit_lib.documents.rate_tables import PICKED, HiddenEstimate
from audit_lib.results import Estimate, Interval, Undefined

AnyEstimate = Estimate | HiddenEstimate


def defined(value: float | Undefined | None) -> float | None:
    """Return a number, or None where there is none.

    Examples
    --------
    >>> defined(0.5), defined(Undefined("nobody"))
    (0.5, None)
    """
    return None if isinstance(value, Undefined) else value


def limits(interval: Interval | Undefined | None) -> Interval | None:
    """Return an interval, or None where there is none."""
    return None if isinstance(interval, Undefined) else interval


def interval_method(estimate: AnyEstimate) -> str:
    """Say how the interval was made; ``none`` where there is none."""
    return "none" if isinstance(estimate.interval, Undefined) else estimate.interval.method


def first_p(estimate: AnyEstimate) -> float | None:
    """Return the p-value of the first test of an estimate; None where there is none."""
    return defined(next((test.p_value for test in estimate.tests), None))


def fixed_p(estimate: AnyEstimate) -> float | None:
    """Return the p-value of the first test that holds the comparator fixed; None where there is none."""
    return defined(next((test.p_value for test in estimate.tests if test.name != PICKED), None))


def adjusted_p(entry: AnyEstimate | Heterogeneity) -> float | None:
    """Return the p-value that is adjusted for the number of tests; None where there is none."""
    if isinstance(entry, HiddenEstimate) or entry.multiplicity is None:
        return None
    return defined(entry.multiplicity.holm)
