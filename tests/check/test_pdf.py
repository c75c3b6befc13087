"""PDF summaries: ruled tables and tables without rules, over pages; and PDFs that are none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from audit_lib.check import check_report
from audit_lib.errors import CorruptFileError, InputError
from tests.check.cases import html, kinds, summary

RULED = "td, th { border: 1px solid; padding: 3px }"
LINES = "td, th { border-bottom: 1px solid; padding: 3px 12px }"


def pdf(path: Path, style: str, page: str) -> Path:
    weasyprint = pytest.importorskip("weasyprint", reason="makes the PDF")
    pytest.importorskip("pdfplumber", reason="reads the PDF")
    css = f"@page {{ size: A4 }} table {{ border-collapse: collapse }} tr {{ break-inside: avoid }} {style}"
    weasyprint.HTML(string=page.replace("<body>", f"<body><style>{css}</style>")).write_pdf(path)
    return path


@pytest.mark.parametrize("style", [RULED, LINES])
def test_every_number_is_rebuilt(tmp_path: Path, style: str) -> None:
    report = check_report(pdf(tmp_path / "page.pdf", style, html(summary())))
    assert kinds(report) == []
    assert report.conventions() == {"counts, half up": 46}
    assert (style == LINES) == any("not ruled" in line for line in report.not_checked)


@pytest.mark.parametrize("style", [RULED, LINES])
def test_a_fault_is_found(tmp_path: Path, style: str) -> None:
    tables = summary()
    tables["Race/ethnicity categories"][4][4] = "0.111"
    report = check_report(pdf(tmp_path / "page.pdf", style, html(tables)))
    assert [(f.id, f.row, f.printed) for f in report.findings] == [("ratio_not_rebuilt", "Asian", "0.111")]


NOTED = """<h1>Bias audit</h1><p>1{0}250 individuals were of an unknown category.</p><table>
<tr><th>Sex<th>Number of applicants<sup>b</sup><th>Number selected<th>Selection rate<th>Impact ratio<sup>1</sup></tr>
<tr><td>Male<td>6{0}000<sup>1</sup><td>3{0}300<td>55%*<td>1.00</tr>
<tr><td>Female<sup>a</sup><td>4{0}000<td>1{0}760<td>44%<td>0.80<sup>2</sup></tr></table>"""


@pytest.mark.parametrize("tagged", [True, False])
@pytest.mark.parametrize("style", [RULED, "td, th { padding: 3px 12px }"])
@pytest.mark.parametrize("separator", [",", "\N{NO-BREAK SPACE}", "\N{THIN SPACE}"])
def test_footnote_marks_and_thousands(tmp_path: Path, style: str, separator: str, tagged: bool) -> None:
    """ "Female" with a raised a is not "Femalea", and 0.80 with a raised 2 is not 0.802."""
    weasyprint = pytest.importorskip("weasyprint", reason="makes the PDF")
    pytest.importorskip("pdfplumber", reason="reads the PDF")
    path = tmp_path / "page.pdf"
    page = f"<style>table {{ border-collapse: collapse }} {style}</style>{NOTED.format(separator)}"
    weasyprint.HTML(string=page).write_pdf(path, pdf_tags=tagged)
    report = check_report(path)
    assert report.conventions() == {"counts, half up": 4}
    assert [record.row for record in report.rebuilt] == ["Male", "Female"] * 2
    assert [f.printed for f in report.findings if f.id == "unknown_without_bounds"] == ["1250"]


def test_words_on_a_ratio_above_an_unruled_table_are_not_its_header(tmp_path: Path) -> None:
    words = (
        "<p>0 individuals were of an unknown category.</p><p>impact ratio compared with all applicants</p>"
    )
    page = html({"": summary()["Sex categories"]}, words).replace("<caption></caption>", "")
    report = check_report(pdf(tmp_path / "page.pdf", "td, th { padding: 3px 12px }", page))
    assert report.conventions() == {"counts, half up": 4}


def test_a_broken_pdf(tmp_path: Path) -> None:
    pytest.importorskip("pdfplumber")
    path = tmp_path / "page.pdf"
    path.write_bytes(b"%PDF-1.7\nnothing more")
    with pytest.raises(CorruptFileError, match="does not open"):
        check_report(path)


def test_without_pdfplumber_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pdfplumber", None)
    path = tmp_path / "page.pdf"
    path.write_bytes(b"%PDF-1.7\n")
    with pytest.raises(InputError, match=r"audit-lib\[check\]"):
        check_report(path)


def test_letters_that_the_fonts_lack_do_not_hide_the_rest(tmp_path: Path) -> None:
    """A font that lacks one of the page's letters gets an encoding of its own, which pdfminer does not read."""
    words = html(summary()).replace("Bias audit", "Bias audit of \U00012000 and \ue123")
    path = pdf(tmp_path / "page.pdf", RULED, words)
    assert b"WP-Encod" in path.read_bytes(), "the page has such a font"
    report = check_report(path)
    assert kinds(report) == []
    assert report.conventions() == {"counts, half up": 46}
