"""Average odds gap: are the qualified, and the others, selected as often in one group as in another, on average?"""

from __future__ import annotations

from audit_lib.measure.estimates.odds import average_odds, odds_gaps
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "average_odds_gap",
    title="Average odds gap",
    parity=0.0,
    meaning="Mean of the gaps of the true and the false positive rate; two gaps that cancel give 0.",
    better="parity",
    unit="share",
    columns=("qualified",),
    cite="Bellamy et al. (2018), arXiv:1810.01943",
    signed=True,
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the mean gap of every group against its reference, of rows with a decision and an outcome."""
    method = "mean of the differences of P(selected given qualified) and P(selected given not qualified)"
    return Measured(estimates=odds_gaps("average_odds_gap", rows, spec, average_odds, method=method))
