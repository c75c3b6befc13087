"""Ratios of rates whose people compete in rounds or share applications."""

from __future__ import annotations

import math

import numpy as np
import pytest

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.results import Undefined
from audit_lib.stats import mean_difference, simultaneous_ratios
from audit_lib.stats.clustered_rates import ClusteredRates
from audit_lib.stats.intervals import clopper_pearson
from audit_lib.stats.koopman import koopman_limits


def rounds(rng, size, weights, k=1):
    """Rounds of one candidate of each category, k of whom win, by weight."""
    noise = rng.gumbel(size=(size, len(weights))) + np.log(weights)
    won = np.argsort(-noise, axis=1)[:, :k]
    selected = np.zeros((len(weights), size), dtype=int)
    selected[won.T.ravel(), np.tile(np.arange(size), k)] = 1
    return selected, np.ones_like(selected)


def test_independent_people_have_a_design_effect_of_one():
    # Each cluster is one person: the variance is the binomial one but for the factor A / (A - 1).
    selected = np.zeros((2, 200), dtype=int)
    totals = np.zeros((2, 200), dtype=int)
    totals[0, :100] = totals[1, 100:] = 1
    selected[0, :40], selected[1, 100:160] = 1, 1
    rates = ClusteredRates.of(selected, totals)
    assert rates.design_effect(0, 1) == pytest.approx(100 / 99)
    low, high = koopman_limits(40, 100, 60, 100, 1.959964)
    interval = rates.ratio(0, 1, 0.95)
    assert (interval.low, interval.high) == (pytest.approx(low, rel=0.01), pytest.approx(high, rel=0.01))
    apart = simultaneous_ratios([40, 60], [100, 100]).to_highest[0]
    assert rates.ratios(0.95).to_highest[0].low == pytest.approx(apart.low, rel=0.01)


def test_one_of_two_wins_doubles_the_variance_and_copies_square_it_away():
    x = np.array([[1, 0] * 50, [0, 1] * 50])
    # Equal rates of 1/2 that never agree: variance (1/2 + 1/2 + 2/2) / 100 against (1/2 + 1/2) / 100 ... times 100/99.
    assert ClusteredRates.of(x, np.ones_like(x)).design_effect(0, 1) == pytest.approx(2 * 100 / 99)
    # Every person five times over: the interval is that of the people.
    once, five = ClusteredRates.of(x, np.ones_like(x)), ClusteredRates.of(5 * x, np.full_like(x, 5))
    assert five.design_effect(0, 1) == pytest.approx(5 * once.design_effect(0, 1))
    a, b = once.ratio(0, 1, 0.95), five.ratio(0, 1, 0.95)
    assert math.log(b.low) == pytest.approx(math.log(a.low), rel=0.02)
    assert once.test(0, 1).p_value == five.test(0, 1).p_value


def test_the_test_is_that_of_the_clustered_difference_of_means():
    rng = np.random.Generator(np.random.PCG64(4))
    n = rng.integers(0, 4, (2, 40))
    x = rng.binomial(n, 0.4)
    values, clusters = [], []
    for side in (0, 1):
        rows = [
            (value, cluster)
            for cluster in range(40)
            for value in [1] * x[side, cluster] + [0] * (n[side, cluster] - x[side, cluster])
        ]
        values.append([value for value, _ in rows])
        clusters.append([cluster for _, cluster in rows])
    interval = mean_difference(*values, *clusters)
    test = ClusteredRates.of(x, n).test(0, 1)
    assert isinstance(test.statistic, float)
    half = (interval.high - interval.low) / 2
    difference = np.mean(values[0]) - np.mean(values[1])
    from scipy.stats import t

    df = int((n > 0).sum(axis=1).min()) - 1
    own = min(size**2 / (one**2).sum() - 1 for one, size in zip(n, n.sum(axis=1), strict=True))
    assert test.p_value == pytest.approx(2 * t.sf(abs(test.statistic), own)) and own < df
    # Under equal rates: a little more than the interval's own error, where the rates differ.
    assert 1.0 <= (difference / test.statistic) / (half / t.ppf(0.975, df)) < 1.1


def test_nobody_of_one_against_everybody_of_the_other_has_a_p_value():
    n = np.array([[2] * 20 + [0] * 20, [0] * 20 + [2] * 20])
    test = ClusteredRates.of(np.array([n[0] * 0, n[1]]), n).test(0, 1)
    assert isinstance(test.p_value, float) and test.p_value < 1e-4


