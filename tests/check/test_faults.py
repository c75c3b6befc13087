"""Faulty summaries, typed by hand: each fault is named, with its place, and nothing else is."""

from __future__ import annotations

from copy import deepcopy
from fractions import Fraction
from pathlib import Path

import pytest

from audit_lib.check import KINDS, check_report
from audit_lib.check.findings import SEVERITIES
from audit_lib.metrics.rounding import round_half_up
from tests.check.cases import HEADER, POLICY, RACES, WORDS, Table, checked, html, kinds, rated, save, summary

SEX, RACE, BOTH = summary()


def changed(caption: str, row: int, column: int, text: str) -> dict[str, Table]:
    tables = deepcopy(summary())
    tables[caption][row][column] = text
    return tables


@pytest.mark.parametrize(
    ("text", "kind"),
    [("-12", "negative_count"), ("12.5", "fractional_count"), ("many", "unreadable_number")],
)
def test_a_number_of_people_that_is_none(tmp_path: Path, text: str, kind: str) -> None:
    report = checked(tmp_path, changed(BOTH, 3, 2, text))
    (found,) = [f for f in report.findings if f.id == kind]
    assert (found.row, found.column, found.printed) == (summary()[BOTH][3][0], "# selected", text)
    assert found.rule and found.severity == "error"


def test_more_selected_than_applied(tmp_path: Path) -> None:
    report = checked(tmp_path, changed(SEX, 1, 2, "9,999"))
    (found,) = [f for f in report.findings if f.id == "more_selected_than_applied"]
    assert (found.row, found.printed, found.rule) == ("Female", "9,999", "5-300, Selection Rate")


def test_a_ratio_that_nothing_gives(tmp_path: Path) -> None:
    right = summary()[RACE][2][4]
    report = checked(tmp_path, changed(RACE, 2, 4, "0.123"))
    assert kinds(report) == ["ratio_not_rebuilt"]
    (found,) = report.findings
    assert (found.printed, found.recomputed, found.row) == ("0.123", right, summary()[RACE][2][0])
    (record,) = [r for r in report.rebuilt if r.printed == "0.123"]
    assert record.conventions == ()


def over(groups: dict[str, tuple[int, int]], base: Fraction) -> Table:
    """Rows whose ratios are taken over a rate of one's choice."""
    return [
        [*row[:4], round_half_up(Fraction(k, n) / base, 3)]
        for row, (n, k) in zip(rated(groups), groups.values(), strict=True)
    ]


GROUPS = {"White": (400, 180), "Black": (220, 80), "Asian": (150, 75), "Hispanic": (300, 120)}


def one_table(tmp_path: Path, rows: Table) -> Path:
    return save(tmp_path, html({"Race/ethnicity": rows}))


def found_in(path: Path) -> list[str]:
    """Kinds of finding in a page of one table, less those about what one table lacks."""
    lacking = ("table_missing", "category_missing", "category_dropped")
    return [kind for kind in kinds(check_report(path)) if kind not in lacking]


def test_a_comparator_that_is_not_the_highest(tmp_path: Path) -> None:
    path = one_table(tmp_path, over(GROUPS, Fraction(180, 400)))
    assert found_in(path) == ["comparator_not_highest"]
    report = check_report(path)
    (found,) = [f for f in report.findings if f.id == "comparator_not_highest"]
    assert (found.row, found.printed, found.recomputed) == ("White", "1.000", "0.900")
    assert "(45.0%); the highest rate is 50.0%" in found.message
    ratios = [r for r in report.rebuilt if r.column == "Impact ratio"]
    assert {r.conventions for r in ratios} == {("counts over 'White', half up",)}


def test_the_rate_of_all_together_is_not_the_highest(tmp_path: Path) -> None:
    together = Fraction(sum(k for _, k in GROUPS.values()), sum(n for n, _ in GROUPS.values()))
    path = one_table(tmp_path, over(GROUPS, together))
    assert found_in(path) == ["comparator_not_highest"]
    assert "the rate of all categories together" in str(check_report(path).as_dict())


def test_people_of_unknown_category_as_comparator(tmp_path: Path) -> None:
    rows = over(GROUPS | {"Unknown": (50, 40)}, Fraction(40, 50))
    assert found_in(one_table(tmp_path, rows)) == [
        "unknown_in_calculation",
        "comparator_not_highest",
        "unknown_without_bounds",
    ]


def test_ratios_from_printed_rates(tmp_path: Path) -> None:
    groups = {"Male": (1390, 667), "Female": (1181, 555)}
    rows = rated(groups, rate_digits=0)
    rows[1][4] = round_half_up(Fraction(47, 48), 4)
    report = check_report(save(tmp_path, html({"Sex": rows})))
    (found,) = [f for f in report.findings if f.id == "ratio_from_printed_rates"]
    assert (found.printed, found.recomputed) == ("0.9792", "0.9793")
    (record,) = [r for r in report.rebuilt if r.printed == "0.9792"]
    assert record.conventions == ("printed rates, half up",)


