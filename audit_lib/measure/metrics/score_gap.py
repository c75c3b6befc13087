"""Score gap: difference of mean scores."""

from __future__ import annotations

from audit_lib.measure.allocation import score_gap
from audit_lib.measure.inference import compare, score_clusters
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows import Rows
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec
from audit_lib.stats.clusters import mean_difference


@metric("score_gap")
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the score gap of every group against its reference, over the scored rows."""
    clusters, unit = score_clusters(rows, spec)
    return Measured(
        estimates=[
            compare(
                "score_gap", rows, spec, group, reference,
                values=rows.score, clusters=clusters, unit=unit, kernel=score_gap, interval=mean_difference,
                method="difference of means",
            )
            for group, reference in spec.groups.comparisons()
        ]
    )  # fmt: skip