def test_nobody_selected_has_limits_and_one_cluster_has_none():
    selected, totals = rounds(np.random.Generator(np.random.PCG64(1)), 60, [1, 1, 1, 1])
    selected[0] = 0
    rates = ClusteredRates.of(selected, totals)
    interval = rates.ratio(0, 1, 0.95)
    assert interval.low == 0.0 < interval.high < 1.0
    everything = rates.ratios(0.95, draws=2000)
    assert everything.to_highest[0].low == 0.0
    alone = np.zeros((2, 3), dtype=int)
    alone[0, 0], alone[1] = 4, 2
    one = ClusteredRates.of([[2, 0, 0], [1, 2, 0]], alone)
    with pytest.raises(UndefinedMetricError, match="all 4 people of a category are in one cluster"):
        one.ratio(0, 1, 0.95)
    assert isinstance(one.test(0, 1).p_value, Undefined)


def test_a_rate_of_clusters_is_worth_fewer_people():
    x = np.array([[1] * 12 + [0] * 48])
    apart = ClusteredRates.of(x, np.ones_like(x)).rate(0, 0.95)
    # Wilson at n / (60 / 59), with the t quantile: by hand.
    from scipy.stats import t

    q, n = t.ppf(0.975, 59), 59.0
    centre, half = 0.2 + q * q / (2 * n), q * math.sqrt(0.2 * 0.8 / n + q * q / (4 * n * n))
    assert (apart.low, apart.high) == pytest.approx(
        ((centre - half) / (1 + q * q / n), (centre + half) / (1 + q * q / n))
    )
    # Copies add nothing, and versions that are decided alike are one person.
    copies = ClusteredRates.of(4 * x, np.full_like(x, 4)).rate(0, 0.95)
    assert (copies.low, copies.high) == pytest.approx((apart.low, apart.high))
    assert "60 clusters" in copies.method
    nobody = ClusteredRates.of(0 * x, np.full_like(x, 4)).rate(0, 0.95)
    assert (nobody.low, nobody.high) == (0.0, clopper_pearson(0, 60).high)
    everybody = ClusteredRates.of(np.full_like(x, 4), np.full_like(x, 4)).rate(0, 0.95)
    assert (everybody.low, everybody.high) == (clopper_pearson(60, 60).low, 1.0)


def test_a_rate_without_spread_is_undefined():
    with pytest.raises(UndefinedMetricError, match="same rate"):
        ClusteredRates.of([[1, 1, 1]], [[2, 2, 2]]).rate(0, 0.95)
    with pytest.raises(UndefinedMetricError, match="one cluster"):
        ClusteredRates.of([[2, 0]], [[4, 0]]).rate(0, 0.95)
    with pytest.raises(UndefinedMetricError, match="nobody"):
        ClusteredRates.of([[0, 0]], [[0, 0]]).rate(0, 0.95)


def test_versions_that_are_always_decided_alike_leave_no_spread():
    x = np.array([[1, 0, 1, 0], [1, 0, 1, 0]])
    same = ClusteredRates.of(x, np.ones_like(x))
    with pytest.raises(UndefinedMetricError, match="same ratio"):
        same.ratio(0, 1, 0.95)


def test_the_variance_is_that_of_leaving_each_cluster_out():
    n = np.array([[8, 1, 3, 2, 6, 0, 4], [2, 5, 0, 9, 1, 3, 7]])
    x = np.array([[5, 0, 1, 2, 1, 0, 3], [1, 2, 0, 3, 1, 1, 2]])
    logs = np.log(x.sum(axis=1) / n.sum(axis=1))
    left = []
    for i in range(2):
        own = [
            (x[i].sum() - x[i, c]) / (n[i].sum() - n[i, c]) - math.exp(logs[i]) if n[i, c] else 0.0
            for c in range(7)
        ]
        left.append(np.array(own) * math.sqrt(5 / 6) / math.exp(logs[i]))  # six clusters hold anybody
    assert ClusteredRates.of(x, n).variance_of_log(0, 1) == pytest.approx(((left[0] - left[1]) ** 2).sum())


def test_a_cluster_that_holds_most_of_a_category_leaves_no_interval():
    people = np.zeros((3, 61), dtype=int)
    people[0, 0], people[0, 1:21], people[1, 21:41], people[2, 41:] = 3000, 5, 5, 5
    won = people // 2
    won[:, ::3] += people[:, ::3] > 2
    rates = ClusteredRates.of(won, people)
    reason = (
        "21 clusters, of which the largest holds 97% of the people, are worth 1.1 of one size; at least 3"
    )
    for work in (lambda: rates.rate(0, 0.95), lambda: rates.ratio(0, 1, 0.95), lambda: rates.ratios(0.95)):
        with pytest.raises(UndefinedMetricError, match=reason):
            work()
    assert isinstance(rates.test(0, 1).p_value, Undefined)
    assert rates.ratio(1, 2, 0.95).low < 1 < rates.ratio(1, 2, 0.95).high


def test_a_rate_of_few_clusters_is_no_less_sure_than_who_has_anybody_selected():
    people = np.full((1, 30), 4)
    won = np.zeros((1, 30), dtype=int)
    won[0, 0] = 3
    found = ClusteredRates.of(won, people).rate(0, 0.95)
    assert found.high == clopper_pearson(1, 30).high and 0 < found.low < 0.025
    assert "no longer than Clopper-Pearson" in found.method


