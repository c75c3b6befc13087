"""Demographic parity gap: difference of the shares selected when the best k of each round go forward."""

from __future__ import annotations

from audit_lib.measure.estimates.quotas import quota_gaps
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import Side
from audit_lib.metrics.selection import demographic_parity_gap
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "demographic_parity_gap",
    title="Demographic parity gap",
    parity=0.0,
    meaning="Share of the group among the best k of each round, minus that of the reference.",
    better="parity",
    unit="share",
    columns=("score", "round_id"),
    cite="Chen, Ji and Evans (2024), arXiv:2408.01285",
    signed=True,
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the gap at every quota of the spec, ties split fractionally.

    Rounds in which fewer than k candidates have a score are left out at that k, and counted in the
    parameters (``rounds_left_out``). Candidates of a round compete, so the round is the independent unit.
    A stratum that cuts rounds counts its own candidates by the places they won in the whole round.
    """
    rows.need_scores()
    method = "difference of selected shares, ties split fractionally"

    def point(group: Side, reference: Side) -> float:
        return demographic_parity_gap(group.values, reference.values)

    return Measured(estimates=quota_gaps("demographic_parity_gap", rows, spec, point, method=method))
