"""Equal opportunity gap: as the demographic parity gap, but only the qualified are counted."""

from __future__ import annotations

from audit_lib.measure.estimates.quotas import quota_gaps
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import Side
from audit_lib.metrics.selection import equal_opportunity_gap
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "equal_opportunity_gap",
    title="Equal opportunity gap",
    parity=0.0,
    meaning="The same difference as demographic parity, among the qualified.",
    better="parity",
    unit="share",
    columns=("score", "round_id", "qualified"),
    cite="Chen, Ji and Evans (2024), arXiv:2408.01285",
    signed=True,
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the gap at every quota: the full pool competes, then the qualified of each group are counted."""
    rows.need_scores()
    method = "difference of the qualified's selected shares, ties split fractionally in the full pool"
    qualified = rows.qualified == 1

    def point(group: Side, reference: Side) -> float:
        return equal_opportunity_gap(
            group.values, qualified[group.index], reference.values, qualified[reference.index]
        )

    return Measured(
        estimates=quota_gaps("equal_opportunity_gap", rows, spec, point, method=method, counted=qualified)
    )
