"""Sentences that name the category with the highest rate and how high it is, held against the tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit_lib.check import SummaryFinding, check_report
from tests.check.cases import WORDS, Table, html, rated, save, summary

SEX = rated({"Men": (500, 247), "Women": (400, 186)})  # 49.4% and 46.5%
RACE = rated(
    {"White": (300, 120), "Black or African American": (300, 150), "Asian (Not Hispanic)": (200, 60)}
)
BOTH = rated({"White - Men": (150, 90), "White - Women": (150, 30), "Asian - Men": (200, 60)})
TABLES = {"Sex": SEX, "Race/ethnicity": RACE, "Intersectional": BOTH}


def told(folder: Path, words: str, tables: dict[str, Table] = TABLES) -> list[SummaryFinding]:
    page = save(folder, html(tables, f"{WORDS}<p>{words}</p>"))
    return [found for found in check_report(page).findings if found.id == "highest_category_wrong"]


def test_the_highest_of_some_categories_is_not_the_highest_of_all(tmp_path: Path) -> None:
    words = (
        "The highest rate is that of 2 of 2 people (Men). Compared with the highest of the categories of at least 5 "
        "people, Women: Others 0.500."
    )
    assert told(tmp_path, words) == []


@pytest.mark.parametrize(
    "words",
    [
        "By sex, the highest selection rate was 49.4% (Women); its impact ratio is therefore 1.",
        "Among the sex categories, WOMEN had the highest selection rate (46.5%).",
        "Among the sex categories, men had the highest selection rate (47.4%).",
        "By sex, the highest selection rate was 0.474 (Men).",
        "By sex, the highest selection rate was 47.4%.",
        "Although no category was left out, women had the highest selection rate.",
        "Women had the top selection rate, 46.5%, and an impact ratio of 1.00.",
        "By sex, the highest selection rate was 49.4% (Men); by race, 40.0% (White).",
        "The highest selection rate in the race/ethnicity table is that of Asian (Not Hispanic), at 50.0%.",
        "The highest rate in the intersectional table is that of White - Women, at 60.0%.",
        "By intersectional category, White women were the most selected group.",
    ],
)
def test_another_category_or_another_rate(tmp_path: Path, words: str) -> None:
    assert len(told(tmp_path, words)) == 1


@pytest.mark.parametrize(
    "words",
    [
        "By sex, the highest selection rate was 49.4% (Men); its impact ratio is therefore 1.",
        "Among the sex categories, men had the highest selection rate (49%), with an impact ratio of 1.00.",
        "Among the sex categories, men had the highest selection rate (0.494), women one of 46.5%.",
        "The highest selection rate was not that of women.",
        "Men had the highest selection rate and women the lowest, 46.5%.",
        "By sex, the lowest of the two highest rates is 46.5% (Women).",
        "In the previous audit, women had the highest selection rate (51.0%).",
        "In 2022, women had the highest selection rate (51.0%).",
        "The impact ratio of women is their rate divided by the highest selection rate, 46.5% over 49.4%.",
        "By race/ethnicity, the highest selection rate was 50.0% (Black or African American), more than 45%.",
        "Categories of less than 2% were left out: the highest selection rate by sex was 49.4%.",
        "The highest selection rate in the intersectional table is that of White - Men, at 60.0%.",
        "By age, the highest selection rate was 12.0% (40 and over).",
        "Men, 55.6% of the data, had the highest selection rate.",
    ],
)
def test_lawful_sentences(tmp_path: Path, words: str) -> None:
    assert told(tmp_path, words) == []


def test_what_was_found_says_names_or_the_rate(tmp_path: Path) -> None:
    (found,) = told(tmp_path, "Among the sex categories, women had the highest rate (46.5%).")
    assert (found.row, found.recomputed) == ("Female", "Men")
    (found,) = told(tmp_path, "Among the sex categories, men had the highest rate (46.5%).")
    assert (found.row, found.recomputed) == ("Male", "49.4%")


def test_ties_and_rates_that_print_alike(tmp_path: Path) -> None:
    alike = rated({"Men": (1000, 494), "Women": (1001, 494)})
    for sex in ("Men", "Women"):
        assert told(tmp_path, f"By sex, the highest rate was 49.4% ({sex}).", {"Sex": alike}) == []


def test_a_category_without_a_ratio_may_be_meant_or_not(tmp_path: Path) -> None:
    race = [[*row] for row in RACE]
    race[1][-1] = "N/A"
    for name, rate in (("Black or African American", "50.0%"), ("White", "40.0%")):
        assert told(tmp_path, f"By race, the highest rate was {rate} ({name}).", {"Race": race}) == []
    assert told(tmp_path, "By race, the highest rate was 30.0% (Asian).", {"Race": race})


def test_any_position_may_be_meant_and_the_one_that_is_named_is(tmp_path: Path) -> None:
    clerks = rated({"Men": (300, 60), "Women": (300, 90)})
    tables = {"Clerk: sex": clerks, "Driver: sex": SEX}
    assert told(tmp_path, "Women had the highest selection rate (30.0%).", tables) == []
    assert told(tmp_path, "Women had the highest selection rate (49.4%).", tables)
    assert told(tmp_path, "For the driver position, women had the highest selection rate (30.0%).", tables)


def test_of_whole_pages_only_one_category_is_right(tmp_path: Path) -> None:
    for caption, rows in summary().items():
        best = max(rows, key=lambda row: float(row[3].rstrip("%")))
        for row in rows[:6]:
            words = f"The highest selection rate in the {caption} is that of {row[0]}, at {best[3]}."
            assert bool(told(tmp_path, words, summary())) == (row is not best), words


@pytest.mark.parametrize(
    ("words", "faults"),
    [
        ("Within the White category, men had the highest selection rate.", 0),
        ("Among White applicants, men had the highest selection rate (60.0%).", 0),
        ("Men had the highest selection rate among White applicants.", 0),
        ("Among men, White men had the highest selection rate.", 0),
        ("Among White applicants, women had the highest selection rate.", 1),
        ("Among men, Asian men had the highest selection rate.", 1),
        ("Among White applicants, men had the highest selection rate (49.4%).", 1),
    ],
)
def test_the_highest_of_a_part_of_the_people(tmp_path: Path, words: str, faults: int) -> None:
    assert len(told(tmp_path, words)) == faults


@pytest.mark.parametrize(
    ("words", "faults"),
    [
        ("By sex, men had the highest selection rate (49.4%), except among Asian applicants.", 0),
        ("By sex, women had the highest selection rate, as among White applicants.", 1),
        ("Women had the highest selection rate overall and among White applicants.", 1),
        ("By race, Asian applicants had the highest selection rate, also among men.", 1),
        ("Highest of the categories of sex: Women", 1),
        ("Highest of the categories of at least 5 people: Women", 0),
        ("Among Hispanic or Latino applicants, women had the highest selection rate.", 0),
    ],
)
def test_what_is_said_of_all_is_not_of_a_part(tmp_path: Path, words: str, faults: int) -> None:
    assert len(told(tmp_path, words)) == faults
