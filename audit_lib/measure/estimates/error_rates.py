"""Gaps of the four error rates of decisions, where it is known who is qualified."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from audit_lib.measure.estimates.quotas import NOBODY_QUALIFIED
from audit_lib.measure.inference import Variable, compare, decision_unit, mean_gap
from audit_lib.measure.rows.scored import Rows
from audit_lib.results import Estimate
from audit_lib.spec import AuditSpec


def error_rate_gaps(
    name: str, rows: Rows, spec: AuditSpec, method: str, *, event: NDArray[np.bool_], among: NDArray[np.bool_]
) -> list[Estimate]:
    """Compare the shares of `event` among the rows of `among`.

    Of rows with a decision whose qualification is known.

    Parameters
    ----------
    name, method : str
        The metric, and its rate in words.
    event, among : ndarray of bool, shape (rows,)
        What is counted, and of whom.
    """
    known = (rows.decisions.selected >= 0) & (rows.qualified >= 0)
    values = np.where(known & among, event, np.nan)
    reason = NOBODY_QUALIFIED if (rows.qualified < 0).all() else None
    return compare(
        name, Variable.of(rows, values, decision_unit(spec)), spec, mean_gap, method=method, reason=reason
    )
