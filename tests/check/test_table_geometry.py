"""Cells over several rows or columns, sections, titles in a table, tables next to each other: read as they lie."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from audit_lib.check import check_report
from audit_lib.check.grids import Grid, even
from audit_lib.check.headers import meaning_of
from audit_lib.check.merged_labels import beside_each_row, with_whole_labels
from audit_lib.check.neighbouring_tables import apart
from audit_lib.check.page_breaks import joined
from audit_lib.check.pdf_cells import DrawnWords, cell_texts
from audit_lib.check.pdf_layout import layout_grids
from audit_lib.check.pdf_lines import lines_of
from audit_lib.check.published_tables import tables_of
from audit_lib.check.transposed_tables import upright
from tests.check.cases import POLICY, WORDS, save

HEADER = ("Applicants", "Selected", "Rate", "Impact ratio")


def grid(*rows: tuple[str, ...], **more: object) -> Grid:
    return Grid(rows=even(rows), **more)  # type: ignore[arg-type]


def people(table: object) -> dict[str, int | None]:
    return {row.label.text: row.cell("applicants").count for row in table.rows}  # type: ignore[attr-defined]


def test_a_merged_cell_of_a_ruled_table_is_in_each_place_that_it_covers() -> None:
    """A title over all, "Men" down two rows, "Total" over two columns of labels: none takes another's place."""
    boxes = [
        [(0.0, 0.0, 90.0, 10.0), None, None],
        [(0.0, 10.0, 30.0, 30.0), (30.0, 10.0, 60.0, 20.0), (60.0, 10.0, 90.0, 20.0)],
        [None, (30.0, 20.0, 60.0, 30.0), (60.0, 20.0, 90.0, 30.0)],
        [(0.0, 30.0, 60.0, 40.0), None, (60.0, 30.0, 90.0, 40.0)],
    ]
    words = {"Results": (2, 0), "Men": (2, 15), "White": (32, 10), "5": (62, 10), "Asian": (32, 20), "6": (62, 20),
             "Total": (2, 30), "11": (62, 30)}  # fmt: skip
    drawn = [DrawnWords([(text, x, x + 20.0)], y + 1.0, y + 9.0, 8.0) for text, (x, y) in words.items()]
    table = SimpleNamespace(rows=[SimpleNamespace(cells=cells) for cells in boxes])
    assert cell_texts(table, drawn) == [
        ["Results", "Results", "Results"],
        ["Men", "White", "5"],
        ["Men", "Asian", "6"],
        ["Total", "Total", "11"],
    ]


ROWS = (("Sex", "Race", *HEADER), ("", "White", "10", "5", "50%", "1.00"), ("Male", "Asian", "20", "8", "40%", "0.80"),
        ("", "Two or More Races", "30", "12", "40%", "0.80"), ("", "White", "40", "20", "50%", "1.00"),
        ("Female", "Asian", "50", "25", "50%", "1.00"), ("Total", "", "150", "70", "47%", "N/A"))  # fmt: skip


def test_a_label_in_the_middle_of_its_rows_belongs_to_all_of_them() -> None:
    (table,) = tables_of([grid(*ROWS, unsure="look")], POLICY)
    assert people(table) == {
        "Male, White": 10, "Male, Asian": 20, "Male, Two or More Races": 30, "Female, White": 40, "Female, Asian": 50,
        "Total": 150,
    }  # fmt: skip


def test_labels_over_two_lines_of_two_rows() -> None:
    rows = [
        ("Native Hawaiian or Other", "Male"),
        ("Pacific Islander", "Female"),
        ("", "Male"),
        ("Asian", "Female"),
    ]
    assert beside_each_row(rows, [0, 1], POLICY) == [
        ("Native Hawaiian or Other Pacific Islander", "Male"),
        ("Native Hawaiian or Other Pacific Islander", "Female"),
        ("Asian", "Male"),
        ("Asian", "Female"),
    ]


def test_labels_that_fit_no_run_of_rows_are_left_as_they_are() -> None:
    without = [("", "Male"), ("Asian", "Female"), ("", "Male"), ("", "Female")]
    twice = [("Asian", "Male"), ("", "Female"), ("Asian", "Male"), ("", "Female")]
    for rows in (without, twice):
        assert beside_each_row(rows, [0, 1], POLICY) == rows


