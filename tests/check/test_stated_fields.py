"""Words of a page: required fields, dates, unknown people, and claims that are not the law's."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from audit_lib.check import check_report
from audit_lib.check.dates import DATE, read_date
from audit_lib.check.stated_fields import read_words
from tests.check.cases import WORDS, checked, html, kinds, save, summary


@pytest.mark.parametrize(
    ("gone", "field"),
    [
        ("Date of the bias audit: June 29, 2023.", "F01"),
        ("June 29, 2023", "F01"),
        ("Source of the data", "F02"),
        ("Explanation of the data", "F03"),
        ("0 individuals were of an unknown category.", "F04"),
        ("Distribution date: January 5, 2023.", "F08"),
        ("January 5, 2023", "F08"),
    ],
)
def test_what_is_not_there_is_not_found(tmp_path: Path, gone: str, field: str) -> None:
    assert gone in WORDS
    report = checked(tmp_path, summary(), WORDS.replace(gone, ""))
    assert [(f.id, f.column, f.severity) for f in report.findings] == [("field_not_found", field, "warning")]
    assert report.findings[0].rule.startswith("5-30")


def test_a_page_that_says_it_is_no_bias_audit_has_no_date_of_one(tmp_path: Path) -> None:
    """That is said, not found missing; whatever else is asked for is asked of it all the same."""
    words = WORDS.replace("Date of the bias audit: June 29, 2023.", "").replace("Distribution date:", "Day")
    said = "LL144-style experiment on assigned demographics, not a bias audit"
    report = checked(tmp_path, summary(), f"<p>{said}</p>{words}")
    assert [(f.id, f.column) for f in report.findings] == [("field_not_found", "F08"), ("no_bias_audit", "")]
    assert report.findings[1].printed == said
    assert any(line.startswith("F01 and the age") for line in report.not_checked)
    # A disclaimer about a number is no such word.
    report = checked(tmp_path, summary(), f"<p>An impact ratio is not a bias audit.</p>{words}")
    assert [(f.id, f.column) for f in report.findings] == [("field_not_found", f) for f in ("F01", "F08")]


@pytest.mark.parametrize(
    "words",
    [
        "The most recent bias audit was completed on 29 June 2023.",
        "Audit date: 2023-06-29",
        "<dl><dt>Date of the audit</dt><dd>06/29/2023</dd></dl>",
    ],
)
def test_dates_of_audits_as_people_write_them(tmp_path: Path, words: str) -> None:
    page = html(summary(), WORDS.replace("Date of the bias audit: June 29, 2023.", f"</p>{words}<p>"))
    report = check_report(save(tmp_path, page), as_of=date(2023, 12, 1))
    assert kinds(report) == []


@pytest.mark.parametrize(
    "words",
    ["Date of the audit: no use after 2024-06-29.", "Most recent bias audit: valid until June 29, 2024."],
)
def test_the_day_on_which_an_audit_ends_is_not_its_date(tmp_path: Path, words: str) -> None:
    page = WORDS.replace("Date of the bias audit: June 29, 2023.", words)
    assert [f.column for f in checked(tmp_path, summary(), page).findings] == ["F01"]
    report = check_report(save(tmp_path, html(summary(), f"{WORDS}<p>{words}</p>")), as_of=date(2024, 7, 1))
    assert [(f.id, f.printed) for f in report.findings] == [("audit_too_old", "2023-06-29")]


@pytest.mark.parametrize(
    ("as_of", "expected"),
    [
        (date(2023, 6, 28), ["audit_after_as_of"]),
        (date(2023, 6, 29), []),
        (date(2024, 6, 29), []),  # a year of 366 days
        (date(2024, 6, 30), ["audit_too_old"]),
    ],
)
def test_the_year_of_validity(tmp_path: Path, as_of: date, expected: list[str]) -> None:
    assert kinds(check_report(save(tmp_path, html(summary())), as_of=as_of)) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Bias audit conducted in June 2023.", [("audit_day_not_found", "2023-06")]),
        ("Date of the audit: June 2023. The audit was completed on June 29, 2023.", []),
        (
            "The previous audit was conducted on June 29, 2022. Last bias audit: May 2023.",
            [("audit_day_not_found", "2023-05")],
        ),
    ],
)
def test_a_month_is_a_date_without_the_day_that_the_year_begins_on(
    tmp_path: Path, words: str, expected: list[tuple[str, str]]
) -> None:
    page = html(summary(), WORDS.replace("Date of the bias audit: June 29, 2023.", f"</p><p>{words}</p><p>"))
    report = check_report(save(tmp_path, page), as_of=date(2023, 12, 1))
    assert [(f.id, f.printed) for f in report.findings] == expected
    assert report.ok


def test_without_a_day_the_age_is_not_checked_and_that_is_said(tmp_path: Path) -> None:
    report = checked(tmp_path, summary())
    assert "age of the audit: give --as-of" in report.not_checked


@pytest.mark.parametrize(
    ("words", "unknown"),
    [
        (
            "The AEDT was also used to assess 250 individuals with an unknown sex or race/ethnicity category.",
            250,
        ),
        ("1,204 candidates did not disclose their race.", 1204),
        ("No individuals were of unknown category.", 0),
        ("Unknown sex: 12. Unknown race: 31.", 31),
        ("Local Law 144 asks, in section 5-301(b)(5), for those of unknown category.", None),
        ("On June 29, 2023 the unknown were counted.", None),
        ("250 people applied.", None),
        (
            "Of the 12,530 people assessed, 560 had an unknown sex and 755 an unknown race; 959 lacked one.",
            959,
        ),
        ("Of the 560 people of unknown sex, 12 were selected.", 560),
    ],
)
def test_numbers_of_unknown_people(words: str, unknown: int | None) -> None:
    assert read_words(words).unknown == unknown


@pytest.mark.parametrize(
    "words",
    [
        "Local Law 144 requires an impact ratio of at least 80%.",
        "All ratios meet the four-fifths threshold set by the law.",
        "The tool complies with LL144 because no ratio is under 0.8.",
        "The tool passes: every impact ratio is at least 0.8.",
        "To comply with NYC requirements ratios must exceed 80%.",
        "The tool passes the bias audit because all impact ratios exceed the 80% threshold set by New York City.",
        "Under New York City's rules an impact ratio must reach 0.80.",
    ],
)
def test_four_fifths_as_if_the_law_set_it(tmp_path: Path, words: str) -> None:
    report = checked(tmp_path, summary(), f"{WORDS}<p>{words}</p>")
    assert [kind for kind in kinds(report) if kind != "verdict_given"] == ["four_fifths_as_law"]
    assert report.findings[0].printed == words


@pytest.mark.parametrize(
    "words",
    [
        "Local Law 144 sets no pass mark; four fifths is not part of it.",
        "A ratio under 0.8 is looked at under the Uniform Guidelines, 29 CFR 1607.4(D); the law requires it printed.",
        "80% of applicants applied online.",
        "The tool passed 80% of applicants on to the next stage.",
        "In New York City, 80% of positions require a licence.",
        "Local Law 144 does not require a ratio of 80%, and the tool neither passes nor fails.",
    ],
)
def test_four_fifths_as_what_it_is(tmp_path: Path, words: str) -> None:
    assert kinds(checked(tmp_path, summary(), f"{WORDS}<p>{words}</p>")) == []


@pytest.mark.parametrize(
    "words",
    [
        "Scores were drawn from numpy.random for illustration.",
        "The vendor did not provide access to the tool; mock scores stand in for its output.",
        "Access was not given, so dummy results were used.",
        "Scores were sampled from a normal distribution.",
    ],
)
def test_scores_that_stand_in_for_those_of_a_tool(tmp_path: Path, words: str) -> None:
    assert kinds(checked(tmp_path, summary(), f"{WORDS}<p>{words}</p>")) == ["scores_not_from_tool"]


@pytest.mark.parametrize(
    "words",
    [
        "Scores were taken from a random sample of applications.",
        "No mock scores were used; the tool was called for each applicant.",
        "Missing sex was not assigned by an algorithm.",
        "Sex and race were stated by the applicants; the positions were coded by an algorithm.",
    ],
)
def test_words_that_deny_it_or_speak_of_something_else(tmp_path: Path, words: str) -> None:
    assert kinds(checked(tmp_path, summary(), f"{WORDS}<p>{words}</p>")) == []


@pytest.mark.parametrize(
    "words",
    [
        "Missing sex was assigned by an algorithm from pronouns in the CV.",
        "Gender was derived from candidate names.",
        "Race was coded by two raters who saw photos.",
    ],
)
def test_categories_that_nobody_gave_of_themselves(tmp_path: Path, words: str) -> None:
    assert kinds(checked(tmp_path, summary(), f"{WORDS}<p>{words}</p>")) == ["imputed_demographics"]


def test_scores_that_no_tool_gave(tmp_path: Path) -> None:
    words = f"{WORDS}<p>Scores were drawn with a random number generator.</p>"
    assert kinds(checked(tmp_path, summary(), words)) == ["scores_not_from_tool"]
    words = f"{WORDS}<p>Scores were not simulated: no result was randomly generated.</p>"
    assert kinds(checked(tmp_path, summary(), words)) == []


def test_test_data_must_be_explained(tmp_path: Path) -> None:
    bare = f"{WORDS}<p>The audit used test data.</p>"
    report = checked(tmp_path, summary(), bare)
    assert [f.column for f in report.findings] == ["F10"]
    told = (
        f"{WORDS}<p>The audit used test data, generated from adverts. Historical data were insufficient.</p>"
    )
    assert kinds(checked(tmp_path, summary(), told)) == []
    broken = told.replace("historical data", "historical<br>data").replace(
        "data, generated", "data,<br>generated"
    )
    assert kinds(checked(tmp_path, summary(), broken.replace("Historical data", "Historical<br>data"))) == []


def test_what_goes_beyond_the_rule_is_a_note_and_the_page_is_still_clean(tmp_path: Path) -> None:
    words = WORDS.replace("for this position ", "").replace("0 individuals", "30 individuals")
    report = checked(tmp_path, summary(), f"{words}<p>The differences are statistically significant.</p>")
    assert kinds(report) == ["significance_without_test", "position_not_found", "unknown_without_bounds"]
    assert report.ok


def test_dates() -> None:
    text = "2023-06-29, June 29th, 2023, 29 Sept. 2023, 6/29/23, Feb 2024, 2023-02-30, 144/2021"
    assert [read_date(found) for found in DATE.finditer(text)] == [
        date(2023, 6, 29),
        date(2023, 6, 29),
        date(2023, 9, 29),
        date(2023, 6, 29),
        date(2024, 2, 29),
        None,
    ]


@pytest.mark.parametrize(
    ("words", "unknown"),
    [
        ("Explanation: applicants of 2025. 12 individuals were of unknown category.", 12),
        ("In the data of 2025, 12 individuals were of unknown category.", 12),
        ("Of unknown sex in 2025: 12.", 12),
        ("The number of individuals of unknown category was approx. 12.", 12),
        ("Unknown sex: no. 12", 12),
        ("In total, 2025 individuals were of unknown category.", 2025),
        ("Data of 2025 individuals of unknown category were left out.", 2025),
        ("1\N{NO-BREAK SPACE}250 individuals were of unknown category.", 1250),
        ("3.5% are of unknown ethnicity, that is 7 people.", 7),
    ],
)
def test_people_of_unknown_category_are_no_year(words: str, unknown: int) -> None:
    assert read_words(words).unknown == unknown
