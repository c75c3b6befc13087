"""Jensen-Shannon divergence of two groups' score distributions."""

from __future__ import annotations

from audit_lib.measure.inference import compare, undirected
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import Side, Variable, score_unit
from audit_lib.metrics.allocation import common_bins, jensen_shannon_divergence
from audit_lib.policies import Policy
from audit_lib.seeds import derive_seed
from audit_lib.spec import AuditSpec
from audit_lib.stats.distances import ErrorDraws, jensen_shannon_errors


@metric(
    "jensen_shannon_divergence",
    title="Jensen-Shannon divergence",
    parity=0.0,
    meaning="A distance of two distributions: above 0 on any sample.",
    better="lower",
    unit="nats",
    columns=("score",),
    cite="Chen, Ji and Evans (2024), arXiv:2408.01285",
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the divergence of every group from its reference, over `measure.bins` common bins; undirected."""
    rows.need_scores()
    bins = spec.measure.bins
    scores = Variable.of(rows, rows.score, score_unit(spec))
    seed = derive_seed(spec.seed, "measure", "jensen_shannon_divergence")

    def error(group: Side, reference: Side) -> ErrorDraws:
        places, n_bins = common_bins(group.values, reference.values, bins)
        a, b = places[: group.values.size], places[group.values.size :]
        return jensen_shannon_errors(a, b, n_bins, group.clusters, reference.clusters, seed=seed)

    distance = undirected(
        lambda group, reference: jensen_shannon_divergence(group, reference, bins=bins), error
    )
    return Measured(
        estimates=compare(
            "jensen_shannon_divergence", scores, spec, distance,
            method="natural logarithm, common bins of equal width", parameters={"bins": bins}, flags=("undirected",),
        )
    )  # fmt: skip