def test_a_total_below_the_last_section_is_of_all_unless_each_section_has_one() -> None:
    head, men, women = ("Race", *HEADER), ("Male",) * 5, ("Female",) * 5
    white, asian = ("White", "10", "5", "50%", "1.00"), ("Asian", "20", "8", "40%", "0.80")
    total, unknown = ("Total", "60", "26", "43%", "N/A"), ("Unknown", "3", "N/A", "N/A", "N/A")
    (table,) = tables_of([grid(head, men, white, asian, women, white, asian, unknown, total)], POLICY)
    assert list(people(table))[-2:] == ["Unknown", "Total"]
    own = ("Total", "30", "13", "43%", "N/A")
    (table,) = tables_of([grid(head, men, white, asian, own, women, white, asian, own, total)], POLICY)
    assert [row.label.text for row in table.of("total")] == ["Male, Total", "Female, Total", "Total"]


SEX = (("Sex", *HEADER), ("Male", "60", "30", "50%", "1.00"), ("Female", "40", "16", "40%", "0.80"))
RACE = (("Race", *HEADER), ("White", "70", "35", "50%", "1.00"), ("Asian", "20", "7", "35%", "0.70"),
        ("Two or More Races", "10", "4", "40%", "0.80"))  # fmt: skip


def beside(left: tuple[tuple[str, ...], ...], right: tuple[tuple[str, ...], ...]) -> list[tuple[str, ...]]:
    blank = ("",) * len(left[0])
    return [
        (*(left[i] if i < len(left) else blank), "", *(right[i] if i < len(right) else ("",) * len(right[0])))
        for i in range(max(len(left), len(right)))
    ]


def test_tables_next_to_each_other_on_a_sheet_with_words_right_above_them() -> None:
    words = ("These are the results of the audit.",) * 11
    pair = [words, ("By sex", *[""] * 5, "By race", *[""] * 4), *beside(SEX, RACE), ("",) * 11, ("A remark",)]
    tables = tables_of(upright(apart([grid(*pair)], POLICY), POLICY), POLICY)
    assert [(t.caption, t.family, len(t.rows)) for t in tables] == [
        ("By sex", "sex", 2),
        ("By race", "race_ethnicity", 3),
    ]


