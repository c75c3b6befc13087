from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import xlogy
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.stats import clopper_pearson, difference_of_proportions, ratio_of_proportions, wilson
from audit_lib.stats.intervals import _constrained_by_difference
from audit_lib.stats.koopman import koopman_statistic
from tests.stats import scalar_koopman

SAMPLES = [(3, 10), (1, 7), (45, 60), (199, 200), (0, 12), (12, 12), (5000, 90000)]
TABLES = [(36, 40, 16, 80), (12, 30, 20, 40), (56, 70, 48, 80), (4, 40, 9, 35), (700, 900, 650, 800)]
RATIO = ("koopman", "mover")
DIFFERENCE = ("newcombe", "miettinen-nurminen")

tables = st.integers(1, 60).flatmap(
    lambda n1: st.integers(1, 60).flatmap(
        lambda n2: st.tuples(st.integers(0, n1), st.just(n1), st.integers(0, n2), st.just(n2))
    )
)


def limits(interval):
    return interval.low, interval.high


@pytest.mark.parametrize("level", [0.7, 0.95, 0.99])
@pytest.mark.parametrize(("x", "n"), SAMPLES)
def test_one_proportion_agrees_with_statsmodels(x, n, level):
    assert limits(wilson(x, n, level)) == pytest.approx(
        proportion_confint(x, n, 1 - level, method="wilson"), abs=1e-14
    )
    assert limits(clopper_pearson(x, n, level)) == pytest.approx(
        proportion_confint(x, n, 1 - level, method="beta"), abs=1e-14
    )


def test_wilson_of_newcombe_1998_table_1():
    # Newcombe (1998), Stat. Med. 17, 857-872, Table I, method 3
    printed = {
        (81, 263): (0.2553, 0.3662),
        (15, 148): (0.0624, 0.1605),
        (0, 20): (0.0, 0.1611),
        (1, 29): (0.0061, 0.1718),
    }
    for (x, n), expected in printed.items():
        assert limits(wilson(x, n)) == pytest.approx(expected, abs=5e-5)


def test_clopper_pearson_of_newcombe_1998_table_1():
    # the same table, methods 5 (exact) and 6 (mid-p)
    exact = {
        (81, 263): (0.2527, 0.3676),
        (15, 148): (0.0578, 0.1617),
        (0, 20): (0.0, 0.1684),
        (1, 29): (0.0009, 0.1776),
    }
    midp = {
        (81, 263): (0.2544, 0.3658),
        (15, 148): (0.0601, 0.1581),
        (0, 20): (0.0, 0.1391),
        (1, 29): (0.0017, 0.1585),
    }
    for (x, n), expected in exact.items():
        assert limits(clopper_pearson(x, n)) == pytest.approx(expected, abs=5e-5)
    for (x, n), expected in midp.items():
        assert limits(clopper_pearson(x, n, midp=True)) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("table", TABLES)
def test_koopman_agrees_with_statsmodels(table):
    theirs = confint_proportions_2indep(*table, compare="ratio", method="score", correction=False)
    assert limits(ratio_of_proportions(*table)) == pytest.approx(theirs, rel=1e-7)


@pytest.mark.parametrize("table", TABLES)
def test_newcombe_agrees_with_statsmodels(table):
    theirs = confint_proportions_2indep(*table, compare="diff", method="newcomb")
    assert limits(difference_of_proportions(*table)) == pytest.approx(theirs, abs=1e-12)


def constrained_by_brute_force(d, x1, n1, x2, n2):
    low, high = max(0.0, -d), min(1.0, 1.0 - d)
    for _ in range(6):
        p2 = np.linspace(low, high, 2001)
        p1 = np.clip(p2 + d, 0, 1)
        best = np.argmax(xlogy(x1, p1) + xlogy(n1 - x1, 1 - p1) + xlogy(x2, p2) + xlogy(n2 - x2, 1 - p2))
        low, high = p2[max(best - 1, 0)], p2[min(best + 1, 2000)]
    return p1[best], p2[best]


