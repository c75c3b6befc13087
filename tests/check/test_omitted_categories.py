"""Categories without a row: an error where another table holds the people, a warning where "unknown" may hide them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import pytest

from audit_lib.check import CheckResult
from tests.check.cases import RACES, WORDS, Table, checked, counts, rated, summary

SEX, RACE, BOTH = summary()
NOT_HISPANIC = " (Not Hispanic or Latino)"
CELLS = counts()
Pairs = Mapping[tuple[str, str], tuple[int, int]]


def page(
    keep: Callable[[str, dict[str, tuple[int, int]]], dict[str, tuple[int, int]]], cells: Pairs = CELLS
) -> dict[str, Table]:
    """The three tables of the same people, each with the rows that are kept, its ratios over what is left."""
    by_sex: dict[str, tuple[int, int]] = {}
    by_race: dict[str, tuple[int, int]] = {}
    for (sex, race), (n, k) in cells.items():
        for sums, label in ((by_sex, sex), (by_race, race)):
            before = sums.get(label, (0, 0))
            sums[label] = (before[0] + n, before[1] + k)
    both = {f"{sex}, {race}": pair for (sex, race), pair in cells.items()}
    return {name: rated(keep(name, rows)) for name, rows in ((SEX, by_sex), (RACE, by_race), (BOTH, both))}


def only(caption: str, labels: Collection[str]) -> dict[str, Table]:
    return page(lambda name, rows: {k: v for k, v in rows.items() if name != caption or k in labels})


def without(races: Collection[str], *, unknown: int, words: str = "") -> tuple[dict[str, Table], str]:
    """A page on which nobody of these races has a row anywhere."""
    kept = {key: pair for key, pair in CELLS.items() if key[1] not in races}
    text = WORDS.replace("0 individuals", f"{unknown} individuals") + f"<p>Bounds are given. {words}</p>"
    return page(lambda _, rows: rows, kept), text


def found(report: CheckResult) -> list[tuple[str, str, str]]:
    kinds = ("category_left_out", "category_dropped", "category_missing")
    return [(f.severity, f.id, f.row.replace(NOT_HISPANIC, "")) for f in report.findings if f.id in kinds]


def test_a_race_table_of_two_rows_beside_an_intersectional_one_of_fourteen(tmp_path: Path) -> None:
    report = checked(tmp_path, only(RACE, ("White", "Asian")))
    gone = [race for race in RACES if race not in ("White", "Asian")]
    assert found(report) == [("error", "category_left_out", "; ".join(gone))]
    (error,) = [f for f in report.findings if f.id == "category_left_out"]
    held = sum(CELLS[sex, gone[0]][0] for sex in ("Male", "Female"))
    assert error.table == f"2 ({RACE})" and f"table 3 ({BOTH}) holds these people" in error.message
    assert f"{gone[0]}: {held} people" in error.message and not report.ok


@pytest.mark.parametrize("race", RACES)
@pytest.mark.parametrize("caption", [RACE, BOTH])
def test_any_category_of_either_table(tmp_path: Path, caption: str, race: str) -> None:
    kept = [label for label, *_ in summary()[caption] if race not in label]
    ((severity, kind, row),) = found(checked(tmp_path, only(caption, kept)))
    assert (severity, kind) == ("error", "category_left_out")
    assert row == (race if caption == RACE else f"Male, {race}; Female, {race}")


def test_one_cell_of_the_intersectional_table(tmp_path: Path) -> None:
    kept = [label for label, *_ in summary()[BOTH] if label != "Female, White"]
    assert found(checked(tmp_path, only(BOTH, kept))) == [("error", "category_left_out", "Female, White")]


def test_a_sex_of_which_the_other_tables_have_people(tmp_path: Path) -> None:
    report = checked(tmp_path, only(SEX, ["Female"]))
    assert found(report) == [("error", "category_left_out", "Male")]


def test_without_a_finer_table_the_number_of_people_tells(tmp_path: Path) -> None:
    tables = only(RACE, ("White", "Asian"))
    del tables[BOTH]
    report = checked(tmp_path, tables)
    assert [(severity, kind) for severity, kind, _ in found(report)] == [("error", "category_left_out")]


def test_each_position_has_tables_of_its_own(tmp_path: Path) -> None:
    """Nobody of a race applied for one position: its tables agree, and the other position's are no evidence."""
    cook = page(lambda _, rows: rows, {key: pair for key, pair in CELLS.items() if key[1] != "Asian"})
    tables = {f"{name}: cook": rows for name, rows in cook.items()}
    tables |= {f"{name}: driver": rows for name, rows in summary().items()}
    assert found(checked(tmp_path, tables)) == []
    tables[f"{RACE}: driver"] = only(RACE, ("White",))[RACE]
    ((severity, kind, row),) = found(checked(tmp_path, tables))
    assert (severity, kind, len(row.split("; "))) == ("error", "category_left_out", len(RACES) - 1)


