"""The statutory summary, the page for people who are assessed, the card and the badge: what they say, and what not."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from babel.messages.pofile import read_po

from audit_lib import policies
from audit_lib.check import check_report
from audit_lib.documents.card import Card
from audit_lib.policies.clocks import valid_until
from audit_lib.report import pdf
from audit_lib.report.content import Content, gather
from audit_lib.report.readings import is_reading, readings
from audit_lib.report.readings.names import reading_names
from audit_lib.run import Run
from audit_lib.translation import LANGUAGES
from audit_lib.typed_json import decode
from tests.report.axe import assert_accessible, needs_axe
from tests.report.browser import CHROMIUM, dump
from tests.report.golden import scoring_experiment
from tests.report.readings_cases import MANIFEST, STATED, one_position, reported, signed
from tests.report.runs import made as small
from tests.report.runs import signature
from tests.report.test_reading_grade import grade
from tests.report.test_suppress import suppressing
from tests.specs import REPOSITORY

BOTH = ("en", "es")
SCREEN = 844
WORD = re.compile(r"[^\W\d_]{2,}")
COMMON_WORDS = """
    the of and is are was were be been not with for from by on at which that this these those it its as
    or if but than who whom what when where how why people person group groups rate rates ratio ratios
    bias selected scored below above more most fewer other others used use uses tool date data source
    stated missing hidden unknown page summary annex law evidence female white black asian islander
    employer vendor model decision decisions results nobody everybody you your they them their has have
    had does did can cannot may
"""
COMMON = frozenset(WORD.findall(COMMON_WORDS))
needs_pdf = pytest.mark.skipif(pdf.why_no_pdf() is not None, reason=str(pdf.why_no_pdf()))
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
PHONE = """<!doctype html><meta charset=utf-8><body style="margin:0"><iframe id=f src="page.html"
style="width:390px;height:844px;border:0"></iframe><p id="out"></p><script>
f.onload = () => { const d = f.contentDocument, b = d.documentElement;
  out.textContent = JSON.stringify([b.clientWidth, b.scrollWidth, b.scrollHeight,
    ...[...d.querySelectorAll('table')].map(t => t.getBoundingClientRect().top)]) };
</script>"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return reported(one_position(tmp_path_factory.mktemp("one")))


@pytest.fixture(scope="module")
def unsigned(run: Run) -> Content:
    return gather(run)


@pytest.fixture(scope="module")
def files(run: Run) -> dict[str, bytes]:
    return readings(signed(run), MANIFEST, BOTH, ("html", "card"))


def plain(page: bytes) -> str:
    """The words of a page, a line for each piece."""
    body = page.decode()
    body = re.sub(r"<(style|title)\b.*?</\1>", "", body, flags=re.S)
    return re.sub(r"\s*\n\s*", "\n", unescape(re.sub(r"<[^>]*>", "\n", body)))


