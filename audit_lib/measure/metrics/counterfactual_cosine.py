"""Counterfactual cosine similarity (CCS): how alike do the answers mean to be?"""

from __future__ import annotations

from functools import partial

from audit_lib.measure.estimates.texts import judged, need_texts, over_pairs
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.counterfactual_pairs import Pairs
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.rows.texts import ClassifiedAnswers
from audit_lib.metrics.pair_scores import PairScores
from audit_lib.metrics.text.counterfactual import counterfactual_cosine
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "counterfactual_cosine",
    title="Counterfactual cosine similarity",
    parity=1.0,
    meaning="1 is the same meaning to the encoder. Two answers to one prompt differ too: read it against those.",
    better="higher",
    unit="similarity",
    needs=("embedding",),
    languages="classifier",
    paired=True,
    cite="Bouchard (2024), arXiv:2407.10853",
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the mean cosine of the embeddings of each pair, by encoder; texts are embedded as they are."""
    texts = need_texts(rows)
    found = []
    for one in judged(texts, "embedding"):
        found += over_pairs(
            "counterfactual_cosine",
            rows,
            spec,
            partial(_cosines, one),
            method="mean over pairs of the cosine of the embeddings",
            bounds=(-1.0, 1.0),
            parameters={"classifier": one.name},
        )
    return Measured(estimates=found)


def _cosines(one: ClassifiedAnswers, pairs: Pairs) -> PairScores:
    return counterfactual_cosine(one.values[pairs.group], one.values[pairs.reference])
