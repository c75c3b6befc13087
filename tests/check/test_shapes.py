"""Shapes that strangers give their tables: each is read as what it says, and one changed number in it is found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from itertools import product
from pathlib import Path

import pytest

from audit_lib.check import CheckResult, check_report
from audit_lib.check.cards import grids_of_cards
from audit_lib.check.column_arithmetic import named
from audit_lib.check.compact_cells import numbers_in, spread
from audit_lib.check.grids import Grid
from audit_lib.check.headers import meaning_of
from tests.check.cases import HEADER, POLICY, RACES, WORDS, Table, html, kinds, save, summary

SEX, RACE, BOTH = summary()
SEXES = ("Male", "Female")
Tables = Mapping[str, Table]


def table(rows: Table, caption: str = "") -> str:
    body = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    return f"<h2>{escape(caption)}</h2><table>{body}</table>"


def page(*parts: str) -> str:
    return f"<html><body>{WORDS}{''.join(parts)}</body></html>"


def plain(tables: Tables, *captions: str) -> str:
    return "".join(table([list(HEADER), *tables[caption]], caption) for caption in captions)


def decimal_commas(tables: Tables) -> str:
    swap = str.maketrans(",.", ".,")
    swapped = {
        caption: [[row[0], *(text.translate(swap) for text in row[1:])] for row in rows]
        for caption, rows in tables.items()
    }
    return html(swapped)


def one_long_table(tables: Tables) -> str:
    rows = [
        [caption, row[0], name, number]
        for caption, held in tables.items()
        for row in held
        for name, number in zip(HEADER[1:], row[1:], strict=True)
    ]
    return page(table([["Table", "Group", "Measure", "Value"], *rows]))


def kinds_in_a_column(tables: Tables) -> str:
    rows = [[caption, *row] for caption, held in tables.items() for row in held]
    return page(table([["Dimension", "Group", *HEADER[1:]], *rows]))


def a_matrix_for_each_measure(tables: Tables) -> str:
    cells = {row[0]: row for row in tables[BOTH]}
    matrices = [
        f"<p>{HEADER[i]}</p>"
        + table(
            [["Race", *SEXES], *([race, *(cells[f"{sex}, {race}"][i] for sex in SEXES)] for race in RACES)]
        ).replace("<h2></h2>", "")
        for i in range(1, 5)
    ]
    return page(plain(tables, SEX, RACE), "<h2>Both</h2>", *matrices)


def several_numbers_in_a_cell(tables: Tables) -> str:
    parts = [
        table(
            [["Category", "Selected / applicants (rate)", "Impact ratio"]]
            + [[label, f"{k} / {n} ({rate})", ratio] for label, n, k, rate, ratio in rows],
            caption,
        )
        for caption, rows in tables.items()
    ]
    return page(*parts)


def both_sexes_under_each_race(tables: Tables) -> str:
    cells = {row[0]: row[1:] for caption in (RACE, BOTH) for row in tables[caption]}
    rows = []
    for race in RACES:
        rows += [[race, "Both", *cells[race]], *(["", sex, *cells[f"{sex}, {race}"]] for sex in SEXES)]
    return page(plain(tables, SEX), table([["Race", "Sex", *HEADER[1:]], *rows], "Race, and race by sex"))


def continued(tables: Tables) -> str:
    first, rest = tables[BOTH][:5], tables[BOTH][5:]
    parts = (
        table([list(HEADER), *rows], caption) for rows, caption in ((first, BOTH), (rest, f"{BOTH} (cont'd)"))
    )
    return page(plain(tables, SEX, RACE), *parts)


def parts_that_only_numbers_join(tables: Tables) -> str:
    races = tables[RACE][:3], tables[RACE][3:]
    parts = (table([list(HEADER), *rows], RACE) for rows in races)
    return page(plain(tables, SEX), *parts, plain(tables, BOTH))


def cards(tables: Tables) -> str:
    made = ""
    for caption, rows in tables.items():
        made += f"<h2>{caption}</h2>"
        for row in rows:
            named_ = "".join(f"<dt>{n}</dt><dd>{v}</dd>" for n, v in zip(HEADER[1:], row[1:], strict=True))
            made += f"<div><h4>{escape(row[0])}</h4><dl>{named_}</dl></div>"
    return page(made)


def sexes_across_and_measures_down(tables: Tables) -> str:
    cells = {row[0]: row for row in tables[BOTH]}
    rows = [
        [race, name, *(cells[f"{sex}, {race}"][i] for sex in SEXES)]
        for race in RACES
        for i, name in enumerate(HEADER[1:], 1)
    ]
    return page(plain(tables, SEX, RACE), table([["Race", "Measure", *SEXES], *rows], BOTH))


def numbers_apart_from_rates(tables: Tables) -> str:
    parts = [
        table([[row[i] for i in columns] for row in [HEADER, *rows]], f"{caption}: {name}")
        for caption, rows in tables.items()
        for name, columns in (("numbers", (0, 1, 2)), ("rates", (0, 3)), ("ratios", (0, 4)))
    ]
    return page(*parts)


def a_line_for_each_category(tables: Tables) -> str:
    lines = [
        f"<li>{escape(label)}: {n} applicants, {k} selected, selection rate {rate}; impact ratio {ratio}.</li>"
        for rows in tables.values()
        for label, n, k, rate, ratio in rows
    ]
    return page("<ul>", *lines, "</ul>")


def numbers_with_words_and_spaces(tables: Tables) -> str:
    said = {
        caption: [
            [label, f"{n} people", k.replace(",", " "), rate.replace("%", " percent"), ratio]
            for label, n, k, rate, ratio in rows
        ]
        for caption, rows in tables.items()
    }
    return html(said)


def measures_in_sections(tables: Tables) -> str:
    cells = {row[0]: row for row in tables[BOTH]}
    rows: Table = [["Race", *SEXES]]
    for i, name in enumerate(HEADER[1:], 1):
        rows += [[name] * 3, *([race, *(cells[f"{sex}, {race}"][i] for sex in SEXES)] for race in RACES)]
    return page(plain(tables, SEX, RACE), table(rows, BOTH))


def people_in_labels(tables: Tables) -> str:
    parts = (
        table([["Group", *HEADER[2:]], *([f"{row[0]} (n = {row[1]})", *row[2:]] for row in rows)], caption)
        for caption, rows in tables.items()
    )
    return page(*parts)


def men_and_women_under_their_names(tables: Tables) -> str:
    cells = {row[0]: row for row in tables[BOTH]}
    parts = (
        table([list(HEADER), *([race, *cells[f"{sex}, {race}"][1:]] for race in RACES)], name)
        for sex, name in zip(SEXES, ("Men by race", "Women by race"), strict=True)
    )
    return page(plain(tables, SEX, RACE), *parts)


def numbered_rows(tables: Tables) -> str:
    header = ["#", "Group", "Tested", "Through", "Quota", "Versus best"]
    parts = (
        table([header, *([str(i), *row] for i, row in enumerate(rows, 1))], caption)
        for caption, rows in tables.items()
    )
    return page(*parts)


def rate_and_ratio_in_a_cell(tables: Tables) -> str:
    header = ["Group", "Selected / Applicants", "Selection rate (impact ratio)"]
    parts = (
        table(
            [header, *([label, f"{k}/{n}", f"{rate} ({ratio})"] for label, n, k, rate, ratio in rows)],
            caption,
        )
        for caption, rows in tables.items()
    )
    return page(*parts)


def words_that_say_nothing(tables: Tables) -> str:
    header = ["Category", "Pool", "Went on", "Portion", "Against the leader"]
    return page(*(table([header, *rows], caption) for caption, rows in tables.items()))


SHAPES: dict[str, Callable[[Tables], str]] = {
    shape.__name__: shape
    for shape in (
        decimal_commas,
        one_long_table,
        kinds_in_a_column,
        a_matrix_for_each_measure,
        several_numbers_in_a_cell,
        both_sexes_under_each_race,
        continued,
        parts_that_only_numbers_join,
        cards,
        sexes_across_and_measures_down,
        numbers_apart_from_rates,
        a_line_for_each_category,
        numbers_with_words_and_spaces,
        measures_in_sections,
        people_in_labels,
        men_and_women_under_their_names,
        numbered_rows,
        rate_and_ratio_in_a_cell,
        words_that_say_nothing,
    )
}


SHAPES_OF_BOTH = (
    "both_sexes_under_each_race",
    "a_matrix_for_each_measure",
    "sexes_across_and_measures_down",
    "measures_in_sections",
    "men_and_women_under_their_names",
)


def told(folder: Path, shape: str, tables: Tables) -> CheckResult:
    return check_report(save(folder, SHAPES[shape](tables)))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_clean_page_of_each_shape(tmp_path: Path, shape: str) -> None:
    report = told(tmp_path, shape, summary())
    assert kinds(report, notes=False) == []
    assert len(report.tables) == 3 and report.conventions() == {"counts, half up": 46}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("column", "printed"), [(4, "0.123"), (3, "99.9%")])
def test_a_changed_number_in_each_shape(tmp_path: Path, shape: str, column: int, printed: str) -> None:
    tables = summary()
    tables[BOTH][9][column] = printed
    (found,) = [f for f in told(tmp_path, shape, tables).findings if f.severity == "error"]
    assert found.id == ("ratio_not_rebuilt" if column == 4 else "rate_not_rebuilt")
    assert found.printed.replace(",", ".").replace(" percent", "%") == printed
    race = tables[BOTH][9][0].rpartition(", ")[2]
    assert race in found.row


@pytest.mark.parametrize("shape", SHAPES)
def test_a_dropped_category_in_each_shape(tmp_path: Path, shape: str) -> None:
    tables = summary()
    if shape in SHAPES_OF_BOTH:
        del tables[SEX][1]
    else:
        del tables[RACE][2]
    found = told(tmp_path, shape, tables).findings
    assert [f.severity for f in found if f.id == "category_left_out"] == ["error"]


def test_a_page_with_decimal_commas_is_told_its_own_numbers(tmp_path: Path) -> None:
    tables = summary()
    tables[RACE][0][4] = "0.123"
    (found,) = told(tmp_path, "decimal_commas", tables).findings
    assert found.printed == "0,123" and found.recomputed.startswith("0,")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("123/456", ["123", "456"]),
        ("(1,234 of 5,678)", ["1,234", "5,678"]),
        ("27.0% (123 of 456)", ["27.0%", "123", "456"]),
        ("1,390", []),
        ("0.97 [1]", []),
        ("25\N{EN DASH}34", []),
        ("12 November 2026", []),
        ("0.9 (0.8, 1.1)", ["0.9", "0.8", "1.1"]),
        (
            "6\N{NO-BREAK SPACE}000 / 7\N{NO-BREAK SPACE}000",
            ["6\N{NO-BREAK SPACE}000", "7\N{NO-BREAK SPACE}000"],
        ),
    ],
)
def test_numbers_of_one_cell(text: str, numbers: list[str]) -> None:
    assert numbers_in(text) == numbers


def test_an_interval_beside_a_ratio_is_no_second_column() -> None:
    grid = Grid(
        rows=[["Group", "N", "Ratio"], ["Men", "10", "0.9 (0.8, 1.1)"], ["Women", "12", "1.0 (0.9, 1.2)"]]
    )
    assert spread([grid]) == (grid,)


def test_labels_of_two_numbers_are_labels() -> None:
    grid = Grid(rows=[["Age group", "N", "Ratio"], ["18/25", "10", "0.9"], ["26/35", "12", "1.0"]])
    assert spread([grid]) == (grid,)


def test_the_group_that_others_are_compared_with_has_a_ratio_of_one(tmp_path: Path) -> None:
    tables = summary()
    for rows in tables.values():
        for row in rows:
            row[4] = "Reference" if row[4] == "1.000" else row[4]
    assert kinds(check_report(save(tmp_path, html(tables))), notes=False) == []
    tables[RACE][0][4], tables[RACE][2][4] = tables[RACE][2][4], tables[RACE][0][4]
    assert "ratio_not_rebuilt" in kinds(check_report(save(tmp_path, html(tables))))


def two_numbers_in_two_rows(tables: Tables) -> str:
    rows = {
        caption: [part for row in held for part in ([*row[:4]], ["", "", "", row[4]])]
        for caption, held in tables.items()
    }
    return page(*(table([[*HEADER[:3], "Rate / ratio"], *held], caption) for caption, held in rows.items()))


def a_matrix_of_everything_but_ratios(tables: Tables) -> str:
    cells = {row[0]: row for row in tables[BOTH]}
    shown = {key: f"{k} of {n} ({rate})" for key, (_, n, k, rate, _) in cells.items()}
    parts = (
        table(
            [["Race", *SEXES], *([race, *(held(f"{sex}, {race}") for sex in SEXES)] for race in RACES)], name
        )
        for name, held in (("Selected of applicants", shown.get), ("Ratio", lambda key: cells[key][4]))
    )
    return page(plain(tables, SEX, RACE), *parts)


@pytest.mark.parametrize("shape", [two_numbers_in_two_rows, a_matrix_of_everything_but_ratios])
def test_what_is_not_understood_is_no_error(tmp_path: Path, shape: Callable[[Tables], str]) -> None:
    found = check_report(save(tmp_path, shape(summary()))).findings
    assert {f.severity for f in found} >= {"warning"} and "error" not in {f.severity for f in found}
    assert all(f.unsure or f.id == "comparator_elsewhere" for f in found if f.severity == "warning")


def test_a_table_of_something_else_is_one_warning(tmp_path: Path) -> None:
    tables = summary()
    for row in tables[RACE][:4]:
        row[1] = "see annex"
    found = [f for f in check_report(save(tmp_path, html(tables))).findings if f.severity != "note"]
    assert [(f.id, f.severity, "annex" in f.message) for f in found] == [
        ("unreadable_table", "warning", True)
    ]
    tables = summary()
    tables[RACE][0][1] = "see annex"
    assert "unreadable_number" in kinds(check_report(save(tmp_path, html(tables))))


def test_an_empty_first_column_counts_no_rows() -> None:
    """A merged label may stand on the page before: its column is kept for it."""
    grid = Grid(rows=[["Sex", "Race", *HEADER[1:]], *(["", *row] for row in summary()[RACE])])
    assert named([grid])[0].rows[1][0] == ""


def test_a_number_in_brackets_may_be_a_footnote() -> None:
    grid = Grid(rows=[["Group", "N", "Ratio"], ["Men", "1,310 (1)", "0.9"], ["Women", "1,112 (2)", "1.0"]])
    assert spread([grid]) == (grid,)


def test_people_with_their_share_of_all_are_not_read_as_a_rate() -> None:
    rows = [["Group", "People"], ["Men", "30 (30%)"], ["Women", "70 (70%)"]]
    (grid,) = spread([Grid(rows=rows)])
    assert [meaning_of(text) for text in grid.rows[0][1:]] == ["applicants", "share"]


def test_numbers_do_not_name_columns_of_answers() -> None:
    rows = [
        ["Group", "Asked", "Answered", "Portion"],
        *([race, "200", "100", "50.0%"] for race in RACES),
    ]
    assert list(named([Grid(rows=rows)])[0].rows[0]) == rows[0]


def test_cards_need_a_category_and_a_rate() -> None:
    assert grids_of_cards("Asian\nApplicants: 12\nOffice: 3", POLICY) == []
    text = "\n".join(
        f"{sex} {race}\nApplicants 12\nSelection rate 25%" for sex, race in product(SEXES, RACES)
    )
    (grid,) = grids_of_cards(text, POLICY)
    assert len(grid.rows) == 15 and grid.rows[1] == ("Male Hispanic or Latino", "12", "25%")
