"""RABBI: does a random member of the group outrank a random one of the reference?"""

from __future__ import annotations

from audit_lib.measure.allocation import rabbi
from audit_lib.measure.inference import compare, score_clusters
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows import Rows
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec
from audit_lib.stats.ranks import rank_index_interval


@metric("rabbi")
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute RABBI of every group against its reference, over the scored rows."""
    clusters, unit = score_clusters(rows, spec)
    return Measured(
        estimates=[
            compare(
                "rabbi", rows, spec, group, reference,
                values=rows.score, clusters=clusters, unit=unit, kernel=rabbi, interval=rank_index_interval,
                method="(wins - losses) / pairs, integer counts",
            )
            for group, reference in spec.groups.comparisons()
        ]
    )  # fmt: skip
