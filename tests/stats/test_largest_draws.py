"""Quantiles of the largest difference of all pairs: those of all draws, of which few are computed in full."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit_lib.stats.largest_draws import drawn_quantile
from audit_lib.stats.simultaneous import max_t_quantile

DRAWS = 4_000


def every_draw(v, level, df, draws, seed):
    """As the definition has it: all draws, all pairs."""
    rng = np.random.Generator(np.random.PCG64(seed))
    z = np.linalg.cholesky(v) @ rng.standard_normal((len(v), draws))
    i, j = np.triu_indices(len(v), 1)
    largest = (np.abs(z[i] - z[j]) / np.sqrt(v[i, i] + v[j, j] - 2 * v[i, j])[:, None]).max(axis=0)
    if not math.isinf(df):
        largest /= np.sqrt(rng.chisquare(df, draws) / df)
    return np.quantile(largest, level)


@settings(max_examples=60, deadline=None)
@given(
    k=st.integers(3, 9),
    seed=st.integers(0, 3),
    spread=st.floats(0.01, 100),
    shared=st.floats(0, 2),
    df=st.sampled_from([3.0, 12.0, 500.0, math.inf]),
    level=st.sampled_from([0.5, 0.9, 0.95, 0.999, 0.9999]),
)
def test_the_quantile_is_that_of_all_draws(k, seed, spread, shared, df, level):
    rng = np.random.default_rng(seed)
    errors = spread ** rng.random(k)
    common = shared * rng.random((k, 2))
    v = np.diag(errors**2) + common @ common.T
    expected = every_draw(v, level, df, DRAWS, seed)
    assert drawn_quantile(v, level, df, DRAWS, seed) == pytest.approx(expected, rel=1e-11)


@settings(max_examples=60, deadline=None)
@given(
    k=st.integers(3, 9),
    seed=st.integers(0, 3),
    spread=st.floats(0.01, 100),
    level=st.sampled_from([0.9, 0.95, 0.99, 0.999, 0.9999]),
)
def test_independent_estimates(k, seed, spread, level):
    v = np.diag(spread ** np.random.default_rng(seed).random(k))
    expected = every_draw(v, level, math.inf, DRAWS, seed)
    assert drawn_quantile(v, level, math.inf, DRAWS, seed) == pytest.approx(expected, rel=1e-11)


def test_a_number_of_draws_that_fills_no_block():
    v = np.diag([1.0, 2.0, 3.0]) + 0.5
    assert drawn_quantile(v, 0.95, 7.0, 4_321, 2) == pytest.approx(
        every_draw(v, 0.95, 7.0, 4_321, 2), rel=1e-11
    )


@pytest.mark.parametrize("df", [5.0, math.inf])
def test_one_estimate_that_varies_far_more_than_the_others(df):
    """Then few pairs of draws are far from 0, and more of them are looked at."""
    v = np.diag([1e6, 1.0, 2.0, 3.0, 1e-9])
    assert drawn_quantile(v, 0.95, df, DRAWS, 1) == pytest.approx(
        every_draw(v, 0.95, df, DRAWS, 1), rel=1e-11
    )


def test_an_estimate_without_variance():
    v = np.diag([0.0, 1.0, 2.0])
    z = np.sqrt(v.diagonal())[:, None] * np.random.Generator(np.random.PCG64(0)).standard_normal((3, DRAWS))
    pairs = [np.abs(z[i] - z[j]) / math.sqrt(v[i, i] + v[j, j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert max_t_quantile(v, draws=DRAWS) == pytest.approx(
        np.quantile(np.max(pairs, axis=0), 0.95), rel=1e-12
    )


def test_nearly_the_same_estimates_twice():
    """Single precision tells nothing of their difference, and every draw is computed in full."""
    base = np.array([[1.0, 1.0, 0.0], [1.0, 1.0 + 1e-9, 0.0], [0.0, 0.0, 1.0]])
    assert drawn_quantile(base, 0.95, math.inf, DRAWS, 0) == pytest.approx(
        every_draw(base, 0.95, math.inf, DRAWS, 0), rel=1e-6
    )
