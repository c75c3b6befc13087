"""Score gap: difference of mean scores."""

from __future__ import annotations

from audit_lib.measure.estimates.weighted import weighted_gaps
from audit_lib.measure.inference import compare, mean_gap
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import Variable, score_unit
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "score_gap",
    title="Score gap",
    parity=0.0,
    meaning="Mean score of the group minus that of the reference.",
    better="parity",
    unit="score",
    columns=("score",),
    cite="Chen, Ji and Evans (2024), arXiv:2408.01285",
    signed=True,
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the score gap of every group against its reference, over the scored rows."""
    rows.need_scores()
    scores = Variable.of(rows, rows.score, score_unit(spec))
    if rows.weights is not None:
        found = weighted_gaps(
            "score_gap", scores, spec, method="difference of means by sampling weights", rates=False
        )
        return Measured(estimates=found)
    return Measured(estimates=compare("score_gap", scores, spec, mean_gap, method="difference of means"))
