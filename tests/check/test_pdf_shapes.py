"""Tables of a page that says only where words stand: on their side, beside each other, in sections, in narrow cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from audit_lib.check.cut_words import whole_words
from audit_lib.check.pdf_layout import layout_grids
from audit_lib.check.pdf_lines import lines_of
from audit_lib.check.pdf_neighbours import reading_order

SIZE, WIDE = 10.0, 5.0
HEADER = ["# of Applicants", "# Selected", "Selection Rate", "Impact Ratio"]
SEX = [["Male", "400", "200", "50%", "1.00"], ["Female", "300", "120", "40%", "0.80"]]
RACES = [
    ["Hispanic or Latino", "100", "40", "40%", "0.80"],
    ["White", "200", "100", "50%", "1.00"],
    ["Asian", "50", "20", "40%", "0.80"],
]
AT = (40.0, 200.0, 300.0, 370.0, 460.0)


def drawn(x: float, y: float, text: str) -> Iterator[dict[str, Any]]:
    """Words of a text as they are drawn: each letter as wide as the other."""
    at = x
    for word in text.split(" "):
        right = at + WIDE * len(word)
        yield {"text": word, "x0": at, "x1": right, "top": y, "bottom": y + SIZE, "size": SIZE, "start": x}
        at = right + WIDE


def placed(
    rows: Sequence[Sequence[str]], x: Sequence[float], top: float, step: float = 16.0
) -> list[dict[str, Any]]:
    return [
        word
        for i, row in enumerate(rows)
        for at, text in zip(x, row, strict=False)
        if text
        for word in drawn(at, top + i * step, text)
    ]


def grids(words: list[dict[str, Any]]) -> list[list[tuple[str, ...]]]:
    return [[tuple(row) for row in grid.rows] for grid in layout_grids(lines_of([words]))]


def test_a_table_on_its_side_is_read_with_all_its_numbers() -> None:
    columns = [["Race", *(row[0] for row in RACES)]]
    columns += [[name, *(row[i] for row in RACES)] for i, name in enumerate(HEADER, 1)]
    columns.append(["Below 80%", "No", "No", "No"])
    words = placed([["Results by race"]], AT, 80) + placed(columns, (40, 160, 290, 360), 100)
    ((*rows,),) = grids(words)
    assert rows == [tuple(row) for row in columns]


def test_a_table_that_stands_upright_is_not_taken_for_one_on_its_side() -> None:
    ((*rows,),) = grids(placed([["Race", *HEADER], *RACES], AT, 100))
    assert rows == [("Race", *HEADER), *map(tuple, RACES)]


def test_tables_beside_each_other_are_read_one_after_the_other() -> None:
    left = placed([["Sex", *HEADER], *SEX], (20, 60, 145, 205, 280), 100)
    right = placed([["Race", *HEADER], *RACES], (400, 505, 590, 650, 725), 100)
    sentence = placed([["The impact ratio is a rate of a category over the highest rate. " * 2]], (20,), 60)
    groups = list(reading_order([*sentence, *left, *right]))
    assert [len(group) for group in groups] == [len(sentence), len(left), len(right)]
    assert grids([*left, *right]) == [
        [("Sex", *HEADER), *map(tuple, SEX)],
        [("Race", *HEADER), *map(tuple, RACES)],
    ]


def test_columns_of_one_table_are_no_tables_beside_each_other() -> None:
    words = placed([["Race", *HEADER], *RACES], AT, 100)
    assert [len(group) for group in reading_order(words)] == [len(words)]


def test_a_line_over_rows_is_a_section_and_no_part_of_a_label() -> None:
    ((*rows,),) = grids(placed([["Race", *HEADER], ["Male"], *RACES, ["Female"], *RACES], AT, 100, step=14))
    assert [row[0] for row in rows if not any(row[1:])] == ["Male", "Female"]
    assert rows[2:5] == rows[6:9] == [tuple(row) for row in RACES]


@pytest.mark.parametrize(
    ("cut", "whole"),
    [
        ("Hispani c or Latino", "Hispanic or Latino"),
        ("Two or Mor", "Two or More Races"),
        ("Selection Rate", "Selection Rate"),
        ("Other", "Other"),
        ("Martians an d more", "Martians an d more"),
    ],
)
def test_cut_words_are_put_together_where_they_are_known(cut: str, whole: str) -> None:
    assert whole_words(cut) == whole


def edged(table: Sequence[dict[str, Any]], number: int, pages: int) -> list[dict[str, Any]]:
    """A page as a browser prints it: date and title over it, address and number under it."""
    head = drawn(30, 20, "11/20/26, 9:14 AM Bias audit of the tool")
    return [*head, *table, *drawn(30, 760, f"https://example.com/audit {number}/{pages}")]


def test_a_table_goes_on_over_the_edges_that_a_browser_prints() -> None:
    first = edged(placed([["Race", *HEADER], RACES[0]], AT, 700), 1, 2)
    second = edged(placed(RACES[1:], AT, 60), 2, 2)
    lines = lines_of([first, second])
    assert [line.text for line in lines if "AM" in line.text] == ["11/20/26, 9:14 AM Bias audit of the tool"]
    assert [line.text for line in lines if "://" in line.text] == ["https://example.com/audit 2/2"]
    (grid,) = layout_grids(lines)
    assert [tuple(row) for row in grid.rows] == [("Race", *HEADER), *map(tuple, RACES)]


@pytest.mark.parametrize("text", ["Results by race for clerks", "Martian 200 100 50% 1.00"])
def test_a_text_that_two_pages_begin_with_is_no_edge(text: str) -> None:
    pages = [list(drawn(30, 20, text)) + placed(RACES, AT, 60) for _ in range(2)]
    assert [line.text for line in lines_of(pages)].count(text) == 2


def test_a_line_that_each_page_ends_with_is_left_out_but_once() -> None:
    pages = [placed(RACES, AT, 60) + list(drawn(30, 760, "Audit report - public")) for _ in range(3)]
    lines = lines_of(pages)
    assert [line.page for line in lines if line.text.startswith("Audit")] == [2]
    labels = [[*drawn(40, 740, "Pacific"), *drawn(200, 740, "12"), *drawn(40, 751, "Islander")]] * 2
    assert [line.text for line in lines_of(labels)].count("Islander") == 2


def test_a_page_ends_between_the_lines_of_a_header() -> None:
    first = placed([["Race", "# of", "#", "Selection", "Impact"]], AT, 740)
    second = placed([["", "Applicants", "Selected", "Rate", "Ratio"], *RACES], AT, 60)
    (grid,) = layout_grids(lines_of([first, second]))
    assert tuple(grid.rows[0]) == ("Race", *HEADER)


def test_a_dash_at_the_end_of_a_label_is_no_number() -> None:
    rows = [
        ["Asian - Male", "50", "20", "40%", "0.80"],
        ["Hispanic or Latino -", "100", "40", "40%", "0.80"],
        ["Male"],
        ["White - Male", "200", "100", "50%", "1.00"],
    ]
    ((*found,),) = grids(placed([["Category", *HEADER], *rows], AT, 100, step=13))
    assert found[2] == ("Hispanic or Latino - Male", *rows[1][1:])
    dashes = [["Asian", "50", "-", "-", "-"], *RACES[:2]]
    ((*found,),) = grids(placed([["Race", *HEADER], *dashes], AT, 100))
    assert found[1] == tuple(dashes[0])


def test_headings_over_a_table_and_words_below_it() -> None:
    def larger(words: Sequence[dict[str, Any]], size: float) -> list[dict[str, Any]]:
        return [word | {"size": size, "bottom": word["top"] + size} for word in words]

    words = larger(placed([["Bias audit"]], AT, 20), 20.0)
    for top, job in ((60, "Clerks"), (300, "Drivers")):
        words += larger(placed([[f"Results for {job}"]], AT, top), 16.0)
        words += larger(placed([["Results by race"]], AT, top + 30), 12.0)
        words += placed([["Race", *HEADER], *RACES], AT, top + 60)
        words += placed([[f"Two {job} were left out."]], AT, top + 160)
    found = list(layout_grids(lines_of([words])))
    assert [grid.trail for grid in found] == [
        ("Bias audit", "Results for Clerks"),
        ("Bias audit", "Results for Drivers"),
    ]
    assert [grid.notes for grid in found] == ["Two Clerks were left out.", "Two Drivers were left out."]
    assert {grid.caption for grid in found} == {"Results by race"}


def test_a_table_on_its_side_with_sexes_over_groups_of_races() -> None:
    """The first name is wider than its column and goes over the labels; a sum stands behind the last group."""
    races = ["Hispanic or Latino", "White", "Asian"]
    middles = (175.0, 275.0, 345.0, 415.0, 515.0, 585.0, 655.0)
    names = [*races, *races, "Total"]
    numbers = [
        ["50", "100", "25", "50", "100", "25", "350"],
        ["40%", "50%", "40%", "40%", "50%", "40%", "46%"],
        ["0.80", "1.00", "0.80", "0.80", "1.00", "0.80", "N/A"],
    ]
    words = placed([["Results by both"]], AT, 80)
    for middle, sex in ((middles[1], "MALE"), (middles[4], "FEMALE")):
        words += drawn(middle - WIDE * len(sex) / 2, 100, sex)
    rows = [names, *numbers]
    for row, label, top in zip(rows, ("", "Applicants", "Rate", "Ratio"), (116, 132, 148, 164), strict=True):
        words += drawn(40, top, label) if label else []
        for middle, text in zip(middles, row, strict=True):
            words += drawn(middle - WIDE * len(text) / 2, top, text)
    ((*found,),) = grids(words)
    assert found == [
        ("", *["MALE"] * 3, *["FEMALE"] * 3, ""),
        ("", *names),
        *((label, *row) for label, row in zip(("Applicants", "Rate", "Ratio"), numbers, strict=True)),
    ]


def test_the_right_part_of_a_table_on_its_side_is_no_column_of_the_page() -> None:
    columns = [
        ["Race", *(row[0] for row in RACES)],
        *([n, *(r[i] for r in RACES)] for i, n in enumerate(HEADER, 1)),
    ]
    table = placed(columns, (40, 160, 290, 360), 200)
    prose = placed([["One line of words stands here"]] * 5, (40,), 100, step=14)
    assert [len(group) for group in reading_order([*prose, *table])] == [len(prose) + len(table)]


def test_a_heading_below_the_left_table_is_none_of_the_right_one() -> None:
    left, right = (20, 60, 145, 205, 280), (400, 505, 590, 650, 725)
    words = placed([["Sex", *HEADER], *SEX], left, 100) + placed([["Race", *HEADER], *RACES], right, 100)
    words += [*drawn(20, 84, "Results by sex"), *drawn(400, 84, "Results by race")]
    words += drawn(20, 229, "Results by sex")
    titles = [*drawn(20, 50, "Position: clerk"), *drawn(20, 162, "Position: driver")]
    words += [word | {"size": 14.0, "bottom": word["top"] + 14.0} for word in titles]
    words += placed([["Sex", *HEADER], *SEX], left, 245)
    found = [(len(grid.rows), grid.trail) for grid in layout_grids(lines_of([words]))]
    assert [rows for rows, _ in found] == [3, 4, 3]
    assert [trail for _, trail in found] == [("Position: clerk",)] * 2 + [("Position: driver",)]
