"""No English is left in a page in another language, whatever it tells of."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from audit_lib.report.content import gather
from audit_lib.report.page import page_in as page_and_rest
from audit_lib.run import Run
from audit_lib.translation import LANGUAGES, PSEUDO
from tests.translation.leftover import leftover, own_strings, page_in, shown
from tests.translation.page_runs import RUNS

FAST = {"selection_audit", "hidden_cells", "pairwise", "leakage", "words_exchanged", "texts"}
"""The others are slow together: each makes a run of its own."""
ENGLISH = re.compile(
    r"\b(the|of|and|with|which|is|are|was|were|than|from|this|that|have|each|where|every|those|their|whose|would|"
    r"not|for|by|all|more|less|rows?|answers?|groups?|rates?|score|scores|hidden|undefined)\b",
    re.IGNORECASE,
)
CASES = [pytest.param(name, marks=[] if name in FAST else [pytest.mark.slow]) for name in RUNS]


@pytest.fixture(scope="module")
def run_of(tmp_path_factory: pytest.TempPathFactory):
    @cache
    def made(name: str) -> Run:
        return RUNS[name](tmp_path_factory.mktemp(name))

    return made


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


def test_a_text_that_is_not_written_through_it_is_found(tmp_path: Path, run_of) -> None:
    run = run_of("words_exchanged")
    page = page_in(PSEUDO, run).replace(b"</main>", b"<p>Left in English by mistake</p></main>")
    assert leftover(page, own_strings(run)) == ["Left in English by mistake"]
