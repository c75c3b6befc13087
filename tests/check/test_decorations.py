"""Columns to look at, panels that a click opens, and tables that were misread: none is an accusation."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit_lib.check import check_report
from tests.check.cases import HEADER, html, kinds, save, summary
from tests.check.test_shapes import page, table


def _with(tables: dict[str, list[list[str]]], header: str, cells: str, place: int = 0) -> str:
    """Put a column into every table; `cells` is what it holds: places from a number on, or bars."""
    parts = []
    for caption, rows in tables.items():
        made = [[*HEADER[:place], header, *HEADER[place:]]]
        for i, row in enumerate(rows):
            text = str(int(cells) + i) if cells.isdigit() else cells * (i + 1)
            made.append([*row[:place], text, *row[place:]])
        parts.append(table(made, caption))
    return page(*parts)


@pytest.mark.parametrize("header", ["#", "Rank", "No.", ""])
@pytest.mark.parametrize("first", ["1", "9"])
def test_a_place_in_a_ranking_is_no_number_of_people(header: str, first: str, tmp_path: Path) -> None:
    found = check_report(save(tmp_path, _with(summary(), header, first)))
    assert not kinds(found), found.findings
    assert len(found.tables) == 3


@pytest.mark.parametrize("place", [4, 5])
def test_bars_of_letters_are_no_ratios(place: int, tmp_path: Path) -> None:
    found = check_report(save(tmp_path, _with(summary(), "Impact ratio, charted", "\u2588", place)))
    assert not kinds(found), found.findings


def test_a_wrong_ratio_beside_bars_is_found(tmp_path: Path) -> None:
    tables = summary()
    tables[next(iter(tables))][1][4] = "0.11"
    found = check_report(save(tmp_path, _with(tables, "Impact ratio, charted", "\u2588", 5)))
    assert "ratio_not_rebuilt" in kinds(found)


@pytest.mark.parametrize("control", ['aria-controls="{id}"', 'data-target="#{id}"', "data-bs-target='#{id}'"])
def test_what_a_click_opens_is_read(control: str, tmp_path: Path) -> None:
    panels = [
        f"<button {control.format(id=f'panel-{i}')}>Show</button>"
        f'<div id="panel-{i}" hidden>{table([list(HEADER), *rows], caption)}</div>'
        for i, (caption, rows) in enumerate(summary().items())
    ]
    found = check_report(save(tmp_path, page(*panels)))
    assert not kinds(found) and len(found.tables) == 3


def test_what_nothing_opens_is_not_read(tmp_path: Path) -> None:
    first, *others = (table([list(HEADER), *rows], caption) for caption, rows in summary().items())
    hidden = "".join(f'<div id="panel" hidden>{one}</div>' for one in others)
    assert "table_missing" in kinds(check_report(save(tmp_path, page(first, hidden))))


def test_a_table_whose_rows_no_people_can_have_was_misread(tmp_path: Path) -> None:
    tables = summary()
    caption = next(reversed(tables))
    for i, row in enumerate(tables[caption]):
        row[1] = str(i + 3)  # under the header of the applicants
    found = check_report(save(tmp_path, html(tables)))
    assert "more_selected_than_applied" not in kinds(found)
    assert any(
        one.id == "unreadable_table" and "more selected people than applicants" in one.message
        for one in found.findings
    )


def test_ratios_that_a_page_leaves_out_are_errors_however_many(tmp_path: Path) -> None:
    tables = summary()
    for row in tables[next(reversed(tables))][:6]:
        row[4] = "N/A"
    assert "category_without_ratio" in kinds(check_report(save(tmp_path, html(tables))))


def test_columns_that_the_page_has_turned_are_an_error(tmp_path: Path) -> None:
    tables = summary()
    for rows in tables.values():
        for row in rows:
            row[1], row[2] = row[2], row[1]
    assert "more_selected_than_applied" in kinds(check_report(save(tmp_path, html(tables))))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Two+ Races", "Two or More Races"),
        ("More than one race", "Two or More Races"),
        ("Am. Indian/Alaska Nat.", "Native American or Alaska Native"),
        ("Nat. Hawaiian/Pac. Islander", "Native Hawaiian or Pacific Islander"),
        ("Afr. American", "Black or African American"),
    ],
)
def test_short_names_of_categories(written: str, meant: str) -> None:
    from audit_lib.check.row_labels import categories_in

    assert categories_in(f"{written}, Female") == {meant, "Female"}
