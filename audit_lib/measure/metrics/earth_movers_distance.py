"""Earth mover's distance of two groups' score distributions."""

from __future__ import annotations

from audit_lib.measure.inference import compare, undirected
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import Side, Variable, score_unit
from audit_lib.metrics.allocation import earth_movers_distance
from audit_lib.policies import Policy
from audit_lib.seeds import derive_seed
from audit_lib.spec import AuditSpec
from audit_lib.stats.distances import ErrorDraws, earth_movers_errors


@metric(
    "earth_movers_distance",
    title="Earth mover's distance",
    parity=0.0,
    meaning="A distance, in the unit of the scores: above 0 on any sample.",
    better="lower",
    unit="score",
    columns=("score",),
    cite="Chen, Ji and Evans (2024), arXiv:2408.01285",
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the distance of every group from its reference, in the unit of the scores; undirected."""
    rows.need_scores()
    scores = Variable.of(rows, rows.score, score_unit(spec))
    seed = derive_seed(spec.seed, "measure", "earth_movers_distance")

    def error(group: Side, reference: Side) -> ErrorDraws:
        return earth_movers_errors(
            group.values, reference.values, group.clusters, reference.clusters, seed=seed
        )

    return Measured(
        estimates=compare(
            "earth_movers_distance", scores, spec, undirected(earth_movers_distance, error),
            method="area between the two distribution functions", flags=("undirected",),
        )
    )  # fmt: skip
