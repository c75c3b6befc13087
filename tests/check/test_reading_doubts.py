"""Tables read from where words stand: what was misread is called unreadable, and nothing else is said of it."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import pytest

from audit_lib.check import CheckResult, check_document
from audit_lib.check.grids import Grid, PublishedFile
from audit_lib.check.text_report import report_text
from audit_lib.errors import InputError
from tests.check.cases import HEADER, WORDS, Table, kinds, summary

SEX, RACE, BOTH = summary()
WHY = "its cells were read from where words stand"


def check(tables: dict[str, Table], page: int = 3) -> CheckResult:
    """Check tables as the reader of unruled PDF pages hands them over."""
    unsure = WHY if page else ""
    grids = tuple(
        Grid(rows=[HEADER, *rows], caption=caption, page=page, unsure=unsure)
        for caption, rows in tables.items()
    )
    return check_document(PublishedFile(format="pdf", text=WORDS, grids=grids), "summary.pdf")


def test_a_table_read_right_is_checked_like_any_other() -> None:
    assert kinds(check(summary())) == []


@pytest.mark.parametrize(
    ("row", "column", "text", "why"),
    [
        (1, 0, "Fem", "'Fem' is no category"),
        (1, 0, "Male", "2 rows were read as"),
        (1, 2, "12 34", "'12 34' stands where the number of 'Female' should"),
        (1, 1, "0.5", "'0.5' stands where 'Female' has a number of people"),
        (1, 2, "99999", "'Female' has more people selected than assessed"),
    ],
)
def test_a_misread_row_makes_the_table_unreadable(row: int, column: int, text: str, why: str) -> None:
    tables = deepcopy(summary())
    tables[SEX][row][column] = text
    report = check(tables)
    (found,) = report.findings
    assert (found.id, found.severity, report.ok) == ("unreadable_table", "warning", False)
    assert found.message.startswith("unreadable table on page 3: ") and why in found.message
    assert not [record for record in report.rebuilt if record.table == found.table]
    assert len(report.tables) == 2, "the other two are checked"
    assert found.unsure == WHY
    # Where cells are the file's own, the same slip is a fault of the page.
    assert "unreadable_table" not in kinds(check(tables, page=0))


def test_rows_that_were_not_read_are_not_held_against_the_page() -> None:
    tables = deepcopy(summary())
    best = max(tables[RACE], key=lambda row: float(row[3].rstrip("%")))
    tables[RACE].remove(best)
    (found,) = check(tables).findings
    assert (found.id, found.message.split(": ")[1].split(",")[0]) == (
        "unreadable_table", "6 of 7 categories were read",
    )  # fmt: skip


def test_a_file_of_nothing_else_is_unreadable() -> None:
    tables = {SEX: [["Fem", *summary()[SEX][0][1:]]]}
    with pytest.raises(InputError, match=r"no table of rates could be read.*'Fem' is no category"):
        check(tables)


def test_a_real_page_whose_label_lost_a_line(tmp_path: Path) -> None:
    """Set without rules or tags, a label of two lines on its own page cannot be told from two rows."""
    weasyprint = pytest.importorskip("weasyprint", reason="makes the PDF")
    pytest.importorskip("pdfplumber", reason="reads the PDF")
    from audit_lib.check import check_report

    rows = "".join(
        f"<tr><td>{label}</td>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
        for label, *cells in [[row[0].replace("Native", "N_tive"), *row[1:]] for row in summary()[RACE]]
    )
    head = "".join(f"<th>{text}</th>" for text in HEADER)
    sex = "".join("<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in summary()[SEX])
    style = "td, th { padding: 3px 14px; text-align: left }"
    page = (
        f"<style>{style}</style>{WORDS}<h2>Sex</h2><table><tr>{head}</tr>{sex}</table>"
        f"<h2>Race/ethnicity</h2><table><tr>{head}</tr>{rows}</table>"
    )
    path = tmp_path / "page.pdf"
    weasyprint.HTML(string=page).write_pdf(path)
    found = [f for f in check_report(path).findings if f.id == "unreadable_table"]
    assert [("page 1" in f.message, "N_tive" in f.message) for f in found] == [(True, True)]


def test_columns_side_by_side_whose_heads_were_not_read_make_the_table_unreadable() -> None:
    """Set without rules, "Male | Female" over two groups of columns may be lost: no ratio is held against it."""
    rows = [
        [cells[0].split(", ")[1], *cells[1:], *other[1:]]
        for cells, other in zip(summary()[BOTH][:7], summary()[BOTH][7:], strict=True)
    ]
    grids = [
        Grid(rows=[HEADER, *summary()[caption]], caption=caption, page=1, unsure=WHY)
        for caption in (SEX, RACE)
    ]
    grids.append(Grid(rows=[[*HEADER, *HEADER[1:]], *rows], caption=BOTH, page=2, unsure=WHY))
    report = check_document(PublishedFile(format="pdf", text=WORDS, grids=tuple(grids)), "summary.pdf")
    (found,) = report.findings
    assert (found.id, "several columns hold a rate or a ratio" in found.message) == ("unreadable_table", True)
    assert len(report.rebuilt) == 18, "the other two are checked"


def test_what_rests_on_an_unsure_reading_is_no_error_and_says_so() -> None:
    tables = deepcopy(summary())
    tables[RACE][4][4] = "0.111"
    (found,) = check(tables).findings
    assert (found.id, found.severity, found.unsure) == ("ratio_not_rebuilt", "warning", WHY)
    (sure,) = check(tables, page=0).findings
    assert (sure.id, sure.severity, sure.unsure) == ("ratio_not_rebuilt", "error", "")
    assert f"    read unsurely: {WHY}\n" in report_text(check(tables))
    assert "read unsurely" not in report_text(check(tables, page=0))
    assert not check(tables).ok, "exit code 1: somebody has to look"


def test_only_the_lines_of_an_unsure_table_carry_the_caution() -> None:
    tables = deepcopy(summary())
    tables[SEX][1][4] = tables[RACE][4][4] = "0.111"
    grids = [
        Grid(rows=[HEADER, *rows], caption=caption, unsure=WHY if caption == RACE else "")
        for caption, rows in tables.items()
    ]
    report = check_document(PublishedFile(format="pdf", text=WORDS, grids=tuple(grids)), "summary.pdf")
    assert {(f.table[3:].rstrip(")"), f.severity, f.unsure) for f in report.findings} == {
        (SEX, "error", ""),
        (RACE, "warning", WHY),
    }


def test_a_table_that_was_not_found_in_a_page_read_unsurely_is_no_error() -> None:
    tables = deepcopy(summary())
    del tables[BOTH]
    assert [(f.id, f.severity) for f in check(tables).findings] == [("table_missing", "warning")]
    assert [(f.id, f.severity) for f in check(tables, page=0).findings] == [("table_missing", "error")]
