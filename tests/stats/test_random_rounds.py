"""Expected shares by counting all rounds that could be drawn; the jackknife by leaving out; coverage by simulation."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics import selection_shares
from audit_lib.metrics.random_pools import expected_shares
from audit_lib.stats.clusters import difference_interval
from audit_lib.stats.random_rounds import DrawnShares, random_rounds_gap, random_rounds_variance

SCORES = st.lists(st.integers(0, 4), min_size=3, max_size=8)


def standing(scores):
    return [(scores > x).sum() for x in scores], [(scores == x).sum() for x in scores]


def by_counting(scores, size, k):
    """The mean share of each candidate over every round that holds it."""
    sums, times = np.zeros(scores.size), np.zeros(scores.size)
    for members in map(list, combinations(range(scores.size), size)):
        sums[members] += selection_shares([scores[members]], k=k)[0]
        times[members] += 1
    return sums / times


@given(SCORES, st.data())
def test_expected_shares_are_those_of_all_rounds(listed, data):
    scores = np.array(listed)
    size = data.draw(st.integers(1, scores.size))
    k = data.draw(st.integers(1, size))
    found = expected_shares(*standing(scores), scores.size, size, k)
    assert found == pytest.approx(by_counting(scores, size, k), abs=1e-12)
    assert found.sum() * size / scores.size == pytest.approx(k)


def drawn(scores, size, count, k, rng, pool=None):
    """Rounds of candidates numbered as in `scores`, pool by pool."""
    pool = np.zeros(scores.size, dtype=int) if pool is None else pool
    members, of = [], []
    for one in np.unique(pool):
        own = np.flatnonzero(pool == one)
        members += [rng.choice(own, size, replace=False) for _ in range(count)]
        of += [one] * count
    members = np.array(members)
    return DrawnShares(
        members=members, shares=selection_shares(scores[members], k=k), k=k, round_pool=np.array(of),
        rank=np.unique(scores, return_inverse=True)[1], pool=pool,
    )  # fmt: skip


@given(SCORES, st.integers(0, 10**6))
def test_the_candidates_part_is_a_jackknife_of_the_mean_over_all_rounds(listed, seed):
    scores, rng = np.array(listed), np.random.default_rng(seed)
    n, size, k = scores.size, 2, 1
    group = rng.permutation(n) % 2 == 0
    if min(group.sum(), (~group).sum()) < 3:
        return
    rounds = drawn(scores, size, 50, k, rng)

    def gap(kept):
        shares = by_counting(scores[kept], size, k)
        return shares[group[kept]].mean() - shares[~group[kept]].mean()

    left = np.array([gap(np.arange(n) != out) for out in range(n)])
    jackknife = (n - 1) / n * ((left - left.mean()) ** 2).sum()
    # Over all rounds, each once, nothing is left of the draw but their finite number.
    found = random_rounds_variance(rounds, group, ~group, np.arange(n)).variance
    a, b = (rounds.shares * mask[rounds.members] for mask in (group, ~group))
    n_a, n_b = (mask[rounds.members] for mask in (group, ~group))
    rates = a.sum() / n_a.sum(), b.sum() / n_b.sum()
    ours = (a - rates[0] * n_a).sum(axis=1) / n_a.sum() - (b - rates[1] * n_b).sum(axis=1) / n_b.sum()
    assert random_rounds_gap(rounds, group, ~group) == pytest.approx(rates[0] - rates[1], abs=1e-12)
    assert found == pytest.approx(jackknife + ours.size * ours.var(ddof=1), rel=1e-9)


def test_many_rounds_come_near_the_expectation():
    rng = np.random.default_rng(4)
    scores = np.round(rng.normal(size=44), 1)
    group = np.arange(44) % 4 == 0
    expected = expected_shares(*standing(scores), 44, 10, 3)
    rounds = drawn(scores, 10, 20_000, 3, rng)
    value = random_rounds_gap(rounds, group, ~group)
    assert value == pytest.approx(expected[group].mean() - expected[~group].mean(), abs=0.006)


def covered(repeats, count, seed, shift=0.0, by_round=False):
    """How often 95% intervals hold the gap in a pool without end: 88 candidates of 11 groups, rounds of 10."""
    rng = np.random.default_rng(seed)
    group = np.arange(88) % 11
    many = np.arange(44_000) % 11
    scores = rng.normal(shift * (many == 0))
    order = np.argsort(np.argsort(-scores))
    expected = expected_shares(order, np.ones_like(order), many.size, 10, 3)
    truth = expected[many == 0].mean() - expected[many == 1].mean()
    held = 0
    for _ in range(repeats):
        scores = rng.normal(shift * (group == 0))
        rounds = drawn(scores, 10, count, 3, rng)
        value = random_rounds_gap(rounds, group == 0, group == 1)
        spread = random_rounds_variance(rounds, group == 0, group == 1, np.arange(88))
        interval = difference_interval(value, spread, 0.95)
        half = (interval.high - interval.low) / 2
        if by_round:
            rates = [rounds.shares[group[rounds.members] == g].mean() for g in (0, 1)]
            of = [group[rounds.members] == g for g in (0, 1)]
            parts = [((rounds.shares - r) * m).sum(axis=1) / m.sum() for r, m in zip(rates, of, strict=True)]
            half = 1.96 * (((parts[0] - parts[1]) ** 2).sum()) ** 0.5
        held += abs(value - truth) <= half
    return held / repeats


@pytest.mark.parametrize("shift", [0.0, 0.8])
def test_intervals_cover_although_each_candidate_is_in_many_rounds(shift):
    # 300 repeats: the standard error is 1.3%; benchmarks/coverage.py has many more.
    assert covered(300, 200, seed=3, shift=shift) >= 0.93
    assert covered(100, 200, seed=3, shift=shift, by_round=True) < 0.6, "rounds are not independent"


def test_versions_of_one_application_are_one_unit():
    rng = np.random.default_rng(2)
    scores = np.repeat(rng.normal(size=30), 2)
    group = np.repeat(np.arange(30) % 2 == 0, 2)
    rounds = drawn(scores, 5, 400, 2, rng)
    alone = random_rounds_variance(rounds, group, ~group, np.arange(60))
    together = random_rounds_variance(rounds, group, ~group, np.arange(60) // 2)
    assert together.variance > 1.6 * alone.variance
    assert (alone.clusters_group, together.clusters_group) == (30, 15)


def test_what_has_no_variance_says_why():
    rng = np.random.default_rng(1)
    scores, group = rng.normal(size=6), np.array([True, True, True, False, False, False])
    with pytest.raises(UndefinedMetricError, match="no larger than its rounds of 6"):
        random_rounds_variance(drawn(scores, 6, 4, 1, rng), group, ~group, np.arange(6))
    with pytest.raises(UndefinedMetricError, match="1 and 3 independent units"):
        random_rounds_variance(drawn(scores, 3, 4, 1, rng), np.arange(6) == 0, ~group, np.arange(6))
    with pytest.raises(UndefinedMetricError, match="one round of a pool"):
        random_rounds_variance(drawn(scores, 3, 1, 1, rng), group, ~group, np.arange(6))
    with pytest.raises(UndefinedMetricError, match="group: nobody is in a round"):
        random_rounds_gap(drawn(scores, 3, 4, 1, rng), np.zeros(6, dtype=bool), group)
    with pytest.raises(InputError, match="no such round"):
        expected_shares([0], [1], 4, 5, 1)
