from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.stats import (
    bootstrap_rank_indices,
    bootstrap_totals,
    bootstrap_weights,
    cluster_interval,
    percentile_interval,
    placements,
)


def test_weights_are_multinomial():
    weights = bootstrap_weights(6, 40_000, seed=11)
    assert (weights.sum(axis=1) == 6).all()
    # each cell is binomial(6, 1/6); two cells have correlation -1/5
    counts = np.bincount(weights[:, 0], minlength=7)
    expected = stats.binom.pmf(np.arange(7), 6, 1 / 6) * 40_000
    pooled = [*counts[:4], counts[4:].sum()], [*expected[:4], expected[4:].sum()]
    assert stats.chisquare(*pooled).pvalue > 1e-4
    assert np.corrcoef(weights[:, 0], weights[:, 5])[0, 1] == pytest.approx(-0.2, abs=0.02)


def test_the_seed_decides():
    first, again, other = (bootstrap_weights(50, 20, seed) for seed in (5, 5, 6))
    assert (first == again).all()
    assert (first != other).any()


def test_totals_use_the_weights_whatever_the_block(monkeypatch):
    sums = np.random.default_rng(0).integers(0, 9, size=(50, 3))
    expected = bootstrap_weights(50, 101, seed=3) @ sums
    assert (bootstrap_totals(sums, 101, seed=3) == expected).all()
    monkeypatch.setattr("audit_lib.stats.bootstrap._BLOCK", 50 * 7)
    assert (bootstrap_totals(sums, 101, seed=3) == expected).all()


def test_all_resamples_of_three_clusters():
    # 27 equally likely draws: the exact distribution of the mean
    values = np.array([0.0, 1.0, 5.0])
    draws = np.array([[a, b, c] for a in range(3) for b in range(3) for c in range(3)])
    exact = np.sort(values[draws].mean(axis=1).round(9))
    replicates = bootstrap_totals(values[:, None], 60_000, seed=2)[:, 0] / 3
    for value in np.unique(exact):
        share = np.isclose(replicates, value).mean()
        assert share == pytest.approx((exact == value).mean(), abs=0.01)


def test_percentiles_agree_with_the_cluster_interval():
    rng = np.random.default_rng(9)
    codes = np.repeat(np.arange(300), 4)
    y = rng.normal(size=300)[codes] + rng.normal(size=1200)
    sums = np.bincount(codes, weights=y)[:, None]
    boot = percentile_interval(bootstrap_totals(sums, 4999, seed=1)[:, 0] / 1200)
    analytic = cluster_interval((y - y.mean()) / y.size, codes, y.mean())
    assert (boot.low, boot.high) == pytest.approx((analytic.low, analytic.high), abs=0.01)


def test_order_statistics():
    replicates = np.random.default_rng(0).permutation(np.arange(1.0, 1000.0))
    interval = percentile_interval(replicates)
    assert (interval.low, interval.high) == (25.0, 975.0)
    interval = percentile_interval(replicates, 0.7)
    assert (interval.low, interval.high) == (150.0, 850.0)
    assert "percentile, 999 resamples" in interval.method


def test_infinite_ratios_are_in_order():
    replicates = np.r_[np.full(10, math.inf), np.arange(1.0, 190.0)]
    interval = percentile_interval(replicates)
    assert (interval.low, interval.high) == (5.0, math.inf)


def test_basic_reflects():
    replicates = np.arange(1.0, 1000.0)
    interval = percentile_interval(replicates, method="basic", estimate=400.0)
    assert (interval.low, interval.high) == (800.0 - 975.0, 800.0 - 25.0)


def test_bca_agrees_with_scipy():
    sample = np.random.default_rng(4).exponential(size=40)
    theirs = stats.bootstrap(
        (sample,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(1)
    ).confidence_interval
    replicates = bootstrap_totals(sample[:, None], 20_000, seed=1)[:, 0] / 40
    influence = sample - sample.mean()
    ours = percentile_interval(replicates, method="bca", estimate=sample.mean(), influence=influence)
    plain = percentile_interval(replicates)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.02)
    assert ours.high > plain.high + 0.03