@pytest.mark.parametrize(
    ("unknown", "words", "kind"),
    [
        (400, "", "category_dropped"),
        (0, "", "category_dropped"),
        (5, "", "category_dropped"),
        (0, "Asian applicants were excluded: fewer than 2% of the data.", "category_missing"),
        (400, "No applicant was Asian.", "category_missing"),
        (400, "Asian applicants: 0.", "category_missing"),
        (400, "Most applicants were Asian.", "category_dropped"),
    ],
)
def test_a_race_that_no_table_has(tmp_path: Path, unknown: int, words: str, kind: str) -> None:
    report = checked(tmp_path, *without(["Asian"], unknown=unknown, words=words))
    severity = "warning" if kind == "category_dropped" else "note"
    rows = [("Asian",) if kind == "category_dropped" else ("Asian", "Male, Asian; Female, Asian")][0]
    assert found(report) == [(severity, kind, row) for row in rows]
    assert report.ok == (severity == "note")


def test_a_small_category_whose_absence_is_explained_is_no_error(tmp_path: Path) -> None:
    small = dict(CELLS) | {("Male", "Asian"): (4, 2), ("Female", "Asian"): (3, 1)}
    tables = page(lambda name, rows: {k: v for k, v in rows.items() if name != RACE or k != "Asian"}, small)
    assert [kind for _, kind, _ in found(checked(tmp_path, tables))] == ["category_left_out"]
    words = f"{WORDS}<p>Asian applicants (7 people, 42.9%) were excluded: fewer than 2% of the data.</p>"
    assert found(checked(tmp_path, tables, words)) == []
    assert [kind for _, kind, _ in found(checked(tmp_path, tables, words.replace("7 people, ", "")))] == [
        "category_missing"
    ]
    large = only(RACE, [race for race in RACES if race != "Asian"])
    assert [kind for _, kind, _ in found(checked(tmp_path, large, words))] == ["category_left_out"]


def test_people_of_unknown_sex_may_be_of_no_row(tmp_path: Path) -> None:
    """The intersectional table holds those of known sex and race only."""
    tables = page(lambda _, rows: rows, {k: v for k, v in CELLS.items() if k != ("Male", "White")})
    more = dict(CELLS) | {("Male", "White"): (3, 1)}
    tables[RACE] = page(lambda _, rows: rows, more)[RACE]
    three = WORDS.replace("0 individuals", "3 individuals")
    assert [f for f in found(checked(tmp_path, tables, three)) if f[0] == "error"] == []
    two = WORDS.replace("0 individuals", "2 individuals")
    assert ("error", "category_left_out", "Male, White") in found(checked(tmp_path, tables, two))


