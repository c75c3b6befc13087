"""Numbers that a table has a column for and does not give."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import pytest

from audit_lib.check import check_report
from tests.check.cases import HEADER, Table, checked, html, save, summary

SEX, RACE, BOTH = summary()


def emptied(caption: str, column: int, text: str, rows: int | None = None) -> dict[str, Table]:
    tables = deepcopy(summary())
    for row in tables[caption][:rows]:
        row[column] = text
    return tables


@pytest.mark.parametrize("text", ["N/A", "n/a", "-", "", "not reported", "*"])
@pytest.mark.parametrize("caption", [SEX, RACE, BOTH])
def test_no_number_of_people_anywhere(tmp_path: Path, caption: str, text: str) -> None:
    report = checked(tmp_path, emptied(caption, 1, text))
    (found,) = [f for f in report.findings if f.id == "numbers_not_given"]
    assert (found.severity, found.column, found.printed) == ("error", "# of applicants", text)
    assert caption in found.table and "F05" in found.message and not report.ok


def test_no_rate_anywhere(tmp_path: Path) -> None:
    report = checked(tmp_path, emptied(RACE, 3, "N/A"))
    assert [(f.column, "F06" in f.message) for f in report.findings if f.id == "numbers_not_given"] == [
        ("Selection rate", True)
    ]


def test_some_rows_have_a_rate_of_nobody_knows_how_many(tmp_path: Path) -> None:
    tables = emptied(RACE, 1, "N/A", rows=2)
    report = checked(tmp_path, tables)
    (found,) = [f for f in report.findings if f.column == "F05"]
    assert (found.id, found.row) == ("field_not_found", "; ".join(row[0] for row in tables[RACE][:2]))


def test_rows_without_any_number_are_of_nobody(tmp_path: Path) -> None:
    tables = deepcopy(summary())
    tables[BOTH][3][1:] = ["N/A"] * 4
    assert "F05" not in [f.column for f in checked(tmp_path, tables).findings]


def test_an_empty_row_is_named(tmp_path: Path) -> None:
    """Beside two labels; under one, a label alone may be the title of a section."""
    rows = [[*row[0].split(", "), *row[1:]] for row in summary()[BOTH]]
    rows[3][2:] = [""] * 4
    page = html({BOTH: rows}, header=["Sex", "Race", *HEADER[1:]])
    (found,) = [f for f in check_report(save(tmp_path, page)).findings if f.column == "F05"]
    assert (found.severity, found.row, "empty" in found.message) == ("warning", ", ".join(rows[3][:2]), True)
