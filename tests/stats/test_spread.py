"""Spreads without each cluster in turn, and the errors that these give: the definition, and how often they hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtrit

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.stats.spread import left_out_error, spread_without_each


def test_the_spread_without_a_cluster_is_that_of_the_others() -> None:
    rng = np.random.default_rng(1)
    values, clusters = 1e6 + rng.normal(size=40), rng.integers(0, 7, 40)
    expected = [values[clusters != one].std(ddof=1) for one in range(7)]
    assert spread_without_each(values, clusters) == pytest.approx(expected, rel=1e-8)


def test_the_error_of_a_mean_is_the_usual_one() -> None:
    values = np.random.default_rng(2).normal(size=25)
    error, df = left_out_error(values.mean(), (values.sum() - values) / 24, np.ones(25))
    assert error == pytest.approx(values.std(ddof=1) / 5, rel=1e-12)
    assert df == 24


def test_a_ratio_of_spreads_is_covered_as_often_as_it_says() -> None:
    """100 clusters of 4 values, half of whose variance the cluster shares; the true SD is 1."""
    rng, held = np.random.default_rng(3), 0
    clusters = np.repeat(np.arange(100), 4)
    for _ in range(1000):
        values = ((rng.normal(size=(100, 1)) + rng.normal(size=(100, 4))) * 0.5**0.5).ravel()
        sd = values.std(ddof=1)
        error, df = left_out_error(np.log(sd), np.log(spread_without_each(values, clusters)), np.full(100, 4))
        held += abs(np.log(sd)) <= stdtrit(df, 0.975) * error
    assert 930 <= held <= 970


def test_where_nothing_is_left_there_is_none() -> None:
    with pytest.raises(UndefinedMetricError, match="fewer than two values are left"):
        spread_without_each([1.0, 2.0, 3.0], [0, 0, 1])
    with pytest.raises(UndefinedMetricError, match="the values do not vary"):
        spread_without_each([1.0, 2.0, 5.0, 5.0, 5.0], [0, 0, 1, 2, 2])
    with pytest.raises(UndefinedMetricError, match="1 cluster"):
        left_out_error(1.0, [1.0], [3])
    with pytest.raises(UndefinedMetricError, match="changes nothing"):
        left_out_error(1.0, [1.0, 1.0], [3, 3])
    with pytest.raises(UndefinedMetricError, match="worth 1.2 of one size"):
        left_out_error(1.0, [1.0, 2.0, 3.0], [18, 1, 1])
    with pytest.raises(InputError, match="give one a value"):
        spread_without_each([1.0, 2.0], [0])
