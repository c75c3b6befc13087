"""Days that contradict each other: two dates of one audit, and use of the tool before its first audit."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from audit_lib.check import CheckResult
from audit_lib.policies import load_policy
from tests.check.cases import WORDS, checked, kinds, summary

AUDITED = "Date of the bias audit: June 29, 2023."
USED = "Distribution date: January 5, 2023."


def told(folder: Path, audited: str, used: str = USED) -> CheckResult:
    assert AUDITED in WORDS and USED in WORDS
    words = WORDS.replace(AUDITED, f"{audited}</p><p>").replace(USED, used)
    return checked(folder, summary(), words)


@pytest.mark.parametrize(
    "audited",
    [
        f"{AUDITED} Audit date: 2023-06-02.",
        f"{AUDITED}</p><p>The bias audit was conducted on May 3, 2022.",
        "Most recent bias audit: 2023-06-29</p><p>Last audit: 06/30/2023",
        "Date of the audit: March 2023.</p><p>Date of the most recent bias audit: June 29, 2023.",
    ],
)
def test_two_dates_of_the_audit(tmp_path: Path, audited: str) -> None:
    report = told(tmp_path, audited)
    assert kinds(report, notes=False) == ["audit_dates_differ"]
    assert not report.ok and ";" in report.findings[0].printed


@pytest.mark.parametrize(
    "audited",
    [
        f"{AUDITED} The previous audit was conducted on June 30, 2022.",
        f"{AUDITED} The first bias audit was conducted on May 3, 2022.",
        f"{AUDITED} The audit was conducted on 2023-06-29.",
        f"{AUDITED} Last audit: June 2023.",
        f"{AUDITED} Most recent audit: valid until June 29, 2024.",
        f"{AUDITED} The next bias audit is planned for June 1, 2024.",
        f"{AUDITED} The audit was conducted between June 1, 2023 and June 29, 2023.",
    ],
)
def test_other_days_are_no_second_date(tmp_path: Path, audited: str) -> None:
    assert kinds(told(tmp_path, audited), notes=False) == []


FIRST = "Date of the bias audit: November 22, 2026."
SINCE = "Distribution date: January 6, 2025."


def test_use_before_the_only_audit_that_is_named(tmp_path: Path) -> None:
    report = told(tmp_path, FIRST, SINCE)
    (found,) = report.findings
    assert (found.id, found.severity, found.printed) == ("use_before_audit", "note", "2025-01-06")
    assert "2026-11-22" in found.message and report.ok, "a page that is renewed names the latest audit alone"


@pytest.mark.parametrize(
    "words",
    [
        "This was the first bias audit of the tool.",
        "The initial bias audit was conducted on November 22, 2026.",
        "The tool was never audited before.",
        "No previous bias audit was made.",
    ],
)
def test_use_before_an_audit_that_is_said_to_be_the_first(tmp_path: Path, words: str) -> None:
    report = told(tmp_path, f"{FIRST} {words}", SINCE)
    assert [(f.id, f.severity) for f in report.findings] == [("use_before_first_audit", "error")]


@pytest.mark.parametrize(
    ("audited", "used"),
    [
        (FIRST, "Distribution date: November 23, 2026."),
        (FIRST, "Distribution date: November 22, 2026."),
        (f"{FIRST} The previous audit was conducted on January 3, 2025.", SINCE),
        (f"{FIRST} Earlier audits: 2024-12-20, 2025-11-30.", SINCE),
        (AUDITED, USED),  # before the city enforced the law
    ],
)
def test_use_after_an_audit(tmp_path: Path, audited: str, used: str) -> None:
    assert kinds(told(tmp_path, audited, used), notes=False) == []


def test_a_tool_from_before_the_law_was_enforced_had_to_be_audited_by_then(tmp_path: Path) -> None:
    law = load_policy("nyc_ll144").clock("validity").enforced
    assert law == date(2023, 7, 5)
    for audited, expected in ((law, []), (law + timedelta(days=1), ["use_before_audit"])):
        report = told(tmp_path, f"Date of the bias audit: {audited}.")
        assert kinds(report) == expected


def test_the_days_of_the_data_are_no_audits(tmp_path: Path) -> None:
    covers = "The audit covers applications from January 1, 2024 to December 31, 2024."
    assert kinds(told(tmp_path, f"{FIRST} {covers}", SINCE)) == ["use_before_audit"]


@pytest.mark.parametrize(
    ("audited", "used", "stale"),
    [
        ("June 29, 2023", "June 29, 2024", False),
        ("June 29, 2023", "June 30, 2024", True),
        ("January 10, 2024", "March 3, 2026", True),
        ("January 10, 2024. The audit before was conducted on June 1, 2022", "January 9, 2025", False),
        (
            "January 10, 2026. The previous bias audit was conducted on February 1, 2023",
            "March 3, 2024",
            True,
        ),
        ("January 10, 2026. The previous bias audit was conducted on March 1, 2024", "March 3, 2024", False),
    ],
)
def test_an_audit_older_than_a_year_when_the_use_began(
    tmp_path: Path, audited: str, used: str, stale: bool
) -> None:
    report = told(tmp_path, f"Date of the bias audit: {audited}.", f"Distribution date: {used}.")
    assert ("audit_too_old_at_use" in kinds(report, notes=False)) == stale
    assert (
        not stale
        or "allowed a use until" in next(f for f in report.findings if f.severity == "error").message
    )


@pytest.mark.parametrize(
    ("audited", "differ"),
    [
        (f"{AUDITED} The 2022 bias audit was completed on May 1, 2022.", False),
        (f"The 2022 bias audit was completed on May 1, 2022. {AUDITED}", False),
        (f"{AUDITED} The 2024 bias audit was completed on May 1, 2024.", True),
        (f"{AUDITED} The 2022 bias audit was completed on May 1, 2023.", True),
        (f"2022 Bias Audit</p><p>The bias audit was completed on May 1, 2022.</p><p>{AUDITED}", True),
        (f"Results of the 2022 bias audit. The audit was completed on May 1, 2022. {AUDITED}", True),
        (f"This 2022 bias audit was completed on May 1, 2022. {AUDITED}", True),
        (f"The current 2022 bias audit was completed on May 1, 2022. {AUDITED}", True),
        (
            "The 2022 bias audit was completed on May 1, 2022. The 2022 bias audit was completed on June 1, 2023.",
            True,
        ),
    ],
)
def test_the_audit_of_an_earlier_year_is_another(tmp_path: Path, audited: str, differ: bool) -> None:
    assert ("audit_dates_differ" in kinds(told(tmp_path, audited), notes=False)) == differ


def test_a_use_after_the_audit_of_an_earlier_year_had_one(tmp_path: Path) -> None:
    report = told(
        tmp_path,
        "The 2022 bias audit of the data of 2021 was completed on December 1, 2022. "
        "The 2023 bias audit was completed on November 29, 2023. This is our first bias audit since.",
        "Distribution date: June 1, 2023.",
    )
    assert [one.id for one in report.findings if "use" in one.id or "date" in one.id] == []
