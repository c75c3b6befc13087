"""Every numeral of a page has a type, says what it is, and stands in a part that names the files that determine it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from fnmatch import fnmatch
from typing import Any, Final

import pytest

from audit_lib.errors import AuditError
from audit_lib.page_transcript import PageText, Transcript, read_transcript, read_visible
from audit_lib.report.content import Content, gather
from audit_lib.report.earlier import earlier_audits
from audit_lib.report.html import render_html
from audit_lib.report.page import make_page, page_in
from audit_lib.report.readings import readings
from audit_lib.report.sources import FILES
from audit_lib.run import Run, StageFolder
from tests.report.runs import signature
from tests.translation.page_runs import RUNS

FAST = ("selection_audit", "hidden_cells", "pairwise", "texts")
CASES = [pytest.param(name, marks=[] if name in FAST else [pytest.mark.slow]) for name in RUNS]
REPEATED: Final = frozenset({"title", "aria-label", "alt", "data-running", "th", "caption"})
"""Names of rows, columns and tables, which other numerals refer to, and what repeats the page's own words."""


def told(page: bytes) -> Transcript:
    return read_transcript(read_visible(page.decode()).transcript)


def content_of(run: Run) -> Content:
    content = gather(run, earlier_audits(run))
    attested = tuple((one.text, one.cite) for one in content.policy.attestations)
    return replace(content, signature=signature(attestations=attested))


def pages(content: Content) -> Iterator[tuple[str, bytes]]:
    for language in ("en", "es"):
        page, _ = page_in(language, content)
        yield f"{language} screen", render_html(page)
        yield f"{language} paper", render_html(page, paper=True)
        yield from readings(content, "5e" * 32, (language,), ("html",)).items()


def unnamed(text: PageText) -> list[str]:
    """Numerals of which the page does not say what they are: not in a named place, a cell, a fact or a drawing."""
    if text.kind in REPEATED or text.of or text.column or text.row:
        return []
    return [one.text for one in text.numerals if not one.of and one.type != "name"]


@pytest.mark.parametrize("name", CASES)
def test_each_says_what_it_is(name: str, run_of) -> None:
    for which, page in pages(content_of(run_of(name))):
        transcript = told(page)
        assert [(one.part, one.words) for one in transcript.texts if unnamed(one)] == [], which
        assert {one.part for one in transcript.texts} - set(transcript.sources) <= {"body"}, which
        assert any(one.of for text in transcript.texts for one in text.numerals), which


def test_a_numeral_of_a_sentence_has_the_name_of_the_place_that_it_fills(run_of) -> None:
    page = render_html(make_page(content_of(run_of("selection_audit"))))
    (lead,) = (one for one in told(page).texts if one.part == "verdict" and "decisions of" in one.words)
    assert [(one.text, one.of) for one in lead.numerals[:3]] == [
        ("400", "total"),
        ("tool-1", "models"),
        ("4", "groups"),
    ]


def test_the_words_of_the_page_stay_whole(run_of) -> None:
    page = render_html(make_page(content_of(run_of("selection_audit")))).decode()
    assert "400 decisions of recorded decisions" in page and "<span data-of" not in page


# --- The files that a part was made from. ---

DOCUMENTS: Final[Mapping[str, str]] = {
    "sample": "sample/sample.json",
    "plan": "plan/plan.json",
    "design": "variants/design.json",
    "validation": "validation/validation.json",
    "metrics": "metrics/metrics.json",
    "journal": "plan/journal.json",
    "planned_at": "plan/_SUCCESS",
    "measured_at": "metrics/_SUCCESS",
    "spec": "plan/spec.json",
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in FAST[:2] else [pytest.mark.slow]) for name in RUNS]
)
def test_a_part_that_changes_with_a_file_names_it(name: str, run_of) -> None:
    # Numbers of the documents are changed one at a time, and the page is made anew: what follows from them is seen.
    rng = random.Random(20)
    content = content_of(run_of(name))
    before = by_part(content)
    changed = 0
    for field, file in DOCUMENTS.items():
        for other in varied(rng, getattr(content, field), 6):
            try:
                after = by_part(replace(content, **{field: other}))
            except (AuditError, ValueError, KeyError, LookupError, ArithmeticError, AssertionError):
                continue  # numbers that no run has
            for part in before.keys() | after.keys():
                if before.get(part, ((), ()))[0] != after.get(part, ((), ()))[0]:
                    changed += 1
                    sources = {*before.get(part, ((), ()))[1], *after.get(part, ((), ()))[1]}
                    assert file in sources, (part, field)
    assert changed > 5


