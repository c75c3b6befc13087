"""Counterfactual ROUGE-L: how alike are the words of the answers to a group and to its reference?"""

from __future__ import annotations

from audit_lib.measure.estimates.texts import word_similarity
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.metrics.text.counterfactual import counterfactual_rouge_l
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "counterfactual_rouge_l",
    title="Counterfactual ROUGE-L",
    parity=1.0,
    meaning="1 is identical words. Two answers to one prompt differ too: read it against those.",
    better="higher",
    unit="similarity",
    needs=("texts",),
    languages="words",
    paired=True,
    cite="Bouchard (2024), arXiv:2407.10853; Lin (2004)",
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute it over the counterfactual pairs of every group and its reference, protected words masked.

    1 is identical. Two answers to one and the same prompt are not alike either: read it against those.
    Where there is nothing to mask, the estimate is marked ``unmasked``.
    """
    method = "mean over pairs of the F measure of the longest common subsequence"
    return Measured(
        estimates=word_similarity("counterfactual_rouge_l", rows, spec, counterfactual_rouge_l, method)
    )