def flat(page: bytes) -> str:
    """The same on one line; a sentence is not cut by its links."""
    body = re.sub(r"<(style|title)\b.*?</\1>", "", page.decode(), flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


def card(content: Content) -> Card:
    made = readings(content, MANIFEST, ("en",), ("card",))["card.json"]
    return decode(Card, made, "card.json")


def test_the_names_are_those_that_are_foretold(files: dict[str, bytes]) -> None:
    assert sorted(files) == sorted(reading_names(BOTH))
    assert all(map(is_reading, files)) and not is_reading("report.html")


def test_it_has_what_the_rule_asks_of_a_summary(run: Run, files: dict[str, bytes]) -> None:
    said, content = flat(files["summary.html"]), signed(run)
    assert f"Date of the audit {content.measured_at:%Y-%m-%d}" in said  # F01
    assert "Source of the data Historical data of the employer's own use" in said  # F02
    assert f"Explanation of the data {run.spec.source.reason}" in said  # F03
    assert "In use since (distribution date) 2025-11-03" in said  # F08
    assert f"No use after {valid_until(content.policy, content.measured_at.date())}" in said
    assert "Ada Auditor, Independent LLP" in said and "Summary of results of a bias audit" in said
    assert {table.family for table in content.headline} == {"sex", "race_ethnicity", "intersectional"}
    for table in content.headline:  # F04 to F07
        assert f"Category unknown: {table.unknown} more pe" in said
        for row in table.rows:
            cells = rf"{re.escape(row.label)} (?:† )?{row.n} {row.selected} (\S+) (\S+)"
            found = re.search(cells, said)
            assert found is not None, row.label
            if row.n:
                assert abs(float(found[1].rstrip("%")) / 100 - row.selected / row.n) <= 0.0005
    assert MANIFEST in said and 'href="report.html"' in files["summary.html"].decode()


@pytest.mark.parametrize("form", ["html", pytest.param("pdf", marks=[needs_pdf, pytest.mark.slow])])
def test_our_own_check_finds_only_that_decisions_are_made_up(run: Run, form: Any, tmp_path: Path) -> None:
    if form == "pdf":
        pytest.importorskip("pdfplumber")
    made = readings(signed(run), MANIFEST, ("en",), (form,))
    path = tmp_path / f"summary.{form}"
    path.write_bytes(made[f"summary.{form}"])
    found = check_report(path)
    assert len(found.tables) == 3
    (told,) = [one for one in found.findings if one.severity in ("error", "warning")]
    assert told.id == "scores_not_from_tool"
    assert told.printed.startswith("Synthetic decisions")


@pytest.mark.slow
@needs_pdf
@pytest.mark.parametrize("language", BOTH)
def test_it_is_two_pages_and_the_tables_are_on_the_first(
    language: str, run: Run, unsigned: Content, tmp_path: Path
) -> None:
    plumber = pytest.importorskip("pdfplumber")
    name = "summary.pdf" if language == "en" else f"summary.{language}.pdf"
    for content in (signed(run), unsigned):
        made = readings(content, MANIFEST, (language,), ("pdf",))
        assert made == readings(content, MANIFEST, (language,), ("pdf",)), "the same bytes again"
        (tmp_path / name).write_bytes(made[name])
        with plumber.open(tmp_path / name) as document:
            assert len(document.pages) <= 2
            rows = [row for table in document.pages[0].extract_tables() for row in table]
            first = " ".join((document.pages[0].extract_text() or "").split())
        assert rows or first
        for table in content.headline:
            for row in table.rows:
                assert re.search(rf"\b{row.n} {row.selected} \d+\.\d%|\b0 0 ", first), row.label


@needs_browser
@pytest.mark.slow
@pytest.mark.parametrize("language", BOTH)
def test_it_is_three_screens_of_a_phone_and_the_tables_begin_on_the_second(
    language: str, run: Run, unsigned: Content, tmp_path: Path
) -> None:
    for number, content in enumerate((signed(run), unsigned)):
        folder = tmp_path / str(number)
        folder.mkdir()
        page = readings(content, MANIFEST, BOTH, ("html",))[
            "summary.html" if language == "en" else "summary.es.html"
        ]
        (folder / "page.html").write_bytes(page)
        (folder / "phone.html").write_text(PHONE, encoding="utf-8")
        shown = dump(folder / "phone.html").split('<p id="out">')[1].split("</p>")[0]
        width, scrolled, height, first, *others = json.loads(shown)
        assert (width, scrolled) == (390, 390), "nothing lies beyond the screen"
        assert len(others) == 2 and first < SCREEN
        assert height <= 3 * SCREEN


@needs_axe
@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["summary.html", "summary.es.html", "applicant.html"])
def test_axe_finds_nothing(name: str, dark: bool, files: dict[str, bytes], tmp_path: Path) -> None:
    assert_accessible(files[name].decode(), tmp_path, dark)


@pytest.mark.parametrize("name", ["summary.html", "applicant.html"])
def test_it_reads_at_grade_nine(name: str, files: dict[str, bytes], unsigned: Content) -> None:
    for page in (files[name], readings(unsigned, MANIFEST, ("en",), ("html",))[name]):
        lines = [line.strip() for line in plain(page).split("\n")]
        prose = " ".join(line for line in lines if len(line.split()) >= 6 and line[-1] in ".!?")
        assert len(prose.split()) > 100
        assert grade(prose) <= 8.6


@pytest.mark.parametrize("name", ["summary.html", "applicant.html"])
def test_it_reads_at_grade_nine_by_textstat_too(name: str, files: dict[str, bytes]) -> None:
    textstat = pytest.importorskip("textstat", reason="not in the locks: it installs a package `tests`")
    assert textstat.flesch_kincaid_grade(plain(files[name])) <= 9  # tables, labels and digest and all


def test_neither_language_lacks_a_text(run: Run) -> None:
    assert set(BOTH) == set(LANGUAGES)
    for content in (signed(run), gather(run)):
        made = readings(content, MANIFEST, BOTH, ("html",))
        assert not [name for name, page in made.items() if b'<span lang="en">' in page]


