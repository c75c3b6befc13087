"""The page reads at school grade 9 or below, by the formula of Flesch and Kincaid over its sentences."""

from __future__ import annotations

import re

import pytest

from tests.report.golden import FOLDER, RUNS

HIGHEST = 8.6
"""Syllables are counted by the vowels. On these pages that is 0.4 to 0.5 of a grade below what the pronunciations of
the CMU dictionary give, which holds 98.6% of the words: 8.6 here is 9 there."""


def syllables(word: str) -> int:
    """Count the groups of vowels, without a silent end."""
    short = re.sub(r"(?:[^laeiouy]es|ed|[^laeiouy]e)$", "", word.lower().removesuffix("'s"))
    return max(1, len(re.findall(r"[aeiouy]{1,2}", re.sub(r"^y", "", short))))


def grade(text: str) -> float:
    """School grade by Flesch and Kincaid (1975)."""
    sentences = [one for one in re.split(r"(?<=[.!?])\s+", text) if len(one.split()) > 1]
    words = re.findall(r"[A-Za-z]+(?:'[a-z]+)?", text)
    return 0.39 * len(words) / len(sentences) + 11.8 * sum(map(syllables, words)) / len(words) - 15.59


@pytest.mark.parametrize("name", list(RUNS))
def test_the_page_reads_at_grade_nine(name: str) -> None:
    lines = (FOLDER / name / "report.txt").read_text(encoding="utf-8").splitlines()
    # Sentences, and not the cells of tables, labels and lists.
    text = " ".join(line for line in lines if len(line.split()) >= 6 and line.strip()[-1] in ".!?")
    assert len(text.split()) > 2000
    assert grade(text) <= HIGHEST


def test_a_hard_text_is_found() -> None:
    hard = (
        "Notwithstanding the aforementioned considerations, methodological heterogeneity necessitates comprehensive "
        "interpretation of disproportionate allocational consequences attributable to institutional configurations."
    )
    assert grade(hard) > 20 > HIGHEST > grade("The model read the letters. It said yes to most of them.")
