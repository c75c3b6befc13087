"""Sentences as pages write them: verdicts, made-up scores and insiders as auditors are heard, others are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from audit_lib.check import check_report
from tests.check.cases import WORDS, html, kinds, save, summary

SENTENCES: Final[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("wordings.yaml").read_text(encoding="utf-8")
)
FINDING: Final = {
    "verdict": "verdict_given",
    "made_up_scores": "scores_not_from_tool",
    "auditor_not_independent": "auditor_not_independent",
}
# Held-out sentences that are not told right: what words can hear is not everything.
MISSED: Final = {"The model meets the requirements of Local Law 144 and passed."}
CASES: Final = [
    (claim, side, half)
    for claim, sides in SENTENCES.items()
    for side, halves in sides.items()
    for half in halves
]


@pytest.mark.parametrize(("claim", "side", "half"), CASES)
def test_each_sentence_on_a_page(tmp_path: Path, claim: str, side: str, half: str) -> None:
    wrong = set()
    for sentence in SENTENCES[claim][side][half]:
        page = save(
            tmp_path, html({"Sex categories": summary()["Sex categories"]}, f"{WORDS}<p>{sentence}</p>")
        )
        if (FINDING[claim] in kinds(check_report(page))) != (side == "heard"):
            wrong.add(sentence)
    assert wrong - MISSED == set()


def test_there_are_many_of_each() -> None:
    for sides in SENTENCES.values():
        for halves in sides.values():
            assert set(halves) == {"development", "held_out", "fresh", "fresh_2"}
            assert all(len(set(sentences)) == len(sentences) >= 8 for sentences in halves.values())


NAMES = [
    ("Auditor: Acme Hiring, Inc. Vendor: Acme Hiring.", "auditor_not_independent"),
    ("Auditor: Toolmaker LLC. Vendor: Toolmaker, Inc.", "auditor_not_independent"),
    ("Independent auditor: ACME Hiring LLC</p><p>Employer: Acme Hiring", "auditor_not_independent"),
    (
        "The audit was conducted by Acme Hiring. The tool is provided by Acme Hiring Inc.",
        "auditor_not_independent",
    ),
    ("Auditor</p><p>Globex Analytics</p><p>Developed by</p><p>Globex Analytics", "auditor_not_independent"),
    ("Auditor: Acme Assurance. Vendor: Acme Hiring.", "auditor_may_be_related"),
    ("Auditor: Blue Lake Auditors. Vendor: Acme Hiring. Employer: Corner Stores.", ""),
    ("Auditor: New York Audit Partners. Employer: New Horizons.", ""),
    ("The audit was conducted by Blue Lake. The tool was developed by Acme Hiring.", ""),
]


@pytest.mark.parametrize(("words", "kind"), NAMES)
def test_an_auditor_with_the_name_of_the_vendor_or_employer(tmp_path: Path, words: str, kind: str) -> None:
    report = check_report(save(tmp_path, html(summary(), f"{WORDS}<p>{words}</p>")))
    assert kinds(report) == ([kind] if kind else [])


@pytest.mark.parametrize("word", ["provided", "developed", "sold", "made"])
def test_who_provides_the_tool_did_not_audit_it(word: str, tmp_path: Path) -> None:
    """The vendor is named right after the audit of its tool."""
    said = f"Quill Review performed this audit of Sorter, {word} by Acme Works Ltd."
    words = f"<p>{said}</p><p>Vendor: Acme Works Ltd.</p>"
    page = html({"Sex categories": summary()["Sex categories"]}, WORDS + words)
    assert "auditor_not_independent" not in kinds(check_report(save(tmp_path, page)))
    by_vendor = page.replace(
        "Quill Review performed this audit of Sorter,", "The audit was conducted by Acme Works Ltd; it is"
    )
    assert "auditor_not_independent" in kinds(check_report(save(tmp_path, by_vendor)))
