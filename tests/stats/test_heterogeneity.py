from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import StratifiedTable
from statsmodels.stats.meta_analysis import combine_effects

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.results import Undefined
from audit_lib.stats import breslow_day, cochran_q, mantel_haenszel, simpson_check
from audit_lib.stats.heterogeneity import _expected

inner = st.integers(2, 40).flatmap(
    lambda n1: st.integers(2, 40).flatmap(
        lambda n2: st.tuples(st.integers(1, n1 - 1), st.just(n1), st.integers(1, n2 - 1), st.just(n2))
    )
)
many = st.lists(inner, min_size=2, max_size=6)

BERKELEY = [
    (89, 108, 512, 825),
    (17, 25, 353, 560),
    (202, 593, 120, 325),
    (131, 375, 138, 417),
    (94, 393, 53, 191),
    (24, 341, 22, 373),
]


def stratified(strata):
    return StratifiedTable([np.array([[a, n - a], [b, m - b]], dtype=float) for a, n, b, m in strata])


@given(many)
def test_agrees_with_statsmodels(strata):
    theirs, ours = stratified(strata), mantel_haenszel(strata)
    assert ours.odds_ratio == pytest.approx(theirs.oddsratio_pooled, rel=1e-9)
    limits = ours.interval.low, ours.interval.high
    assert limits == pytest.approx(theirs.oddsratio_pooled_confint(), rel=1e-9)
    assert ours.test.statistic == pytest.approx(theirs.test_null_odds().statistic, rel=1e-9, abs=1e-12)
    # theirs divides 0 by 0 at a common odds ratio of exactly 1
    assume(abs(ours.odds_ratio - 1) > 1e-6)
    for tarone in (False, True):
        expected = theirs.test_equal_odds(adjust=tarone)
        test = breslow_day(strata, tarone=tarone)
        assert test.statistic == pytest.approx(expected.statistic, rel=1e-5, abs=1e-7)
        assert test.p_value == pytest.approx(expected.pvalue, rel=1e-4, abs=1e-7)


def test_berkeley():
    # R: mantelhaen.test(UCBAdmissions, correct = FALSE) and DescTools::BreslowDayTest
    result = mantel_haenszel(BERKELEY)
    assert 1 / result.odds_ratio == pytest.approx(0.9047, abs=5e-5)
    assert result.test.statistic == pytest.approx(1.5246, abs=5e-4)
    assert breslow_day(BERKELEY, tarone=False).statistic == pytest.approx(18.83, abs=0.02)
    check = simpson_check(BERKELEY)
    assert check.pooled_gap == pytest.approx(557 / 1835 - 1198 / 2691)
    assert check.reversed
    assert not check.complete
    assert (check.lower, check.equal, check.higher) == (2, 0, 4)


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0.01, 4)), min_size=2, max_size=8))
def test_cochran_q_agrees_with_statsmodels(rows):
    effects, variances = map(np.array, zip(*rows, strict=True))
    with np.errstate(divide="ignore"):
        theirs = combine_effects(effects, variances)
    ours = cochran_q(effects, variances)
    assert ours.statistic == pytest.approx(theirs.q, rel=1e-7, abs=1e-9)
    assert ours.n == len(rows)


@given(inner, st.floats(0.02, 50))
def test_expected_count_has_the_odds_ratio(stratum, odds_ratio):
    x1, n1, x2, n2 = stratum
    a = Fraction(*_expected(odds_ratio, n1, n2, x1 + x2))
    b, c = n1 - a, x1 + x2 - a
    d = n2 - c
    assert min(a, b, c, d) > 0
    assert a * d / (b * c) == pytest.approx(odds_ratio, rel=1e-7)


def test_strata_without_information_are_left_out_and_counted():
    useless = [(0, 5, 0, 9), (5, 5, 3, 3), (0, 0, 2, 7)]
    full, padded = mantel_haenszel(BERKELEY), mantel_haenszel(BERKELEY + useless)
    assert padded.odds_ratio == full.odds_ratio
    assert padded.test.method.endswith("over 6 of 9 strata")
    assert breslow_day(BERKELEY + useless).statistic == breslow_day(BERKELEY).statistic


def test_one_sided_strata_have_no_finite_odds_ratio():
    result = mantel_haenszel([(5, 5, 2, 6), (3, 3, 1, 4)])
    assert isinstance(result.odds_ratio, Undefined)
    assert 0 < result.test.p_value < 0.1
    with pytest.raises(UndefinedMetricError, match="no finite odds ratio"):
        breslow_day([(5, 5, 2, 6), (3, 3, 1, 4)])


@given(st.lists(inner, min_size=1, max_size=5))
def test_simpson_counts_every_stratum(strata):
    check = simpson_check(strata)
    assert check.lower + check.equal + check.higher == len(strata)
    assert check.reversed == (check.pooled_gap * check.adjusted_gap < 0)
    turned = simpson_check([(b, m, a, n) for a, n, b, m in strata])
    assert turned.pooled_gap == pytest.approx(-check.pooled_gap, abs=1e-15)
    assert (turned.lower, turned.higher) == (check.higher, check.lower)
    assume(len(strata) == 1)
    assert not check.reversed


def test_complete_reversal():
    check = simpson_check([(8, 10, 70, 100), (30, 100, 2, 10)])
    assert check.pooled_gap < 0 < check.adjusted_gap
    assert check.reversed
    assert check.complete
    assert math.isclose(check.adjusted_gap, 0.1)


def test_refusals():
    with pytest.raises(UndefinedMetricError, match="no stratum has both groups"):
        mantel_haenszel([(0, 3, 0, 4)])
    with pytest.raises(UndefinedMetricError, match="1 stratum carries information"):
        breslow_day([(1, 3, 2, 4)])
    with pytest.raises(UndefinedMetricError, match="members of both groups"):
        simpson_check([(1, 3, 0, 0)])
    with pytest.raises(UndefinedMetricError, match="fewer than two"):
        cochran_q([1.0], [1.0])
    with pytest.raises(UndefinedMetricError, match="cannot be weighted"):
        cochran_q([1.0, 2.0], [1.0, 0.0])
    with pytest.raises(InputError, match="stratum 1 has 5 of 3"):
        mantel_haenszel([(1, 3, 2, 4), (5, 3, 2, 4)])


def test_q_of_what_is_not_finite_is_undefined():
    for estimates, variances in (([math.nan, 1], [1, 1]), ([1, 2], [1, math.inf]), ([1e200, -1e200], [1, 1])):
        with pytest.raises(UndefinedMetricError):
            cochran_q(estimates, variances)


@pytest.mark.parametrize("stratum", [(20.9, 50, 30, 50), ("20", 50, 30, 50), (-1, 50, 30, 50), (20, 50, 30)])
def test_strata_hold_counts(stratum):
    with pytest.raises(InputError, match="stratum 1"):
        mantel_haenszel([(30, 60, 8, 30), stratum])


@pytest.mark.parametrize("n", [10**9, 10**15, 10**17])
def test_equal_strata_agree_at_any_odds_ratio(n):
    # Equal strata: each expects what it shows, so the statistic is 0.
    assert breslow_day([(n - 1, n, 1, n)] * 2).statistic == pytest.approx(0, abs=1e-6)
    mixed = breslow_day([(n, n, 1, n), (1, 2, 1, 2)])
    assert mixed.statistic > 0
    assert 0 <= mixed.p_value <= 1
