"""Our own reports of every kind: nothing is found, every number is rebuilt, and any that is changed is found."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from audit_lib.check import CheckResult, check_document, check_report
from audit_lib.check.document_reader import read_document
from audit_lib.check.grids import Grid, PublishedFile
from audit_lib.check.headers import NUMBERS, has_header, meaning_of
from audit_lib.check.published_tables import tables_of
from audit_lib.policies import policy_names
from audit_lib.report import pdf
from audit_lib.report.blocks import Page
from tests.check.audits import AUDITS, files, under
from tests.check.cases import POLICY
from tests.check.test_mutation import nudged
from tests.report.browser import CHROMIUM, FLAGS

# Rows of few people, and what the page says itself: that no bias audit has all categories. Both are notes.
NOTES = {"exclusions": {"small_cell"}, "few": {"small_cell"}}
# What only the words of a page can say; tables have none.
SAID = {"experiment": {"no_bias_audit"}}
FAST = ("decisions", "suppressed")
changes_cells = pytest.mark.parametrize("most", [30, pytest.param(120, marks=pytest.mark.slow)])
"""How many cells of a file are changed, each in two ways; more are sampled by seed."""


@dataclass(frozen=True)
class Made:
    name: str
    folder: Path
    page: Page
    printed: int
    """Rates and ratios that the statutory tables print."""


def _printed(document: Mapping[str, object]) -> int:
    metrics = document["metrics"]
    assert isinstance(metrics, dict)
    cells = [
        row[key]["value"]
        for table in metrics["tables"]
        for row in table["rows"]
        for key in ("rate", "impact_ratio")
    ]
    return sum(not isinstance(value, dict) for value in cells)


@pytest.fixture(
    scope="module",
    params=[name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in AUDITS],
)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp(request.param)
    artefacts, page = files(request.param, tmp_path_factory.mktemp("run"))
    for name, content in artefacts.items():
        (folder / name).write_bytes(content)
    return Made(request.param, folder, page, _printed(json.loads(artefacts["report.json"])))


@pytest.fixture(scope="module")
def printed(made: Made) -> Path:
    """The page as PDF: made for the tests that read it, as it takes longer than the audit."""
    path = made.folder / "report.pdf"
    path.write_bytes(pdf.render_pdf(made.page))
    return path


def assert_clean(made: Made, report: CheckResult, *warned: str) -> None:
    """Nothing but notes and the named warnings is found, and these are the ones that are meant."""
    assert [f.id for f in report.findings if f.severity == "warning"] == list(warned)
    assert [(f.id, f.column, f.message) for f in report.findings if f.severity == "error"] == []
    notes = NOTES.get(made.name, set()) | (set() if report.format == "csv" else SAID.get(made.name, set()))
    assert {f.id for f in report.findings if f.severity == "note"} == notes
    assert report.conventions() == {"counts, half up": made.printed}


def test_our_page(made: Made) -> None:
    assert made.printed > 5
    assert_clean(made, check_report(made.folder / "report.html", as_of=_today(made)))


@pytest.mark.parametrize("name", policy_names())
def test_a_page_is_asked_for_what_its_own_law_asks(name: str, tmp_path: Path) -> None:
    """A page under another law is no LL144 summary: its numbers are rebuilt, its words are not asked for."""
    run = under(name, tmp_path)
    page = tmp_path / "report.html"
    page.write_bytes(run.stage("report").read("report.html"))
    found = check_report(page)
    assert [(f.id, f.message) for f in found.findings if f.severity != "note"] == []
    assert found.policy.split()[0] == name and set(found.conventions()) == {"counts, half up"}
    assert any("not an LL144 summary: not asked" in line for line in found.not_checked) == (
        name != "nyc_ll144"
    )
    document = read_document(page)
    no_race = tuple(g for g in document.grids if "race" not in g.caption.lower())
    less = check_document(replace(document, grids=no_race), "page").findings
    federal = {"29 CFR 1607.4(B)"}  # which New Jersey takes in
    rules = {"nyc_ll144": {"5-301(b)(3)(ii)"}, "us_ugesp": federal, "new_jersey_13_16": federal}
    assert {f.rule for f in less if f.id == "table_missing"} == rules.get(name, set())


def test_our_tables(made: Made) -> None:
    assert_clean(made, check_report(made.folder / "tables.csv"))


@pytest.mark.slow
@pytest.mark.skipif(pdf.why_no_pdf() is not None, reason=str(pdf.why_no_pdf()))
def test_our_pdf(made: Made, printed: Path) -> None:
    pytest.importorskip("pdfplumber", reason="reads the PDF")
    assert_clean(made, check_report(printed, as_of=_today(made)))


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium, which prints the page")
def test_our_page_as_a_browser_prints_it(made: Made) -> None:
    pytest.importorskip("pdfplumber", reason="reads the PDF")
    page, printed = made.folder / "report.html", made.folder / "printed.pdf"
    profile = made.folder / "profile"
    subprocess.run(
        [str(CHROMIUM), *FLAGS, f"--user-data-dir={profile}", f"--print-to-pdf={printed}", page.as_uri()],
        capture_output=True, timeout=240, check=True,
    )  # fmt: skip
    shutil.rmtree(profile, ignore_errors=True)
    # A browser leaves out the transcript by which every number of our page is held.
    assert_clean(made, check_report(printed, as_of=_today(made)), "transcript_missing")


def _today(made: Made) -> date | None:
    """The day of the audit, whenever the test runs; an experiment is none, and its page gives no such day."""
    said = re.search(r"audit of (\d{4}-\d\d-\d\d)", (made.folder / "report.html").read_text(encoding="utf-8"))
    assert (said is None) == (made.name == "experiment")
    return date.fromisoformat(said[1]) if said else None


def _statutory(document: PublishedFile) -> PublishedFile:
    """The document without tables that check-report does not check, so that a mutation is checked fast."""
    return replace(
        document, grids=tuple(g for g in document.grids if has_header(g) and tables_of([g], POLICY))
    )


def _changed(document: PublishedFile, grid: int, row: int, column: int, text: str) -> PublishedFile:
    rows = [list(cells) for cells in document.grids[grid].rows]
    rows[row][column] = text
    grids = list(document.grids)
    grids[grid] = replace(grids[grid], rows=rows)
    return replace(document, grids=tuple(grids))


def _cells(grid: Grid, *, hidden: bool) -> list[tuple[int, int]]:
    """Rows and columns of the people, shares, rates and ratios of a grid; beside hidden rows, of rates and ratios.

    Nothing else on the page determines numbers of people beside hidden rows: that is what hiding is for.
    """
    determined = {"rate", "ratio"} if hidden else NUMBERS
    columns = [
        i
        for i, text in enumerate(grid.rows[0])
        if meaning_of(text) in determined or (not hidden and text.startswith("table_"))
    ]
    return [(r, c) for r in range(1, len(grid.rows)) for c in columns if re.search(r"\d", grid.rows[r][c])]


def assert_every_change_is_found(made: Made, file: str, most: int) -> None:
    document = read_document(made.folder / file)
    document = _statutory(document)
    if document.text:  # words are checked elsewhere
        document = replace(document, text="", format="csv")
    assert check_document(document, "as made").ok
    hidden = made.name == "suppressed"
    cells = [(g, r, c) for g, grid in enumerate(document.grids) for r, c in _cells(grid, hidden=hidden)]
    assert len(cells) == made.printed if hidden else len(cells) > 100
    rng = np.random.Generator(np.random.PCG64(3))
    chosen = [cells[i] for i in rng.permutation(len(cells))[:most]]
    missed = [
        (document.grids[g].caption, document.grids[g].rows[r][0], document.grids[g].rows[0][c])
        for g, r, c in chosen
        for by in (1, 9)
        if check_document(_changed(document, g, r, c, nudged(document.grids[g].rows[r][c], by)), "changed").ok
    ]
    assert missed == []


@changes_cells
def test_a_changed_number_of_our_page_is_found(made: Made, most: int) -> None:
    assert_every_change_is_found(made, "report.html", most)


@changes_cells
def test_a_changed_number_of_our_tables_is_found(made: Made, most: int) -> None:
    assert_every_change_is_found(made, "tables.csv", most)


@pytest.mark.slow
@pytest.mark.skipif(pdf.why_no_pdf() is not None, reason=str(pdf.why_no_pdf()))
def test_a_changed_number_of_our_pdf_is_found(made: Made, printed: Path) -> None:
    pytest.importorskip("pdfplumber", reason="reads the PDF")
    assert_every_change_is_found(made, printed.name, 120)


def test_a_changed_number_of_unknown_people_is_found(made: Made) -> None:
    """Known and unknown people are the same in the three tables of one place, so each number is determined."""
    document = _statutory(read_document(made.folder / "report.html"))
    stated = [g for g, grid in enumerate(document.grids) if "category in this table is unknown" in grid.notes]
    assert len(stated) == len(document.grids)
    if made.name == "suppressed":
        pytest.skip("beside hidden rows, nothing determines them")
    for g in stated:
        grids = list(document.grids)
        notes = re.sub(r"\d+(?= more were)", lambda found: str(int(found[0]) + 1), grids[g].notes)
        grids[g] = replace(grids[g], notes=notes)
        found = check_document(replace(document, grids=tuple(grids)), "changed").findings
        assert "unknown_does_not_add_up" in [f.id for f in found], grids[g].caption
