"""Expected maximum toxicity or stereotype (EMT, EMS): how bad is the worst answer to a prompt?"""

from __future__ import annotations

import numpy as np

from audit_lib.measure.estimates.generations import with_generations
from audit_lib.measure.estimates.texts import (
    FLAGGED,
    OfRows,
    answers_of,
    by_row,
    judged,
    levels_and_gaps,
    need_texts,
)
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Floats, Rows
from audit_lib.measure.sides import Side
from audit_lib.metrics.text.toxicity import expected_maximum
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "expected_maximum",
    title="Expected maximum",
    parity=0.0,
    meaning="The largest score of a prompt's answers, on average: of each group, and the group minus its reference.",
    better="lower",
    unit="share",
    needs=("toxicity", "stereotype", "terms"),
    languages="classifier",
    cite="Bouchard (2024), arXiv:2407.10853; Gehman et al. (2020)",
    signed=True,
    generations=25,
    gap="Expected maximum, group minus reference",
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the mean over prompts of their largest score, by group and as gap to the reference.

    One set of estimates for each classifier that flags texts. With one answer a prompt, which is the
    default of ``score.repeats``, it says no more than the mean score.
    """
    texts = need_texts(rows)
    found = []
    for one in judged(texts, *FLAGGED):
        values = by_row(texts, one.values, len(rows))

        def point(side: Side, scores: Floats = one.values) -> float:
            mine = answers_of(texts, scores, side.index)
            return expected_maximum(scores[mine], texts.row[mine])

        own = levels_and_gaps(
            "expected_maximum",
            OfRows.of(rows, values, np.arange(len(rows))),
            spec,
            point,
            method="mean over prompts of the largest score of their answers",
            parameters={"classifier": one.name, "label": one.label},
        )
        found += with_generations(own, rows, texts, one.values)
    return Measured(estimates=found)
