"""Predictive validity and NDCG: hand-computed values, and agreement with scipy and scikit-learn."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import ndcg_score

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics import fairness_ndcg, predictive_validity, predictive_validity_table

POINTS = st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=3, max_size=40)


@given(POINTS)
def test_correlation_is_scipys(points):
    x, y = np.array(points, dtype=float).T / 100
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        with pytest.raises(UndefinedMetricError, match="values are equal"):
            predictive_validity(x, y)
        return
    expected = stats.pearsonr(x, y)
    assert predictive_validity(x, y) == pytest.approx(expected.statistic, abs=1e-12)
    table = predictive_validity_table(x, y)
    assert table.p_value == pytest.approx(expected.pvalue, abs=1e-6)
    assert (table.n, table.left_out) == (len(points), 0)


def test_tiny_metrics_still_correlate():
    assert predictive_validity([1e-200, 2e-200, 3e-200], [1, 2, 3]) == pytest.approx(1)


def test_inconsistent_models_are_left_out_and_counted():
    metric, gap = [1, 2, 3, 9, 4], [1, 3, 2, -9, 4]
    table = predictive_validity_table(metric, gap, inconsistent_share=[0.1, np.nan, 0.55, 0.56, 0.2])
    assert (table.n, table.left_out) == (4, 1)
    assert table.correlation == pytest.approx(0.8)
    assert table.is_weak()
    assert not table.is_weak(level=0.25)


def test_undefined_correlations():
    with pytest.raises(UndefinedMetricError, match="at least two points, got 1"):
        predictive_validity([1], [1])
    with pytest.raises(UndefinedMetricError, match="gap: 1 of 2 scores are missing"):
        predictive_validity([1, 2], [1, np.nan])
    with pytest.raises(InputError, match="2 and 3 values"):
        predictive_validity([1, 2], [1, 2, 3])
    assert predictive_validity_table([1, 2], [2, 1]).p_value == 1.0


def test_ndcg_by_hand():
    # Ideal ranks a 1, b 3, c 2: gains 2, 0, 1. The metric lists c, a, b.
    metric = {"a": [0.1, -0.2], "b": [0.3, 0.1], "c": [0.0, 0.05]}
    gap = {"a": [0.1, 0.1], "b": [0.4, 0.2], "c": [0.3, -0.2]}
    ideal = 2 + 1 / np.log2(3)
    assert fairness_ndcg(metric, gap, n=1) == 0.5
    assert fairness_ndcg(metric, gap, n=2) == pytest.approx((1 + 2 / np.log2(3)) / ideal)
    assert fairness_ndcg(metric, gap, n=3) == pytest.approx((1 + 2 / np.log2(3)) / ideal)
    assert fairness_ndcg(metric, gap, n=10) == fairness_ndcg(metric, gap, n=3)
    assert fairness_ndcg(metric, gap, n=1, gain="rank") == pytest.approx(2 / 3)
    assert fairness_ndcg(gap, gap, n=2) == 1.0
    # Two tie for the smallest gap and share rank 1.5: gains 2.5, 2.5, 1, 0.
    tied = {"a": 0.1, "b": 0.1, "c": 0.2, "d": 0.3}
    assert fairness_ndcg({"a": 2, "b": 3, "c": 1, "d": 4}, tied, n=1) == 0.4
    # Two tie in the metric and bring the mean of their gains.
    assert fairness_ndcg({"a": 1, "b": 2, "c": 1, "d": 4}, tied, n=1) == 0.7


def test_ndcg_uses_the_root_mean_square_of_signed_values():
    metric = {"a": [0.3, -0.3], "b": [0.2, 0.2]}  # means would rank a first
    assert fairness_ndcg(metric, {"a": 0.5, "b": 0.1}, n=1) == 1.0


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 100)), min_size=2, max_size=9), st.integers(1, 9))
def test_ndcg_is_scikit_learns(models, n):
    """scikit-learn averages over ties of the ranking score as well."""
    metric = {i: m / 10 for i, (m, _) in enumerate(models)}
    gap = {i: g + i / 100 for i, (_, g) in enumerate(models)}
    gains = len(models) + 1 - stats.rankdata(list(gap.values()))
    expected = ndcg_score([gains], [[-m for m in metric.values()]], k=n)
    assert fairness_ndcg(metric, gap, n, gain="rank") == pytest.approx(expected)
    gains -= 1
    assert fairness_ndcg(metric, gap, n) == pytest.approx(
        ndcg_score([gains], [[-m for m in metric.values()]], k=n)
    )


def test_ndcg_leaves_inconsistent_models_out():
    metric = {"a": 0.1, "b": 0.2, "c": 0.0}
    gap = {"a": 0.1, "b": 0.2, "c": 0.9}
    assert fairness_ndcg(metric, gap, n=1) == 0.0
    assert fairness_ndcg(metric, gap, n=1, inconsistent_share={"c": 0.51, "b": 0.5}) == 1.0
    with pytest.raises(UndefinedMetricError, match="1 models left"):
        fairness_ndcg(metric, gap, n=1, inconsistent_share={"c": 0.6, "b": 0.6})


def test_ndcg_refuses_wrong_input():
    with pytest.raises(InputError, match="same models"):
        fairness_ndcg({"a": 1}, {"b": 1}, n=1)
    with pytest.raises(InputError, match="n: expected a whole number of at least 1"):
        fairness_ndcg({"a": 1, "b": 2}, {"a": 1, "b": 2}, n=0)
    with pytest.raises(InputError, match="gain"):
        fairness_ndcg({"a": 1, "b": 2}, {"a": 1, "b": 2}, n=1, gain="linear")  # type: ignore[arg-type]
    with pytest.raises(UndefinedMetricError, match="metric: 1 of 2 scores are missing"):
        fairness_ndcg({"a": [1, np.nan], "b": 2}, {"a": 1, "b": 2}, n=1)


def test_the_order_of_groups_does_not_break_ties_of_models():
    other = [0.1, 0.2, 0.3, 0.7]
    found = {
        fairness_ndcg({"a": order, "b": other}, {"a": 1, "b": 2}, 1)
        for order in itertools.permutations(other)
    }
    assert found == {0.5}


@pytest.mark.parametrize("n", [2.5, None, "2", True])
def test_ndcg_wants_a_whole_number(n):
    with pytest.raises(InputError, match="n: expected a whole number"):
        fairness_ndcg({"a": 1, "b": 2}, {"a": 1, "b": 3}, n)


def test_ndcg_wants_a_share_for_each_model_named():
    with pytest.raises(InputError, match="inconsistent_share"):
        fairness_ndcg({"a": 1, "b": 2}, {"a": 1, "b": 3}, 1, inconsistent_share={"a": None})
    with pytest.raises(UndefinedMetricError, match="missing"):
        fairness_ndcg({"a": 1, "b": None}, {"a": 1, "b": 3}, 1)


@pytest.mark.parametrize("power", [-1000, 0, 1020])
def test_correlation_and_ranking_hold_at_any_scale(power):
    x, y = np.array([1.0, -1.0, 1.5, 1.6]), [1.0, 2, 3, 4]
    assert predictive_validity(np.ldexp(x, power), y) == predictive_validity(x, y)
    sides = {"a": np.ldexp([1.0, 2], power), "b": np.ldexp([3.0, 4], power)}
    assert fairness_ndcg(sides, sides, 1) == 1
