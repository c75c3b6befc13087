"""Jensen-Shannon divergence of two groups' score distributions."""

from __future__ import annotations

from audit_lib.measure.allocation import jensen_shannon_divergence
from audit_lib.measure.inference import Variable, compare, score_unit, undirected
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows import Rows
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec

BINS = 20


@metric("jensen_shannon_divergence")
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the divergence of every group from its reference, over common bins; undirected."""
    scores = Variable.of(rows, rows.score, score_unit(spec))
    distance = undirected(lambda group, reference: jensen_shannon_divergence(group, reference, bins=BINS))
    return Measured(
        estimates=compare(
            "jensen_shannon_divergence", scores, spec, distance,
            method="natural logarithm, common bins of equal width", parameters={"bins": BINS}, flags=("undirected",),
        )
    )  # fmt: skip