def test_tables_on_their_side_below_and_next_to_each_other() -> None:
    def turned(table: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        return tuple(zip(*table, strict=True))

    lower = (
        ("Sex", "Race", *HEADER),
        ("Male", "White", "5", "2", "40%", "1.00"),
        ("Female", "White", "5", "2", "40%", "1.00"),
    )
    for upper in (beside(turned(SEX), turned(RACE)), [*turned(SEX), ("",), *turned(RACE)]):
        tables = tables_of(upright(apart([grid(*upper, ("",), *lower)], POLICY), POLICY), POLICY)
        assert [table.family for table in tables] == ["sex", "race_ethnicity", "intersectional"]


def test_columns_of_one_table_with_an_empty_one_between_are_not_parted() -> None:
    rows = (("Race", "Male", "", "", "", "", "Female", "", "", ""), ("", *HEADER, "", *HEADER),
            ("White", "9", "3", "33%", "1.00", "", "9", "3", "33%", "1.00"),
            ("Asian", "9", "3", "33%", "1.00", "", "9", "3", "33%", "1.00"))  # fmt: skip
    whole = grid(*rows)
    assert apart([whole], POLICY) == (whole,)


def test_the_rest_of_a_table_under_its_title_and_header_again() -> None:
    title = ("Results",) * 5
    first = grid(title, *RACE[:2])
    rest = grid(title, RACE[0], *RACE[2:], continues=True)
    (whole,) = joined([first, rest])
    assert list(whole.rows) == [title, *RACE]


def test_a_cell_drawn_over_two_columns_in_every_row_is_one_column() -> None:
    wide = [(row[0], row[1], row[1], *row[2:], row[-1]) for row in SEX]
    (table,) = tables_of([grid(*wide)], POLICY)
    assert table.repeated == table.unread == () and people(table) == {"Male": 60, "Female": 40}


def test_a_raised_mark_behind_a_header_is_no_part_of_its_word() -> None:
    assert [meaning_of(text) for text in ("Applied¹", "N Selected²", "Impact Ratio†")] == [
        "applicants",
        "selected",
        "ratio",
    ]


def test_lines_that_name_the_position_tell_tables_apart(tmp_path: Path) -> None:
    def table(rows: tuple[tuple[str, ...], ...]) -> str:
        return f"<h2>Sex</h2><table>{''.join('<tr><td>' + '<td>'.join(row) for row in rows)}</table>"

    two = f"<p>Position: analyst</p>{table(SEX)}<p>Position: clerk</p>{table(SEX)}"
    report = check_report(save(tmp_path, f"<html>{WORDS}{two}"))
    assert report.tables == ("1 (Sex, Position: analyst)", "2 (Sex, Position: clerk)")
    assert "duplicate_table" not in {finding.id for finding in report.findings}
    one = check_report(save(tmp_path, f"<html>{WORDS}<p>Position: analyst</p>{table(SEX)}{table(SEX)}"))
    assert one.tables == ("1 (Sex)", "2 (Sex)") and "duplicate_table" in {f.id for f in one.findings}


def page(*lines: tuple[float, list[tuple[str, float]]]) -> list[dict[str, object]]:
    return [
        {"text": word, "x0": x + 5 * text.index(word), "x1": x + 5 * text.index(word) + 4.5 * len(word), "size": 8.0,
         "top": y, "bottom": y + 9, "start": x}
        for y, texts in lines
        for text, x in texts
        for word in text.split()
    ]  # fmt: skip


def test_a_column_of_answers_and_a_header_that_a_hyphen_cuts() -> None:
    header = [
        ("Sex", 0.0),
        ("Applicants", 100.0),
        ("Selected", 170.0),
        ("Rate", 230.0),
        ("Impact Ra-", 280.0),
        ("Below", 350.0),
    ]
    words = page(
        (100, header),
        (110, [("tio", 280.0), ("80%", 350.0)]),
        (130, [("Male", 0.0), ("60", 100.0), ("30", 170.0), ("50%", 230.0), ("1.00", 280.0), ("No", 350.0)]),
        (
            150,
            [("Female", 0.0), ("40", 100.0), ("12", 170.0), ("30%", 230.0), ("0.60", 280.0), ("Yes", 350.0)],
        ),
    )
    (found,) = layout_grids(lines_of([words]))
    assert list(found.rows) == [
        ("Sex", "Applicants", "Selected", "Rate", "Impact Ratio", "Below 80%"),
        ("Male", "60", "30", "50%", "1.00", "No"),
        ("Female", "40", "12", "30%", "0.60", "Yes"),
    ]


def test_the_time_of_the_data_explains_them(tmp_path: Path) -> None:
    def lacks(words: str) -> bool:
        text = WORDS.replace("<p>Explanation of the data: every application of 2022, all regions.</p>", words)
        rows = "".join("<tr><td>" + "<td>".join(row) for row in SEX)
        report = check_report(save(tmp_path, f"<html>{text}<table>{rows}</table>"))
        return any(f.column == "F03" for f in report.findings)

    assert lacks("")
    assert lacks("<p>The summary for applicants is valid from 1 May 2025 to 1 May 2026.</p>")
    assert not lacks("<p>Applications were received from March 1 2022 through August 31 2022.</p>")
    assert not lacks("<p>We looked at all candidates between 2021 and 2022.</p>")


def test_a_label_that_a_page_cut_is_put_together() -> None:
    rows = [
        ("Asian", "Men", "4"),
        ("Asian", "Women", "5"),
        ("Two or More", "Men", "6"),
        ("Races (Not Hispanic)", "Women", "7"),
    ]
    whole = "Two or More Races (Not Hispanic)"
    assert with_whole_labels(rows, [0, 1], POLICY) == [
        *rows[:2],
        (whole, "Men", "6"),
        (whole, "Women", "7"),
    ]


@pytest.mark.parametrize(
    "rows",
    [
        [("Asian", "Men", "4"), ("White", "Women", "5")],
        [("Other", "Men", "4"), ("Martian", "Women", "5")],
        [("Asian", "Men", "4"), ("Other", "Men", "5")],
        [("Asian", "Men", "4"), ("Asian", "Women", "4"), ("Asian", "Men", "6"), ("Other", "Women", "5")],
    ],
)
def test_labels_that_are_whole_or_of_nobody_are_left(rows: list[tuple[str, ...]]) -> None:
    assert with_whole_labels(rows, [0, 1], POLICY) == rows


def test_a_heading_between_two_pages_begins_another_table() -> None:
    head, white = ("Race", *HEADER), ("White", "10", "5", "50%", "1.00")
    asian = ("Asian", "20", "8", "40%", "0.80")
    first = grid(head, white, caption="By race", trail=("Audit", "Clerks"))
    rest = grid(head, asian, trail=("Audit", "Clerks", "By race"), continues=True)
    other = grid(head, asian, trail=("Audit", "Drivers", "By race"), continues=True)
    assert [len(found.rows) for found in joined([first, rest])] == [3]
    assert [len(found.rows) for found in joined([first, other])] == [2, 2]
