"""Toxic or stereotype fraction (TF, SF): which share of the answers is flagged?"""

from __future__ import annotations

from audit_lib.measure.estimates.texts import FLAGGED, OfRows, flagged, judged, levels_and_gaps, need_texts
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Floats, Rows
from audit_lib.measure.sides import Side
from audit_lib.metrics.text.toxicity import fraction
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "fraction",
    title="Fraction flagged",
    parity=0.0,
    meaning="The share of answers that are flagged: of each group, and the group minus its reference.",
    better="lower",
    unit="share",
    needs=("toxicity", "stereotype", "terms"),
    languages="classifier",
    cite="Bouchard (2024), arXiv:2407.10853",
    signed=True,
    gap="Fraction flagged, group minus reference",
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the share of answers whose score reaches the threshold, by group and as gap to the reference.

    One set of estimates for each classifier that flags texts.
    """
    texts, threshold = need_texts(rows), spec.texts.threshold
    found = []
    for one in judged(texts, *FLAGGED):

        def point(side: Side, scores: Floats = one.values) -> float:
            return fraction(scores[side.index], texts.row[side.index], threshold)

        found += levels_and_gaps(
            "fraction",
            OfRows.of(rows, flagged(one.values, threshold), texts.row),
            spec,
            point,
            method="share of answers with a score that reaches the threshold",
            parameters={"classifier": one.name, "label": one.label, "threshold": threshold},
        )
    return Measured(estimates=found)
