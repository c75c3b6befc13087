"""PRAG-K: are pairs of items ranked alike for a group and its reference?"""

from __future__ import annotations

from audit_lib.measure.estimates.texts import need_texts, over_pairs
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.metrics.recommendation import prag_at_k
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "prag_at_k",
    title="PRAG at K",
    parity=1.0,
    meaning="1 is the same items in the same order.",
    better="higher",
    unit="similarity",
    needs=("lists",),
    languages="any",
    paired=True,
    cite="Bouchard (2024), arXiv:2407.10853; Beutel et al. (2019)",
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute it over the counterfactual pairs of every group and its reference; 1 is identical lists."""
    texts, k = need_texts(rows), spec.generation.items or 1
    return Measured(
        estimates=over_pairs(
            "prag_at_k",
            rows,
            spec,
            lambda pairs: prag_at_k(
                texts.items[pairs.group].tolist(), texts.items[pairs.reference].tolist(), k
            ),
            method="mean over pairs of pairs of items ranked alike, the smaller of both directions",
            parameters={"items": k},
        )
    )
