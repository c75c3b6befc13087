"""One printed table that holds several, and tables that a page's end cuts in two."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import pytest

from audit_lib.check import check_document, check_report
from audit_lib.check.combined_tables import pieces
from audit_lib.check.grids import Grid, PublishedFile
from audit_lib.check.row_labels import read_label
from audit_lib.policies import load_policy
from tests.check.cases import HEADER, WORDS, Table, html, kinds, save, summary
from tests.check.test_pdf import RULED, pdf

SEX, RACE, BOTH = summary()
ORDERS = [(0, 1, 2, 3, 4), (4, 3, 2, 1, 0)]


def cells(texts: Sequence[str], tag: str = "td") -> str:
    return "<tr>" + "".join(f"<{tag}>{text}</{tag}>" for text in texts) + "</tr>"


def one_table(tables: dict[str, Table], order: Sequence[int] = ORDERS[0], *, lines: bool = True) -> str:
    """Make a page of one table, with a line of one cell above the rows of each."""
    parts = [cells([HEADER[i] for i in order], "th")]
    for caption, rows in tables.items():
        parts += [f"<tr><th colspan={len(order)}>{caption}</th></tr>"] if lines else []
        parts += [cells([row[i] for i in order]) for row in rows]
    return f"<html><body>{WORDS}<table>{''.join(parts)}</table></body></html>"


@pytest.mark.parametrize("order", ORDERS)
def test_lines_within_one_table_begin_others(tmp_path: Path, order: Sequence[int]) -> None:
    report = check_report(save(tmp_path, one_table(summary(), order)))
    assert kinds(report) == []
    assert report.tables == (f"1 ({SEX})", f"2 ({RACE})", f"3 ({BOTH})")
    assert report.conventions() == {"counts, half up": 46}


def test_rows_of_several_families_are_tables_of_their_own_without_lines_too(tmp_path: Path) -> None:
    report = check_report(save(tmp_path, one_table(summary(), lines=False)))
    assert (kinds(report), len(report.tables)) == ([], 3)


def test_a_fault_within_a_section_is_named_there(tmp_path: Path) -> None:
    tables = summary()
    tables[RACE][4][4] = "0.111"
    (found,) = check_report(save(tmp_path, one_table(tables))).findings
    assert (found.id, found.table, found.row) == ("ratio_not_rebuilt", f"2 ({RACE})", "Asian")


def test_sections_of_one_family_are_positions(tmp_path: Path) -> None:
    cook, driver = summary(), summary()
    driver[SEX] = [["Male", "100", "50", "50.0%", "1.000"], ["Female", "100", "40", "40.0%", "0.800"]]
    page = one_table({"Cook": cook[SEX], "Driver": driver[SEX]})
    report = check_report(save(tmp_path, page))
    assert report.tables == ("1 (Cook)", "2 (Driver)")
    assert kinds(report, notes=False) == ["table_missing"]


def test_a_remark_between_rows_begins_nothing(tmp_path: Path) -> None:
    tables = summary()
    rows = tables[RACE]
    page = html(tables).replace(cells(rows[3]), f"<tr><td colspan=5>2022 only</td></tr>{cells(rows[3])}")
    assert "2022 only" in page
    report = check_report(save(tmp_path, page))
    assert (kinds(report), len(report.tables)) == ([], 3)


def test_lines_within_a_csv_and_a_ruled_pdf(tmp_path: Path) -> None:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(HEADER)
    for caption, rows in summary().items():
        writer.writerow([caption, "", "", "", ""])
        writer.writerows(rows)
    report = check_report(save(tmp_path, file.getvalue(), "tables.csv"))
    assert (kinds(report), report.tables[1]) == ([], f"2 ({RACE})")
    page = one_table(summary())
    style = f"{RULED} @page {{ size: A3 }}"
    report = check_report(pdf(tmp_path / "page.pdf", style, page))
    assert (kinds(report), report.tables[1]) == ([], f"2 ({RACE})")


@pytest.mark.parametrize("heads", [False, True], ids=["no header again", "header again"])
@pytest.mark.parametrize("avoid", ["auto", "avoid"])
def test_a_tagged_table_goes_over_a_page(tmp_path: Path, heads: bool, avoid: str) -> None:
    weasyprint = pytest.importorskip("weasyprint", reason="makes the PDF")
    pdfplumber = pytest.importorskip("pdfplumber", reason="reads the PDF")
    style = f"<style>tr {{ break-inside: {avoid} }} td {{ padding: 5px }}</style>"
    page = html(summary()).replace("<html>", f"<html lang=en><title>Audit</title>{style}")
    if heads:
        page = page.replace("<tr><th>", "<thead><tr><th>").replace("</th></tr>", "</th></tr></thead>")
    path = tmp_path / "page.pdf"
    weasyprint.HTML(string=page).write_pdf(path, pdf_variant="pdf/ua-1")
    with pdfplumber.open(path) as made:
        assert len(made.pages) == 2, "the last table goes over"
    report = check_report(path)
    assert kinds(report) == []
    assert report.conventions() == {"counts, half up": 46}


def test_a_row_cut_by_the_end_of_a_page_is_one_row() -> None:
    tables = summary()
    rows = tables[BOTH]
    first = Grid(rows=[HEADER, *rows[:5], ["", *rows[5][1:]]], caption=BOTH)
    rest = Grid(rows=[[rows[5][0], "", "", "", ""], *rows[6:]], continues=True)
    others = [Grid(rows=[HEADER, *tables[caption]], caption=caption) for caption in (SEX, RACE)]
    document = PublishedFile(format="pdf", text=WORDS, grids=(*others, first, rest))
    report = check_document(document, "summary.pdf")
    assert (kinds(report), len(report.rebuilt)) == ([], 46)


def test_rows_without_a_header_are_never_passed_over() -> None:
    tables = summary()
    rows = tables[BOTH]
    grids = [Grid(rows=[HEADER, *tables[caption]], caption=caption) for caption in (SEX, RACE)]
    grids += [Grid(rows=[HEADER, *rows[:9]], caption=BOTH), Grid(rows=[[*row, ""] for row in rows[9:]])]
    report = check_document(PublishedFile(format="pdf", text=WORDS, grids=tuple(grids)), "summary.pdf")
    (found,) = [f for f in report.findings if f.id == "unreadable_table"]
    assert found.message.startswith(f"5 rows, from {rows[9][0]!r} on, stand under no header row")
    assert not report.ok


@pytest.mark.parametrize("caption", [SEX, RACE])
def test_a_csv_names_the_tables_that_it_does_not_hold(tmp_path: Path, caption: str) -> None:
    file = io.StringIO()
    csv.writer(file).writerows([HEADER, *summary()[caption]])
    report = check_report(save(tmp_path, file.getvalue(), "tables.csv"))
    assert kinds(report) == []
    other = "sex" if caption == RACE else "race/ethnicity"
    said = f"no table by {other} categories was found; no table by intersectional categories was found"
    assert any(line.startswith(said) for line in report.not_checked)


def test_a_label_known_in_part_only_starts_no_table_of_its_own() -> None:
    policy = load_policy("nyc_ll144")
    labels = ["Female, White", "Female, Rare", "Male, Rare", "Male, White"]
    rows = [("", read_label([label], policy)) for label in labels]
    assert pieces(rows, policy) == [("", [0, 1, 2, 3])]
