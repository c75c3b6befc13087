"""Words of a PDF as they were drawn: over lines and other words, in the middle of their rows, in columns of labels."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from audit_lib.check.pdf_cells import cell_texts, drawn_words
from audit_lib.check.pdf_layout import layout_grids
from audit_lib.check.pdf_lines import lines_of

SIZE = 10.0
WIDTH = 5.0


def drawn(text: str, x: float, bottom: float = 100.0) -> list[dict[str, Any]]:
    """Characters of one text, each of the same width, as pdfplumber has them."""
    return [
        {"text": char, "x0": x + i * WIDTH, "x1": x + (i + 1) * WIDTH, "top": bottom - SIZE, "bottom": bottom,
         "size": SIZE}
        for i, char in enumerate(text)
    ]  # fmt: skip


def texts(*parts: list[dict[str, Any]]) -> list[str]:
    return [words.text for words in drawn_words([char for part in parts for char in part])]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([drawn("Number of Applicants", 0), drawn("Selected", 70)], ["Number of Applicants", "Selected"]),
        ([drawn("Latino)", 0), drawn("148", 35)], ["Latino)", "148"]),
        ([drawn("Pass rate", 0), drawn("AIR", 45)], ["Pass rate", "AIR"]),
        ([drawn("Men", 0), drawn("Asian", 30)], ["Men", "Asian"]),
        ([drawn("two  spaces", 0)], ["two", "spaces"]),
        ([drawn("1,204", 0)], ["1,204"]),
        ([drawn("Paci\ufb01c", 0)], ["Pacific"]),
        ([drawn("0.85\u00b2", 0)], ["0.85\u00b2"]),
        ([drawn("first", 0), drawn("second", 25, 120)], ["first", "second"]),
    ],
)
def test_what_was_drawn_as_one_is_one(parts: list[list[dict[str, Any]]], said: list[str]) -> None:
    assert texts(*parts) == said


def test_words_that_go_over_their_cell_stay_in_it() -> None:
    cells = [(0.0, 88.0, 60.0, 104.0), (60.0, 88.0, 120.0, 104.0)]
    table = SimpleNamespace(rows=[SimpleNamespace(cells=[*cells, None])])
    chars = [*drawn("Number of Applicants", 2), *drawn("Number advanced", 63)]
    assert cell_texts(table, drawn_words(chars)) == [["Number of Applicants", "Number advanced", None]]


def page(*lines: tuple[float, list[tuple[str, float]]]) -> list[dict[str, Any]]:
    """Words of a page: for each height the texts and where they begin."""
    chars = [char for bottom, parts in lines for text, x in parts for char in drawn(text, x, bottom)]
    return [word for words in drawn_words(chars) for word in words.as_words()]


HEADER = [
    ("Sex", 0.0),
    ("Race", 60.0),
    ("Applicants", 250.0),
    ("Selected", 320.0),
    ("Rate", 380.0),
    ("Impact ratio", 420.0),
]
"""Too long for its column, the last one; two columns of labels."""


def numbers(label: str, *values: str) -> list[tuple[str, float]]:
    return [(label, 0.0), *zip(values, (250.0, 320.0, 380.0, 420.0), strict=True)]


def test_labels_in_the_middle_of_their_rows_in_two_columns() -> None:
    words = page(
        (100, HEADER),
        (120, [("Black or African", 60.0)]),
        (126, numbers("Men", "120", "60", "50.0%", "1.00")),
        (132, [("American", 60.0)]),
        (144, [("Native Hawaiian or", 60.0)]),
        (150, numbers("Men", "110", "44", "40.0%", "0.80")),
        (156, [("Pacific Islander", 60.0)]),
        (168, [*numbers("Women", "100", "45", "45.0%", "0.90"), ("Asian", 60.0)]),
    )  # fmt: skip
    (grid,) = layout_grids(lines_of([words]))
    assert [tuple(row) for row in grid.rows] == [
        ("Sex", "Race", "Applicants", "Selected", "Rate", "Impact ratio"),
        ("Men", "Black or African American", "120", "60", "50.0%", "1.00"),
        ("Men", "Native Hawaiian or Pacific Islander", "110", "44", "40.0%", "0.80"),
        ("Women", "Asian", "100", "45", "45.0%", "0.90"),
    ]
    assert grid.is_whole


def test_a_label_over_the_numbers_beside_it_is_read_whole() -> None:
    words = page(
        (100, [("Category", 0.0), ("Applicants", 110.0), ("Rate", 180.0), ("Impact ratio", 230.0)]),
        (120, [("Native Hawaiian or Pacific", 0.0), ("148", 110.0), ("40.0%", 180.0), ("0.80", 230.0)]),
        (140, [("Asian", 0.0), ("120", 110.0), ("50.0%", 180.0), ("1.00", 230.0)]),
    )
    (grid,) = layout_grids(lines_of([words]))
    assert [list(row)[:2] for row in grid.rows] == [
        ["Category", "Applicants"],
        ["Native Hawaiian or Pacific", "148"],
        ["Asian", "120"],
    ]
