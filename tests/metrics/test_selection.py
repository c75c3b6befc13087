"""Selection within rounds: fractional and random ties, missing scores, and the gaps that follow."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics import (
    column_selection_rates,
    demographic_parity_gap,
    equal_opportunity_gap,
    pool_standing,
    selection_shares,
)


@st.composite
def pools(draw, missing: bool = False):
    shape = (draw(st.integers(1, 6)), draw(st.integers(1, 9)))
    scores = draw(arrays(np.float64, shape, elements=st.sampled_from([-np.inf, 0.0, 0.25, 0.5, 1.0])))
    if missing:
        scores = np.where(draw(arrays(bool, shape)), np.nan, scores)
        scores[:, 0] = 0.5  # every round holds a score
    return scores, draw(st.integers(1, shape[1]))


def by_definition(pool, k):
    """Shares of one pool from the definition, as fractions; NaN ranks below all."""
    keys = [(0, 0.0) if np.isnan(s) else (1, s) for s in pool]
    shares = []
    for key in keys:
        above, tied = sum(other > key for other in keys), sum(other == key for other in keys)
        shares.append(max(Fraction(0), min(Fraction(1), Fraction(k - above, tied))))
    return shares


def test_shares_by_hand():
    pool = [[0.9, 0.4, 0.4, 0.1]]
    assert selection_shares(pool, k=1).tolist() == [[1, 0, 0, 0]]
    assert selection_shares(pool, k=2).tolist() == [[1, 0.5, 0.5, 0]]
    assert selection_shares(pool, k=3).tolist() == [[1, 1, 1, 0]]
    assert selection_shares(pool, k=4).tolist() == [[1, 1, 1, 1]]


@given(pools() | pools(missing=True))
def test_shares_follow_the_definition_and_sum_to_k(case):
    scores, k = case
    shares = selection_shares(scores, k=k)
    for pool, found in zip(scores, shares, strict=True):
        exact = by_definition(pool, k)
        assert sum(exact) == k
        assert found.tolist() == [float(share) for share in exact]
    assert shares.sum(axis=1) == pytest.approx(np.full(len(scores), k), abs=1e-12)


@given(pools() | pools(missing=True), st.randoms(use_true_random=False))
def test_rows_in_any_order_give_the_same_shares(case, random):
    scores, k = case
    rows = list(range(scores.size))
    random.shuffle(rows)
    names = np.array([f"round {i}" for i in range(len(scores))]).repeat(scores.shape[1])
    found = selection_shares(scores.ravel()[rows], names[rows], k=k)
    assert found.tolist() == selection_shares(scores, k=k).ravel()[rows].tolist()


def test_rounds_of_one_size_in_a_row_are_a_table_in_any_order():
    scores = np.array([3, 1, 2, 2, 0, 5], dtype=float)
    assert selection_shares(scores, ["b", "b", "a", "a", "c", "c"], k=1).tolist() == [1, 0, 0.5, 0.5, 0, 1]
    assert selection_shares(scores, ["b", "b", "a", "a", "b", "a"], k=1).tolist() == [1, 0, 0, 0, 0, 1]
    above, tied = pool_standing(scores, [7, 7, 5, 5, 6, 6])
    assert (above.tolist(), tied.tolist()) == ([0, 1, 0, 0, 1, 0], [1, 1, 2, 2, 1, 1])


def test_large_pools_are_sorted_and_small_ones_compared_with_one_result():
    rng = np.random.default_rng(3)
    scores = np.round(rng.random((40, 30)), 1)
    wide = pool_standing(scores)
    for row in range(40):
        narrow = [(np.sum(scores[row] > s), np.sum(scores[row] == s)) for s in scores[row]]
        assert list(zip(wide.above[row], wide.tied[row], strict=True)) == narrow
    shares = selection_shares(scores, k=[1, 7])
    assert shares.sum(axis=2) == pytest.approx(np.array([[1.0] * 40, [7.0] * 40]))


@given(pools(missing=True))
def test_several_quotas_are_each_quotas_answer(case):
    scores, k = case
    quotas = list(range(1, k + 1))
    several = selection_shares(scores, k=quotas)
    assert several.shape == (k, *scores.shape)
    for quota in quotas:
        assert several[quota - 1].tolist() == selection_shares(scores, k=quota).tolist()


@given(pools() | pools(missing=True), st.integers(0, 2**32))
def test_random_ties_select_whole_candidates_that_could_be_selected(case, seed):
    scores, k = case
    whole = selection_shares(scores, k=k, ties="random", seed=seed)
    fractional = selection_shares(scores, k=k)
    assert set(np.unique(whole)) <= {0.0, 1.0}
    assert whole.sum(axis=1).tolist() == [k] * len(scores)
    assert not whole[fractional == 0].any()
    assert whole[fractional == 1].all()
    assert whole.tolist() == selection_shares(scores, k=k, ties="random", seed=seed).tolist()


def test_random_ties_are_fair():
    scores = np.tile([0.9, 0.4, 0.4, 0.4], (20_000, 1))
    mean = selection_shares(scores, k=2, ties="random", seed=11).mean(axis=0)
    assert mean[0] == 1
    assert mean[1:] == pytest.approx([1 / 3] * 3, abs=4 * np.sqrt(2 / 9 / 20_000))


def test_missing_scores_rank_last_and_take_only_left_places():
    pool = [[np.nan, 0.2, np.nan, -np.inf]]
    assert selection_shares(pool, k=1).tolist() == [[0, 1, 0, 0]]
    assert selection_shares(pool, k=2).tolist() == [[0, 1, 0, 1]]
    assert selection_shares(pool, k=3).tolist() == [[0.5, 1, 0.5, 1]]


@given(pools() | pools(missing=True))
def test_column_rates_are_mean_shares_whatever_the_order_of_rounds(case):
    scores, k = case
    rates = column_selection_rates(scores, k)
    assert rates == pytest.approx(selection_shares(scores, k=k).mean(axis=0), abs=1e-12)
    assert column_selection_rates(scores[::-1], k).tolist() == rates.tolist()


def test_column_rates_of_wide_pools():
    scores = np.round(np.random.default_rng(5).random((50, 40)), 1)
    found = column_selection_rates(scores, [1, 20])
    assert found == pytest.approx(selection_shares(scores, k=[1, 20]).mean(axis=1), abs=1e-12)


def test_wrong_input_is_named():
    with pytest.raises(UndefinedMetricError, match="pool of 3 candidates is smaller than the quota k = 4"):
        selection_shares([[1, 2, 3]], k=4)
    with pytest.raises(UndefinedMetricError, match="pool of 1 candidates"):
        selection_shares([1, 2, 3], [0, 0, 1], k=2)
    with pytest.raises(UndefinedMetricError, match="1 rounds .* hold no score"):
        selection_shares([[1.0, 2.0], [np.nan, np.nan]], k=1)
    with pytest.raises(UndefinedMetricError, match="1 rounds .* row 2"):
        selection_shares([1.0, 2.0, np.nan], ["a", "a", "b"], k=1)
    with pytest.raises(UndefinedMetricError, match="no candidates"):
        selection_shares(np.empty((0, 4)), k=1)
    with pytest.raises(InputError, match="rounds, row 1: no round"):
        selection_shares([1, 2], ["a", None], k=1)
    with pytest.raises(InputError, match="3 labels for 2 scores"):
        selection_shares([1, 2], ["a", "b", "c"], k=1)
    with pytest.raises(InputError, match="expected shape"):
        selection_shares([1, 2], k=1)
    for k in (0, -1, 1.5, [], [1, 0]):
        with pytest.raises(InputError, match="k: expected whole numbers"):
            selection_shares([[1, 2]], k=k)
    with pytest.raises(InputError, match="seed"):
        selection_shares([[1, 2]], k=1, ties="random")
    with pytest.raises(InputError, match="seed"):
        selection_shares([[1, 2]], k=1, seed=1)
    with pytest.raises(InputError, match="ties"):
        selection_shares([[1, 2]], k=1, ties="first")  # type: ignore[arg-type]


def test_demographic_parity_gap_by_hand():
    assert demographic_parity_gap([True, False, False, False], [True, True, False, False]) == -0.25
    assert demographic_parity_gap([1, 0], [0, 0]) == 0.5
    assert demographic_parity_gap([0.5, 0.5], [0.25]) == 0.25


def test_equal_opportunity_keeps_the_share_that_the_whole_pool_gave():
    # Three tie for one place; only two of them are qualified, and each keeps its third.
    shares = selection_shares([[1.0, 1.0, 1.0]], k=1)[0]
    assert equal_opportunity_gap(shares[:2], [1, 0], shares[2:], [1]) == pytest.approx(0, abs=1e-15)
    assert equal_opportunity_gap([1, 0, 0], [1, 1, 0], [1, 0], [1, 0]) == -0.5


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1),
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1),
)
def test_gaps_are_antisymmetric_and_bounded(group, reference):
    a, qa = zip(*group, strict=True)
    b, qb = zip(*reference, strict=True)
    gap = demographic_parity_gap(a, b)
    assert gap == -demographic_parity_gap(b, a)
    assert -1 <= gap <= 1
    if any(qa) and any(qb):
        assert equal_opportunity_gap(a, qa, b, qb) == -equal_opportunity_gap(b, qb, a, qa)
        everyone = equal_opportunity_gap(a, [1] * len(a), b, [1] * len(b))
        assert everyone == gap


def test_gaps_refuse_what_is_no_share():
    with pytest.raises(UndefinedMetricError, match="reference_selected: no candidates"):
        demographic_parity_gap([1], [])
    with pytest.raises(UndefinedMetricError, match="1 of 2 entries are missing"):
        demographic_parity_gap([1.0, np.nan], [1])
    with pytest.raises(InputError, match="row 1: a share lies in"):
        demographic_parity_gap([1, 2], [1])
    with pytest.raises(UndefinedMetricError, match="reference: no qualified candidate"):
        equal_opportunity_gap([1], [1], [1], [0])
    with pytest.raises(InputError, match="group_qualified: 1 values where 2"):
        equal_opportunity_gap([1, 0], [1], [1], [1])