def test_digits_cut_off(tmp_path: Path) -> None:
    rows = rated({"Male": (28, 18), "Female": (30, 15)}, rate_digits=1, ratio_digits=2)
    rows[0][3], rows[1][4] = "64.2%", "0.77"
    report = check_report(save(tmp_path, html({"Sex": rows})))
    assert [(f.printed, f.recomputed) for f in report.findings if f.id == "truncated"] == [
        ("64.2%", "64.3%"),
        ("0.77", "0.78"),
    ]


def test_a_rate_that_no_whole_number_of_people_gives(tmp_path: Path) -> None:
    header = ("Sex", "Applicants", "Scoring rate", "Impact ratio")
    rows = [["Male", "20", "50%", "1.00"], ["Female", "20", "43%", "0.86"]]
    report = check_report(save(tmp_path, html({"Sex": rows}, header=header)))
    (found,) = [f for f in report.findings if f.id == "rate_impossible"]
    assert found.message == "no whole number of 20 people gives 43%; 9 would give 45%"


def test_a_ratio_over_one_is_never_lawful_however_coarse_the_rates(tmp_path: Path) -> None:
    header = ("Sex", "Applicants", "Scoring rate", "Impact ratio")
    rows = [["Male", "10000", "48%", "1.00"], ["Female", "10000", "48%", "1.01"]]
    assert found_in(save(tmp_path, html({"Sex": rows}, header=header))) == ["comparator_not_highest"]
    rows[1][3] = "0.99"
    assert found_in(save(tmp_path, html({"Sex": rows}, header=header))) == []


def test_nobody_selected_gives_no_ratio(tmp_path: Path) -> None:
    rows = [["Male", "20", "0", "0%", "1.00"], ["Female", "20", "0", "0%", "1.00"]]
    assert "ratio_of_zero_rates" in found_in(one_table(tmp_path, rows))
    rows = [["Male", "20", "0", "0%", "undefined"], ["Female", "20", "0", "0%", "n/a"]]
    assert "ratio_of_zero_rates" not in found_in(one_table(tmp_path, rows))


def test_categories_left_out(tmp_path: Path) -> None:
    large = over(GROUPS, Fraction(1, 2))
    large[1][4] = "N/A"
    assert found_in(one_table(tmp_path, large)) == ["category_without_ratio", "field_not_found"]
    small = over(GROUPS | {"Native American": (10, 9)}, Fraction(1, 2))
    small[4][4] = "N/A"
    assert found_in(one_table(tmp_path, small)) == ["field_not_found", "excluded_highest"]
    words = (
        f"{WORDS}<p>Native American applicants were excluded because they are less than 2% of the data.</p>"
    )
    assert found_in(save(tmp_path, html({"Race/ethnicity": small}, words))) == ["excluded_highest"]
    words += "<p>The comparator is the highest rate among the categories that are not excluded.</p>"
    assert found_in(save(tmp_path, html({"Race/ethnicity": small}, words))) == []


def test_an_excluded_category_can_be_the_highest_either_way(tmp_path: Path) -> None:
    """The rule is silent on it, so both ways are the law's."""
    words = (
        f"{WORDS}<p>Native American applicants were excluded because they are less than 2% of the data.</p>"
    )
    for base in (Fraction(1, 2), Fraction(9, 10)):
        rows = over(GROUPS | {"Native American": (10, 9)}, base)
        rows[4][4] = "-"
        assert found_in(save(tmp_path, html({"Race/ethnicity": rows}, words))) == ["excluded_highest"]


def test_very_few_people(tmp_path: Path) -> None:
    path = one_table(tmp_path, over(GROUPS | {"Two or More Races": (4, 1)}, Fraction(1, 2)))
    assert found_in(path) == ["small_cell"]
    (found,) = [f for f in check_report(path).findings if f.id == "small_cell"]
    assert found.row == "Two or More Races: 4"


def test_tables_that_do_not_add_up(tmp_path: Path) -> None:
    tables = summary()
    tables[SEX] = rated({"Male": (2000, 700), "Female": (1500, 500)})
    report = checked(tmp_path, tables)
    assert kinds(report) == ["tables_do_not_add_up"]
    assert {(f.row, f.column) for f in report.findings} == {
        *((sex, column) for sex in ("Male", "Female") for column in HEADER[1:3]),
        ("", HEADER[1]),  # nor are the tables of so different numbers of people about the same ones
    }


def test_unknown_people_can_explain_a_difference_and_only_so_far(tmp_path: Path) -> None:
    cells = {(sex, race): (50, 20) for sex in ("Male", "Female") for race in RACES}
    tables = summary(cells)
    tables[SEX] = rated({"Male": (360, 145), "Female": (350, 140)})
    words = f"{WORDS} <p>Bounds are given.</p>"
    enough = checked(tmp_path, tables, words.replace("0 individuals", "10 individuals"))
    assert kinds(enough, notes=False) == []
    few = checked(tmp_path, tables, words.replace("0 individuals", "9 individuals"))
    assert kinds(few, notes=False) == ["tables_do_not_add_up"]


