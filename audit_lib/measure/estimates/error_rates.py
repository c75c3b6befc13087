"""Gaps of the rate of decisions and of their four error rates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audit_lib.measure.estimates.quotas import NOBODY_QUALIFIED
from audit_lib.measure.inference import compare, gap_of_means
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import Side, Variable, decision_unit
from audit_lib.metrics.error_rates import RateGap
from audit_lib.results import Estimate
from audit_lib.spec import AuditSpec

Flags = NDArray[np.int8]
"""1, 0, or -1 where it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """The share of `event` among the rows of `among`.

    Parameters
    ----------
    kernel : callable
        What computes the gap from outcomes, decisions and the members of the two groups.
    method : str
        The gap in words.
    event, among : callable
        From decisions and true outcomes to what is counted, and of whom: influence values are those of this share.
    of_truth : bool
        Whether it asks for the true outcome; then only rows that have one count.
    """

    kernel: RateGap
    method: str
    event: Callable[[Flags, Flags], NDArray[np.bool_]]
    among: Callable[[Flags, Flags], NDArray[np.bool_]]
    of_truth: bool = True


def rate_gaps(name: str, rows: Rows, spec: AuditSpec, rate: Rate) -> list[Estimate]:
    """Compare a rate of decisions between every group and its reference, of rows with a decision."""
    made, true = rows.decisions.selected, rows.qualified
    reason = NOBODY_QUALIFIED if rate.of_truth and (true < 0).all() else None
    known = (made >= 0) & (true >= 0) if rate.of_truth else made >= 0
    values = np.where(known & rate.among(made, true), rate.event(made, true), np.nan)
    outcomes = true if rate.of_truth else np.zeros_like(made)

    def point(group: Side, reference: Side) -> float:
        index = np.concatenate([group.index, reference.index])
        ours = np.arange(index.size) < group.values.size
        return rate.kernel(outcomes[index], made[index], ours, ~ours)

    variable = Variable.of(rows, values, decision_unit(spec))
    return compare(name, variable, spec, gap_of_means(point), method=rate.method, reason=reason)
