"""Tables recognised by their headers, in any order and form."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from audit_lib.check import check_report
from audit_lib.check.grids import Grid
from audit_lib.check.headers import meaning_of
from audit_lib.check.html_tables import html_document
from audit_lib.check.page_breaks import joined
from audit_lib.check.published_tables import tables_of
from audit_lib.check.rebuild import rebuild
from audit_lib.check.row_labels import read_label
from tests.check.cases import HEADER, POLICY, html, kinds, save, summary


@pytest.mark.parametrize(
    ("header", "meaning"),
    [
        ("# of Applicants", "applicants"),
        ("Number of candidates assessed", "applicants"),
        ("N", "applicants"),
        ("Total", "applicants"),
        ("# Selected", "selected"),
        ("Total selected", "selected"),
        ("Number scored above median", "selected"),
        ("Hired", "selected"),
        ("Selection Rate", "rate"),
        ("scoring_rate_printed", "rate"),
        ("% selected", "rate"),
        ("Impact Ratio", "ratio"),
        ("AIR", "ratio"),
        ("Share of data", "share"),
        ("% of applicants", "share"),
        ("95% interval of the ratio", "other"),
        ("p-value", "other"),
        ("Ratio if these had all been selected or none", "other"),
        ("Race/Ethnicity", "label"),
        ("Applicant group", "label"),
        ("Position", "place"),
        ("Colour", None),
        ("Above-median share (scoring rate)", "rate"),
        ("Share of candidates selected", "rate"),
        ("Selected (%)", "rate"),
        ("Scored higher than the median", "selected"),
        ("n > median", "selected"),
        ("Relative to the highest group", "ratio"),
        ("Impact ratio vs. highest rate", "ratio"),
        ("Highest rate", "other"),
    ],
)
def test_headers(header: str, meaning: str | None) -> None:
    assert meaning_of(header) == meaning


def test_columns_in_any_order_give_the_same(tmp_path: Path) -> None:
    order = list(range(len(HEADER)))
    random.Random(4).shuffle(order)
    tables = {caption: [[row[i] for i in order] for row in rows] for caption, rows in summary().items()}
    report = check_report(save(tmp_path, html(tables, header=[HEADER[i] for i in order])))
    assert kinds(report) == []
    assert len(report.rebuilt) == 46


def grid(text: str, **about: object) -> Grid:
    return Grid(rows=tuple(tuple(line.split(",")) for line in text.splitlines()), **about)  # type: ignore[arg-type]


def test_a_header_of_two_rows() -> None:
    rows = "Sex,Applicants,Applicants,Impact\n,applied,selected,ratio\nMale,80,40,1.00\nFemale,60,24,0.80"
    (table,) = tables_of([grid(rows)], POLICY)
    assert table.headers == {
        "applicants": "Applicants applied",
        "selected": "Applicants selected",
        "ratio": "Impact ratio",
    }
    assert [row.label.text for row in table.rows] == ["Male", "Female"]


def test_tables_under_each_other_in_one_grid() -> None:
    text = "Sex categories,,\nGroup,n,impact ratio\nMale,8,1.0\nRace categories,,\nGroup,n,impact ratio\nAsian,9,1.0"
    sex, race = tables_of([grid(text)], POLICY)
    assert (sex.caption, sex.family, race.caption, race.family) == (
        "Sex categories",
        "sex",
        "Race categories",
        "race_ethnicity",
    )


def test_one_long_table_is_cut_where_its_place_changes() -> None:
    text = (
        "family,position,category,n,impact_ratio\nsex,cook,Male,8,1.0\nsex,cook,Female,8,1.0\n"
        "sex,driver,Male,9,1.0\nrace_ethnicity,cook,Asian,9,1.0"
    )
    tables = tables_of([grid(text)], POLICY)
    assert [(t.family, t.place, len(t.rows)) for t in tables] == [
        ("sex", "cook", 2),
        ("sex", "driver", 1),
        ("race_ethnicity", "cook", 1),
    ]


def test_labels_over_rows_and_in_merged_cells() -> None:
    over = "Group,n,impact ratio\nMale,,\nAsian,8,1.0\nWhite,8,1.0\nFemale,,\nAsian,8,1.0"
    merged = (
        "Ethnicity,Sex,Race,n,impact ratio\nNon-Hispanic,Male,White,8,1.0\n,,Asian,8,1.0\n,Female,White,8,1.0"
    )
    for text in (over, merged):
        (table,) = tables_of([grid(text)], POLICY)
        assert table.family == "intersectional"
        assert table.rows[-1].label.levels["sex"] == "Female"
        assert table.rows[1].label.levels["sex"] == "Male"


def test_the_layout_of_the_rule() -> None:
    """Section 5-301(b): ethnicity and sex stand once for several rows, and Hispanic rows have no race."""
    page = """<table><caption>Intersectional Categories</caption>
    <tr><th colspan=3><th># of Applicants<th># Selected<th>Selection Rate<th>Impact Ratio
    <tr><td rowspan=2>Hispanic or Latino<td colspan=2>Male<td>205<td>90<td>43.9%<td>0.841
    <tr><td colspan=2>Female<td>190<td>82<td>43.2%<td>0.827
    <tr><td rowspan=3>Non/Hispanic or Latino<td rowspan=2>Male<td>White<td>412<td>215<td>52.2%<td>1.000
    <tr><td>Black or African American<td>226<td>95<td>42.0%<td>0.806
    <tr><td>Female<td>Asian<td>295<td>135<td>45.8%<td>0.877</table>"""
    (table,) = tables_of(html_document(page).grids, POLICY)
    assert [", ".join(row.label.levels.values()) for row in table.rows] == [
        "Male, Hispanic or Latino",
        "Female, Hispanic or Latino",
        "Male, White",
        "Male, Black or African American",
        "Female, Asian",
    ]
    findings, rebuilt = rebuild(table, POLICY)
    assert findings == []
    assert len(rebuilt) == 10


def test_the_rest_of_a_table_on_the_next_page_has_no_header() -> None:
    first = grid("Group,n,impact ratio\nMale,8,1.0")
    (table,) = tables_of([first, grid("Female,8,1.0", continues=True)], POLICY)
    assert [row.label.text for row in table.rows] == ["Male", "Female"]


def test_every_category_of_the_policy_is_read_as_itself() -> None:
    for family in POLICY.families:
        for category in POLICY.categories(family.name):
            assert dict(read_label([category.label], POLICY).levels) == dict(category.levels)


@pytest.mark.parametrize(
    ("label", "role", "levels"),
    [
        ("Women", "category", {"sex": "Female"}),
        ("Caucasian (Non-Hispanic)", "category", {"race": "White"}),
        ("American Indian/Alaskan Native", "category", {"race": "Native American or Alaska Native"}),
        (
            "Native Hawaiian or Other Pacific Islander",
            "category",
            {"race": "Native Hawaiian or Pacific Islander"},
        ),
        ("Hispanic Male", "category", {"sex": "Male", "race": "Hispanic or Latino"}),
        ("2 or more races", "category", {"race": "Two or More Races"}),
        ("Asian or Pacific Islander", "category", {}),
        ("Non-binary", "category", {}),
        ("Did not disclose", "unknown", {}),
        ("Prefer not to say", "unknown", {}),
        ("Unknown", "unknown", {}),
        ("Grand total", "total", {}),
    ],
)
def test_labels(label: str, role: str, levels: dict[str, str]) -> None:
    found = read_label([label], POLICY)
    assert (found.role, dict(found.levels)) == (role, levels)


def test_rows_that_go_on_after_another_table_are_not_the_table_before_it() -> None:
    """A table without rates between them takes what goes on under its own header; the rates stay as they are."""
    rates = Grid(
        rows=[["Category", "Assessed", "Selected", "Rate", "Impact ratio"], ["Male", "9", "9", "100%", "1.0"]]
    )
    other = Grid(rows=[["Category", "Expected", "Low", "High", "Method"], ["Male", "3", "1", "2", "exact"]])
    rest = Grid(
        rows=[["Category", "Expected", "Low", "High", "Method"], ["Female", "4", "2", "3", "exact"]],
        continues=True,
    )
    assert joined([rates, other, rest]) == [rates, other, rest]
    after = Grid(rows=[["Female", "9", "8", "89%", "0.89"]], continues=True)
    whole, left = joined([rates, after, other])
    assert [row[0] for row in whole.rows] == ["Category", "Male", "Female"] and left == other
