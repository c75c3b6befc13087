"""False negative rate gap: of the qualified, how many are not selected?"""

from __future__ import annotations

from audit_lib.measure.estimates.error_rates import ErrorRate, rate_gaps
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.metrics.error_rates import false_negative_rate_gap
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "false_negative_rate_gap",
    title="False negative rate gap",
    parity=0.0,
    meaning="A difference, the group minus its reference.",
    better="parity",
    unit="share",
    columns=("qualified",),
    cite="Bouchard (2024), arXiv:2407.10853",
    signed=True,
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the gap of every group against its reference. Read it where being selected helps."""
    rate = ErrorRate(
        kernel=false_negative_rate_gap,
        method="difference of P(not selected given qualified)",
        event=lambda made, true: made == 0,
        among=lambda made, true: true == 1,
    )
    return Measured(estimates=rate_gaps("false_negative_rate_gap", rows, spec, rate))
