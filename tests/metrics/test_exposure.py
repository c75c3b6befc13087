"""Exposure, skew and NDKL of rankings: by hand, by looking at every order, and against fairlearn."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from audit_lib.errors import UndefinedMetricError
from audit_lib.metrics import exposure_gap, exposures, ndkl, ndkl_at_random, pool_standing, skew_at_k


def divergence(order: list[str]) -> float:
    """NDKL of one ranking, as the paper writes it."""
    n, total, weights = len(order), 0.0, 0.0
    for i in range(1, n + 1):
        kl = 0.0
        for group in set(order):
            p, q = order[:i].count(group) / i, order.count(group) / n
            kl += p * math.log(p / q) if p else 0.0
        total += kl / math.log2(i + 1)
        weights += 1 / math.log2(i + 1)
    return total / weights


def test_exposure_by_hand():
    above, tied = pool_standing([5, 4, 4, 1], [0] * 4)
    shared = (1 / math.log2(3) + 1 / 2) / 2
    np.testing.assert_allclose(exposures(above, tied), [1, shared, shared, 1 / math.log2(5)], atol=1e-15)
    assert exposure_gap([1, 0.5], [0.25]) == 0.5
    with pytest.raises(UndefinedMetricError, match="reference"):
        exposure_gap([1.0], [])


def test_all_who_tie_have_one_exposure_and_it_sums_to_that_of_the_places():
    rng = np.random.default_rng(3)
    for _ in range(50):
        scores = rng.integers(0, 4, 9)
        shown = exposures(*pool_standing(scores, [0] * 9))
        assert shown.sum() == pytest.approx(sum(1 / math.log2(place + 1) for place in range(1, 10)))
        assert all(len(set(shown[scores == one].tolist())) == 1 for one in set(scores.tolist()))


def test_skew_by_hand():
    scores, group = [9, 8, 7, 6, 5, 4], [1, 0, 1, 1, 0, 0]
    assert skew_at_k(scores, [0] * 6, group, 2) == pytest.approx(math.log(0.5 / 0.5), abs=1e-15)
    assert skew_at_k(scores, [0] * 6, group, 3) == pytest.approx(math.log((2 / 3) / 0.5))
    # Two rounds: 1 of 1 place and 0 of 1, due 1/2 and 1/4.
    assert skew_at_k([2, 1, 4, 3, 2, 1], [0, 0, 1, 1, 1, 1], [1, 0, 0, 1, 0, 0], 1) == pytest.approx(
        math.log(4 / 3)
    )
    with pytest.raises(
        UndefinedMetricError, match="nobody of the group is among the first 1: the logarithm of 0"
    ):
        skew_at_k([2, 1], [0, 0], [0, 1], 1)
    with pytest.raises(UndefinedMetricError, match="nobody of the group is in a round"):
        skew_at_k([2, 1], [0, 0], [0, 0], 1)


@pytest.mark.parametrize("seed", range(20))
def test_ndkl_is_the_paper_s(seed):
    rng = np.random.default_rng(seed)
    rounds = np.repeat(np.arange(3), 7)
    groups = np.array(["a", "b", "c"])[rng.integers(0, 3, 21)]
    scores = rng.permutation(21)
    expected = [
        divergence([groups[i] for i in sorted(np.flatnonzero(rounds == r), key=lambda i: -scores[i])])
        for r in range(3)
        if len(set(groups[rounds == r])) > 1
    ]
    assert ndkl(scores, rounds, groups) == pytest.approx(float(np.mean(expected)), abs=1e-12)


def test_ties_and_orders_at_random_are_means_over_all_orders():
    groups = ["a", "b", "b", "c", "a"]
    every = [divergence([groups[i] for i in order]) for order in permutations(range(5))]
    assert ndkl_at_random([5, 4, 3, 2, 1], [0] * 5, groups) == pytest.approx(float(np.mean(every)), abs=1e-12)
    # The first is alone, the next three tie, the last is alone.
    tied = [divergence([groups[i] for i in (0, *order, 4)]) for order in permutations((1, 2, 3))]
    assert ndkl([9, 5, 5, 5, 1], [0] * 5, groups) == pytest.approx(float(np.mean(tied)), abs=1e-12)


def test_no_order_and_no_second_group_are_undefined():
    with pytest.raises(UndefinedMetricError, match="there is no order"):
        ndkl([1, 1, 1], [0] * 3, ["a", "b", "b"])
    with pytest.raises(UndefinedMetricError, match="no round holds candidates of two groups"):
        ndkl([3, 2, 1], [0] * 3, ["a", "a", None])
