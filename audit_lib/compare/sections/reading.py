"""How to read a comparison."""

from __future__ import annotations

from audit_lib.documents.comparison import Comparison
from audit_lib.report.blocks import Bullets, Section, text
from audit_lib.translation import t


def reading(document: Comparison) -> list[Section]:
    """Say what the page shows and what it does not."""
    words = (
        t(
            "Every run judged the same applications in the same versions, under the same rules of measurement; they "
            "differ in model, prompt or task only. The digest of what they share is at the top of this page."
        ),
        t(
            "That one interval holds parity and another does not is no test of a difference between two models; "
            "neither is it one that two intervals overlap. The tests between models are in a section of their own."
        ),
        t(
            "A difference between two models in a biased direction says which of them shows more of it here, not that "
            "either is fair."
        ),
        t(
            "Each run has its own evidence: verify it, and compare the manifest's SHA-256 with the one printed here."
        ),
        t(
            "Parts of the audit (positions and other strata) are in comparison.csv, differences.csv and "
            "comparison.json."
        ),
    )
    return [Section("reading", t("How to read it"), (Bullets(tuple(map(text, words))),))]
