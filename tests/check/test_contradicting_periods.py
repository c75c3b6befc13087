"""Times that contradict each other: of the data, of the audit and of the tool's use."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from audit_lib.check import CheckResult, check_report
from tests.check.cases import html, kinds, save, summary

AUDITED = "Date of the bias audit: May 4, 2026."
USED = "Distribution date: March 2, 2024."
DATA = "Historical data. The data cover applicants assessed from March 1, 2025 to February 28, 2026."
UNKNOWN = "0 individuals were of an unknown category."


def told(folder: Path, *, audited: str = AUDITED, used: str = USED, data: str = DATA) -> CheckResult:
    words = "".join(f"<p>{text}</p>" for text in (audited, used, data, UNKNOWN))
    return check_report(save(folder, html(summary(), words)), as_of=date(2026, 11, 20))


@pytest.mark.parametrize(
    "data",
    [
        "Data: historical data of applicants assessed from March 1, 2025 through June 30, 2026.",
        "Historical data. The data cover applications received through 06/30/2026.",
        "Data source: own records</p><p>Period of the data</p><p>July 1, 2025 to June 30, 2026",
        "Data source: own records</p><p>Audit period: 2025-07-01 - 2026-06-30",
        "The data were taken from the records: all people whom the tool scored between May 1, 2025 and May 5, 2026.",
        "Historical data. The data cover applicants assessed from May 2025 to June 2026.",
    ],
)
def test_data_from_after_the_audit(tmp_path: Path, data: str) -> None:
    assert "data_after_audit" in kinds(told(tmp_path, data=data))


@pytest.mark.parametrize(
    "words",
    [
        "",
        "This page was updated on June 30, 2026.",
        "Data of applicants are kept from May 4, 2026 to May 4, 2030.",
        "The next audit will use data of applicants assessed from March 1, 2026 to February 28, 2027.",
        "Since the audit, applicants assessed from May 5, 2026 to October 31, 2026 were monitored.",
        "The audit is valid from May 4, 2026 to May 4, 2027, for all applicants assessed.",
        "This summary is posted from May 10, 2026 to May 10, 2027 beside the data.",
        "The data cover applicants assessed through May 2026.",
        "The data of the previous audit cover applicants assessed from March 1, 2024 to February 28, 2025.",
    ],
)
def test_other_times_are_none_of_the_data(tmp_path: Path, words: str) -> None:
    assert kinds(told(tmp_path, data=f"{DATA}</p><p>{words}"), notes=False) == []


@pytest.mark.parametrize(
    "used",
    [
        f"{USED} Acme Stores began using the tool on May 2, 2024.",
        f"{USED}</p><p>The tool has been in use since 2024-05-02.",
        f"Distribution date</p><p>May 2, 2024</p><p>{USED}",
        f"{USED}</p><p>In use since April 2024",
    ],
)
def test_several_distribution_dates(tmp_path: Path, used: str) -> None:
    assert kinds(told(tmp_path, used=used), notes=False) == ["use_dates_differ"]


@pytest.mark.parametrize(
    "used",
    [
        f"{USED} Acme Stores began using the tool on 2 March 2024.",
        f"{USED} In use since March 2024.",
        "Distribution date: 03/02/2024. In use since 2 March 2024.",
        "Distribution date: 2 March 2024. In use since 02/03/2024.",
        f"{USED} Version 3 of the tool is in use since May 5, 2025.",
        f"{USED} Our Boston office has used it since May 5, 2025.",
        f"{USED} Since the pilot began using it on January 5, 2024, nothing changed.",
        "Acme Stores \u2013 distribution date March 2, 2024</p><p>Blue Lake \u2013 distribution date May 5, 2024",
        "Acme Stores began using it on March 2, 2024. Blue Lake began using it on May 5, 2024.",
        "Distribution date (clerk position): March 2, 2024. Distribution date (driver position): May 5, 2024.",
    ],
)
def test_one_distribution_date_or_those_of_parts(tmp_path: Path, used: str) -> None:
    assert "use_dates_differ" not in kinds(told(tmp_path, used=used))


USED_LATER = "Acme Stores began using the tool on March 1, 2026 (distribution date)."


@pytest.mark.parametrize(
    "data",
    [
        "Historical data: all people whom the tool assessed for Acme Stores from March 1, 2025 to February 28, 2026.",
        "Data source: Historical data of Acme Stores.</p><p>Period of the data: March 1, 2025 to February 28, 2026.",
        "Historical data of 12 employers, Acme Stores among them, which gave data from its own use: people whom the "
        "tool assessed from March 1, 2025 to February 28, 2026.",
        "We used our own data: applicants whom the tool assessed from March 1, 2025 to February 28, 2026.",
    ],
)
def test_data_of_a_use_that_had_not_begun(tmp_path: Path, data: str) -> None:
    assert "data_before_use" in kinds(told(tmp_path, used=USED_LATER, data=data))
    assert "data_before_use" not in kinds(told(tmp_path, data=data))


@pytest.mark.parametrize(
    "data",
    [
        "Historical data of 12 employers that use the tool: all applicants whom it assessed from March 1, 2025 to "
        "February 28, 2026. Acme Stores had not used the tool before this audit.",
        "Historical data of other employers: applicants assessed from March 1, 2025 to February 28, 2026.",
        "Test data: volunteers for Acme Stores took the assessment from March 1, 2025 to February 28, 2026.",
    ],
)
def test_data_of_others_may_be_of_before_the_use(tmp_path: Path, data: str) -> None:
    assert "data_before_use" not in kinds(told(tmp_path, used=USED_LATER, data=data))


def test_an_audit_that_somebody_conducted_on_another_day(tmp_path: Path) -> None:
    said = f"{AUDITED}</p><p>Blue Lake LLP, an independent auditor, conducted the bias audit of Sorter on "
    assert kinds(told(tmp_path, audited=f"{said}May 4, 2026."), notes=False) == []
    assert kinds(told(tmp_path, audited=f"{said}June 1, 2026."), notes=False) == ["audit_dates_differ"]
