"""Expected selection rates: against the enumeration of every pool, and against simulation."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics import expected_selection_rates, expected_selection_shares, selection_shares


def enumerate_pools(scores, groups, k, pools):
    """Places won over places held, by group, from every pool; NaN ranks below all."""
    key = [(0, 0.0) if np.isnan(s) else (1, s) for s in scores]
    won = dict.fromkeys(groups, Fraction(0))
    held = dict.fromkeys(groups, 0)
    for pool in pools:
        for i in pool:
            above, tied = sum(key[j] > key[i] for j in pool), sum(key[j] == key[i] for j in pool)
            won[groups[i]] += max(Fraction(0), min(Fraction(1), Fraction(k - above, tied)))
            held[groups[i]] += 1
    return {group: float(won[group] / held[group]) for group in sorted(won)}


SCORES = st.sampled_from([0.0, 1.0, 2.0, 3.0, np.nan])


@given(st.lists(st.lists(SCORES, min_size=1, max_size=3), min_size=1, max_size=5), st.data())
@settings(max_examples=60)
def test_one_per_group_equals_enumeration(table, data):
    table[0][0] = 1.0  # somebody has a score
    k = data.draw(st.integers(1, len(table)))
    groups = [f"g{i}" for i, members in enumerate(table) for _ in members]
    scores = [s for members in table for s in members]
    rows = [[i for i, g in enumerate(groups) if g == f"g{j}"] for j in range(len(table))]
    expected = enumerate_pools(scores, groups, k, itertools.product(*rows))
    found = expected_selection_rates(scores, groups, k)
    assert found == pytest.approx(expected, abs=1e-12)
    # One place a group in each pool: rates sum to k.
    assert sum(found.values()) == pytest.approx(k)


@given(st.lists(st.tuples(SCORES, st.sampled_from("ab")), min_size=1, max_size=8), st.data())
@settings(max_examples=60)
def test_simple_equals_enumeration(people, data):
    people[0] = (1.0, people[0][1])
    size = data.draw(st.integers(1, len(people)))
    k = data.draw(st.integers(1, size))
    scores, groups = zip(*people, strict=True)
    expected = enumerate_pools(scores, groups, k, itertools.combinations(range(len(people)), size))
    found = expected_selection_rates(scores, groups, k, design="simple", pool_size=size)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("digits", [1, 12])
def test_eight_groups_agree_with_simulated_rounds(digits):
    rng = np.random.default_rng(2)
    scores = np.round(rng.beta(1 + np.arange(8) / 4, 3, size=(60, 8)), digits)
    rounds = 40_000
    pools = scores[rng.integers(0, 60, (rounds, 8)), np.arange(8)]
    for k in (1, 3, 5):
        simulated = selection_shares(pools, k=k).mean(axis=0)
        found = expected_selection_rates(scores.ravel(), np.tile(np.arange(8), 60), k)
        assert list(found) == list(range(8))
        assert list(found.values()) == pytest.approx(simulated, abs=4.5 * np.sqrt(0.25 / rounds))


def test_simple_pools_of_many_candidates_agree_with_simulation():
    rng = np.random.default_rng(4)
    scores, groups = np.round(rng.normal(3, 1, 400)), rng.integers(0, 2, 400)
    scores += groups
    draws = 20_000
    pools = rng.permuted(np.tile(np.arange(400), (draws, 1)), axis=1)[:, :10]
    shares = selection_shares(scores[pools], k=3)
    found = expected_selection_rates(scores, groups, 3, design="simple", pool_size=10)
    for group in (0, 1):
        inside = groups[pools] == group
        assert found[group] == pytest.approx(shares[inside].sum() / inside.sum(), abs=0.01)


def test_large_populations_stay_exact():
    """The whole population as the pool: the expectation is one selection, however many draws it takes."""
    scores = np.round(np.random.default_rng(6).random(3000), 2)
    found = expected_selection_shares(scores, np.zeros(3000), [1, 40], "simple", 3000)
    assert found == pytest.approx(selection_shares(scores[None], k=[1, 40])[:, 0], abs=1e-10)
    half = expected_selection_shares(scores, np.zeros(3000), 40, "simple", 1500)
    # Forty places a pool of 1,500, and each candidate in half of the pools.
    assert half.sum() / 2 == pytest.approx(40, abs=1e-9)


def test_qualified_rates_come_from_pools_of_everybody():
    scores, groups = [3, 1, 2, 2], ["a", "a", "b", "b"]
    # a's qualified one always wins; b's qualified one wins against a's other.
    assert expected_selection_rates(scores, groups, 1, qualified=[1, 0, 1, 0]) == {"a": 1.0, "b": 0.5}
    with pytest.raises(UndefinedMetricError, match="'b': no qualified"):
        expected_selection_rates(scores, groups, 1, qualified=[1, 1, 0, 0])


def test_equal_groups_share_equally():
    scores = np.tile([0.1, 0.5, 0.9], 8)
    found = expected_selection_rates(scores, np.repeat(np.arange(8), 3), 3)
    assert list(found.values()) == pytest.approx([3 / 8] * 8, abs=1e-14)


def test_wrong_input_is_named():
    with pytest.raises(UndefinedMetricError, match="pool of 2 candidates is smaller than the quota k = 3"):
        expected_selection_rates([1, 2], ["a", "b"], 3)
    with pytest.raises(UndefinedMetricError, match="no candidate has a score"):
        expected_selection_rates([np.nan, np.nan], ["a", "b"], 1)
    with pytest.raises(UndefinedMetricError, match="no candidates"):
        expected_selection_rates([], [], 1)
    with pytest.raises(InputError, match="groups, row 1: no group"):
        expected_selection_rates([1, 2], ["a", None], 1)
    with pytest.raises(InputError, match="1 labels"):
        expected_selection_rates([1, 2], ["a"], 1)
    with pytest.raises(InputError, match="pool_size: one candidate of each of 2 groups, got 3"):
        expected_selection_rates([1, 2], ["a", "b"], 1, pool_size=3)
    with pytest.raises(InputError, match="pool_size: expected from 1 to 2"):
        expected_selection_rates([1, 2], ["a", "b"], 1, design="simple")
    with pytest.raises(InputError, match="design"):
        expected_selection_rates([1, 2], ["a", "b"], 1, design="any")  # type: ignore[arg-type]


def test_wrong_parameters_are_refused_by_name():
    with pytest.raises(InputError, match="k: expected one quota"):
        expected_selection_rates([1, 2, 3], [0, 0, 1], [1, 2])
    with pytest.raises(InputError, match="pool_size"):
        expected_selection_rates([1, 2, 3], [0, 0, 1], 1, "simple", pool_size=2.5)
    with pytest.raises(InputError, match="rounds: expected one label a row, got int"):
        selection_shares([1, 2, 3], rounds=5)
