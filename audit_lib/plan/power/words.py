"""What ``audit plan`` prints of the power: a line a comparison, or a line a rate where the sizes are not known."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from audit_lib.documents.plan import Plan, Power
from audit_lib.results import Undefined


def lines(plan: Plan) -> Iterator[str]:
    """Yield the smallest difference that is found, of each metric and comparison.

    Parameters
    ----------
    plan : Plan
        ``plan.json``.
    """
    basis = plan.power_basis
    if basis is None or not plan.power:
        return
    yield (
        f"power      simulated; found in {plan.thresholds.power:.0%} of audits after adjustment for "
        f"{basis.tests_of_tables} tables and {basis.other_tests} other tests{_assumed(basis.strata_assumed)}"
    )
    if basis.not_simulated is not None:
        yield f"           of independent people: {basis.not_simulated}"
    for (_, rate), entries in groupby(
        sorted(plan.power, key=lambda one: one.rate or 0.0) if basis.not_simulated else plan.power,
        key=lambda one: (_what(one), one.rate),
    ):
        several = list(entries)
        told = (
            "; ".join(f"{one.n} each: {_found(one)}" for one in several)
            if basis.not_simulated is not None
            else _found(several[0])
        )
        yield f"           {_what(several[0])}{_rate(rate)}: {told}"


def _assumed(strata: int | None) -> str:
    """Say that the tests are counted before anybody knows how many strata there are."""
    return "" if strata is None else f" ({strata} strata of each split assumed: measure.power_strata)"


def _what(one: Power) -> str:
    quota = "" if one.quota is None else f" at k = {one.quota}"
    return f"{one.metric}{quota}, one of {one.categories} by {', '.join(one.attributes)}"


def _rate(rate: float | None) -> str:
    return "" if rate is None else f", rate {rate:.2f}"


def _found(one: Power) -> str:
    if isinstance(one.smallest_detectable, Undefined):
        return f"not found ({one.smallest_detectable.reason})"
    return f"{one.smallest_detectable:.3f} +/- {one.monte_carlo_error:.3f}"
