"""A first column of categories is one whatever its header says, and years are told from years of accounts."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit_lib.check import check_report
from tests.check.cases import HEADER, WORDS, counts, html, save, summary


@pytest.mark.parametrize("header", ["Population", "Rate group", "Applicant population", "Segment", "Cohort"])
def test_its_header_may_be_a_word_for_numbers(header: str, tmp_path: Path) -> None:
    page = save(tmp_path, html(summary(), WORDS, (header, *HEADER[1:])))
    assert [one.id for one in check_report(page).findings if one.severity != "note"] == []


def test_a_wrong_ratio_is_found_under_it(tmp_path: Path) -> None:
    tables = summary()
    tables["Sex categories"][0][4] = "0.123"
    page = save(tmp_path, html(tables, WORDS, ("Population", *HEADER[1:])))
    assert "ratio_not_rebuilt" in {one.id for one in check_report(page).findings}


@pytest.mark.parametrize(("before", "now"), [("FY24", "FY25"), ("FY '24", "FY '25"), ("2024", "2025")])
def test_ratios_of_two_years(before: str, now: str, tmp_path: Path) -> None:
    older = summary({cell: (n, k - 3) for cell, (n, k) in counts().items()})
    tables = {
        caption: [[*row, other[4]] for row, other in zip(rows, older[caption], strict=True)]
        for caption, rows in summary().items()
    }
    header = (*HEADER[:4], f"Impact ratio {now}", f"Impact ratio {before}")
    page = save(tmp_path, html(tables, WORDS.replace("2023", "2025"), header))
    assert [one.id for one in check_report(page).findings if one.severity != "note"] == []