def test_rank_indices_are_those_of_the_resampled_rows():
    rng = np.random.default_rng(5)
    clusters = 25
    reference, other, sparse = (rng.integers(0, 7, size=n) for n in (60, 40, 8))
    code_r, code_o, code_s = (rng.integers(0, clusters, size=n) for n in (60, 40, 8))
    ours = bootstrap_rank_indices([other, sparse], reference, [code_o, code_s], code_r, 50, seed=8)
    labels = np.unique(np.r_[code_r, code_o, code_s])
    weights = bootstrap_weights(labels.size, 50, seed=8)
    for r in range(50):
        times = dict(zip(labels, weights[r], strict=True))

        def rows(values, codes, times=times):
            return np.repeat(values, [times[c] for c in codes])

        y = rows(reference, code_r)
        for g, (x, codes) in enumerate([(other, code_o), (sparse, code_s)]):
            resampled = rows(x, codes)
            if resampled.size == 0:
                assert np.isnan(ours[r, g])
            else:
                assert ours[r, g] == pytest.approx(2 * placements(resampled, y)[0].mean() - 1, abs=1e-12)


def test_rank_indices_without_ties_take_the_short_way():
    rng = np.random.default_rng(6)
    x, y, codes = rng.normal(size=30), rng.normal(size=30), np.arange(30)
    ours = bootstrap_rank_indices([x], y, [codes], codes, 20, seed=1)[:, 0]
    for value, weight in zip(ours, bootstrap_weights(30, 20, seed=1), strict=True):
        wins = np.sign(x[:, None] - y[None, :])
        assert value == pytest.approx(weight @ wins @ weight / 900, abs=1e-12)


def test_refusals():
    with pytest.raises(UndefinedMetricError, match="undefined in 1 of 100"):
        percentile_interval([math.nan] + [1.0] * 99)
    with pytest.raises(InputError, match="draw more"):
        percentile_interval(np.arange(30.0))
    with pytest.raises(InputError, match="needs the estimate"):
        percentile_interval(np.arange(99.0), method="basic")
    with pytest.raises(InputError, match="needs the influence"):
        percentile_interval(np.arange(99.0), method="bca", estimate=3.0)
    with pytest.raises(InputError, match="method is 'normal'"):
        percentile_interval(np.arange(99.0), method="normal")
    with pytest.raises(UndefinedMetricError, match="outside all resamples"):
        percentile_interval(np.arange(99.0), method="bca", estimate=-5.0, influence=[1.0, -1.0])
    with pytest.raises(UndefinedMetricError, match="nothing to resample"):
        bootstrap_weights(1, 10, seed=0)
    with pytest.raises(InputError, match="one row a cluster"):
        bootstrap_totals([1.0, 2.0], 10, seed=0)
    with pytest.raises(UndefinedMetricError, match="no one in a group"):
        bootstrap_rank_indices([[]], [1.0], [[]], [1], 10, seed=0)


def test_totals_have_one_order_of_addition():
    # Compared as bytes with the sum that no thread takes part in; a BLAS product differs from it.
    sums = np.random.default_rng(1).normal(size=(5000, 3))
    totals = bootstrap_totals(sums, resamples=7, seed=2)
    weights = bootstrap_weights(5000, 7, seed=2).astype(np.float64)
    expected = [
        [np.einsum("j,j->", row, np.ascontiguousarray(column)) for column in sums.T] for row in weights
    ]
    assert totals.tobytes() == np.array(expected).tobytes()
    assert totals == pytest.approx(
        np.array([[math.fsum(row * c) for c in sums.T] for row in weights]), abs=1e-9
    )


def test_replicates_of_one_estimate_at_a_time():
    with pytest.raises(InputError, match="2 dimensions"):
        percentile_interval(np.ones((200, 2)))