def test_the_spanish_pages_have_no_word_of_english(run: Run) -> None:
    """By a list of common words, and by all words that our English texts have and our Spanish ones do not."""
    proper = (  # names of people, companies, places, laws, packs, files and runs, and of the other language
        STATED["employer"], STATED["vendor"], STATED["contact"], "Ada Auditor, Independent LLP", "Modelo Uno",
        "English", "Local Law 144", "demo/decisions.csv", run.key.prefix, MANIFEST, "audit_lib", "nyc_ll144",
        *STATED["website"].values(), "report.es.html", "summary.es.html", "SHA-256",
    )  # fmt: skip
    english, spanish = set(), set()
    catalogue = read_po((REPOSITORY / "audit_lib/translation/es.po").open("rb"))
    for message in catalogue:
        for texts, words in ((message.id, english), (message.string, spanish)):
            for one in (texts,) if isinstance(texts, str) else texts:
                words |= set(WORD.findall(re.sub(r"\{[^}]*\}|`[^`]*`", " ", one).lower()))
    assert len(english) > 1500 < len(spanish)
    foreign = (english - spanish) | COMMON
    for content in (signed(run), gather(run)):
        for name, page in readings(content, MANIFEST, BOTH, ("html", "card")).items():
            if ".es." not in name:
                continue
            said = flat(page)
            for words in proper:
                said = said.replace(words, " ")
            assert not (found := set(WORD.findall(said.lower())) & foreign), (name, found)


def test_a_title_allows_what_signature_independence_and_timeline_allow(run: Run, unsigned: Content) -> None:
    draft = card(unsigned)
    assert draft.title.startswith("Draft calculation") and draft.why_no_audit is not None
    assert (draft.audited, draft.valid_until, draft.status) == (None, None, "not signed")
    said = flat(readings(unsigned, MANIFEST, ("en",), ("html",))["summary.html"])
    assert "Nobody may rely on it as one." in said and "No use after" not in said
    assert "Date of the audit" not in said

    audit = card(signed(run))
    day = signed(run).measured_at.date()
    assert audit.title == "Summary of results of a bias audit" and audit.why_no_audit is None
    assert (audit.audited, audit.valid_until) == (f"{day}", f"{valid_until(unsigned.policy, day)}")

    vendor = gather(run, (), signature(organisation=STATED["vendor"]))
    assert card(vendor).why_no_audit is not None and card(vendor).valid_until is None
    early = replace(signature(), signed_at=signed(run).measured_at - timedelta(days=400))
    assert card(gather(run, (), early)).valid_until is None


def test_nothing_is_claimed_that_the_evidence_does_not_show(
    files: dict[str, bytes], unsigned: Content
) -> None:
    claims = re.compile(
        r"\b(pass(es|ed)?|compl(y|ies|iant|iance)|certified|approved|bias[- ]free|unbiased|fair(ly|ness)?|"
        r"no (evidence of )?(bias|discrimination))\b",
        re.I,
    )
    for page in (*files.values(), *readings(unsigned, MANIFEST, ("en",), ("html", "card")).values()):
        said = flat(page).replace("sets no pass mark", "")
        assert not (found := claims.search(said)), found


def test_the_smallest_ratio_is_that_of_the_tables(run: Run, files: dict[str, bytes]) -> None:
    content = signed(run)
    rows = [
        (row.ratio, -row.n, row.selected, row.label)
        for table in content.headline
        for row in table.rows
        if row.below is not None and row.label != table.comparator
    ]
    ratio, minus_n, selected, _ = min(rows)
    n = -minus_n
    smallest = decode(Card, files["card.json"], "card.json").smallest
    assert smallest is not None
    assert (smallest.ratio, smallest.selected, smallest.n) == (ratio, selected, n)
    label = smallest.label
    assert n in [row.n for table in content.headline for row in table.rows if row.label == label]
    for name in ("card.html", "badge.svg"):
        assert f"{label}, {selected} of {n}" in " ".join(flat(files[name]).split())


