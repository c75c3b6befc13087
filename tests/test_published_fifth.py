"""The corpus of `benchmarks.check_report_fifth`: clean pages have true numbers, and a fault changes its page."""

import dataclasses
import re
from collections import Counter
from copy import deepcopy
from fractions import Fraction

import pytest

from benchmarks.check_report_twins import told
from benchmarks.published_fifth import plan
from benchmarks.published_fifth.draw import make_draw
from benchmarks.published_fifth.faults import KINDS, with_fault
from benchmarks.published_fifth.judge import RIGHT
from benchmarks.published_fifth.layouts import LAYOUTS
from benchmarks.published_fifth.model import RACES, SEXES

SEED = "fifth"
ONE_NUMBER = {
    "percent_fraction",
    "rate_above_100",
    "ratio_above_1",
    "transposed_digits",
    "wrong_count",
    "wrong_impact_ratio",
    "wrong_rate",
}

DATE = r"\w{3,9}\.? \d{1,2}, \d{4}|\d{1,2} \w{3,9} \d{4}|\d\d/\d\d/\d{4}|\d{4}-\d\d-\d\d"


@pytest.fixture(scope="module")
def clean():
    return plan.clean_jobs(SEED)


@pytest.fixture(scope="module")
def faulty():
    return plan.fault_jobs(SEED)


def strings(value):
    """All texts of a page, cell by cell."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from strings(one)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from strings(getattr(value, field.name))


def page(job, draw):
    return list(strings(job.layout.compose(deepcopy(draw))))


def changed(job):
    """Texts that only the page with the fault has, and those that only its twin has."""
    shown, twin = Counter(page(job, job.fault)), Counter(page(job, job.clean))
    return shown - twin, twin - shown


def true_counts(unit, row):
    """People and selected of a row, added up from those of each sex and race."""
    found = [
        counts
        for (sex, race), counts in unit.counts.items()
        if row.sex in ("", sex) and row.race in ("", race)
    ]
    found += [counts for sex, counts in unit.only_sex.items() if (row.sex, row.race) in ((sex, ""), ("", ""))]
    found += [
        counts for race, counts in unit.only_race.items() if (row.sex, row.race) in (("", race), ("", ""))
    ]
    return sum(n for n, _ in found), sum(k for _, k in found)


def is_rounded(text, exact, percent):
    """Whether a text is the number, rounded half up to the digits that it has."""
    digits = len(text.rstrip("%").partition(".")[2])
    error = exact * (100 if percent else 1) - Fraction(text.rstrip("%"))
    half = Fraction(1, 2 * 10**digits)
    return -half <= error < half


def test_the_plan_is_as_long_as_it_says(clean, faulty):
    assert (len(clean), len(faulty)) == (100, 300)
    assert {job.kind for job in clean} == {"clean"} and not any(job.fault for job in clean)
    assert Counter(job.kind for job in faulty) == {kind: number for kind, (number, _) in KINDS.items()}
    assert len({job.seed for job in clean + faulty}) == 400
    every = {(layout.name, producer) for layout in LAYOUTS for producer in layout.producers}
    for jobs in (clean, faulty):
        assert {(job.layout.name, job.producer) for job in jobs} == every


def test_both_parts_have_every_kind(clean, faulty):
    for part in ("learn", "held"):
        mine = {layout.name for layout in LAYOUTS if layout.part == part}
        assert len(mine) == 9
        for jobs in (clean, faulty):
            assert {job.layout.name for job in jobs if job.layout.part == part} == mine
        kinds = {job.kind.partition(":")[0] for job in faulty if job.layout.part == part}
        assert kinds == set(RIGHT)


def test_clean_numbers_are_the_true_ones(clean, faulty):
    for job in clean + faulty:
        draw = job.clean
        for table in draw.tables:
            unit, rows = draw.units[table.unit], table.rows + table.left_out
            keys = [(row.sex, row.race) for row in rows]
            sexes, races = {"sex": (SEXES, [""]), "race": ([""], RACES), "inter": (SEXES, RACES)}[table.kind]
            assert sorted(keys) == sorted((sex, race) for sex in sexes for race in races)
            counts = {key: true_counts(unit, row) for key, row in zip(keys, rows, strict=True)}
            whole = sum(n for n, _ in counts.values())
            counted = [
                Fraction(*counts[key][::-1]) for key, row in zip(keys, rows, strict=True) if not row.excluded
            ]
            for key, row in zip(keys, rows, strict=True):
                n, k = counts[key]
                assert (row.n.replace(",", ""), row.k.replace(",", "")) == (str(n), str(k))
                rate = Fraction(k, n)
                assert is_rounded(row.rate, rate, "%" in row.rate or draw.style.rate.startswith("bare"))
                if row.excluded:
                    assert Fraction(n, whole) < Fraction(2, 100) and row.ratio == draw.style.blank
                else:
                    assert rate <= max(counted)
                    assert is_rounded(row.ratio, rate / max(counted), "%" in row.ratio)
            if table.total:
                assert table.total.n.replace(",", "") == str(whole)
                assert table.total.k.replace(",", "") == str(sum(k for _, k in counts.values()))


def test_the_same_seed_gives_the_same_draw(clean, faulty):
    for job in {job.kind: job for job in faulty}.values():
        again = make_draw(job.layout, job.producer, job.seed)
        assert again == job.clean
        assert with_fault(again, job.kind, job.seed) == (job.fault, job.detail)
    job = clean[0]
    assert make_draw(job.layout, job.producer, f"{job.seed} other").units != job.clean.units


def test_a_fault_changes_its_page_and_the_twin_does_not_have_it(faulty):
    for job in faulty:
        assert page(job, job.fault) != page(job, job.clean), job.detail
        added, gone = changed(job)
        facts = job.fault.facts
        for said in filter(None, (facts.claim, facts.made_up)):
            assert said in " ".join(added) and said not in " ".join(page(job, job.clean))
        if facts.own_auditor:
            assert f"carried out by {facts.own_auditor}" in " ".join(added)
            assert facts.auditor not in " ".join(page(job, job.fault))
        if job.kind == "shifted_row":
            assert not (added or gone) or "nk" in job.clean.style.columns
        if job.kind in ("missing_table", "dropped_category"):
            assert gone.total() > added.total(), job.detail


def test_a_wrong_number_is_alone(faulty):
    for job in faulty:
        if job.kind in ONE_NUMBER:
            wrong, right = re.search(r"printed (\S+) instead of (\S+)$", job.detail).groups()
            (added,), (gone,) = changed(job)
            assert wrong in added and right in gone and wrong != right


def test_dates_that_contradict_are_on_the_page(faulty):
    for job in faulty:
        if job.kind == "contradictory_dates":
            shown = " ".join(page(job, job.fault))
            dates = re.findall(DATE, job.detail)
            assert len(dates) == 2 and all(date in shown for date in dates), job.detail
            assert not set(dates) <= set(re.findall(DATE, " ".join(page(job, job.clean)))) or (
                "no earlier one is told of" in job.detail
            )


def test_every_kind_has_a_judge():
    assert set(RIGHT) == {kind.partition(":")[0] for kind in KINDS}
    finding = {"id": "rate_not_rebuilt", "severity": "error", "message": "the counts give 0.91"}
    assert told(RIGHT, "wrong_rate", [finding])
    assert not told(RIGHT, "wrong_rate", [finding | {"severity": "note"}])
    assert not told(RIGHT, "stale_audit", [finding])
