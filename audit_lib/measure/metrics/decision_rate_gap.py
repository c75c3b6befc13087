"""Decision rate gap: difference of the shares of favourable decisions, by whatever rule they were taken."""

from __future__ import annotations

from audit_lib.measure.estimates.error_rates import ErrorRate, rate_gaps
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.metrics.error_rates import decision_rate_gap
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "decision_rate_gap",
    title="Decision rate gap",
    parity=0.0,
    meaning="Demographic parity of decisions: the group's share of favourable ones, minus that of the reference.",
    better="parity",
    unit="share",
    cite="Bouchard (2024), arXiv:2407.10853",
    signed=True,
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the gap of every group against its reference, under the decision rule of the spec.

    Of everybody with a decision; those whose answer is missing are counted with the statuses, and are in no rate.
    """
    rate = ErrorRate(
        kernel=decision_rate_gap,
        method="difference of P(selected)",
        event=lambda made, true: made == 1,
        among=lambda made, true: made >= 0,
        of_truth=False,
    )
    return Measured(estimates=rate_gaps("decision_rate_gap", rows, spec, rate))