def test_a_row_of_another_taxonomy_may_hold_them_up_to_its_number(tmp_path: Path) -> None:
    rows = {
        r: (n, k)
        for r, (n, k) in ((row[0], (int(row[1].replace(",", "")), int(row[2]))) for row in summary()[RACE])
    }
    others = [race for race in RACES if race not in ("White", "Asian")]
    kept = {race: rows[race] for race in ("White", "Asian")}
    n, k = (sum(rows[race][i] for race in others) for i in (0, 1))
    tables = summary() | {RACE: rated(kept | {"Others": (n, k)})}
    assert [s for s, _, _ in found(checked(tmp_path, tables))] == ["note"]
    tables = summary() | {RACE: rated(kept | {"Others": (40, 15)})}
    assert "category_left_out" in [kind for _, kind, _ in found(checked(tmp_path, tables))]


def total(cells: Pairs) -> tuple[int, int]:
    return sum(n for n, _ in cells.values()), sum(k for _, k in cells.values())


@pytest.mark.parametrize("place", ["a total row", "the text", "nowhere"])
def test_a_race_that_only_the_totals_hold(tmp_path: Path, place: str) -> None:
    people, selected = total(CELLS)
    tables, text = without(["Asian"], unknown=0)
    if place == "a total row":
        for rows in tables.values():
            rows.append(["Total", f"{people:,}", f"{selected:,}", "", ""])
    elif place == "the text":
        text += f"<p>The audit covered a total of {people:,} applicants.</p>"
    gone = [f for f in checked(tmp_path, tables, text).findings if f.id == "category_dropped"]
    assert [(f.severity, f.row) for f in gone] == [("warning", "Asian")]
    more = f"{people - total(shown())[0]} more than its rows"
    assert all((more in f.message) is (place != "nowhere") for f in gone)


def shown() -> Pairs:
    return {key: pair for key, pair in CELLS.items() if key[1] != "Asian"}


@pytest.mark.parametrize(
    "words", ["The audit covered a total of {all} applicants.", "{all} applicants were assessed."]
)
def test_totals_of_complete_tables_and_of_several_positions_say_nothing(tmp_path: Path, words: str) -> None:
    people, _ = total(CELLS)
    text = WORDS.replace("0 individuals", "7 individuals") + f"<p>{words.format(all=f'{people + 7:,}')}</p>"
    assert not [f for f in found(checked(tmp_path, page(lambda _, rows: rows), text)) if f[0] != "note"]
    cook = page(lambda _, rows: rows, shown())
    tables = {f"{name}: cook": rows for name, rows in cook.items()}
    tables |= {f"{name}: clerk": rows for name, rows in cook.items()}
    both = WORDS + "<p>No applicant was Asian.</p>" + f"<p>{words.format(all=f'{2 * people:,}')}</p>"
    assert not [f for f in found(checked(tmp_path, tables, both)) if f[0] != "note"]


@pytest.mark.parametrize("race", RACES)
def test_who_is_not_hispanic_is_denied_by_no_label(tmp_path: Path, race: str) -> None:
    """A page without Hispanic people names them in each other row: "White (Not Hispanic or Latino)"."""
    tables, text = without([race], unknown=3000)
    named = {
        caption: [
            (label if "Hispanic" in label else label + NOT_HISPANIC if caption != SEX else label, *rest)
            for label, *rest in rows
        ]
        for caption, rows in tables.items()
    }
    assert found(checked(tmp_path, named, text)) == [("warning", "category_dropped", race)]


@pytest.mark.parametrize("difference", [0, 7])
def test_a_race_without_rows_where_all_others_add_up_is_no_matter_of_unknown_people(
    tmp_path: Path, difference: int
) -> None:
    """3,000 people are unknown, but none of them is in the race table alone: each other race adds up exactly."""
    tables = page(lambda _, rows: rows)
    tables[BOTH] = [row for row in tables[BOTH] if not row[0].endswith(RACES[3])]
    tables[RACE][0][1] = str(int(tables[RACE][0][1].replace(",", "")) + difference)
    report = checked(tmp_path, tables, WORDS.replace("<p>0 ", "<p>3,000 "))
    assert ("category_left_out" in [f.id for f in report.findings if f.severity == "error"]) == (
        not difference
    )
