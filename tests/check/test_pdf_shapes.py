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
