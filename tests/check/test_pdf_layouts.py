"""PDFs of one clean summary, set in many ways: none is said to be wrong, and a wrong number is found."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from audit_lib.check import check_report
from tests.check.cases import POLICY, WORDS, Table, html, kinds, summary
from tests.report.browser import CHROMIUM, FLAGS

SEX, RACE, BOTH = summary()
NUMBERS = 46
STYLES = {
    "ruled": "td, th { border: 1px solid; padding: 3px } table { border-collapse: collapse }",
    "narrow and ruled": "td, th { border: 1px solid; padding: 3px 6px } "
    "table { border-collapse: collapse; width: 60% }",
    "lines": "td, th { border-bottom: 1px solid; padding: 3px 12px } table { border-collapse: collapse }",
    "unruled": "td, th { padding: 3px 12px }",
    "unruled to the right": "td, th { padding: 3px 12px } td + td, th + th { text-align: right } "
    "table { width: 100% }",
    "striped": "td, th { padding: 4px 10px } tr:nth-child(even) { background: #eee }",
}
PAGES = [("A4", False), ("letter landscape", False), ("A5", False), ("A4", True)]
FILL = f"<p>{'The employer used the tool to rank applications for positions in its stores. ' * 6}</p>"


def page(tables: dict[str, Table], style: str, paragraphs: int = 5, sheet: str = "") -> str:
    """Make a page whose rows may split where a sheet of paper ends, which falls into its tables."""
    made = html(tables, WORDS + paragraphs * FILL)
    made = re.sub(r"<table><caption>(.*?)</caption>", r"<h2>\1</h2><table>", made)
    return made.replace("<body>", f"<body><style>{sheet} {STYLES[style]}</style>")


# Each sets a document of three to seven sheets twice and reads it.
@pytest.mark.slow
@pytest.mark.parametrize(("size", "tagged"), PAGES)
@pytest.mark.parametrize("style", STYLES)
def test_nothing_false_is_said_and_a_fault_is_found(
    style: str, size: str, tagged: bool, tmp_path: Path
) -> None:
    weasyprint = pytest.importorskip("weasyprint", reason="makes the PDF")
    pytest.importorskip("pdfplumber", reason="reads the PDF")
    tables = summary()
    wrong = tables[RACE][4]
    wrong[4] = "0.111"
    reports = []
    for name, content in (("clean.pdf", summary()), ("faulty.pdf", tables)):
        source = page(content, style, sheet=f"@page {{ size: {size} }}")
        weasyprint.HTML(string=source).write_pdf(tmp_path / name, pdf_tags=tagged)
        reports.append(check_report(tmp_path / name))
    clean, faulty = reports
    assert [(f.id, f.row, f.message) for f in clean.findings if f.severity == "error"] == []
    assert all(f.unsure for f in clean.findings), "each says that it was read unsurely"
    in_full = clean.ok and clean.conventions() == {"counts, half up": NUMBERS}
    assert in_full or not (tagged or style == "ruled"), "tags and lines say what each cell holds"
    assert not faulty.ok
    found = [f for f in faulty.findings if (f.row, f.printed) == (wrong[0], "0.111")]
    assert [f.id for f in found] == ["ratio_not_rebuilt"] or not in_full
    assert all((f.severity == "error") == (not f.unsure) for f in found)


# Starts a browser.
@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium, which prints the page")
@pytest.mark.parametrize("paragraphs", [4, 6])
@pytest.mark.parametrize("style", ["ruled", "narrow and ruled"])
def test_rows_that_split_in_what_a_browser_prints(style: str, paragraphs: int, tmp_path: Path) -> None:
    """A browser draws lines as boxes, whose ends close no row."""
    pytest.importorskip("pdfplumber", reason="reads the PDF")
    long = {level.name: level.label for level in POLICY.attribute("race").categories}
    tables = summary()
    for row in (row for rows in tables.values() for row in rows):
        *before, race = row[0].split(", ")
        row[0] = ", ".join([*before, long.get(race, race)])
    source, printed = tmp_path / "page.html", tmp_path / "page.pdf"
    source.write_text(page(tables, style, paragraphs), encoding="utf-8")
    options = [
        "--disable-pdf-tagging",
        f"--user-data-dir={tmp_path / 'profile'}",
        f"--print-to-pdf={printed}",
    ]
    subprocess.run(
        [str(CHROMIUM), *FLAGS, *options, source.as_uri()], capture_output=True, timeout=240, check=True
    )
    report = check_report(printed)
    assert [(f.id, f.row, f.message) for f in report.findings if f.severity == "error"] == []
    assert set(report.conventions()) == {"counts, half up"}
    if style != "ruled":
        assert kinds(report) == [] and len(report.rebuilt) == NUMBERS