@pytest.mark.parametrize(("sex", "wrong"), [((682, 267), False), ((682, 268), True), ((681, 268), False)])
def test_as_many_people_of_whom_another_number_is_selected(
    tmp_path: Path, sex: tuple[int, int], wrong: bool
) -> None:
    """One person more selected than in the other table needs one person whose category is unknown."""
    race = {"White": (412, 156), "Asian": (298, 105), "Black": (312, 86), "Hispanic": (225, 62)}
    tables = {SEX: rated({"Male": sex, "Female": (565, 142)}), RACE: rated(race)}
    found = [f for f in checked(tmp_path, tables).findings if f.id == "tables_do_not_add_up"]
    assert [(f.table, f.printed, f.recomputed) for f in found] == (
        [(f"2 ({RACE})", "409", "410")] if wrong else []
    )


def test_totals_and_shares(tmp_path: Path) -> None:
    header = ("Sex", "Applicants", "Selected", "Share of data", "Selection rate", "Impact ratio")
    rows = [
        ["Male", "60", "30", "60.0%", "50.0%", "1.000"],
        ["Female", "40", "20", "40.0%", "50.0%", "1.000"],
        ["Total", "100", "50", "", "50.0%", ""],
    ]
    assert found_in(save(tmp_path, html({"Sex": rows}, header=header))) == []
    rows[1][3] = "41.0%"
    assert found_in(save(tmp_path, html({"Sex": rows}, header=header))) == ["share_not_rebuilt"]
    rows[1][3], rows[2][1] = "40.0%", "101"
    path = save(tmp_path, html({"Sex": rows}, header=header))
    assert "total_mismatch" in found_in(path)
    (found,) = [f for f in check_report(path).findings if f.id == "total_mismatch"]
    assert (found.printed, found.recomputed) == ("101", "100")


def test_one_category_twice(tmp_path: Path) -> None:
    rows = over(GROUPS, Fraction(1, 2))
    assert found_in(one_table(tmp_path, [*rows, ["Black or African American", *rows[1][1:]]])) == [
        "duplicate_category"
    ]


def test_a_category_of_another_taxonomy(tmp_path: Path) -> None:
    path = one_table(tmp_path, over(GROUPS | {"Middle Eastern": (90, 30)}, Fraction(1, 2)))
    assert found_in(path) == ["category_outside_taxonomy"]


def test_two_positions_with_one_name(tmp_path: Path) -> None:
    tables = {f"{caption}, cook": rows for caption, rows in summary().items()}
    twice = html(tables).replace("</body>", "") + html(tables, words="").partition("<body>")[2]
    report = check_report(save(tmp_path, twice))
    assert kinds(report) == ["duplicate_table"]
    assert len(report.findings) == 3
    numbered = {f"Position {i}: {caption}": rows for i in (1, 2) for caption, rows in summary().items()}
    assert checked(tmp_path, numbered).findings == ()
    counted = {f"Table {i}: {caption}": rows for i in (1, 2) for caption, rows in summary().items()}
    assert kinds(checked(tmp_path, counted)) == ["duplicate_table"]
    other = {f"{caption}, driver": rows for caption, rows in summary().items()}
    assert checked(tmp_path, tables | other).findings == ()


def test_a_missing_family_and_a_missing_column(tmp_path: Path) -> None:
    tables = summary()
    del tables[RACE]
    report = checked(tmp_path, tables)
    assert [(f.id, f.rule) for f in report.findings] == [("table_missing", "5-301(b)(3)(ii)")]
    bare = {caption: [[row[0], *row[2:]] for row in rows] for caption, rows in summary().items()}
    report = check_report(save(tmp_path, html(bare, header=(HEADER[0], *HEADER[2:]))))
    assert kinds(report) == ["column_missing"]
    assert {f.column for f in report.findings} == {"applicants"}


def test_every_kind_has_a_weight_and_a_rule() -> None:
    assert all(kind.severity in SEVERITIES and kind.meaning and kind.rule for kind in KINDS.values())
    assert POLICY.small_cell == 5


def test_a_ratio_of_printed_rates_beside_an_impossible_rate(tmp_path: Path) -> None:
    """44% of 4 people is no number of people: the counts give no ratio, and the message says so."""
    text = "Sex,Applicants,Selection rate,Impact ratio\nMale,80,50%,1.00\nFemale,4,44%,0.88\n"
    report = check_report(save(tmp_path, text, "table.csv"))
    (found,) = [f for f in report.findings if f.id == "ratio_from_printed_rates"]
    assert found.message == "follows only from the printed rates; the row's counts give none"
