from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.results import Undefined
from audit_lib.stats import max_t_quantile, simultaneous_differences
from audit_lib.stats.largest_draws import root
from audit_lib.stats.simultaneous import _kept_quantile


@pytest.mark.parametrize("k", [3, 5, 7, 14])
def test_equal_variances_give_tukeys_range(k):
    tukey = stats.studentized_range.ppf(0.95, k, np.inf) / math.sqrt(2)
    assert max_t_quantile(np.eye(k)) == pytest.approx(tukey, abs=0.015)


def test_student_version_gives_tukeys_range_too():
    tukey = stats.studentized_range.ppf(0.95, 4, 12) / math.sqrt(2)
    assert max_t_quantile(np.eye(4), df=12) == pytest.approx(tukey, abs=0.03)


def test_a_single_pair_is_exact():
    assert max_t_quantile([[2.0, 0.3], [0.3, 1.0]]) == pytest.approx(stats.norm.ppf(0.975), abs=1e-12)
    assert max_t_quantile(np.eye(2), 0.9, df=7) == pytest.approx(stats.t.ppf(0.95, 7), abs=1e-10)


def test_three_unequal_variances_agree_with_the_normal_integral():
    v = np.diag([1.0, 0.2, 3.0])
    c = max_t_quantile(v)
    contrasts = np.array([[1, -1, 0], [1, 0, -1], [0, 1, -1]])
    w = contrasts @ v @ contrasts.T
    scale = np.sqrt(np.diag(w))
    # the three differences lie in a plane, so integrate over two of them, the third within its limits
    law = stats.multivariate_normal([0, 0], w[:2, :2])
    grid = np.linspace(-c, c, 801)
    a, b = np.meshgrid(grid * scale[0], grid * scale[1], indexing="ij")
    inside = np.abs(b - a) <= c * scale[2]
    density = law.pdf(np.stack([a, b], axis=-1)) * inside
    mass = np.trapezoid(np.trapezoid(density, b[0], axis=1), a[:, 0])
    assert mass == pytest.approx(0.95, abs=0.004)


def test_correlation_that_all_share_cancels():
    v = np.eye(4) + 10.0
    assert max_t_quantile(v) == pytest.approx(max_t_quantile(np.eye(4)), abs=0.015)


def test_the_seed_decides():
    first = max_t_quantile(np.eye(3), seed=1)
    _kept_quantile.cache_clear()
    assert max_t_quantile(np.eye(3), seed=1) == first
    assert max_t_quantile(np.eye(3), seed=1) != max_t_quantile(np.eye(3), seed=2)


def test_root_of_a_singular_matrix():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(6, 3))
    v = a @ a.T
    lower = root(v)
    assert lower @ lower.T == pytest.approx(v, abs=1e-9)
    assert np.triu(lower, 1).max() == 0.0


def test_differences():
    v = np.array([[0.04, 0.01, 0.0], [0.01, 0.09, 0.0], [0.0, 0.0, 0.01]])
    result = simultaneous_differences([3.0, 1.0, 2.5], v)
    first = result.pairs[0]
    assert (first.first, first.second, first.value) == (0, 1, 2.0)
    error = math.sqrt(0.04 + 0.09 - 0.02)
    assert first.interval.high - 2.0 == pytest.approx(result.critical_value * error)
    assert first.conditional.high - 2.0 == pytest.approx(1.959963984540054 * error)
    assert result.largest is first
    assert result.gap.low == pytest.approx(max(0, *(p.interval.low for p in result.pairs)))
    assert result.gap.high == pytest.approx(first.interval.high)


def test_gap_of_negative_differences_is_positive():
    up = simultaneous_differences([0.1, 0.9, 0.5], np.diag([0.001, 0.002, 0.001]))
    down = simultaneous_differences([0.9, 0.1, 0.5], np.diag([0.002, 0.001, 0.001]))
    assert up.largest.value < 0 < up.gap.low
    assert (up.gap.low, up.gap.high) == pytest.approx((down.gap.low, down.gap.high), abs=0.003)


def test_pairs_without_variance_are_marked():
    # subgroups 0 and 1 are the same people
    v = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 2.0]]) / 100
    result = simultaneous_differences([0.7, 0.7, 0.4], v)
    assert isinstance(result.pairs[0].interval, Undefined)
    assert result.as_dict()["pairs"][0]["interval"] == {"undefined": result.pairs[0].interval.reason}
    assert result.gap.high > 0.3


def test_refusals():
    with pytest.raises(UndefinedMetricError, match="no pair of estimates has any variance"):
        max_t_quantile(np.zeros((3, 3)))
    with pytest.raises(UndefinedMetricError, match="fewer than two"):
        simultaneous_differences([1.0], [[1.0]])
    with pytest.raises(InputError, match="square matrix"):
        max_t_quantile(np.ones((2, 3)))
    with pytest.raises(InputError, match="symmetrical"):
        max_t_quantile([[1.0, 0.5], [0.0, 1.0]])
    with pytest.raises(InputError, match="covariance of 2 estimates given for 3"):
        simultaneous_differences([1.0, 2.0, 3.0], np.eye(2))


def test_what_is_no_covariance_or_no_number_is_refused():
    with pytest.raises(InputError, match="estimates: 1 of 2 values are not finite"):
        simultaneous_differences([np.nan, 1], np.eye(2))
    with pytest.raises(InputError, match="positive semi-definite"):
        max_t_quantile([[1, 2, 0], [2, 1, 0], [0, 0, 1]])
    with pytest.raises(InputError, match="df is 0"):
        max_t_quantile(np.eye(3), df=0)
    # Singular, and of very different units: still a covariance.
    assert max_t_quantile(np.outer([1, 2e-9, 3e9], [1, 2e-9, 3e9])) > 1.9
