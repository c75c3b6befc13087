"""What a page says beside its tables: facts in tables of their own, the highest category, auditors, made-up people."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from audit_lib.check import CheckResult, check_report
from audit_lib.check.fact_tables import with_facts
from audit_lib.check.grids import Grid
from tests.check.cases import html, kinds, save, summary

DAY = date(2026, 11, 28)
FACTS = {
    "When was the audit done?": "10 May 2026",
    "Who did the audit?": "Blue Lake Review LLC, who have no ties to us or to the maker of the tool",
    "Which tool?": "Sorter, made by Acme Works Ltd",
    "Since when is the tool in use?": "1 June 2026",
    "Which data was used?": "Hiring records of 2025 (historical data), from January 1, 2025 to December 31, 2025",
    "Unknown category (n)": "0",
}


def across(facts: dict[str, str]) -> str:
    rows = ("".join(f"<td>{text}</td>" for text in row) for row in (facts, facts.values()))
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def down(facts: dict[str, str]) -> str:
    return "<table>" + "".join(f"<tr><th>{k}</th><td>{v}</td></tr>" for k, v in facts.items()) + "</table>"


def listed(facts: dict[str, str]) -> str:
    return "<dl>" + "".join(f"<dt>{k}</dt><dd>{v}</dd>" for k, v in facts.items()) + "</dl>"


def told(folder: Path, words: str) -> CheckResult:
    return check_report(save(folder, html(summary(), words)), as_of=DAY)


@pytest.mark.parametrize("shape", [across, down, listed])
def test_facts_in_any_shape_are_found(tmp_path: Path, shape: object) -> None:
    assert callable(shape)
    assert kinds(told(tmp_path, shape(FACTS)), notes=False) == []


@pytest.mark.parametrize("shape", [across, down, listed])
@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("When was the audit done?", "F01"),
        ("Since when is the tool in use?", "F08"),
        ("Unknown category (n)", "F04"),
    ],
)
def test_a_fact_that_lacks_is_missed(tmp_path: Path, shape: object, name: str, column: str) -> None:
    assert callable(shape)
    page = shape({key: value for key, value in FACTS.items() if key != name})
    found = [f for f in told(tmp_path, page).findings if f.severity != "note"]
    assert [(f.id, f.column) for f in found] == [("field_not_found", column)]


@pytest.mark.parametrize("shape", [across, down, listed])
def test_an_old_audit_and_the_vendor_as_auditor_are_found(tmp_path: Path, shape: object) -> None:
    assert callable(shape)
    old = told(tmp_path, shape(FACTS | {"When was the audit done?": "10 May 2025"}))
    assert "audit_too_old" in kinds(old)
    own = told(tmp_path, shape(FACTS | {"Who did the audit?": "Acme Works Ltd"}))
    assert [f.id for f in own.findings if f.severity == "error"] == ["auditor_not_independent"]


@pytest.mark.parametrize(
    "template",
    [
        "Highest rate: {} (39.5%).",
        "Reference group (highest rate): {}, 39.5%.",
        "Comparison group with the highest scoring rate: {} (0.40).",
        "The reference group is {}.",
        "All ratios are relative to {}.",
    ],
)
def test_who_is_compared_with_is_held_against_the_tables(tmp_path: Path, template: str) -> None:
    rows = {row[0]: row[4] for row in summary()["Race/ethnicity categories"]}
    for race, ratio in rows.items():
        report = told(tmp_path, listed(FACTS) + f"<p>{template.format(race)}</p>")
        assert ("highest_category_wrong" in kinds(report)) == (ratio != "1.000"), race


@pytest.mark.parametrize(
    ("sentence", "heard"),
    [
        ("Race and sex were assigned to the records at random.", True),
        ("The figures rest on simulated candidates created by a script.", True),
        ("The applicants were invented.", True),
        ("Race and sex were stated by the candidates.", False),
        ("Candidates were drawn at random for interviews.", False),
        ("Race was never assigned at random.", False),
    ],
)
def test_people_who_were_made_up(tmp_path: Path, sentence: str, heard: bool) -> None:
    report = told(tmp_path, listed(FACTS) + f"<p>{sentence}</p>")
    assert ("scores_not_from_tool" in kinds(report)) == heard


def test_a_category_without_a_ratio_is_explained_in_any_words(tmp_path: Path) -> None:
    tables = summary()
    tables["Race/ethnicity categories"][5][1:] = ["9", "2", "22.2%", "*"]
    why = "* = group of under 2% of the data; the auditor left it out of the impact ratios as too small."
    fields = []
    for words in ("", f"<p>{why}</p>"):
        report = check_report(save(tmp_path, html(tables, listed(FACTS) + words)), as_of=DAY)
        fields.append([f.column for f in report.findings if f.id == "field_not_found"])
    assert fields == [["F09"], []]


def test_tables_of_rates_and_long_texts_are_no_facts() -> None:
    rates = Grid(rows=[["Group", "Applicants", "Selection rate"], ["Men", "12", "25%"]])
    wide = Grid(rows=[["a" * 90, "b", "c"], ["1", "2", "3"]])
    assert with_facts("one\ntwo", [rates, wide]) == "one\ntwo"
    assert with_facts("Vendor Acme\ntwo", [Grid(rows=[["Vendor", "Acme"]])]) == "two\nVendor: Acme"
