from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics import earth_movers_distance
from audit_lib.stats import (
    bootstrap_weights,
    distance_interval,
    distance_test,
    earth_movers_errors,
    jensen_shannon_errors,
)

RATINGS = arrays(np.int64, 24, elements=st.integers(1, 5))


def clustered(seed: int, n: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.Generator(np.random.PCG64(seed))
    ids = np.repeat(np.arange(n), 2)
    shared = rng.normal(size=n)[ids]
    x, y = (np.clip(np.round(3 + shared + rng.normal(size=2 * n)), 1, 5) for _ in range(2))
    return x, y, ids


def test_the_law_of_the_earth_movers_error_is_that_of_a_plain_cluster_bootstrap() -> None:
    x, y, ids = clustered(1, n=150)
    points = np.arange(1, 6)
    weights = bootstrap_weights(150, 4000, seed=2)[:, ids]
    below = [
        (weights[:, :, None] * (side[:, None] <= points)).sum(axis=1) / weights.sum(axis=1)[:, None]
        for side in (x, y)
    ]
    exact = [(side[:, None] <= points).mean(axis=0) for side in (x, y)]
    plain = np.abs((below[0] - exact[0]) - (below[1] - exact[1])).sum(axis=1)
    drawn = earth_movers_errors(x, y, ids, ids, seed=3).values
    for p in (0.1, 0.5, 0.9, 0.95):
        assert np.quantile(drawn, p) == pytest.approx(np.quantile(plain, p), rel=0.08)


def test_the_law_of_the_divergences_error_is_that_of_a_plain_cluster_bootstrap_at_parity() -> None:
    x, _, ids = clustered(4, n=300)
    bins = x.astype(int) - 1
    p = np.bincount(bins, minlength=5) / bins.size
    weights = bootstrap_weights(300, 3000, seed=5)[:, ids]
    shares = (
        np.stack([(weights * (bins == b)).sum(axis=1) for b in range(5)], axis=1)
        / weights.sum(axis=1)[:, None]
    )
    middle = (shares + p) / 2
    plain = np.sqrt(0.5 * (shares * np.log(shares / middle) + p * np.log(p / middle)).sum(axis=1))
    # A reference of another set of applications, so large that all of the error is the group's.
    far, other = np.tile(bins, 200), np.arange(1000, 1000 + 200 * bins.size)
    drawn = jensen_shannon_errors(bins, far, 5, ids, other, seed=6).values
    for q in (0.1, 0.5, 0.95):
        assert np.quantile(drawn, q) == pytest.approx(np.quantile(plain, q), rel=0.08)


def test_two_versions_of_each_application_that_differ_little_have_little_error() -> None:
    x, _, ids = clustered(7)
    y = x.copy()
    y[0] = 6 - y[0] if y[0] != 3 else 4
    together = earth_movers_errors(x, y, ids, ids, seed=1).values
    apart = earth_movers_errors(x, y, ids, ids + 1000, seed=1).values
    assert np.median(together) < 0.2 * np.median(apart)


@given(RATINGS, RATINGS, st.integers(0, 3))
def test_the_interval_holds_the_distance_and_agrees_with_the_test(
    x: np.ndarray, y: np.ndarray, seed: int
) -> None:
    ids = np.arange(24)
    distance = earth_movers_distance(x, y)
    try:
        errors = earth_movers_errors(x, y, ids, ids, seed=seed, draws=199)
    except UndefinedMetricError:
        return
    interval, test = distance_interval(distance, errors), distance_test(distance, errors)
    assert 0.0 <= interval.low <= distance <= interval.high
    assert isinstance(test.p_value, float)
    assert (interval.low > 0) == (test.p_value <= 0.05)


@given(RATINGS, RATINGS, st.sampled_from([0.5, 2.0, 1024.0]))
def test_the_error_has_the_unit_of_the_scores(x: np.ndarray, y: np.ndarray, unit: float) -> None:
    try:
        errors = earth_movers_errors(x, y, seed=1, draws=99).values
    except UndefinedMetricError:
        return
    assert np.allclose(
        earth_movers_errors(x * unit + 3, y * unit + 3, seed=1, draws=99).values, unit * errors
    )


def test_more_distinct_scores_than_the_grid_has_points_change_little() -> None:
    rng = np.random.Generator(np.random.PCG64(8))
    x, y = rng.normal(size=2000), rng.normal(size=2000)
    coarse = [np.round(side * 12) / 12 for side in (x, y)]  # some 80 distinct values: the exact grid
    fine = np.quantile(earth_movers_errors(x, y, seed=1).values, [0.5, 0.95])
    assert np.quantile(earth_movers_errors(*coarse, seed=1).values, [0.5, 0.95]) == pytest.approx(
        fine, rel=0.03
    )


def test_draws_depend_on_the_seed_alone() -> None:
    x, y, ids = clustered(9)
    names = np.array([f"application {i:03d}" for i in ids])
    first = earth_movers_errors(x, y, ids, ids, seed=1).values
    assert np.array_equal(first, earth_movers_errors(x, y, names, names, seed=1).values)
    order = np.random.Generator(np.random.PCG64(1)).permutation(x.size)
    assert np.array_equal(first, earth_movers_errors(x[order], y, ids[order], ids, seed=1).values)
    assert not np.array_equal(first, earth_movers_errors(x, y, ids, ids, seed=2).values)


def test_the_divergence_stays_within_its_bounds() -> None:
    errors = jensen_shannon_errors([0] * 20, [1] * 19 + [0], 2, seed=1)
    interval = distance_interval(0.6, errors)
    assert interval.high <= math.log(2)
    assert interval.low > 0.2


def test_what_has_no_spread_is_undefined() -> None:
    for x, y in (([3, 3], [3, 3]), ([1, 1, 1], [2, 2, 2])):
        with pytest.raises(UndefinedMetricError, match="spread"):
            earth_movers_errors(x, y, seed=1)
    with pytest.raises(UndefinedMetricError, match="at least two"):
        earth_movers_errors([1], [2, 3], seed=1)
    with pytest.raises(UndefinedMetricError, match="at least two"):
        jensen_shannon_errors([0, 1], [0, 1, 1], 2, ["a", "a"], ["a", "b", "b"], seed=1)
    with pytest.raises(UndefinedMetricError, match="same scores"):
        jensen_shannon_errors([0, 0], [1, 1], 2, seed=1)


def test_wrong_input_is_refused() -> None:
    with pytest.raises(InputError, match="expected 0 to 1"):
        jensen_shannon_errors([0, 2], [0, 1], 2, seed=1)
    with pytest.raises(InputError, match="whole number"):
        jensen_shannon_errors([0.5, 1.0], [0, 1], 2, seed=1)
    with pytest.raises(InputError, match="at least 1"):
        earth_movers_errors([1, 2], [1, 3], seed=1, draws=0)
    errors = earth_movers_errors([1, 2], [1, 3], seed=1, draws=10)
    with pytest.raises(InputError, match="draw more"):
        distance_interval(0.5, errors)
