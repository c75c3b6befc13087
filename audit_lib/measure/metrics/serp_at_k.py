"""SERP-K: shared items, those at the top of the list weighing most."""

from __future__ import annotations

from audit_lib.measure.estimates.texts import need_texts, over_pairs
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.metrics.recommendation import serp_at_k
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "serp_at_k",
    title="SERP at K",
    parity=1.0,
    meaning="1 is the same items, those at the top weighing most.",
    better="higher",
    unit="similarity",
    needs=("lists",),
    languages="any",
    paired=True,
    cite="Bouchard (2024), arXiv:2407.10853; Tomlein et al. (2021)",
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute it over the counterfactual pairs of every group and its reference; 1 is identical lists."""
    texts, k = need_texts(rows), spec.generation.items or 1
    return Measured(
        estimates=over_pairs(
            "serp_at_k",
            rows,
            spec,
            lambda pairs: serp_at_k(
                texts.items[pairs.group].tolist(), texts.items[pairs.reference].tolist(), k
            ),
            method="mean over pairs of shared items weighted by place, the smaller of both directions",
            parameters={"items": k},
        )
    )
