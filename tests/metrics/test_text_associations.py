"""Stereotypical associations by hand, against a slow count, and at their edges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.errors import InputError, LexiconError, UndefinedMetricError
from audit_lib.metrics.text import stereotypical_associations as stereotypical_associations_table
from audit_lib.results import Undefined
from tests.metrics.means import mean

stereotypical_associations = mean(stereotypical_associations_table)

GENDER = {"female": ["she", "her"], "male": ["he"]}


def test_by_hand() -> None:
    # "nurse" stands twice in the first text and counts once; its three female words count three times.
    texts = ["She, she and her: nurse, nurse.", "He is a nurse", "he is a doctor", "nurse"]
    table = stereotypical_associations_table(texts, GENDER, ["nurse", "doctor", "pilot"])
    assert table.counts == ((3, 1), (0, 1), (0, 0))
    assert table.values[:2] == pytest.approx((0.25, 0.5))
    assert table.values[2] == Undefined("the word is in no text with a word of any group")
    assert table.undefined == 1
    assert stereotypical_associations(texts, GENDER, ["nurse", "doctor", "pilot"]) == pytest.approx(0.375)


def test_against_a_given_reference() -> None:
    texts = ["she she she he nurse"]
    reference = {"male": 0.25, "female": 0.75}
    assert stereotypical_associations(texts, GENDER, ["nurse"], reference) == pytest.approx(0)
    assert stereotypical_associations(texts, GENDER, ["nurse"]) == pytest.approx(0.25)


WORDS = st.lists(st.sampled_from(["she", "her", "he", "they", "nurse", "doctor", "kind"]), max_size=12)
GROUPS = {"f": ["she", "her"], "m": ["he"], "n": ["they"]}


@given(st.lists(WORDS, max_size=8))
def test_against_a_slow_count(texts: list[list[str]]) -> None:
    table = stereotypical_associations_table(texts, GROUPS, ["nurse", "doctor"])
    for word, counts, value in zip(table.words, table.counts, table.values, strict=True):
        slow = tuple(
            sum(words.count(a) for words in texts if word in words for a in GROUPS[group]) for group in GROUPS
        )
        assert counts == slow
        if sum(slow) == 0:
            assert isinstance(value, Undefined)
        else:
            assert value == pytest.approx(sum(abs(c / sum(slow) - 1 / 3) for c in slow) / 2)
            assert isinstance(value, float)
            assert 0 <= value <= 2 / 3 + 1e-12


@given(st.lists(WORDS, max_size=8), st.permutations(list(GROUPS)))
def test_the_order_of_texts_and_groups_does_not_matter(texts: list[list[str]], order: list[str]) -> None:
    texts = [*texts, ["she", "nurse"]]
    relabelled = {f"group {name}": GROUPS[name] for name in order}
    assert stereotypical_associations(texts[::-1], relabelled, ["doctor", "nurse"]) == pytest.approx(
        stereotypical_associations(texts, GROUPS, ["nurse", "doctor"])
    )


def test_what_is_refused() -> None:
    with pytest.raises(LexiconError, match="at least two groups"):
        stereotypical_associations(["she"], {"f": ["she"]}, ["nurse"])
    with pytest.raises(LexiconError, match="'she' is in"):
        stereotypical_associations(["she"], {"f": ["she"], "m": ["she"]}, ["nurse"])
    with pytest.raises(LexiconError, match="empty"):
        stereotypical_associations(["she"], {"f": ["she"], "m": []}, ["nurse"])
    with pytest.raises(InputError, match="a share for each of female, male"):
        stereotypical_associations(["she"], GENDER, ["nurse"], {"female": 1.0})
    for shares in ((0.5, 0.6), (1.5, -0.5), (float("nan"), 0.5)):
        with pytest.raises(InputError, match="sum to 1"):
            stereotypical_associations(["she"], GENDER, ["nurse"], dict(zip(GENDER, shares, strict=True)))
    for texts in ([], ["she"], ["nurse"], ["she", "nurse"]):
        with pytest.raises(UndefinedMetricError, match="none of the 1 target words"):
            stereotypical_associations(texts, GENDER, ["nurse"])
