"""Our own page and tables: nothing is found, every number is rebuilt, and what is changed is found."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from audit_lib.check import check_report
from tests.check.cases import WORDS, save, whole_audit
from tests.check.test_mutation import nudged
from tests.report.conftest import made

CELL = re.compile(r'<td class="number[^"]*">([\d.,]+%?)(?=[ <])')


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = whole_audit(tmp_path_factory.mktemp("whole"))
    return Path(run.uri.removeprefix("file://")) / "report"


def test_our_page(folder: Path) -> None:
    report = check_report(folder / "report.html", as_of=date(2026, 12, 1))
    assert report.findings == ()
    # Two kinds of table, three families of 2, 7 and 14 rows, together and in two positions; rate and ratio.
    assert len(report.tables) == 2 * 3 * 3
    assert len(report.rebuilt) == 2 * (2 + 7 + 14) * 3 * 2
    assert report.conventions() == {"counts, half up": len(report.rebuilt)}


def test_a_page_that_is_no_bias_audit_lacks_what_an_audit_must_say(tmp_path: Path) -> None:
    """The experiment has two of seven races and no audit date; its numbers are all right."""
    run = made(tmp_path)
    report = check_report(Path(run.uri.removeprefix("file://")) / "report" / "report.html")
    assert [(f.id, f.column) for f in report.findings if f.severity != "note"] == [
        ("field_not_found", "F01"),
    ]
    assert {f.id for f in report.findings if f.severity == "note"} == {"category_missing"}


def test_our_tables(folder: Path) -> None:
    report = check_report(folder / "tables.csv")
    assert report.findings == ()
    assert report.conventions() == {"counts, half up": 2 * (2 + 7 + 14) * 3 * 2}


def test_a_changed_number_of_our_tables_is_found(folder: Path, tmp_path: Path) -> None:
    """Every rate, ratio and share of the headline tables, one at a time; the tables alone, for speed."""
    whole = (folder / "report.html").read_text(encoding="utf-8")
    tables = re.findall(
        r"<table>\s*<caption>S\w+ rates, [^<,:]* categories</caption>.*?</table>", whole, re.DOTALL
    )
    assert len(tables) == 6
    page = f"<html>{WORDS.replace('0 indiv', '200 indiv')} Bounds are given.{''.join(tables)}</html>"
    assert check_report(save(tmp_path, page)).findings == ()
    cells = [found for found in CELL.finditer(page) if "." in found[1]]
    assert len(cells) == 2 * (2 + 7 + 14) * 3
    missed = []
    for cell in cells:
        changed = page[: cell.start(1)] + nudged(cell[1], 1) + page[cell.end(1) :]
        if check_report(save(tmp_path, changed)).ok:
            missed.append(cell[1])
    assert missed == []
