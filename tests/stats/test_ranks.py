from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score
from statsmodels.stats.nonparametric import rank_compare_2indep

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.stats import placements, rank_index_interval

scores = st.lists(st.integers(0, 8), min_size=1, max_size=20)


@given(scores, scores)
def test_placements_are_the_rows_and_columns_of_all_pairs(x, y):
    wins, lost = placements(x, y)
    pairs = (np.sign(np.subtract.outer(x, y)) + 1) / 2
    assert wins == pytest.approx(pairs.mean(axis=1), abs=1e-12)
    assert lost == pytest.approx(pairs.mean(axis=0), abs=1e-12)


@given(scores, scores)
def test_mean_placement_is_the_auc(x, y):
    auc = roc_auc_score(np.r_[np.ones(len(x)), np.zeros(len(y))], np.r_[x, y])
    assert placements(x, y)[0].mean() == pytest.approx(auc, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_statsmodels(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 9, size=15) + 1, rng.integers(0, 9, size=23)
    low, high = rank_compare_2indep(x, y).conf_int(alpha=0.1)
    ours = rank_index_interval(x, y, level=0.9, transform="none")
    assert (ours.low, ours.high) == pytest.approx((2 * low - 1, 2 * high - 1), abs=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_excludes_parity_exactly_when_scipy_rejects(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=12), rng.normal(0.9, 2.0, size=18)
    p = stats.brunnermunzel(x, y).pvalue
    assert rank_index_interval(x, y, level=1 - p - 1e-6, transform="none").high < 0 or p > 0.5
    touching = rank_index_interval(x, y, level=1 - p, transform="none")
    assert min(abs(touching.low), abs(touching.high)) == pytest.approx(0.0, abs=1e-7)


def test_brunner_munzel_2000_pain_scores():
    # their table 1 and 2: effect 0.789, 95% limits 0.595 and 0.983
    treated = [1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 1, 1]
    control = [3, 3, 4, 3, 1, 2, 3, 1, 1, 5, 4]
    interval = rank_index_interval(control, treated, transform="none")
    assert ((interval.low + 1) / 2, (interval.high + 1) / 2) == pytest.approx((0.595, 0.983), abs=5e-4)


@given(
    st.lists(st.integers(0, 8), min_size=2, max_size=15), st.lists(st.integers(0, 8), min_size=2, max_size=15)
)
def test_exchanging_the_groups_turns_the_interval_round(x, y):
    if len(set(x) | set(y)) == 1:
        with pytest.raises(UndefinedMetricError):
            rank_index_interval(x, y)
        return
    for transform in ("logit", "none"):
        forth, back = (rank_index_interval(a, b, transform=transform) for a, b in ((x, y), (y, x)))
        assert (forth.low, forth.high) == pytest.approx((-back.high, -back.low), abs=1e-9)
        assert -1.0 <= forth.low < forth.high <= 1.0


def test_monotone_transforms_change_nothing():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=30), rng.normal(size=40)
    plain, cubed = rank_index_interval(x, y), rank_index_interval(x**3 + 7, y**3 + 7)
    assert (cubed.low, cubed.high) == (plain.low, plain.high)


def test_clustered_variance_agrees_with_the_jackknife():
    rng = np.random.default_rng(5)
    clusters = 150
    shared = rng.normal(size=clusters)
    left, right = np.repeat(np.arange(clusters), 2), np.repeat(np.arange(clusters), 3)
    x = shared[left] + rng.normal(size=left.size)
    y = shared[right] + rng.normal(size=right.size) - 0.3

    def index(keep_left, keep_right):
        return 2 * placements(x[keep_left], y[keep_right])[0].mean() - 1

    leave_out = np.array([index(left != g, right != g) for g in range(clusters)])
    error = np.sqrt((clusters - 1) / clusters * np.square(leave_out - leave_out.mean()).sum())
    ours = rank_index_interval(x, y, left, right, transform="none")
    half = stats.t.ppf(0.975, clusters - 1) * error
    assert (ours.high - ours.low) / 2 == pytest.approx(half, rel=0.01)
    # what clusters share cancels in the comparison: ignoring them is too wide here
    assert ours.high - ours.low < 0.85 * (lambda i: i.high - i.low)(
        rank_index_interval(x, y, transform="none")
    )


def test_a_cluster_a_row_is_brunner_munzel():
    rng = np.random.default_rng(6)
    x, y = rng.integers(0, 5, size=9), rng.integers(1, 6, size=14)
    plain, clustered = rank_index_interval(x, y), rank_index_interval(x, y, np.arange(9), np.arange(9, 23))
    assert (clustered.low, clustered.high) == pytest.approx((plain.low, plain.high), rel=1e-12)


def test_separated_samples_get_a_limit():
    interval = rank_index_interval([5, 6, 7, 8], [1, 2, 3])
    assert interval.high == 1.0
    assert -1.0 < interval.low < 1.0
    assert "separated" in interval.method
    # theta solves 1 - t = z sqrt(V(t)), n = 4, m = 3, N* = 2.5
    t = (interval.low + 1) / 2
    variance = t * (1 - t) * (1 + 2.5 * (1 - t) / (2 - t) + 2.5 * t / (1 + t)) / 12
    assert 1 - t == pytest.approx(1.959963984540054 * np.sqrt(variance), rel=1e-9)
    turned = rank_index_interval([1, 2, 3], [5, 6, 7, 8])
    assert (turned.low, turned.high) == (-1.0, pytest.approx(-interval.low))


def test_refusals():
    with pytest.raises(UndefinedMetricError, match="no one in the reference"):
        placements([1.0], [])
    with pytest.raises(UndefinedMetricError, match="at least two"):
        rank_index_interval([1.0], [1.0, 2.0])
    with pytest.raises(UndefinedMetricError, match="no placement differs"):
        rank_index_interval([1.0, 1.0], [1.0, 1.0])
    with pytest.raises(InputError, match="1 of 2 values are not finite"):
        rank_index_interval([1.0, np.inf], [1.0, 1.0])
    with pytest.raises(InputError, match="transform is"):
        rank_index_interval([1.0, 2.0], [1.0, 1.0], transform="log")
