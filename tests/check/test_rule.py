"""The rule's own tables: every number is rebuilt, and nothing is found but what is known to be odd in them."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from audit_lib.check import check_report
from tests.check.cases import WORDS, checked, html, save

# Sex and scoring tables of sections 5-301(b) and (c), typed from the rule.
SEX = [["Male", "1390", "667", "48%", "1.00"], ["Female", "1181", "555", "47%", "0.979"]]
SCORING = """<table><caption>Race/Ethnicity Categories</caption>
<tr><th><th># of Applicants<th>Scoring Rate<th>Impact Ratio
<tr><td>Hispanic or Latino<td>28<td>64.2%<td>1.00
<tr><td>White (Not Hispanic or Latino)<td>40<td>37.5%<td>0.58
<tr><td>Black or African American (Not Hispanic or Latino)<td>32<td>50.0%<td>0.78
<tr><td>Native Hawaiian or Pacific Islander (Not Hispanic or Latino)<td>8<td>62.5<td>0.97
<tr><td>Asian (Not Hispanic or Latino)<td>24<td>41.7%<td>0.65
<tr><td>Native American or Alaska Native (Not Hispanic or Latino)<td>16<td>62.5%<td>0.97
<tr><td>Two or More Races (Not Hispanic or Latino)<td>20<td>50.0%<td>.78</table>"""


def test_the_selection_table_by_sex_is_rebuilt_at_its_mixed_digits(tmp_path: Path) -> None:
    report = checked(tmp_path, {"Sex Categories": SEX})
    assert {f.id for f in report.findings} == {"table_missing", "mixed_digits"}
    assert [r.conventions[0] for r in report.rebuilt] == ["counts, half up"] * 4


def test_the_scoring_table_needs_no_number_of_selected(tmp_path: Path) -> None:
    report = check_report(save(tmp_path, f"<html>{WORDS}{SCORING}</html>"))
    assert {f.id for f in report.findings} == {"table_missing", "truncated", "missing_percent_sign"}
    (cut,) = [f for f in report.findings if f.id == "truncated"]
    assert (cut.row, cut.printed, cut.recomputed) == ("Hispanic or Latino", "64.2%", "64.3% (18 of 28)")
    assert all(record.conventions for record in report.rebuilt)


def examples() -> Path:
    root = Path(os.environ.get("AUDIT_SHARED_DATA", Path(__file__).parents[3] / "shared"))
    folder = root / "law" / "examples"
    if not folder.is_dir():
        pytest.skip(f"the rule's tables are not in {folder}; set AUDIT_SHARED_DATA")
    return folder


ODD = {
    "ll144_5-301b_selection_sex.csv": {"mixed_digits"},
    "ll144_5-301b_selection_race_ethnicity.csv": set(),
    "ll144_5-301b_selection_intersectional.csv": set(),
    "ll144_5-301c_scoring_sex.csv": set(),
    "ll144_5-301c_scoring_race_ethnicity.csv": {"truncated"},
    "ll144_5-301c_scoring_intersectional.csv": {"missing_percent_sign", "mixed_digits", "small_cell"},
}


@pytest.mark.parametrize("name", sorted(ODD))
def test_each_table_of_the_rule(name: str) -> None:
    report = check_report(examples() / name)
    assert {f.id for f in report.findings} == ODD[name]
    assert all(record.conventions for record in report.rebuilt)
    assert sum(r.conventions[0] == "counts, half up" for r in report.rebuilt) == len(report.rebuilt) - (
        "truncated" in ODD[name]
    )


def _tables(prefix: str) -> dict[str, list[list[str]]]:
    found = {}
    for name in sorted(ODD):
        if prefix not in name:
            continue
        with (examples() / name).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        keys = [key for key in rows[0] if key not in ("section", "table", "ethnicity", "sex", "race")]
        found[rows[0]["table"].replace("_", "/") + " categories"] = [
            [" ".join((row["ethnicity"], row["sex"], row["race"])), *(row[key] for key in keys)]
            for row in rows
        ]
    return found


def test_the_tables_of_the_selection_example_do_not_add_up_as_is_known(tmp_path: Path) -> None:
    words = WORDS.replace("0 individuals", "250 individuals")
    report = check_report(save(tmp_path, html(_tables("301b"), words)))
    wrong = [f for f in report.findings if f.id == "tables_do_not_add_up"]
    assert [(f.row, f.column, f.printed, f.recomputed) for f in wrong] == [
        ("Hispanic or Latino", "# of applicants", "408", "395"),
        ("Hispanic or Latino", "# selected", "204", "172"),
    ]
    assert {f.id for f in report.findings} == {
        "tables_do_not_add_up",
        "mixed_digits",
        "unknown_without_bounds",
    }


def test_the_tables_of_the_scoring_example_add_up(tmp_path: Path) -> None:
    header = ("", "# of Applicants", "Scoring Rate", "Impact Ratio")
    report = check_report(save(tmp_path, html(_tables("301c"), header=header)))
    assert {f.id for f in report.findings} == {
        "truncated",
        "missing_percent_sign",
        "mixed_digits",
        "small_cell",
    }
