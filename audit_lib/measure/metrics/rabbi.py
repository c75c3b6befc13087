"""RABBI: does a random member of the group outrank a random one of the reference?"""

from __future__ import annotations

from audit_lib.measure.inference import compare, rank_index
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import Variable, score_unit
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "rabbi",
    title="RABBI",
    parity=0.0,
    meaning="Share of pairs that the group wins, minus the share it loses, against the reference; from -1 to 1.",
    better="parity",
    unit="index",
    columns=("score",),
    cite="Chen, Ji and Evans (2024), arXiv:2408.01285",
    signed=True,
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute RABBI of every group against its reference, over the scored rows."""
    rows.need_scores()
    ranks = Variable.of(rows, rows.rank, score_unit(spec))
    return Measured(
        estimates=compare("rabbi", ranks, spec, rank_index, method="(wins - losses) / pairs, integer counts")
    )
