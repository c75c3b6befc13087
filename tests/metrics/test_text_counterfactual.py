"""Similarity of pairs: by hand, against slow and independent counts, and at its edges."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics.pair_scores import PairScores
from audit_lib.metrics.text import counterfactual as text_counterfactual
from audit_lib.metrics.text import counterfactual_bleu as counterfactual_bleu_table
from audit_lib.metrics.text import counterfactual_cosine as counterfactual_cosine_table
from audit_lib.metrics.text import counterfactual_rouge_l as counterfactual_rouge_l_table
from tests.metrics.means import mean_of_all
from tests.metrics.slow_text import slow_bleu, slow_rouge

counterfactual_bleu, counterfactual_cosine, counterfactual_rouge_l = map(
    mean_of_all, (counterfactual_bleu_table, counterfactual_cosine_table, counterfactual_rouge_l_table)
)

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), max_size=14)
PAIRS = st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=6)


def test_rouge_l_by_hand() -> None:
    # LCS "police the gunman" of 3; 4 and 5 words.
    assert counterfactual_rouge_l(
        ["police killed the gunman"], ["police kill the red gunman"]
    ) == pytest.approx(2 * 3 / (4 + 5))


def test_masked_words_no_longer_differ() -> None:
    ours, theirs = ["She is a nurse, and I trust her."], ["He is a nurse, and I trust him."]
    lexicon = {"f": ["she", "her"], "m": ["he", "him"]}
    assert counterfactual_rouge_l(ours, theirs) == pytest.approx(6 / 8)
    assert counterfactual_rouge_l(ours, theirs, lexicon) == 1
    assert counterfactual_bleu(ours, theirs, lexicon) == 1
    assert counterfactual_bleu(ours, theirs) < 1


def test_bleu_by_hand() -> None:
    # 6 against 7 words: common n-grams 6, 5, 4, 3. As candidate the longer has more to divide by, the shorter
    # pays the penalty exp(1 - 7/6).
    shorter, longer = "the cat sat on the mat", "the cat sat on the mat today"
    long_is_candidate = (6 / 7 * 5 / 6 * 4 / 5 * 3 / 4) ** 0.25
    short_is_candidate = math.exp(1 - 7 / 6)
    assert counterfactual_bleu([shorter], [longer]) == pytest.approx(
        min(long_is_candidate, short_is_candidate)
    )


def test_bleu_counts_a_repeated_ngram_as_often_as_the_other_text_has_it() -> None:
    assert counterfactual_bleu(["a a a a a a"], ["a a a a b c"]) == pytest.approx(
        (4 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25
    )


def test_bleu_is_not_smoothed() -> None:
    assert counterfactual_bleu(["one two three four"], ["one two three five"]) == 0


@given(PAIRS)
def test_against_slow_counts(pairs: list[tuple[list[str], list[str]]]) -> None:
    ours, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    rouge = [slow_rouge(*pair) for pair in pairs]
    np.testing.assert_allclose(counterfactual_rouge_l_table(ours, theirs).values, rouge, rtol=1e-12)
    bleu = [min(slow_bleu(*pair), slow_bleu(*pair[::-1])) for pair in pairs]
    np.testing.assert_allclose(counterfactual_bleu_table(ours, theirs).values, bleu, rtol=1e-12, atol=1e-15)


@given(PAIRS)
def test_symmetric_bounded_and_1_for_equal_texts(pairs: list[tuple[list[str], list[str]]]) -> None:
    ours, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    for table in (counterfactual_rouge_l_table, counterfactual_bleu_table):
        there, back, same = table(ours, theirs), table(theirs, ours), table(ours, ours)
        np.testing.assert_array_equal(there.values, back.values)
        known = there.values[~np.isnan(there.values)]
        assert ((known >= 0) & (known <= 1)).all()
        assert (same.values[~np.isnan(same.values)] == 1).all()
        assert set(there.undefined) == set(np.flatnonzero(np.isnan(there.values)).tolist())


@pytest.mark.parametrize("table", [counterfactual_rouge_l_table, counterfactual_bleu_table])
def test_blocks_do_not_change_the_numbers(
    table: Callable[..., PairScores], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    ours, theirs = ([" ".join(rng.choice(list("abcde"), 9)) for _ in range(17)] for _ in range(2))
    whole = table(ours, theirs).values
    monkeypatch.setattr(text_counterfactual, "_BLOCK", 4)
    np.testing.assert_array_equal(table(ours, theirs).values, whole)


def test_bleu_against_sacrebleu() -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    rng = np.random.default_rng(11)
    pairs = [[list(rng.choice(list("abcdefgh"), rng.integers(4, 40))) for _ in range(2)] for _ in range(200)]
    metric = sacrebleu.BLEU(tokenize="none", smooth_method="none", max_ngram_order=4, force=True)
    ours, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    expected = [
        min(
            metric.corpus_score([" ".join(a)], [[" ".join(b)]]).score,
            metric.corpus_score([" ".join(b)], [[" ".join(a)]]).score,
        )
        / 100
        for a, b in pairs
    ]
    assert 0 < sum(value > 0 for value in expected) < 200
    np.testing.assert_allclose(
        counterfactual_bleu_table(ours, theirs).values, expected, rtol=1e-12, atol=1e-15
    )


def test_a_pair_without_a_value_is_named_and_counted_never_dropped_silently() -> None:
    ours, theirs = ["Yes.", "a b c d e"], ["Yes.", "a b c d e"]
    table = counterfactual_bleu_table(ours, theirs)
    assert table.undefined == {0: "a text has fewer than four words"}
    assert (table.n, table.mean) == (1, 1.0)
    with pytest.raises(UndefinedMetricError, match=r"1 of 2 pairs have no value \(row 0: a text has fewer"):
        counterfactual_bleu(ours, theirs)
    with pytest.raises(UndefinedMetricError, match="neither text has a word"):
        counterfactual_rouge_l(["!", "a"], ["", "a"])
    assert counterfactual_rouge_l([""], ["a b"]) == 0
    with pytest.raises(UndefinedMetricError, match=r"no pair has a value \(1 undefined\)"):
        _ = counterfactual_rouge_l_table([""], [""]).mean


@pytest.mark.parametrize("metric", [counterfactual_rouge_l, counterfactual_bleu])
def test_what_is_refused(metric: Callable[..., float]) -> None:
    with pytest.raises(UndefinedMetricError, match="no pairs"):
        metric([], [])
    with pytest.raises(InputError, match="2 in the group, 1 in the reference"):
        metric(["a", "b"], ["a"])
    with pytest.raises(InputError, match="put it into a list"):
        metric("a", "b")
    with pytest.raises(InputError, match="mask before splitting"):
        metric([["she"]], [["he"]], ["she", "he"])


def test_cosine_by_hand() -> None:
    assert counterfactual_cosine([[1, 0], [3, 4], [1, 0]], [[5, 0], [4, 3], [-2, 0]]) == pytest.approx(
        (1 + 24 / 25 - 1) / 3
    )


VECTORS = st.lists(st.floats(-1e200, 1e200), min_size=3, max_size=3).filter(any)


@example([([0.0, 0.0, 5e-324], [0.0, 0.0, 1.0])])
@given(st.lists(st.tuples(VECTORS, VECTORS), min_size=1, max_size=5))
def test_cosine_is_symmetric_bounded_and_free_of_scale(pairs: list[tuple[list[float], list[float]]]) -> None:
    ours, theirs = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
    there = counterfactual_cosine_table(ours, theirs).values
    assert (np.abs(there) <= 1).all()
    np.testing.assert_array_equal(there, counterfactual_cosine_table(theirs, ours).values)
    np.testing.assert_allclose(there, counterfactual_cosine_table(ours * 8, theirs).values, atol=1e-12)
    assert (counterfactual_cosine_table(ours, ours).values == 1).all()


def test_cosine_of_what_has_no_direction() -> None:
    vectors = [[1.0, 0.0], [0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0]]
    table = counterfactual_cosine_table(vectors, [[1.0, 0.0]] * 4)
    assert sorted(table.undefined) == [1, 2, 3]
    assert table.mean == 1
    with pytest.raises(UndefinedMetricError, match="zero, missing or infinite"):
        counterfactual_cosine(vectors, [[1.0, 0.0]] * 4)


def test_cosine_of_other_shapes_is_refused() -> None:
    with pytest.raises(InputError, match="equal shapes"):
        counterfactual_cosine([[1.0, 0.0]], [[1.0, 0.0, 0.0]])
    with pytest.raises(InputError, match="equal shapes"):
        counterfactual_cosine([1.0, 0.0], [1.0, 0.0])
    with pytest.raises(UndefinedMetricError, match="no pairs"):
        counterfactual_cosine(np.empty((0, 3)), np.empty((0, 3)))
    with pytest.raises(InputError, match="no dimension"):
        counterfactual_cosine(np.empty((2, 0)), np.empty((2, 0)))


@pytest.mark.parametrize("lexicon", [None, ["she"]])
def test_a_wrong_item_is_reported_by_side_and_row_of_the_whole_input(lexicon, monkeypatch):
    monkeypatch.setattr(text_counterfactual, "_BLOCK", 2)
    good = ["one two three four"] * 5
    with pytest.raises(InputError, match="reference_texts, row 3"):
        counterfactual_rouge_l(good, [*good[:3], 7, "x"], lexicon)
    with pytest.raises(InputError, match="group_texts, row 4"):
        counterfactual_bleu([*good[:4], None], good, lexicon)
