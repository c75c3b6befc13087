"""Words in the cells of a CSV file, above its tables and below them."""

from __future__ import annotations

import csv
import io
from datetime import date
from pathlib import Path

import pytest

from audit_lib.check import CheckResult, check_report
from tests.check.cases import HEADER, kinds, save, summary

FACTS = {
    "Date of the bias audit": "May 4, 2026",
    "Distribution date": "March 2, 2024",
    "Data source": "Historical data of Acme Stores",
    "Period of the data": "March 1, 2025 to February 28, 2026",
    "Unknown category": "0",
}


def told(folder: Path, facts: dict[str, str] = FACTS, words: tuple[str, ...] = ()) -> CheckResult:
    made = io.StringIO()
    writer = csv.writer(made)
    writer.writerow(["Results of the bias audit"])
    writer.writerows(facts.items())
    for caption, rows in summary().items():
        writer.writerows([[], [caption], HEADER, *rows])
    writer.writerows([[], *([text] for text in words)])
    return check_report(save(folder, made.getvalue(), "summary.csv"), as_of=date(2026, 11, 20))


def test_tables_alone_lack_nothing(tmp_path: Path) -> None:
    report = told(tmp_path, {})
    assert report.format == "csv" and kinds(report) == []
    assert any(text.startswith("required fields: ") for text in report.not_checked)


def test_facts_beside_their_names(tmp_path: Path) -> None:
    report = told(tmp_path)
    assert kinds(report, notes=False) == []
    assert not any(text.startswith("required fields: ") for text in report.not_checked)
    for name, column in (("Distribution date", "F08"), ("Date of the bias audit", "F01")):
        lacking = told(tmp_path, {key: text for key, text in FACTS.items() if key != name})
        assert [f.column for f in lacking.findings if f.id == "field_not_found"] == [column]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("The tool passed its bias audit and is free of bias.", "verdict_given"),
        ("The audit was conducted by Blue Lake LLP on June 9, 2026.", "audit_dates_differ"),
        ("The audit was carried out in-house by our own analysts.", "auditor_not_independent"),
        ("By sex, the highest selection rate was 12.3%.", "highest_category_wrong"),
        ("Scores were drawn at random, as we had no access to the tool.", "scores_not_from_tool"),
    ],
)
def test_sentences_below_the_tables(tmp_path: Path, words: str, kind: str) -> None:
    assert kind in kinds(told(tmp_path, words=(words,)))
    if kind != "audit_dates_differ":
        assert kinds(told(tmp_path, {}, (words,))) == [kind], "heard also where no field is named"


def test_an_old_audit(tmp_path: Path) -> None:
    assert "audit_too_old" in kinds(told(tmp_path, FACTS | {"Date of the bias audit": "May 4, 2025"}))


def test_the_same_people(tmp_path: Path) -> None:
    people = sum(int(row[1].replace(",", "")) for row in summary()["Sex categories"])
    words = "Each of the tables covers the same {} applicants."
    assert kinds(told(tmp_path, words=(words.format(people),)), notes=False) == []
    more = summary()
    more["Sex categories"][0][1] = "9,999"
    text = "\n".join(
        "\n".join([caption, ",".join(HEADER), *(",".join(f'"{cell}"' for cell in row) for row in rows), ""])
        for caption, rows in more.items()
    )
    report = check_report(save(tmp_path, f"{text}\n{words.format(people)}\n", "more.csv"))
    assert any(f.recomputed == str(people) and f.id == "tables_do_not_add_up" for f in report.findings)
