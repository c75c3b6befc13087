"""A first column of categories is one whatever its header says, and years are told from years of accounts."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit_lib.check import check_report
from audit_lib.errors import InputError
from audit_lib.page_transcript import with_transcript
from audit_lib.translation import Speaker
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


def test_each_section_of_a_table_has_its_own_header(tmp_path: Path) -> None:
    header = ("Population", *HEADER[1:])
    lines = [
        ",".join(line)
        for rows in summary().values()
        for line in (header, *[[f'"{one}"' for one in row] for row in rows])
    ]
    path = tmp_path / "summary.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert len(check_report(path).rebuilt) == 2 * sum(map(len, summary().values()))


@pytest.mark.parametrize("header", [("Applicants", *HEADER[3:]), ("Applicants", "Selected", *HEADER[3:])])
def test_a_header_row_that_begins_one_column_late_is_not_understood(
    header: tuple[str, ...], tmp_path: Path
) -> None:
    tables = {
        caption: [[row[0], row[1], *row[5 - len(header) :]] for row in rows]
        for caption, rows in summary().items()
    }
    page = save(tmp_path, html(tables, WORDS, header))
    with pytest.raises(InputError):
        check_report(page)


@pytest.mark.parametrize(("sign", "fault"), [("-", "negative_count"), ("+", "unreadable_number")])
def test_one_sign_hides_no_column(sign: str, fault: str, tmp_path: Path) -> None:
    tables = summary()
    row = tables["Race/ethnicity categories"][2]
    row[2] = f"{sign}{row[2]}"
    page = save(tmp_path, html(tables, WORDS, ("Category", "Entered", "Left", "Success", "Value")))
    assert {one.id for one in check_report(page).findings if one.severity == "error"} == {fault}


def test_a_transcript_makes_no_page_ours_and_hides_no_ratio(tmp_path: Path) -> None:
    tables = summary()
    tables["Race/ethnicity categories"][2][4] = "0.123"
    for last in (("A", "B", "C", "D"), ("# of applicants", "# selected", "Success", "Parity index")):
        made = html(tables, WORDS, ("Category", *last)).replace(
            "<html>", "<html><head><title>x</title></head>"
        )
        page = save(tmp_path, with_transcript(made))
        assert "ratio_not_rebuilt" in {one.id for one in check_report(page).findings}


def test_a_stranger_with_our_last_line_is_read_in_time(tmp_path: Path) -> None:
    last = Speaker("es").look_up("Made by audit_lib from the sealed run {run}.").format(run="demo/2026")
    words = f"<p>{'el subgrupo ' + 'x tiene x x ' * 2000}</p><p>{last}</p>"
    made = html(summary(), WORDS + words).replace("<html>", "<html><head><title>x</title></head>")
    page = save(tmp_path, with_transcript(made))
    assert check_report(page).tables