def by_part(content: Content) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Part -> its words, and the files that it names."""
    transcript = told(render_html(make_page(content)))
    parts = dict.fromkeys(one.part for one in transcript.texts if one.part != "body")
    return {
        part: (tuple(one.words for one in transcript.texts if one.part == part), transcript.sources[part])
        for part in parts
    }


def varied(rng: random.Random, document: Any, times: int) -> Iterator[Any]:
    """Yield a document with one of its numbers or days changed, each time another."""
    places = list(leaves(document))
    for place in rng.sample(places, min(times, len(places))):
        with suppress(ValueError):  # a number that no such document has
            yield changed_at(document, place)


def leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return
    if is_dataclass(value):
        for one in fields(value):
            yield from leaves(getattr(value, one.name), (*place, one.name))
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from leaves(one, (*place, key))
    elif isinstance(value, tuple | list):
        for number, one in enumerate(value):
            yield from leaves(one, (*place, number))
    elif hasattr(value, "model_fields"):
        for key in type(value).model_fields:
            yield from leaves(getattr(value, key), (*place, key))
    elif isinstance(value, int | float) or hasattr(value, "year"):
        yield place


def changed_at(value: Any, place: tuple[Any, ...]) -> Any:
    if not place:
        return value.replace(year=value.year - 1) if hasattr(value, "year") else value * 2 + 1
    key, rest = place[0], place[1:]
    if is_dataclass(value):
        return replace(value, **{key: changed_at(getattr(value, key), rest)})
    if isinstance(value, Mapping):
        return {**value, key: changed_at(value[key], rest)}
    if isinstance(value, tuple | list):
        return type(value)(
            changed_at(one, rest) if number == key else one for number, one in enumerate(value)
        )
    return value.model_copy(update={key: changed_at(getattr(value, key), rest)})


@pytest.mark.parametrize("name", CASES)
def test_the_files_are_those_of_the_run(name: str, run_of, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(name)
    read: set[str] = set()

    def recorded(method: Any) -> Any:
        def call(self: StageFolder, *names: Any) -> Any:
            own = self.prefix.removeprefix(f"{run.prefix}/")
            read.update(f"{own}/{file}" for file in names or ("_SUCCESS",))
            return method(self, *names)

        return call

    with monkeypatch.context() as patched:
        for method in ("read", "parquet", "success"):
            patched.setattr(StageFolder, method, recorded(getattr(StageFolder, method)))
        content = gather(run, earlier_audits(run))
    assert {"metrics/metrics.json", "sample/sample.json"} <= read
    files = {file for of in FILES.values() for file in of}
    assert [one for one in sorted(read) if not any(fnmatch(one, file) for file in files)] == []
    there = [one.removeprefix(f"{run.prefix}/") for one in run.list("")]
    named = {file for part in make_page(content).sections for file in part.sources}
    assert [one for one in sorted(named - OF_SOME) if not any(fnmatch(key, one) for key in there)] == []


OF_SOME: Final = {
    "policy", "signoff/*", "plan/earlier.json", "plan/inputs/prompt.template", "plan/journal.json", "store/lock.json",
    "signatures/plan.dsse.json", "scores/*/model.json",
}  # fmt: skip
"""The pack, which the page names with its version, and files that only some runs have."""
