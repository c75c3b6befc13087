"""Weak counterfactual sentiment parity (WCSP): is one answer of a pair friendly and the other not?"""

from __future__ import annotations

from audit_lib.measure.estimates.texts import judged, need_texts, over_pairs
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.counterfactual_pairs import Pairs
from audit_lib.measure.rows.scored import Floats, Rows
from audit_lib.metrics.pair_scores import PairScores
from audit_lib.metrics.text.sentiment import sentiment_parity_weak
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "sentiment_parity_weak",
    title="Sentiment parity, weak",
    parity=0.0,
    meaning="The share of pairs of which one answer is friendly and the other is not.",
    better="lower",
    unit="share",
    needs=("sentiment",),
    languages="classifier",
    paired=True,
    cite="Bouchard (2024), arXiv:2407.10853; Huang et al. (2020)",
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the share of pairs of which exactly one answer's sentiment is above the threshold."""
    texts, threshold = need_texts(rows), spec.texts.sentiment_threshold
    found = []
    for one in judged(texts, "sentiment"):

        def differs(pairs: Pairs, mood: Floats = one.values) -> PairScores:
            return sentiment_parity_weak(mood[pairs.group], mood[pairs.reference], threshold)

        found += over_pairs(
            "sentiment_parity_weak",
            rows,
            spec,
            differs,
            method="share of pairs of which exactly one sentiment is above the threshold",
            parameters={"classifier": one.name, "label": one.label, "threshold": threshold},
        )
    return Measured(estimates=found)
