"""Allocation metrics: hand-computed values, identities, and agreement with scipy."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import jensenshannon

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics import (
    earth_movers_distance,
    jensen_shannon_divergence,
    rabbi,
    rank_counts_by_group,
    score_gap,
)
from audit_lib.metrics._rank_counts import RankCounts
from audit_lib.metrics.allocation import rank_counts

COARSE = st.lists(st.integers(-3, 3), min_size=1, max_size=30)
FINE = st.lists(st.floats(allow_nan=False), min_size=1, max_size=30)
MODERATE = st.lists(st.floats(-100, 100), min_size=1, max_size=30)
SCORES = COARSE | FINE


def brute(group, reference):
    pairs = [(a, b) for a in group for b in reference]
    return RankCounts(
        wins=sum(a > b for a, b in pairs),
        losses=sum(a < b for a, b in pairs),
        ties=sum(a == b for a, b in pairs),
    )


def test_rabbi_by_hand():
    # 3 beats 1, 2; 1 ties with 1 and loses to 2.
    assert rank_counts([3, 1], [1, 2]) == RankCounts(wins=2, losses=1, ties=1)
    assert rabbi([3, 1], [1, 2]) == 0.25
    assert rabbi([5, 6], [1, 2]) == 1.0
    assert rabbi([1], [1]) == 0.0


@given(SCORES, SCORES)
def test_counts_equal_enumeration(group, reference):
    assert rank_counts(group, reference) == brute(group, reference)


@given(SCORES, SCORES)
def test_rabbi_is_exactly_antisymmetric_and_bounded(group, reference):
    assert rabbi(group, reference) == -rabbi(reference, group)
    assert -1 <= rabbi(group, reference) <= 1
    assert rabbi(group, group) == 0


@given(COARSE, COARSE)
def test_rabbi_is_invariant_under_monotone_transforms_and_order(group, reference):
    a, b = np.array(group), np.array(reference)
    assert rabbi(np.exp(a), np.exp(b)) == rabbi(a, b)
    assert rabbi(a**3 * 5 - 2, b**3 * 5 - 2) == rabbi(a, b)
    assert rabbi(a[::-1], np.sort(b)) == rabbi(a, b)


@given(COARSE, COARSE)
def test_rabbi_is_the_u_statistic(group, reference):
    u = stats.mannwhitneyu(group, reference, method="asymptotic").statistic
    assert rabbi(group, reference) == pytest.approx(2 * u / (len(group) * len(reference)) - 1, abs=1e-15)
    counts = rank_counts(group, reference)
    assert counts.wins + counts.ties / 2 == u
    assert counts.auc == pytest.approx(u / counts.pairs, abs=1e-15)


@given(SCORES, SCORES, SCORES)
def test_counts_of_parts_add_up_to_the_whole(one, two, reference):
    assert rank_counts(one, reference) + rank_counts(two, reference) == rank_counts([*one, *two], reference)
    assert rank_counts(reference, one) + rank_counts(reference, two) == rank_counts(reference, [*one, *two])


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.random(n),
        lambda rng, n: np.round(rng.normal(3, 1, n)),
        lambda rng, n: 1 / (1 + np.exp(-rng.normal(-6, 4, n))),
        lambda rng, n: rng.standard_cauchy(n) * 1e200,
        lambda rng, n: rng.lognormal(0, 20, n),
        lambda rng, n: 1.0 + rng.integers(0, 9, n) * np.finfo(float).eps,
        lambda rng, n: rng.random(n).astype(np.float32),
        lambda rng, n: 2**60 + rng.integers(0, 50, n),
        lambda rng, n: rng.choice([-np.inf, 0.0, 1.0, np.inf], n),
        lambda rng, n: rng.random(n) * 5e-324 * 8,
    ],
    ids=[
        "uniform",
        "ratings",
        "skewed",
        "cauchy",
        "lognormal",
        "ulps",
        "float32",
        "int64",
        "infinite",
        "subnormal",
    ],
)
def test_counts_of_large_samples_equal_scipys(draw):
    """Larger than one block, with score distributions that crowd the interpolation table."""
    rng = np.random.default_rng(7)
    scores, groups = draw(rng, 40_000), rng.integers(0, 4, 40_000)
    found = rank_counts_by_group(scores, groups, reference=2)
    assert sorted(found) == [0, 1, 3]
    ranks = np.unique(scores, return_inverse=True)[1]  # scipy would round the large integers
    for group, counts in found.items():
        a, b = ranks[groups == group], ranks[groups == 2]
        assert counts.wins + counts.ties / 2 == stats.mannwhitneyu(a, b, method="asymptotic").statistic
        assert counts.pairs == a.size * b.size
        assert counts.ties == np.bincount(a, minlength=ranks.max() + 1) @ np.bincount(
            b, minlength=ranks.max() + 1
        )


def test_mixed_precision_compares_values_not_types():
    single = np.array([0.1, 0.2], dtype=np.float32)
    assert rank_counts(single.astype(np.float64), single) == RankCounts(wins=1, losses=1, ties=2)


def test_by_group_ignores_rows_without_a_group():
    found = rank_counts_by_group([3, 1, 9, 1, 2], ["a", "a", None, "b", "b"], reference="b")
    assert found == {"a": RankCounts(wins=2, losses=1, ties=1)}
    with pytest.raises(InputError, match="reference group 'c'"):
        rank_counts_by_group([1, 2], ["a", "b"], reference="c")


def test_score_gap_by_hand():
    assert score_gap([0.5, 1.0], [0.25, 0.25]) == 0.5
    assert score_gap([1, 2, 3], [4]) == -2.0


@given(MODERATE, MODERATE, st.floats(-10, 10), st.floats(-10, 10))
def test_score_gap_scales_and_ignores_shifts(group, reference, scale, shift):
    a, b = np.array(group), np.array(reference)
    assert score_gap(a * scale + shift, b * scale + shift) == pytest.approx(scale * score_gap(a, b), abs=1e-9)
    assert score_gap(a, b) == -score_gap(b, a)


def test_jensen_shannon_by_hand():
    # p = (1/2, 1/2), q = (1, 0), m = (3/4, 1/4).
    expected = 0.5 * (0.5 * np.log(0.5 / 0.75) + 0.5 * np.log(2)) + 0.5 * np.log(1 / 0.75)
    assert jensen_shannon_divergence([0, 1], [0, 0], bins=2) == pytest.approx(expected, abs=1e-15)
    assert jensen_shannon_divergence([0, 1], [5, 6], bins=10) == pytest.approx(np.log(2), abs=1e-15)
    assert jensen_shannon_divergence([2, 2], [2], bins=5) == 0.0


@given(MODERATE, MODERATE, st.integers(1, 40))
def test_jensen_shannon_is_scipys_distance_squared(group, reference, bins):
    scores = np.array([*group, *reference])
    span = np.ptp(scores)
    assume(span == 0 or span > 1e-6)
    edges = np.histogram_bin_edges(scores, bins)
    # Next to an inner edge, ours allows for rounding and numpy does not: other tests cover that.
    assume(np.abs(scores[:, None] - edges[1:-1]).min(initial=1.0) > 1e-6 * span)
    found = jensen_shannon_divergence(group, reference, bins=bins)
    p, q = np.histogram(group, edges)[0], np.histogram(reference, edges)[0]
    assert found == pytest.approx(jensenshannon(p, q) ** 2, abs=1e-9)
    assert 0 <= found <= np.log(2)
    assert found == jensen_shannon_divergence(reference, group, bins=bins)
    assert found == jensen_shannon_divergence(group, reference, bins=edges)


@pytest.mark.parametrize("bins", [0, [1.0], [0.0, 0.0, 9.0], [0.0, 2.0]])
def test_jensen_shannon_refuses_bins_that_do_not_fit(bins):
    with pytest.raises(InputError, match="bins"):
        jensen_shannon_divergence([1.0, 2.0], [3.0], bins=bins)


@given(MODERATE, MODERATE)
def test_earth_movers_distance_is_scipys_and_bounds_the_gap(group, reference):
    found = earth_movers_distance(group, reference)
    assert found == pytest.approx(stats.wasserstein_distance(group, reference), abs=1e-9)
    assert found >= abs(score_gap(group, reference)) - 1e-9


@pytest.mark.parametrize("metric", [rabbi, score_gap, jensen_shannon_divergence, earth_movers_distance])
def test_undefined_says_why(metric):
    with pytest.raises(UndefinedMetricError, match="group: no scores"):
        metric([], [1.0])
    with pytest.raises(UndefinedMetricError, match="reference: 1 of 2 scores are missing"):
        metric([1.0], [1.0, np.nan])
    with pytest.raises(UndefinedMetricError, match="group: 1 of 1 scores are missing"):
        metric([None], [1.0])
    with pytest.raises(InputError, match="one dimension"):
        metric([[1.0]], [1.0])
    with pytest.raises(InputError, match="expected numbers"):
        metric(["high"], [1.0])


@pytest.mark.parametrize("metric", [score_gap, jensen_shannon_divergence, earth_movers_distance])
def test_infinite_scores_have_no_distance_but_a_rank(metric):
    with pytest.raises(UndefinedMetricError, match="1 of 2 scores are infinite"):
        metric([1.0, np.inf], [1.0])
    assert rabbi([1.0, np.inf], [1.0]) == 0.5


def exact_divergence(group, reference, bins=20):
    """By hundredths, in whole numbers."""
    low, high = min(group + reference), max(group + reference)
    shares = []
    for side in (group, reference):
        places = [min(bins * (score - low) // (high - low), bins - 1) for score in side]
        shares.append([Fraction(places.count(place), len(side)) for place in range(bins)])
    return sum(
        float(mine) / 2 * math.log(2 * mine / (mine + other))
        for p, q in (shares, shares[::-1])
        for mine, other in zip(p, q, strict=True)
        if mine
    )


STEPS = st.lists(st.integers(0, 20).map(lambda step: 5 * step), min_size=1, max_size=20)


@given(STEPS, STEPS, st.sampled_from([np.float64, np.float32]))
def test_divergence_does_not_depend_on_the_unit_of_the_scores(group, reference, dtype):
    group, reference = [0, 100, *group], [0, 100, *reference]
    expected = exact_divergence(group, reference)
    assert jensen_shannon_divergence(group, reference) == pytest.approx(expected, abs=1e-12)
    # 0.15 is below three times 0.05 as floats go: it must not fall into the bin below.
    a, b = (np.array([score / 100 for score in side], dtype) for side in (group, reference))
    assert jensen_shannon_divergence(a, b) == jensen_shannon_divergence(group, reference)


def test_divergence_of_hand_counted_scores_on_an_edge():
    group, reference = [0.15] * 50 + [0, 1], [0.10] * 50 + [0, 1]
    # 50 of 52 of each side stand alone in their bins, the others coincide.
    assert jensen_shannon_divergence(group, reference) == pytest.approx(50 / 52 * math.log(2), abs=1e-12)


@pytest.mark.parametrize(
    ("group", "reference"),
    [
        ([1.0] * 5, [1.0, 0.9999999999999998]),
        ([0.3], [0.1 + 0.2]),
        # Two samples that do not overlap at all; at this size a float knows 64 places between them.
        (1e14 + np.linspace(0, 0.4, 50), 1e14 + np.linspace(0.6, 1, 50)),
        (-1e15 - np.arange(3.0), -1e15 - np.arange(4.0, 7.0)),
    ],
)
def test_scores_too_close_for_their_size_are_undefined_and_not_equal(group, reference):
    with pytest.raises(UndefinedMetricError, match="too close for 20 bins"):
        jensen_shannon_divergence(group, reference)


def test_a_large_offset_that_the_floats_can_bear_changes_nothing():
    group, reference = np.linspace(0, 0.4, 50), np.linspace(0.6, 1, 50)
    assert jensen_shannon_divergence(1e9 + group, 1e9 + reference) == pytest.approx(math.log(2))
    assert jensen_shannon_divergence([0.1 + 0.2] * 3, [0.1 + 0.2]) == 0


def test_divergence_of_huge_and_of_yes_or_no_scores():
    assert jensen_shannon_divergence([1e308, 1.5e308], [-1e308, -1.5e308]) == pytest.approx(math.log(2))
    assert jensen_shannon_divergence([True, False], [1, 0]) == 0


def test_sums_near_the_largest_float_do_not_overflow():
    assert score_gap([1e308] * 2, [1e308] * 2) == 0
    assert score_gap([1.5e308] * 3, [1e308] * 2) == pytest.approx(0.5e308)
    assert earth_movers_distance([-1e308, 1e308], [-1e308, 1e308]) == 0
    with pytest.raises(UndefinedMetricError, match="larger than the largest"):
        score_gap([1.7e308], [-1.7e308])


def test_numbers_that_numpy_would_round_are_not_compared():
    with pytest.raises(InputError, match="cannot be compared exactly"):
        rank_counts(np.array([2**63 + 5], np.uint64), np.array([2**63 - 1]))
    with pytest.raises(InputError, match="cannot be compared exactly"):
        rabbi(np.array([2**53 + 1]), np.array([2.0**53]))
    with pytest.raises(InputError, match="too large for 64 bits"):
        rabbi([2**64 + 1], [2**64])
    assert rabbi(np.array([2**53 + 1]), np.array([2**53])) == 1


@pytest.mark.parametrize(
    "column", [pd.Series(["1_000", "2"]), pd.Series(["1", "2"], dtype="string"), ["1", "2"]]
)
def test_text_is_no_score(column):
    with pytest.raises(InputError, match="group: expected numbers"):
        score_gap(column, [1])
