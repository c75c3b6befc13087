"""Koopman's limits of many pairs at once, against a bisection of each."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.stats.koopman import koopman_limits
from tests.stats import scalar_koopman

sizes = st.one_of(st.integers(1, 60), st.integers(1, 100_000))
pairs = st.tuples(sizes, sizes, st.floats(0, 1), st.floats(0, 1)).map(
    lambda one: (round(one[2] * one[0]), one[0], round(one[3] * one[1]), one[1])
)


@given(st.lists(pairs, min_size=1, max_size=30), st.sampled_from([0.7, 1.96, 3.4, 6.0]))
def test_all_pairs_at_once_are_each_alone(counts, z):
    found = np.transpose(koopman_limits(*np.transpose(counts), z))
    for table, (low, high) in zip(counts, found, strict=True):
        if table[0] == table[1] and table[2] == table[3]:
            continue  # below: the bisection is no witness there
        expected = scalar_koopman.limits(*table, z)
        # The discriminant's digits cancel, by as many as the sizes differ: neither is more exact than that.
        unequal = max(table[1], table[3]) / min(table[1], table[3])
        assert (low, high) == pytest.approx(expected, rel=1e-12 * max(1.0, unequal / 10))


@pytest.mark.parametrize("n", [1, 40, 3_000_000])
@pytest.mark.parametrize("m", [1, 161, 5_000_000])
def test_where_everybody_is_selected_limits_are_exact(n, m):
    """Pearson's statistic of ratio r below 1 is then n (1 - r) / r."""
    low, high = koopman_limits(n, n, m, m, 1.96)
    assert (low, 1 / high) == pytest.approx((n / (n + 1.96**2), m / (m + 1.96**2)), rel=1e-15)


def test_a_pair_does_not_depend_on_the_others():
    counts = np.array([[20, 100, 40, 100], [1, 7, 0, 12], [3, 3, 2, 9], [0, 5, 5, 5]])
    together = np.transpose(koopman_limits(*counts.T, 2.5))
    for table, limits in zip(counts, together, strict=True):
        assert tuple(limits) == tuple(float(one) for one in koopman_limits(*table, 2.5))


def test_edges():
    low, high = koopman_limits([0, 0, 5], [10, 10, 9], [0, 4, 0], [20, 20, 20], 1.96)
    assert low[0] == low[1] == 0.0 < low[2]
    assert high[0] == high[2] == math.inf > high[1]