def dominated(share):
    return np.r_[int(150 * share / (1 - share)), np.full(30, 5)]


@pytest.mark.parametrize(
    ("sizes", "rate", "shared"),
    [
        (dominated(0.4), 0.4, 0.2),
        (np.maximum(100 // np.arange(1, 101), 1), 0.3, 0.2),  # Zipf's
        (np.full(75, 10), 0.02, 0.2),
        (np.full(5, 10), 0.4, 0.2),
    ],
    ids=["one of 40%", "Zipf", "rare", "few"],
)
def test_uneven_and_few_clusters_are_covered(sizes, rate, shared):
    """Two categories, each in clusters of its own, which share a part of the variance (beta-binomial)."""
    rng, draws, of = np.random.default_rng([len(sizes), 5]), 400, (1 - shared) / shared
    people = np.zeros((2, 2 * len(sizes)), dtype=int)
    people[0, : len(sizes)] = people[1, len(sizes) :] = sizes
    one = pair = plain = 0
    for _ in range(draws):
        won = rng.binomial(people, rng.beta(of * rate, of * (1 - rate), people.shape))
        rates = ClusteredRates.of(won, people)
        interval = rates.rate(0, 0.95)
        one += interval.low <= rate <= interval.high
        interval = rates.ratio(0, 1, 0.95)
        pair += interval.low <= 1 <= interval.high
        low, high = koopman_limits(*(int(v) for a in (0, 1) for v in (won[a].sum(), people[a].sum())), 1.96)
        plain += low <= 1 <= high
    assert min(one, pair) / draws > 0.95 - 2 * (0.0475 / draws) ** 0.5
    assert plain / draws < 0.92


def test_counts_are_checked():
    with pytest.raises(InputError, match="more selected"):
        ClusteredRates.of([[2]], [[1]])
    with pytest.raises(InputError, match="whole numbers"):
        ClusteredRates.of([[0.5]], [[1.0]])


def test_pools_of_one_per_group_are_covered():
    """The quick version: 300 draws of 60 rounds, 1 of 2 wins, where independent rows fail visibly."""
    rng = np.random.Generator(np.random.PCG64(3))
    kept = naive = 0
    for _ in range(300):
        rates = ClusteredRates.of(*rounds(rng, 60, [1, 1]))
        interval = rates.ratio(0, 1, 0.95)
        kept += interval.low <= 1 <= interval.high
        low, high = koopman_limits(rates.selected[0], 60, rates.selected[1], 60, 1.959964)
        naive += low <= 1 <= high
    assert kept / 300 > 0.92
    assert naive / 300 < 0.90


@pytest.mark.slow
@pytest.mark.parametrize("size", [60, 120, 240, 500])
@pytest.mark.parametrize("weight", [1.0, 0.8, 0.5])
@pytest.mark.parametrize("groups", [2, 8])
def test_coverage_where_one_of_two_or_of_eight_wins(size, weight, groups):
    """4,000 draws: simulation error 0.7 points at two standard errors."""
    rng = np.random.Generator(np.random.PCG64(size))
    weights, draws = [weight, *[1.0] * (groups - 1)], 4000
    kept = rejected = naive = 0
    for _ in range(draws):
        rates = ClusteredRates.of(*rounds(rng, size, weights))
        interval = rates.ratio(0, 1, 0.95)
        kept += interval.low <= weight <= interval.high
        p = rates.test(0, 1).p_value
        rejected += isinstance(p, float) and p < 0.05
        low, high = koopman_limits(rates.selected[0], size, rates.selected[1], size, 1.959964)
        naive += low <= weight <= high
    print(
        f"1 of {groups}, rounds {size}, ratio {weight}: covered {kept / draws:.4f}, rejected {rejected / draws:.4f}; "
        f"rows as independent {naive / draws:.4f}"
    )
    assert naive < kept
    assert 0.93 <= kept / draws <= 0.98
    if weight == 1.0:
        assert rejected / draws <= 0.065


@pytest.mark.slow
@pytest.mark.parametrize("size", [60, 240])
@pytest.mark.parametrize("weight", [1.0, 0.5])
def test_joint_coverage_of_ratios_to_the_highest_at_one_of_eight(size, weight):
    rng = np.random.Generator(np.random.PCG64(size + 1))
    weights, draws = np.array([weight] * 3 + [1.0] * 5), 600
    together = 0
    for _ in range(draws):
        found = ClusteredRates.of(*rounds(rng, size, weights)).ratios(0.95, draws=4000).to_highest
        together += all(i.low <= w <= i.high for i, w in zip(found, weights, strict=True))
    print(f"rounds {size}, three groups at {weight}: covered together {together / draws:.4f}")
    assert together / draws > 0.93
