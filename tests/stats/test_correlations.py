"""Intervals of correlations against scipy, and against the definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.stats import cluster_moments, correlation_of_moments, fisher_interval, jackknife_interval


@pytest.mark.parametrize("n", [4, 12, 300])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_fisher_s_interval_is_scipy_s(n: int, level: float) -> None:
    x, y = np.random.default_rng(n).normal(size=(2, n))
    found = stats.pearsonr(x, x + y)
    expected = found.confidence_interval(level)
    own = fisher_interval(float(found.statistic), n, level)
    assert (own.low, own.high) == (
        pytest.approx(expected.low, abs=1e-12),
        pytest.approx(expected.high, abs=1e-12),
    )


def test_fisher_s_interval_needs_four_points_and_spread() -> None:
    with pytest.raises(UndefinedMetricError, match="3 points"):
        fisher_interval(0.5, 3)
    with pytest.raises(UndefinedMetricError, match="lie on a line"):
        fisher_interval(-1.0, 30)


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
def test_moments_of_any_choice_of_clusters_give_numpy_s_correlation(unit: float) -> None:
    rng = np.random.default_rng(2)
    x, y = unit * (1e3 + rng.normal(size=60)), rng.normal(size=60)
    y = y + x / unit
    clusters = rng.integers(0, 6, 60)
    moments = cluster_moments(x, y, clusters)
    for chosen in (np.ones(6), np.array([1, 0, 1, 1, 0, 0]), np.array([2, 0, 1, 0, 3, 0])):
        rows = np.repeat(np.arange(60), chosen[clusters].astype(int))
        expected = np.corrcoef(x[rows], y[rows])[0, 1]
        found = float(correlation_of_moments((chosen[:, None] * moments).sum(axis=0)))
        assert found == pytest.approx(expected, abs=1e-9)


def test_a_side_that_does_not_vary_has_no_correlation() -> None:
    moments = cluster_moments([1, 1, 1, 2], [1, 2, 3, 4], ["a", "a", "a", "b"])
    assert math.isnan(float(correlation_of_moments(moments[0])))
    assert math.isnan(float(correlation_of_moments(np.zeros(6))))


def test_moments_refuse_what_is_no_point() -> None:
    with pytest.raises(InputError, match="2 and 3 values"):
        cluster_moments([1, 2], [1, 2, 3], ["a", "b"])
    with pytest.raises(InputError, match="1 of 2 values are not finite"):
        cluster_moments([1, math.nan], [1, 2], ["a", "b"])
    with pytest.raises(UndefinedMetricError, match="no point"):
        cluster_moments([], [], [])


def test_the_jackknife_of_a_mean_is_the_t_interval() -> None:
    values = np.random.default_rng(4).normal(size=9)
    without = (values.sum() - values) / 8
    own = jackknife_interval(float(values.mean()), without)
    low, high = stats.t.interval(0.95, 8, loc=values.mean(), scale=stats.sem(values))
    assert (own.low, own.high) == (pytest.approx(low, abs=1e-12), pytest.approx(high, abs=1e-12))


@pytest.mark.parametrize(
    ("value", "without", "scale", "words"),
    [
        (0.5, [0.4, 0.6], "identity", "2 models: an interval over models needs at least 3"),
        (0.5, [0.4, 0.6, math.nan], "identity", "without one of the 3 models"),
        (0.5, [0.5, 0.5, 0.5], "identity", "changes nothing"),
        (0.99, [1.0, 0.9, 0.9], "fisher_z", "lie on a line"),
    ],
)
def test_where_there_is_no_jackknife(value: float, without: list[float], scale: str, words: str) -> None:
    with pytest.raises(UndefinedMetricError, match=words):
        jackknife_interval(value, without, scale=scale)  # type: ignore[arg-type]


def test_it_covers_the_correlation_where_points_of_a_model_go_together() -> None:
    # 5 models with 28 points each, 60% of the variance between models: Fisher's interval covers about 42%.
    rng = np.random.default_rng(6)
    covered = fisher = 0
    for _ in range(400):
        between, within = rng.normal(size=(2, 5, 1)), rng.normal(size=(2, 5, 28))
        a, b = np.sqrt(0.6) * between + np.sqrt(0.4) * within
        x, y = a.ravel(), (0.8 * a + 0.6 * b).ravel()
        moments = cluster_moments(x, y, np.repeat(np.arange(5), 28))
        r = float(correlation_of_moments(moments.sum(axis=0)))
        own = jackknife_interval(r, correlation_of_moments(moments.sum(axis=0) - moments), scale="fisher_z")
        points = fisher_interval(r, 140)
        covered += own.low <= 0.8 <= own.high
        fisher += points.low <= 0.8 <= points.high
    assert covered > 0.92 * 400 > 0.6 * 400 > fisher
