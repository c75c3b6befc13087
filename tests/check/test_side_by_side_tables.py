"""One header over several tables: every rate in it is checked, or named as not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit_lib.check import CheckResult, check_report
from audit_lib.check.headers import Header
from audit_lib.check.html_tables import html_document
from audit_lib.check.published_tables import tables_of
from audit_lib.check.side_by_side_tables import tables_under
from tests.check.cases import POLICY, WORDS, save

FOUR = ("Applicants", "Selected", "Selection rate", "Impact ratio")
TOPS = "<tr><th rowspan=2>Race/Ethnicity<th colspan=4>{}<th colspan=4>{}<tr>" + "".join(
    f"<th>{name}" for name in (*FOUR, *FOUR)
)
ROWS = (
    ("White", "300", "150", "50%", "1.00", "200", "80", "40%", "0.80"),
    ("Asian", "100", "45", "45%", "0.90", "100", "30", "30%", "0.60"),
)


def page(header: str, rows: tuple[tuple[str, ...], ...] = ROWS) -> str:
    body = "".join("<tr>" + "".join(f"<td>{cell}" for cell in row) for row in rows)
    return f"<html>{WORDS}<table><caption>Results</caption>{header}{body}</table>"


def check(folder: Path, text: str, name: str = "page.html") -> CheckResult:
    return check_report(save(folder, text, name))


def wrong(report: CheckResult) -> list[tuple[str, str, str]]:
    return [(f.row, f.printed, f.recomputed) for f in report.findings if f.id == "ratio_not_rebuilt"]


def test_men_and_women_side_by_side_are_one_table_by_both(tmp_path: Path) -> None:
    """The comparator is the highest rate of both: 80 of 200 women over 150 of 300 men is 0.80."""
    report = check(tmp_path, page(TOPS.format("Male", "Female")))
    assert report.conventions() == {"counts, half up": 8}
    assert [(r.row, r.column) for r in report.rebuilt[:4:3]] == [
        ("Male, White", "Selection rate"),
        ("Female, Asian", "Selection rate"),
    ]


def test_a_fault_in_the_second_half_is_found(tmp_path: Path) -> None:
    rows = ((*ROWS[0][:-1], "0.90"), (*ROWS[1][:-1], "0.99"))
    report = check(tmp_path, page(TOPS.format("Male", "Female"), rows))
    assert wrong(report) == [("Female, White", "0.90", "0.80"), ("Female, Asian", "0.99", "0.60")]


CSV = """Race,Male,,,,Female,,,
,Applicants,Selected,Rate,Impact ratio,Applicants,Selected,Rate,Impact ratio
White,300,150,50%,1.00,200,80,40%,0.90
Asian,100,45,45%,0.90,100,30,30%,0.60
"""
ONE_LINE = """Race,Male n,Male hired,Male rate,Male impact ratio,Female n,Female hired,Female rate,Female AIR
White,300,150,50%,1.00,200,80,40%,0.90
Asian,100,45,45%,0.90,100,30,30%,0.60
"""
BY_NUMBER = """Race,Applicants,Applicants,Selected,Selected,Rate,Rate,Impact ratio,Impact ratio
,Male,Female,Male,Female,Male,Female,Male,Female
White,300,200,150,80,50%,40%,1.00,0.90
Asian,100,100,45,30,45%,30%,0.90,0.60
"""


@pytest.mark.parametrize("text", [CSV, ONE_LINE, BY_NUMBER])
def test_however_the_header_is_nested(tmp_path: Path, text: str) -> None:
    report = check(tmp_path, text, "table.csv")
    assert wrong(report) == [("Female, White", "0.90", "0.80")]
    assert len(report.rebuilt) == 8


def test_positions_side_by_side_are_tables_of_their_own() -> None:
    cook, driver = tables_of(html_document(page(TOPS.format("Cook", "Driver"))).grids, POLICY)
    assert [(t.number, t.place, t.family, len(t.rows)) for t in (cook, driver)] == [
        (1, "cook", "race_ethnicity", 2),
        (2, "driver", "race_ethnicity", 2),
    ]
    assert driver.rows[1].cell("selected").count == 30
    assert not driver.unread and not driver.repeated


def test_everybody_beside_men_and_women_is_a_table_by_race() -> None:
    both, everybody = tables_of(html_document(page(TOPS.format("Male", "Total"))).grids, POLICY)
    assert (both.family, everybody.family) == ("intersectional", "race_ethnicity")
    assert [row.label.role for row in everybody.rows] == ["category", "category"]


def test_people_that_several_rates_are_of_count_for_each() -> None:
    header = """<tr><th rowspan=2>Sex<th rowspan=2>Applicants<th colspan=2>Ranking<th colspan=2>Video
    <tr><th>Selection rate<th>Impact ratio<th>Selection rate<th>Impact ratio"""
    rows = (("Male", "80", "50%", "1.00", "25%", "1.00"), ("Female", "60", "40%", "0.80", "20%", "0.80"))
    ranking, video = tables_of(html_document(page(header, rows)).grids, POLICY)
    assert (ranking.place, video.place) == ("ranking", "video")
    assert [video.rows[0].cell(name).text for name in ("applicants", "rate")] == ["80", "25%"]


def test_a_row_for_each_position_is_a_table_for_each() -> None:
    header = TOPS.format("Male", "Female").replace("Race/Ethnicity", "Position")
    rows = (("Cook", *ROWS[0][1:]), ("Driver", *ROWS[1][1:]))
    found = tables_of(html_document(page(header, rows)).grids, POLICY)
    assert [(t.place, t.family, [row.label.text for row in t.rows]) for t in found] == [
        ("cook", "sex", ["Male", "Female"]),
        ("driver", "sex", ["Male", "Female"]),
    ]


def test_a_total_of_one_half_sums_that_half(tmp_path: Path) -> None:
    totals = ("Total", "400", "195", "49%", "", "301", "110", "37%", "")
    report = check(tmp_path, page(TOPS.format("Male", "Female"), (*ROWS, totals)))
    found = [(f.row, f.printed, f.recomputed) for f in report.findings if f.id == "total_mismatch"]
    assert found == [("Female, Total", "301", "300")]


@pytest.mark.parametrize(
    "names", [("Impact ratio", "Impact ratio"), ("Impact ratio", "Adjusted impact ratio")]
)
def test_a_second_ratio_that_nothing_tells_apart_is_an_error(tmp_path: Path, names: tuple[str, str]) -> None:
    text = f"Sex,Applicants,Rate,{names[0]},{names[1]}\nMale,80,50%,1.00,1.00\nFemale,60,40%,0.80,0.99\n"
    report = check(tmp_path, text, "table.csv")
    (found,) = [f for f in report.findings if f.id == "columns_not_read"]
    assert (found.severity, found.column, report.ok) == ("error", names[1], False)


def test_any_other_column_with_digits_is_named_as_not_read(tmp_path: Path) -> None:
    header = "Sex,Applicants,Rate,Impact ratio,Ratio if pooled,Colour,Remark"
    text = f"{header}\nMale,80,50%,1.00,0.9,3,-\nFemale,60,40%,0.80,0.99,4,-\n"
    report = check(tmp_path, text, "table.csv")
    (line,) = [line for line in report.not_checked if line.startswith("columns that were not read")]
    assert line.endswith(": 'Ratio if pooled', 'Colour'")


def test_a_plain_header_is_one_table() -> None:
    ((columns,),) = tables_under(Header((("Sex", *FOUR),)), POLICY)
    assert (dict(columns.at), columns.over, columns.place) == (
        {"applicants": 1, "selected": 2, "rate": 3, "ratio": 4}, "", "",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["2021 impact ratio", "Previous impact ratio", "Impact ratio (last year)"])
def test_a_ratio_of_an_earlier_year_is_not_this_audits(name: str, tmp_path: Path) -> None:
    """It may stand before this year's or behind it, and is named among what was not checked."""
    for columns in (("Impact ratio", name), (name, "Impact ratio")):
        header = "<tr><th>Sex<th>Applicants<th>Selected<th>Selection rate" + "".join(
            f"<th>{column}" for column in columns
        )
        ratios = {name: ("1.00", "0.91"), "Impact ratio": ("1.00", "0.81")}
        rows = [
            ("Male", "80", "40", "50%", *(ratios[column][0] for column in columns)),
            ("Female", "60", "24", "40%", *(ratios[column][1] for column in columns)),
        ]
        report = check(tmp_path, page(header, tuple(rows)))
        assert wrong(report) == [("Female", "0.81", "0.80")]
        assert not [f for f in report.findings if f.id == "columns_not_read"]
        assert any(line.endswith(f": {name!r}") for line in report.not_checked)


@pytest.mark.parametrize("year", ["2099", ""])
def test_a_second_ratio_that_is_of_no_earlier_year_is_told(year: str, tmp_path: Path) -> None:
    """Whoever heads this year's number with its year, and another one without, has it named as not read."""
    header = f"<tr><th>Sex<th>Applicants<th>Selection rate<th>Impact ratio<th>{year} impact ratio"
    report = check(
        tmp_path, page(header, (("Male", "80", "50%", "1", "1"), ("Female", "60", "40%", "0.8", "0.5")))
    )
    (found,) = [f for f in report.findings if f.id == "columns_not_read"]
    assert (found.severity, found.column) == ("error", f"{year} impact ratio".strip())


def test_without_the_audits_date_a_year_may_be_any(tmp_path: Path) -> None:
    header = "<tr><th>Sex<th>Applicants<th>Selection rate<th>Impact ratio<th>2024 impact ratio"
    rows = (("Male", "80", "50%", "1.00", "1.00"), ("Female", "60", "40%", "0.80", "0.85"))
    report = check(tmp_path, page(header, rows).replace(WORDS, ""))
    (found,) = [f for f in report.findings if f.id == "columns_not_read"]
    assert (found.severity, bool(found.unsure)) == ("warning", True)
