"""Earth mover's distance of two groups' score distributions."""

from __future__ import annotations

from audit_lib.measure.allocation import earth_movers_distance
from audit_lib.measure.inference import Variable, compare, score_unit, undirected
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows import Rows
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric("earth_movers_distance")
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the distance of every group from its reference, in the unit of the scores; undirected."""
    scores = Variable.of(rows, rows.score, score_unit(spec))
    return Measured(
        estimates=compare(
            "earth_movers_distance", scores, spec, undirected(earth_movers_distance),
            method="area between the two distribution functions", flags=("undirected",),
        )
    )  # fmt: skip
