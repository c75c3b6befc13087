"""COBS by hand, against a slow count of every pair of words, and at its edges."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.errors import InputError, LexiconError, UndefinedMetricError
from audit_lib.metrics.text import cooccurrence_bias_score as cooccurrence_bias_table
from audit_lib.results import Undefined
from tests.metrics.means import mean

cooccurrence_bias_score = mean(cooccurrence_bias_table)

HERS, HIS, TARGETS = ["she", "her"], ["he"], ["nurse", "doctor", "pilot"]


def test_by_hand() -> None:
    # Near "she": nurse 2, doctor 1, kind 1. Near "he": nurse 1, doctor 2. Stop words (is, a) never count.
    texts = [
        "She is a kind nurse.",
        "She, a nurse",
        "she a doctor",
        "He is a nurse",
        "he a doctor",
        "he a doctor",
    ]
    table = cooccurrence_bias_table(texts, HERS, HIS, TARGETS)
    assert table.group_cooccurrence == (2, 1, 0)
    assert table.reference_cooccurrence == (1, 2, 0)
    assert (table.group_count, table.reference_count, table.content_count) == (3, 3, 7)
    assert table.group_probability == pytest.approx(((2 / 4) / (3 / 7), (1 / 4) / (3 / 7), 0))
    assert table.values[:2] == pytest.approx((math.log((2 / 4) / (1 / 3)), math.log((1 / 4) / (2 / 3))))
    assert table.values[2] == Undefined("the word does not occur in the texts")
    assert table.undefined == 1
    assert cooccurrence_bias_score(texts, HERS, HIS, TARGETS) == pytest.approx(
        (math.log(1.5) + math.log(0.375)) / 2
    )


def test_the_window_ends_after_so_many_words_and_at_the_end_of_the_text() -> None:
    far = " ".join(["she", *["a"] * 9, "nurse", "he", "nurse"])
    table = cooccurrence_bias_table([far, "nurse"], HERS, HIS, ["nurse"], window=10)
    assert (table.group_cooccurrence, table.reference_cooccurrence) == ((1,), (2,))
    with pytest.raises(UndefinedMetricError, match="group_words: no content word"):
        cooccurrence_bias_table([far], HERS, HIS, ["nurse"], window=9)


def test_ten_words_are_the_default() -> None:
    far = " ".join(["she", *["a"] * 9, "nurse", "he", "kind", "nurse", "a"])
    assert cooccurrence_bias_table([far], HERS, HIS, ["nurse"]) == cooccurrence_bias_table(
        [far], HERS, HIS, ["nurse"], window=10
    )


def test_a_group_word_that_is_a_stop_word_is_the_groups() -> None:
    table = cooccurrence_bias_table(["she nurse he"], HERS, HIS, ["nurse"], stop_words=["she", "he"])
    assert (table.group_count, table.reference_count, table.content_count) == (1, 1, 1)


def test_why_a_word_is_undefined() -> None:
    texts = ["she nurse", "he doctor", "pilot"]
    values = cooccurrence_bias_table(texts, HERS, HIS, TARGETS).values
    assert [value.reason for value in values if isinstance(value, Undefined)] == [
        "the word is near no word of the reference",
        "the word is near no word of the group",
        "the word is near neither group",
    ]
    with pytest.raises(UndefinedMetricError, match="none of the 3 target words"):
        cooccurrence_bias_score(texts, HERS, HIS, TARGETS)


def slow_cooccurrence(
    texts: list[list[str]], side: list[str], word: str, window: int | None, beta: float
) -> float:
    total = 0.0
    for words in texts:
        for i, one in enumerate(words):
            for j, other in enumerate(words):
                if i != j and one == word and other in side:
                    total += beta ** abs(i - j) if window is None else abs(i - j) <= window
    return total


WORDS = st.lists(st.sampled_from(["she", "her", "he", "nurse", "doctor", "kind", "the"]), max_size=25)


@given(st.lists(WORDS, max_size=6), st.integers(1, 12))
def test_against_a_slow_count_and_antisymmetric(texts: list[list[str]], window: int) -> None:
    texts = [*texts, ["she", "kind", "he"]]  # so that both groups occur
    for option in ({"window": window}, {"beta": 0.9}):
        table = cooccurrence_bias_table(texts, HERS, HIS, TARGETS, **option)
        for word, ours, theirs in zip(
            TARGETS, table.group_cooccurrence, table.reference_cooccurrence, strict=True
        ):
            size = option.get("window")
            assert ours == pytest.approx(slow_cooccurrence(texts, HERS, word, size, 0.9))  # type: ignore[arg-type]
            assert theirs == pytest.approx(slow_cooccurrence(texts, HIS, word, size, 0.9))  # type: ignore[arg-type]
        back = cooccurrence_bias_table(texts, HIS, HERS, TARGETS, **option)
        for value, mirrored in zip(table.values, back.values, strict=True):
            assert isinstance(value, Undefined) == isinstance(mirrored, Undefined)
            if not isinstance(value, Undefined) and not isinstance(mirrored, Undefined):
                assert value == pytest.approx(-mirrored, abs=1e-12)


def test_the_order_of_texts_does_not_change_counts() -> None:
    texts = ["she is a kind nurse", "he is a nurse", "her doctor met him", "he saw a doctor"]
    assert cooccurrence_bias_table(texts, HERS, HIS, TARGETS) == cooccurrence_bias_table(
        texts[::-1], HERS, HIS, TARGETS
    )


def test_what_is_refused() -> None:
    texts = ["she nurse he"]
    with pytest.raises(InputError, match="give one of them"):
        cooccurrence_bias_score(texts, HERS, HIS, TARGETS, window=10, beta=0.95)
    for window in (0, -1, 2.5, True):
        with pytest.raises(InputError, match="window"):
            cooccurrence_bias_score(texts, HERS, HIS, TARGETS, window=window)  # type: ignore[arg-type]
    for beta in (0.0, 1.0, math.nan):
        with pytest.raises(InputError, match="beta"):
            cooccurrence_bias_score(texts, HERS, HIS, TARGETS, beta=beta)
    with pytest.raises(LexiconError, match="'the' is a stop word"):
        cooccurrence_bias_score(texts, HERS, HIS, ["the"])
    with pytest.raises(LexiconError, match="'she' is in group_words and in target_words"):
        cooccurrence_bias_score(texts, HERS, HIS, ["She"])
    with pytest.raises(UndefinedMetricError, match="reference_words: none of them occurs"):
        cooccurrence_bias_score(["she nurse"], HERS, HIS, TARGETS)
    with pytest.raises(UndefinedMetricError, match="group_words: none of them occurs"):
        cooccurrence_bias_score([], HERS, HIS, TARGETS)
