"""No English is left in a page in another language, whatever it tells of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from audit_lib.documents.earlier import EarlierAudit, Smallest
from audit_lib.report.content import gather
from audit_lib.report.html import render_html
from audit_lib.report.page import make_page
from audit_lib.report.page import page_in as page_and_rest
from audit_lib.translation import LANGUAGES, PSEUDO, speaking
from tests.report.runs import signature
from tests.translation.leftover import leftover, own_strings, page_in, shown
from tests.translation.page_runs import RUNS

FAST = {"selection_audit", "hidden_cells", "pairwise", "leakage", "words_exchanged", "texts"}
"""The others are slow together: each makes a run of its own."""
ENGLISH = re.compile(
    r"\b(the|of|and|with|which|is|are|was|were|than|from|this|that|have|each|where|every|those|their|whose|would|"
    r"not|for|by|all|more|less|rows?|answers?|groups?|rates?|score|scores|hidden|undefined)\b",
    re.IGNORECASE,
)
EARLIER = tuple(
    EarlierAudit(
        start=f"{day}T00:00:00+00:00", end=f"{day}T12:00:00+00:00", audited=day, status=status, version=version,
        spec_digest="0" * 64, href=f"../{day}/report.html",
        smallest={"selection": Smallest(
            label="Female", selected=selected, n=100, comparator_selected=50, comparator_n=100
        )},
    )
    for day, selected, version, status in (
        ("2024-01-08", 45, "tool-0", "signed"), ("2025-01-06", 38, "tool-1", "not signed")
    )
)  # fmt: skip
CASES = [pytest.param(name, marks=[] if name in FAST else [pytest.mark.slow]) for name in RUNS]


@pytest.mark.parametrize("name", CASES)
def test_every_text_goes_through_the_catalogue(name: str, run_of) -> None:
    run = run_of(name)
    assert leftover(page_in(PSEUDO, run), own_strings(run)) == []


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
@pytest.mark.parametrize("name", CASES)
def test_no_english_is_left(name: str, language: str, run_of) -> None:
    run = run_of(name)
    own = set(own_strings(run))
    assert [words for words in page_and_rest(language, gather(run))[1] if words not in own] == []
    left = shown(page_in(language, run), own)
    assert [words for words, rest in left.items() if ENGLISH.search(rest)] == []


@pytest.mark.parametrize("name", ["selection_audit", "hidden_cells"])
def test_a_signed_page_with_earlier_audits_goes_through_it_too(name: str, run_of) -> None:
    run = run_of(name)
    with speaking(PSEUDO):
        content = gather(run, EARLIER, signature())
        page = render_html(make_page(content))
    own = {
        *own_strings(run),
        *(words for words, _ in signature().attestations),
        "Ada Auditor",
        "Independent LLP",
    }
    assert leftover(page, own | {"tool-0", "tool-1"}) == []
    assert [words for words in page_and_rest("es", content)[1] if words not in own] == []


def test_a_text_that_is_not_written_through_it_is_found(tmp_path: Path, run_of) -> None:
    run = run_of("words_exchanged")
    page = page_in(PSEUDO, run).replace(b"</main>", b"<p>Left in English by mistake</p></main>")
    assert leftover(page, own_strings(run)) == ["Left in English by mistake"]
