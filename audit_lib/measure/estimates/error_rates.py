"""Gaps of the four error rates of decisions, where it is known who is qualified."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from audit_lib.measure.estimates.quotas import NOBODY_QUALIFIED
from audit_lib.measure.inference import compare, gap_of_means
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import Side, Variable, decision_unit
from audit_lib.metrics.error_rates import RateGap
from audit_lib.results import Estimate
from audit_lib.spec import AuditSpec


def error_rate_gaps(
    name: str,
    rows: Rows,
    spec: AuditSpec,
    kernel: RateGap,
    *,
    method: str,
    event: NDArray[np.bool_],
    among: NDArray[np.bool_],
) -> list[Estimate]:
    """Compare the shares of `event` among the rows of `among`.

    Of rows with a decision whose qualification is known.

    Parameters
    ----------
    name, method : str
        The metric, and its rate in words.
    kernel : callable
        What computes the gap from outcomes, decisions and the members of the two groups.
    event, among : ndarray of bool, shape (rows,)
        What is counted, and of whom: influence values are those of this share.
    """
    selected = rows.decisions.selected
    known = (selected >= 0) & (rows.qualified >= 0)
    values = np.where(known & among, event, np.nan)
    reason = NOBODY_QUALIFIED if (rows.qualified < 0).all() else None

    def point(group: Side, reference: Side) -> float:
        index = np.concatenate([group.index, reference.index])
        ours = np.arange(index.size) < group.values.size
        return kernel(rows.qualified[index], selected[index], ours, ~ours)

    variable = Variable.of(rows, values, decision_unit(spec))
    return compare(name, variable, spec, gap_of_means(point), method=method, reason=reason)