def test_badge_and_card_name_what_they_are_of(run: Run, files: dict[str, bytes]) -> None:
    day = signed(run).measured_at.date()
    until = valid_until(signed(run).policy, day)
    for name in ("card.html", "badge.svg"):
        said = flat(files[name])
        for words in (
            "Modelo Uno",
            f"Audit of {day}. Valid until {until}",
            MANIFEST,
            "Summary of results of a bias audit",
        ):
            assert words in said, (name, words)
        assert 'href="https://jobs.example.org/audit"' in files[name].decode()
        assert "<script" not in files[name].decode()
    ET.fromstring(files["badge.svg"])
    assert "Válida hasta el" in flat(files["card.es.html"])


def test_the_page_for_applicants_says_what_the_employer_states(files: dict[str, bytes]) -> None:
    said = flat(files["applicant.html"])
    for words in (
        STATED["employer"], STATED["vendor"], STATED["contact"], STATED["assesses"], STATED["human_review"],
        STATED["notice"]["where"], STATED["notice"]["alternative"], STATED["website"]["requests"], "Modelo Uno",
    ):  # fmt: skip
        assert words in said, words
    assert "not stated" not in said


def test_what_the_employer_does_not_state_is_not_invented(tmp_path: Path) -> None:
    run = small(tmp_path)
    said = flat(readings(gather(run), MANIFEST, ("en",), ("html",))["applicant.html"])
    assert said.count("not stated") >= 9
    for label in ("Questions", "What the employer says about it", "Who uses it", "How long data are kept"):
        assert f"{label} not stated" in said
    assert "@" not in said and "http" not in said


def test_what_is_stated_in_english_only_is_not_on_the_spanish_page(run: Run) -> None:
    spec = run.spec.model_copy(update={"report": run.spec.report.model_copy(update={"translations": None})})
    made = readings(replace(signed(run), spec=spec), MANIFEST, BOTH, ("html",))
    said = made["applicant.es.html"].decode()
    assert "Years of experience" not in said and "our screening tool" not in said
    assert 'declarado solo en inglés: vea <a href="applicant.html">la página en inglés</a>' in said


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    path = one_position(tmp_path, use={"website": None, "notice": None}, report={"distribution_date": None})
    said = flat(readings(signed(reported(path)), MANIFEST, ("en",), ("html",))["summary.html"])
    missing = said.split("What is missing")[1].split("What this does not say")[0]
    assert "Missing: Distribution date" in missing
    assert "duties outside this summary" in missing and "Notice of use" in missing


def test_texts_of_others_are_escaped(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script> & \"'"
    path = one_position(
        tmp_path,
        title=hostile,
        model={"name": hostile},
        use={"employer": hostile, "contact": hostile, "website": {"summary": 'https://x.org/"><script>'}},
    )
    for name, page in readings(signed(reported(path)), MANIFEST, ("en",), ("html", "card")).items():
        assert b"<script" not in page or name == "card.json"
        if name.endswith(".svg"):
            ET.fromstring(page)


def test_what_is_hidden_is_hidden_here_too_and_the_smallest_is_called_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = suppressing(30)
    monkeypatch.setattr(policies, "load_policy", lambda name, *_: pack)
    content = gather(reported(one_position(tmp_path)))
    hidden = sum(row.hidden or row.ratio_hidden for table in content.headline for row in table.rows)
    assert hidden > 5
    made = readings(content, MANIFEST, ("en",), ("html", "card"))
    said = flat(made["summary.html"])
    assert "A smaller one may be among them." in said
    assert f"{hidden} more" in said and f"{hidden} more are hidden, and may be smaller." in flat(
        made["card.html"]
    )
    for table in content.headline:
        for row in table.rows:
            if row.hidden:
                assert re.search(rf"{re.escape(row.label)} hidden hidden hidden hidden", said), row.label


def test_each_kind_of_table_is_named_where_there_are_two(tmp_path: Path) -> None:
    content = gather(scoring_experiment(tmp_path))
    said = flat(readings(content, MANIFEST, ("en",), ("html",))["summary.html"])
    words = said.split("What the tables show")[1]
    assert "Selection rates." in words and "Scoring rates." in words and "scored above the median" in words
    assert "This is an experiment, not a bias audit." in said and "What is missing" not in said


def test_an_audit_without_tables_says_so(tmp_path: Path) -> None:
    run = small(tmp_path, measure={"metrics": ["score_gap"], "strata": [[]]}, report={"policy": "generic"})
    for name, page in readings(gather(run), MANIFEST, BOTH, ("html", "card")).items():
        if name == "summary.html":
            assert "There are no tables of rates." in flat(page)
        if name == "card.html":
            assert "No impact ratio is printed." in flat(page)
