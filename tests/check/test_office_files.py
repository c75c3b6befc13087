"""DOCX and XLSX: read like pages, and what is made to harm a reader is refused, never fetched, never computed."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from audit_lib.check import check_report
from audit_lib.check.document_reader import read_document
from audit_lib.check.office_package import open_package
from audit_lib.errors import CorruptFileError, InputError
from benchmarks.check_report_markup import docx
from benchmarks.check_report_summaries import make

MAIN = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def zipped(parts: dict[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in parts.items():
            package.writestr(name, content)
    return out.getvalue()


def document(body: str, **parts: str) -> bytes:
    whole = f'<w:document xmlns:w="{MAIN}"><w:body>{body}</w:body></w:document>'
    return zipped({"word/document.xml": whole} | parts)


def cell(text: str, facts: str = "") -> str:
    return f"<w:tc><w:tcPr>{facts}</w:tcPr><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>"


def row(*cells: str) -> str:
    return f"<w:tr>{''.join(cells)}</w:tr>"


def saved(folder: Path, content: bytes, name: str = "summary.docx") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("seed", [0, 4, 12])
def test_a_document_of_word_is_checked_like_a_page(seed: int, tmp_path: Path) -> None:
    report = check_report(saved(tmp_path, docx(make(seed, 0))))
    assert report.format == "docx" and len(report.tables) == 3
    assert set(report.conventions()) == {"counts, half up"}
    assert [f.id for f in report.findings if f.severity == "error"] == []


def test_merged_cells_tracked_changes_and_footnote_marks(tmp_path: Path) -> None:
    wide, start, on = '<w:gridSpan w:val="2"/>', '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    changed = (
        "<w:tc><w:p><w:del><w:r><w:delText>9</w:delText></w:r></w:del><w:ins><w:r><w:t>3</w:t></w:r></w:ins>"
        '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>1</w:t></w:r></w:p></w:tc>'
    )
    body = f"<w:tbl>{row(cell('both', wide))}{row(cell('Male', start), cell('2'))}{row(cell('', on), changed)}</w:tbl>"
    (grid,) = read_document(saved(tmp_path, document(f"<w:p/>{body}"))).grids
    assert grid.rows == (("both", "both"), ("Male", "2"), ("Male", "3"))


def test_headings_by_their_style_in_any_language(tmp_path: Path) -> None:
    style = '<w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>'
    styles = f'<w:styles xmlns:w="{MAIN}">{style}</w:styles>'
    heading = '<w:p><w:pPr><w:pStyle w:val="berschrift2"/></w:pPr><w:r><w:t>Cook</w:t></w:r></w:p>'
    content = document(f"{heading}<w:tbl>{row(cell('1'))}</w:tbl>", **{"word/styles.xml": styles})
    (grid,) = read_document(saved(tmp_path, content)).grids
    assert grid.trail == ("Cook",)


BOMB = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>'
FETCHED = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (zipped({"word/document.xml": BOMB}), "declares a document type"),
        (zipped({"word/document.xml": BOMB.encode("utf-16")}), "declares a document type"),
        (zipped({"word/document.xml": FETCHED}), "declares a document type"),
        (document("", **{"word/styles.xml": FETCHED}), "declares a document type"),
        (document("<w:p>" * 300 + "</w:p>" * 300), "nests deeper"),
        (document("", **{"word/media/a.bin": "0" * (129 * 2**20)}), "unpacks to more"),
        (zipped({"word/document.xml": "<a/>"} | {f"{i}": "" for i in range(2001)}), "unpacks to more"),
        (zipped({"word/document.xml": "<a><b></a>"}), "is broken"),
        (zipped({"notes.txt": "nothing"}), "a zip and no file of Word or Excel"),
        (b"PK\x03\x04 and nothing more", "does not open"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "from before 2007"),
    ],
    ids=[
        "entities", "entities in UTF-16", "a file named by an entity", "entities in the styles", "depth", "a bomb",
        "too many parts", "broken XML", "another zip", "no zip", "a file from before 2007",
    ],
)  # fmt: skip
def test_what_would_harm_is_refused(content: bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        check_report(saved(tmp_path, content))


def test_a_part_larger_than_it_says_is_not_unpacked_further(tmp_path: Path) -> None:
    content = document("<w:p/>", **{"word/styles.xml": f"<a>{'b' * 100_000}</a>"})
    lying = content.replace((100_007).to_bytes(4, "little"), (50).to_bytes(4, "little"))
    assert lying != content
    with pytest.raises(CorruptFileError, match="cannot be unpacked|is broken"):
        check_report(saved(tmp_path, lying))


def workbook(path: Path, fill: Callable[[object], None]) -> Path:
    openpyxl = pytest.importorskip("openpyxl", reason="writes the workbook")
    book = openpyxl.Workbook()
    fill(book.active)
    book.save(path)
    return path


def fill_clean(sheet: object) -> None:
    lines = [
        ["Sex", "# of applicants", "# selected", "Selection rate", "Impact ratio"],
        ["Male", 6000, 3300, 0.55, 1],
        ["Female", 4000, 1760, 0.44, 0.8],
    ]
    for line in lines:
        sheet.append(line)  # type: ignore[attr-defined]
    for cells in sheet.iter_rows(min_row=2):  # type: ignore[attr-defined]
        cells[1].number_format = cells[2].number_format = "#,##0"
        cells[3].number_format, cells[4].number_format = "0.0%", "0.00"


def test_numbers_of_a_workbook_are_read_as_they_are_shown(tmp_path: Path) -> None:
    report = check_report(workbook(tmp_path / "summary.xlsx", fill_clean))
    assert report.format == "xlsx" and report.conventions() == {"counts, half up": 4}
    assert [r.printed for r in report.rebuilt] == ["55.0%", "44.0%", "1.00", "0.80"]


def test_formulas_are_neither_computed_nor_followed(tmp_path: Path) -> None:
    def fill(sheet: object) -> None:
        fill_clean(sheet)
        sheet["E3"] = '=WEBSERVICE("http://203.0.113.1/x")'  # type: ignore[index]
        sheet["F1"], sheet["F2"] = "Note", "=cmd|' /C calc'!A0"  # type: ignore[index]

    report = check_report(workbook(tmp_path / "summary.xlsx", fill))
    assert any("2 cells hold formulas whose value is not in the file" in line for line in report.not_checked)


def test_hidden_sheets_are_told(tmp_path: Path) -> None:
    def fill(sheet: object) -> None:
        fill_clean(sheet)
        sheet.parent.create_sheet("Secret").sheet_state = "hidden"  # type: ignore[attr-defined]

    report = check_report(workbook(tmp_path / "summary.xlsx", fill))
    assert any("1 hidden sheets were not read" in line for line in report.not_checked)


def test_a_sheet_that_claims_a_million_rows_is_refused(tmp_path: Path) -> None:
    def fill(sheet: object) -> None:
        fill_clean(sheet)
        sheet["A1048576"] = "end"  # type: ignore[index]

    with pytest.raises(InputError, match="more than 20000 rows"):
        check_report(workbook(tmp_path / "summary.xlsx", fill))


def test_merges_over_the_whole_sheet_cost_nothing(tmp_path: Path) -> None:
    def fill(sheet: object) -> None:
        fill_clean(sheet)

    path = workbook(tmp_path / "summary.xlsx", fill)
    with zipfile.ZipFile(path) as package:
        parts = {name: package.read(name) for name in package.namelist()}
    name = "xl/worksheets/sheet1.xml"
    merged = b'</sheetData><mergeCells count="1"><mergeCell ref="A9:XFD1048576"/></mergeCells>'
    parts[name] = parts[name].replace(b"</sheetData>", merged)
    path.write_bytes(zipped(parts))
    assert check_report(path).conventions() == {"counts, half up": 4}


def test_parts_of_a_package_are_told_apart_by_what_they_hold(tmp_path: Path) -> None:
    kind, _ = open_package(document("<w:p/>"), tmp_path / "x")
    assert kind == "docx"
