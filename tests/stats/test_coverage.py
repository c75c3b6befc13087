"""The ranges that docstrings state, checked again: exactly where that is possible."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from audit_lib.stats import auc_gap_intervals, simultaneous_ratios
from benchmarks.coverage import STUDIES, exact_tests, one_proportion, page, two_proportions
from benchmarks.coverage_tables import Cell, Study, covers

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"


@pytest.mark.slow
@pytest.mark.parametrize("study", [one_proportion, two_proportions, exact_tests])
def test_exact_studies_miss_nothing_and_are_what_the_page_shows(study):
    result = study()
    assert result.missed() == 0
    assert result.markdown() in PAGE.read_text()


def test_the_page_shows_no_miss_inside_a_stated_range():
    text = PAGE.read_text()
    assert "Misses inside the stated ranges: 0." in text
    assert not re.search(r"\| \*\*\d", text)


def test_the_page_has_every_study_and_one_may_be_run_again():
    text = PAGE.read_text()
    assert re.findall(r"^## (.*)$", text, re.M) == [title for title, _ in STUDIES.values()]
    assert page([], text) == text
    again = Study("Texts and lists", "New.", ["metric", "interval"], [["x", Cell(0.9, 0.9, "approximate")]])
    changed = page([again], text)
    assert "Misses inside the stated ranges: 1." in changed
    assert "## Texts and lists\n\nNew.\n" in changed
    for title in ("Rank index", "Strata: common odds ratio and its homogeneity"):
        part = text.split(f"## {title}\n")[1].split("\n## ")[0]
        assert part in changed


def test_sections_of_other_programs_keep_their_place():
    text = PAGE.read_text()
    mine = "## By another program\n\nNumbers.\n\n"
    for title in ("Texts and lists", "One proportion"):
        other = text.replace(f"## {title}\n", f"{mine}## {title}\n")
        again = Study(
            "Texts and lists", "New.", ["metric", "interval"], [["x", Cell(0.95, 0.95, "approximate")]]
        )
        assert page([], other) == other and f"{mine}## {title}\n" in page([again], other)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["single_rates", "ratios_of_rates", "distances", "texts"])
def test_a_quick_run_of_a_study_is_of_the_page_s_shape(name):
    title, study = STUDIES[name]
    found = study(0.01)
    assert found.title == title
    shown = PAGE.read_text().split(f"## {title}\n")[1].split("\n## ")[0]
    assert [line.split(" | ")[:2] for line in found.markdown().splitlines()[6:]] == [
        line.split(" | ")[:2] for line in shown.strip().splitlines()[4:]
    ]


def test_a_miss_is_a_miss():
    assert Cell(0.929, 0.96, "approximate").missed
    assert Cell(0.95, 0.971, "approximate").missed
    assert not Cell(0.93, 0.97, "approximate").missed
    assert Cell(0.929, 1.0, "conservative").missed
    assert not Cell(0.93, 1.0, "conservative").missed
    assert Cell(0.94, 1.0, "at least").missed
    assert not Cell(0.94, 1.0, "at least", error=0.006).missed
    assert not Cell(0.5, 0.5, "none").missed


def test_choosing_the_pair_is_paid_for():
    # seven subgroups with the same AUC: whichever gap looks largest is chance
    rng = np.random.Generator(np.random.PCG64(1))
    group = np.arange(7 * 60) % 7
    members = np.arange(7) == group[:, None]
    together = chosen = 0
    for _ in range(300):
        outcome = rng.integers(0, 2, group.size)
        result = auc_gap_intervals(rng.normal(outcome), outcome, members, draws=3000)
        together += all(covers(pair.interval, 0.0) for pair in result.pairs)
        chosen += covers(result.largest.conditional, 0.0)
    assert together / 300 > 0.91
    assert chosen / 300 < 0.75


def test_the_highest_rate_is_allowed_for():
    rng = np.random.Generator(np.random.PCG64(2))
    kept = 0
    for _ in range(200):
        selected = rng.binomial(40, 0.5, size=5).tolist()
        kept += all(i.high == 1.0 for i in simultaneous_ratios(selected, [40] * 5, draws=3000).to_highest)
    assert kept / 200 > 0.9
