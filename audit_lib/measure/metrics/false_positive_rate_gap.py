"""False positive rate gap: of the unqualified, how many are selected?"""

from __future__ import annotations

from audit_lib.measure.estimates.error_rates import ErrorRate, rate_gaps
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.metrics.error_rates import false_positive_rate_gap
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "false_positive_rate_gap",
    title="False positive rate gap",
    parity=0.0,
    meaning="A difference, the group minus its reference.",
    better="parity",
    unit="share",
    columns=("qualified",),
    cite="Bouchard (2024), arXiv:2407.10853",
    signed=True,
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the gap of every group against its reference. Read it where being selected punishes."""
    rate = ErrorRate(
        kernel=false_positive_rate_gap,
        method="difference of P(selected given not qualified)",
        event=lambda made, true: made == 1,
        among=lambda made, true: true == 0,
    )
    return Measured(estimates=rate_gaps("false_positive_rate_gap", rows, spec, rate))
