"""Readings that were attacked: what an exception must not hide, and whom a rule must not accuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit_lib.check import check_report
from audit_lib.check.auditor_independence import auditors
from tests.check.cases import HEADER, WORDS, html, kinds, save, summary


@pytest.mark.parametrize(
    "words",
    [
        "Auditor: Blue Lake LLC. Vendor: Sorter Labs. The bias audit was commissioned by Sorter Labs.",
        "Vendor: Sorter Labs. The audit was paid for by Sorter Labs and reviewed by Sorter Labs.",
        "The audit was commissioned by Acme Stores, the employer, and conducted by Blue Lake Analytics LLC.",
        "Employer: Acme Stores.\nWho conducted the audit? Acme Stores, the employer, engaged Blue Lake Analytics LLC.",
        "Vendor: Screenly\nWho conducted the audit?\nScreenly engaged Blue Lake, Inc. as auditor; the audit was done.",
        "The bias audit was conducted by our auditor, Blue Lake Analytics LLC.",
        "Blue Lake Analytics bias audit summary for Acme Stores\nAuditor: Blue Lake Analytics",
    ],
)
def test_who_asked_for_or_published_an_audit_did_not_make_it(words: str) -> None:
    assert list(auditors(words)) == []


@pytest.mark.parametrize(
    "words",
    [
        "The bias audit was conducted by Ranker Labs, selected for its experience. Vendor: Ranker Labs",
        "The bias audit was conducted by Ranker Labs, contracted for it by Acme Stores. Vendor: Ranker Labs.",
        "Auditor: Ranker Labs selected the sample. Vendor: Ranker Labs.",
        "Auditor: Ranker Labs hired Green Hill for data cleaning. Vendor: Ranker Labs",
        "The audit was reviewed by Blue Lake and conducted by Ranker Labs. Vendor: Ranker Labs.",
        "The audit was done by our internal auditor.",
    ],
)
def test_words_about_hiring_do_not_hide_who_made_the_audit(words: str) -> None:
    assert [finding.id for finding in auditors(words)] == ["auditor_not_independent"]


@pytest.mark.parametrize(
    "names",
    [
        ("Sex / Gender", "Race & Ethnicity", "Sex + Race"),
        ("SEX", "RACE_ETHNICITY", "SEX_RACE"),
        ("Sex", "EEO-1 race/ethnicity", "Intersectional (sex x race/ethnicity)"),
        ("Sex only", "Race only", "Intersection"),
    ],
)
def test_breakdowns_by_other_names(names: tuple[str, ...], tmp_path: Path) -> None:
    rows = [
        f"<tr><td>{name}</td>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>"
        for name, table in zip(names, summary().values(), strict=True)
        for row in table
    ]
    head = "".join(f"<th>{text}</th>" for text in ("Analysis", *HEADER))
    source = f"<!DOCTYPE html><html><body>{WORDS}<table><tr>{head}</tr>{''.join(rows)}</table></body></html>"
    assert kinds(check_report(save(tmp_path, source)), notes=False) == []


@pytest.mark.parametrize(
    "before",
    [
        '<a role="tab" href="/">Home</a><div role="tabpanel" hidden>',
        '<span role="tab" style="left:-9999px; opacity:0">Race</span><div role="tabpanel" hidden>',
        '<!-- aria-controls="race" --><div id="race" hidden>',
        '<p aria-controls="race">Race</p><div id="race" hidden>',
        '<button aria-controls="race" style="display:none">Race</button><div id="race" hidden>',
    ],
)
def test_a_table_that_no_click_shows_is_hidden(before: str, tmp_path: Path) -> None:
    parts = html(summary()).split("<table>")
    source = "<table>".join(parts[:2]) + before + "<table>" + parts[2] + "</div><table>" + parts[3]
    found = kinds(check_report(save(tmp_path, source)))
    assert {"table_missing", "hidden_content"} <= set(found)
    shown = source.replace(before, '<button aria-controls="race">Race</button><div id="race" hidden>')
    assert kinds(check_report(save(tmp_path, shown)), notes=False) == []


def test_what_was_announced_before_is_no_earlier_audit(tmp_path: Path) -> None:
    def found(words: str) -> list[str]:
        return kinds(check_report(save(tmp_path, html(summary(), f"{WORDS}<p>{words}</p>"))))

    hidden = "As previously announced, the bias audit was completed on February 9, 2022."
    assert "audit_dates_differ" in found(hidden)
    assert "audit_dates_differ" not in found(
        "This audit replaces the bias audit conducted on February 9, 2022."
    )


@pytest.mark.parametrize("rate", ["withdrawal rate", "drop-out rate (12.0%)", "response rate"])
def test_another_rate_may_be_highest_elsewhere(rate: str, tmp_path: Path) -> None:
    words = "".join(f"<p>{sex} had the highest {rate}.</p>" for sex in ("Men", "Women"))
    found = kinds(check_report(save(tmp_path, html(summary(), f"{WORDS}{words}"))))
    assert "highest_category_wrong" not in found
