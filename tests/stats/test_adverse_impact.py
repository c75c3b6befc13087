from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import hypergeom
from statsmodels.stats.proportion import proportions_ztest

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.stats import (
    exact_ratio,
    fisher_exact,
    flip_flop,
    is_below,
    shortfall,
    two_standard_deviations,
)

tables = st.integers(1, 80).flatmap(
    lambda n1: st.integers(1, 80).flatmap(
        lambda n2: st.tuples(st.integers(0, n1), st.just(n1), st.integers(0, n2), st.just(n2))
    )
)


def test_four_fifths_is_not_below_four_fifths():
    assert 0.72 / 0.9 < 0.8  # what floats would say
    assert exact_ratio(72, 100, 90, 100) == Fraction(4, 5)
    assert not is_below(72, 100, 90, 100)
    assert not is_below(48, 60, 60, 60)
    assert is_below(47, 60, 60, 60)


def test_a_float_threshold_is_the_decimal_it_prints():
    assert not is_below(48, 60, 60, 60, 0.8)
    assert not is_below(48, 60, 60, 60, "0.8")
    assert is_below(48, 60, 60, 60, 0.81)


@given(tables)
def test_pooled_form_agrees_with_statsmodels(table):
    x1, n1, x2, n2 = table
    assume(0 < x1 + x2 < n1 + n2)
    z, p = proportions_ztest([x1, x2], [n1, n2])
    ours = two_standard_deviations(*table)
    assert ours.statistic == pytest.approx(z, abs=1e-9)
    assert ours.p_value == pytest.approx(p, abs=1e-9)


@given(tables)
def test_hypergeometric_form_is_a_count_less_its_mean_over_its_deviation(table):
    x1, n1, x2, n2 = table
    assume(0 < x1 + x2 < n1 + n2)
    counts = np.arange(n1 + 1)
    weights = hypergeom.pmf(counts, n1 + n2, x1 + x2, n1)
    mean = weights @ counts
    deviation = np.sqrt(weights @ np.square(counts - mean))
    ours = two_standard_deviations(*table, form="hypergeometric").statistic
    assert ours == pytest.approx((x1 - mean) / deviation, abs=1e-7)


def test_shortfall_at_the_comparators_rate():
    # 15 of 405 where the comparator's rate is 15.4%: 62.37 expected
    assert shortfall(15, 405, 154, 1000, expected_at="comparator") == pytest.approx(47.37)
    assert shortfall(15, 405, 154, 1000) == pytest.approx(405 * 169 / 1405 - 15)


@given(tables)
def test_pooled_shortfalls_of_both_groups_cancel(table):
    x1, n1, x2, n2 = table
    assert shortfall(x1, n1, x2, n2) == pytest.approx(-shortfall(x2, n2, x1, n1))
    at_comparator = shortfall(*table, expected_at="comparator")
    # the pooled rate moves towards the group's own, so it asks for less
    assert abs(shortfall(*table)) <= abs(at_comparator) + 1e-12


def test_flip_flop_reverses_a_finding_that_hangs_on_one_person():
    check = flip_flop(3, 10, 8, 20)
    assert check.ratio == Fraction(3, 4)
    assert check.below_threshold
    assert check.ratio_after == Fraction(4 * 20, 10 * 7)
    assert check.threshold_reverses
    assert not check.significant


def test_flip_flop_leaves_a_large_finding_alone():
    check = flip_flop(200, 1000, 400, 1000)
    assert check.below_threshold
    assert check.significant
    assert not check.threshold_reverses
    assert not check.significance_reverses


def test_flip_flop_of_no_finding_moves_one_away_from_the_group():
    check = flip_flop(48, 60, 60, 60)
    assert not check.below_threshold
    # the comparator already selected everybody: no such move exists
    assert check.ratio_after is None
    assert not check.threshold_reverses
    check = flip_flop(48, 60, 59, 60)
    assert check.ratio_after == Fraction(47, 60)
    assert check.threshold_reverses


def test_flip_flop_that_takes_the_comparators_only_selection():
    check = flip_flop(0, 5, 1, 5)
    assert check.below_threshold
    assert check.ratio_after is None
    assert check.threshold_reverses


@given(tables)
def test_flip_flop_states_what_the_moved_table_says(table):
    x1, n1, x2, n2 = table
    assume(x2 > 0)
    check = flip_flop(*table)
    step = 1 if check.significant else -1
    moved = (x1 + step, x2 - step)
    if 0 <= moved[0] <= n1 and 0 <= moved[1] <= n2:
        p = fisher_exact(moved[0], n1 - moved[0], moved[1], n2 - moved[1]).p_value
        after = moved[0] * n2 < moved[1] * n1 and p < 0.05
        assert check.p_value_after == p
        assert check.significance_reverses == (after != check.significant)
    else:
        assert check.p_value_after is None
        assert not check.significance_reverses


def test_flip_flop_midp_finds_more():
    # two-sided Fisher 0.0573, mid-p 0.0365
    plain, midp = flip_flop(3, 12, 10, 14), flip_flop(3, 12, 10, 14, midp=True)
    assert plain.p_value > midp.p_value
    assert midp.as_dict()["significant"] == (midp.p_value < 0.05)


def test_refusals():
    with pytest.raises(UndefinedMetricError, match="comparator selected nobody"):
        exact_ratio(1, 2, 0, 3)
    with pytest.raises(UndefinedMetricError, match="nobody was selected"):
        two_standard_deviations(0, 4, 0, 5)
    with pytest.raises(UndefinedMetricError, match="everybody was selected"):
        two_standard_deviations(4, 4, 5, 5)
    with pytest.raises(UndefinedMetricError, match="no one in the group"):
        shortfall(0, 0, 1, 2)
    with pytest.raises(InputError, match="form is"):
        two_standard_deviations(1, 4, 2, 5, form="z")
    with pytest.raises(InputError, match="expected_at is"):
        shortfall(1, 4, 2, 5, expected_at="group")


@pytest.mark.parametrize("threshold", [0.8, np.float64(0.8), np.float32(0.8), "0.8", "4/5", Fraction(4, 5)])
def test_a_threshold_is_read_as_the_decimal_it_prints(threshold):
    assert not is_below(48, 60, 60, 60, threshold=threshold)
    assert is_below(47, 60, 60, 60, threshold=threshold)


@pytest.mark.parametrize("threshold", [float("nan"), float("inf"), "high", "1/0"])
def test_a_threshold_is_a_finite_number(threshold):
    with pytest.raises(InputError, match="expected a finite number"):
        is_below(48, 60, 60, 60, threshold=threshold)