@pytest.mark.parametrize("table", [*TABLES, (2, 15, 1, 2), (0, 5, 3, 7), (10, 10, 3, 10)])
def test_miettinen_nurminen_limits_solve_their_equation(table):
    # statsmodels 0.15 is no witness here: it gives (0.0526, 0.3440) for 56/70 against 48/80,
    # where Newcombe's table II prints 0.0528 to 0.3382
    x1, n1, x2, n2 = table
    total = n1 + n2
    for limit in limits(difference_of_proportions(*table, method="miettinen-nurminen")):
        p1, p2 = constrained_by_brute_force(limit, *table)
        variance = (p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2) * total / (total - 1)
        assert (x1 / n1 - x2 / n2 - limit) ** 2 / variance == pytest.approx(1.959963984540054**2, rel=1e-4)


def test_differences_of_newcombe_1998_table_2():
    # Newcombe (1998), Stat. Med. 17, 873-890, Table II, method 10
    printed = {
        (56, 70, 48, 80): (0.0524, 0.3339),
        (9, 10, 3, 10): (0.1705, 0.8090),
        (6, 7, 2, 7): (0.0582, 0.8062),
        (5, 56, 0, 29): (-0.0381, 0.1926),
        (0, 10, 0, 20): (-0.1611, 0.2775),
        (0, 10, 0, 10): (-0.2775, 0.2775),
        (10, 10, 0, 20): (0.6791, 1.0),
        (10, 10, 0, 10): (0.6075, 1.0),
    }
    for table, expected in printed.items():
        assert limits(difference_of_proportions(*table)) == pytest.approx(expected, abs=5e-5)


def test_miettinen_nurminen_of_newcombe_1998_table_2():
    # the same table, method 6
    printed = {
        (56, 70, 48, 80): (0.0528, 0.3382),
        (9, 10, 3, 10): (0.1700, 0.8406),
        (6, 7, 2, 7): (0.0342, 0.8534),
        (5, 56, 0, 29): (-0.0326, 0.1933),
        (0, 10, 0, 20): (-0.1658, 0.2844),
        (0, 10, 0, 10): (-0.2879, 0.2879),
        (10, 10, 0, 20): (0.7156, 1.0),
        (10, 10, 0, 10): (0.6636, 1.0),
    }
    for table, expected in printed.items():
        ours = difference_of_proportions(*table, method="miettinen-nurminen")
        assert limits(ours) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    "table",
    [
        (2, 15, 1, 2),
        (0, 5, 3, 7),
        (5, 5, 2, 9),
        (8, 10, 7, 7),
        (0, 23, 2, 3),
        (10, 30, 25, 40),
        (6, 12, 6, 6),
    ],
)
@pytest.mark.parametrize("d", [-0.95, -0.3, -0.01, 0.0, 0.2, 0.77])
def test_constrained_maximum_is_the_maximum(table, d):
    x1, n1, x2, n2 = table
    p2 = np.linspace(max(0.0, -d), min(1.0, 1.0 - d), 40_001)

    def log_likelihood(p1, p2):
        return xlogy(x1, p1) + xlogy(n1 - x1, 1 - p1) + xlogy(x2, p2) + xlogy(n2 - x2, 1 - p2)

    brute = log_likelihood(np.clip(p2 + d, 0, 1), p2).max()
    assert log_likelihood(*_constrained_by_difference(d, *table)) >= brute - 1e-9


@pytest.mark.parametrize(
    "table", [(3, 11, 5, 9), (10, 10, 3, 10), (1, 30, 29, 30), (4, 4, 4, 4), (2, 5, 0, 8)]
)
@pytest.mark.parametrize("ratio", [0.05, 0.4, 0.9, 1.1, 3.0, 20.0])
def test_koopman_statistic_is_pearsons_chi_square_at_the_constrained_maximum(table, ratio):
    x1, n1, x2, n2 = table
    p2 = np.linspace(0.0, min(1.0, 1.0 / ratio), 400_001)[1:-1]
    p1 = ratio * p2
    best = np.argmax(xlogy(x1, p1) + xlogy(n1 - x1, 1 - p1) + xlogy(x2, p2) + xlogy(n2 - x2, 1 - p2))
    p1, p2 = p1[best], p2[best]
    chi2 = (x1 - n1 * p1) ** 2 / (n1 * p1 * (1 - p1)) + (x2 - n2 * p2) ** 2 / (n2 * p2 * (1 - p2))
    found = koopman_statistic(np.array(ratio), *(np.array(float(n)) for n in table))
    assert found == pytest.approx(chi2, rel=2e-3, abs=1e-3)


@given(tables)
def test_ratio_of_exchanged_groups_is_the_inverse(table):
    x1, n1, x2, n2 = table
    for method in RATIO:
        forth = ratio_of_proportions(x1, n1, x2, n2, method=method)
        back = ratio_of_proportions(x2, n2, x1, n1, method=method)
        assert forth.low == pytest.approx(0.0 if math.isinf(back.high) else 1 / back.high, rel=1e-9)
        assert math.isinf(forth.high) == (back.low == 0.0)


@given(tables)
def test_intervals_hold_their_estimate_and_stay_in_the_parameter_space(table):
    x1, n1, x2, n2 = table
    for method in DIFFERENCE:
        interval = difference_of_proportions(*table, method=method)
        assert -1.0 <= interval.low <= x1 / n1 - x2 / n2 <= interval.high <= 1.0
        assert interval.low < interval.high
    for method in RATIO:
        interval = ratio_of_proportions(*table, method=method)
        assert interval.low < interval.high
        assert (interval.low == 0.0) == (x1 == 0)
        assert math.isinf(interval.high) == (x2 == 0)
        if x2:
            slack = 1 + 1e-9
            assert interval.low / slack <= (x1 / n1) / (x2 / n2) <= interval.high * slack


@given(tables)
def test_score_limits_solve_their_equation(table):
    interval = ratio_of_proportions(*table)
    for limit in limits(interval):
        if 0.0 < limit < math.inf:
            assert scalar_koopman.statistic(limit, *table) == pytest.approx(1.959963984540054**2, rel=1e-6)


@given(tables)
def test_a_higher_level_is_wider(table):
    for method in RATIO:
        narrow, wide = (ratio_of_proportions(*table, level, method=method) for level in (0.7, 0.95))
        assert wide.low <= narrow.low
        assert narrow.high <= wide.high


def test_limits_at_the_edges():
    assert limits(ratio_of_proportions(0, 10, 0, 20)) == (0.0, math.inf)
    # everybody selected on both sides: the lower limit is n1 / (n1 + z^2)
    z2 = 1.959963984540054**2
    assert limits(ratio_of_proportions(10, 10, 25, 25)) == pytest.approx((10 / (10 + z2), 1 + z2 / 25))
    assert limits(wilson(0, 5))[0] == 0.0
    assert limits(wilson(5, 5))[1] == 1.0


def test_large_counts_do_not_lose_digits():
    interval = ratio_of_proportions(10**9, 2 * 10**9, 10**9, 2 * 10**9)
    error = 1.959963984540054 * math.sqrt(2 * 0.5 / 10**9)
    assert math.log(interval.high) == pytest.approx(error, rel=1e-4)


@pytest.mark.parametrize("call", [wilson, clopper_pearson])
def test_one_sample_refuses(call):
    with pytest.raises(UndefinedMetricError, match="no one in the sample"):
        call(0, 0)
    with pytest.raises(InputError, match="4 successes of 3"):
        call(4, 3)
    with pytest.raises(InputError, match="must be integers"):
        call(1.5, 3)
    with pytest.raises(InputError, match="level is 95"):
        call(1, 3, 95)


def test_two_samples_refuse():
    for call in (ratio_of_proportions, difference_of_proportions):
        with pytest.raises(UndefinedMetricError, match="no one in the comparator"):
            call(1, 2, 0, 0)
        with pytest.raises(UndefinedMetricError, match="no one in the group"):
            call(0, 0, 1, 2)
        with pytest.raises(InputError, match="method is 'katz'"):
            call(1, 2, 1, 2, method="katz")
