from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.results import Undefined
from audit_lib.stats import ratio_of_proportions, simultaneous_log_ratios, simultaneous_ratios

categories = st.lists(
    st.integers(1, 50).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=2, max_size=5
)


def test_two_categories_are_koopmans_interval():
    result = simultaneous_ratios([30, 48], [50, 60])
    koopman = ratio_of_proportions(30, 50, 48, 60)
    pair = result.pairs[0]
    assert (pair.interval.low, pair.interval.high) == pytest.approx((koopman.low, koopman.high), rel=1e-9)
    assert (pair.conditional.low, pair.conditional.high) == (koopman.low, koopman.high)
    assert (pair.interval.kind, pair.conditional.kind) == ("simultaneous", "conditional")
    assert result.to_highest[0].low == pair.interval.low


@settings(max_examples=60)
@given(categories)
def test_ratio_to_the_highest_lies_in_its_interval(cells):
    selected, totals = zip(*cells, strict=True)
    result = simultaneous_ratios(selected, totals, draws=2000)
    best = max(x / n for x, n in cells)
    for (x, n), interval in zip(cells, result.to_highest, strict=True):
        assert 0.0 <= interval.low <= interval.high <= 1.0
        if best > 0:
            assert interval.low - 1e-9 <= (x / n) / best <= interval.high + 1e-9
    for pair in result.pairs:
        assert isinstance(pair.value, Undefined) == (selected[pair.second] == 0)
        assert pair.interval.low <= pair.conditional.low
        assert pair.conditional.high <= pair.interval.high


def test_to_highest_is_the_most_extreme_pair():
    result = simultaneous_ratios([48, 30, 24, 3], [60, 50, 48, 40])
    limits = {(p.first, p.second): p.interval for p in result.pairs}
    assert result.to_highest[3].high == pytest.approx(min(1 / limits[i, 3].low for i in range(3)))
    assert result.to_highest[3].low == pytest.approx(min(1 / limits[i, 3].high for i in range(3)))
    assert result.to_highest[3].high < 0.8


def test_it_is_wider_than_the_interval_for_a_fixed_pair():
    selected, totals = [40, 38, 37, 36, 35], [50] * 5
    result = simultaneous_ratios(selected, totals)
    assert result.critical_value == pytest.approx(2.728, abs=0.02)  # Tukey, five groups


def test_nobody_selected_anywhere_says_nothing():
    result = simultaneous_ratios([0, 0, 0], [5, 6, 7])
    assert all((i.low, i.high) == (0.0, 1.0) for i in result.to_highest)
    assert math.isinf(result.pairs[0].interval.high)
    assert result.pairs[0].interval.as_dict()["high"] is None


def test_log_ratios_of_large_samples_agree_with_the_score_limits():
    selected, totals = np.array([50_000, 42_000, 46_000]), np.array([100_000] * 3)
    rates = selected / totals
    wald = simultaneous_log_ratios(rates, np.diag(rates * (1 - rates) / totals))
    score = simultaneous_ratios(selected.tolist(), totals.tolist())
    for a, b in zip(wald.to_highest, score.to_highest, strict=True):
        assert (a.low, a.high) == pytest.approx((b.low, b.high), abs=5e-4)


def test_shared_applications_make_log_ratios_surer():
    rates, v = np.array([0.5, 0.4]), np.diag([0.0025, 0.0024])
    apart = simultaneous_log_ratios(rates, v)
    shared = simultaneous_log_ratios(rates, v + np.array([[0, 0.002], [0.002, 0]]))
    assert shared.to_highest[1].high < apart.to_highest[1].high
    assert shared.to_highest[1].low > apart.to_highest[1].low


def test_log_ratio_by_hand():
    result = simultaneous_log_ratios([0.8, 0.6], np.diag([0.0016, 0.0024]))
    error = math.sqrt(0.0016 / 0.64 + 0.0024 / 0.36)
    expected = (4 / 3) * math.exp(-1.959963984540054 * error)
    assert result.pairs[0].interval.low == pytest.approx(expected)
    assert result.to_highest[0].low == 1.0


def test_refusals():
    with pytest.raises(UndefinedMetricError, match="no one in category 1"):
        simultaneous_ratios([1, 0], [2, 0])
    with pytest.raises(UndefinedMetricError, match="fewer than two categories"):
        simultaneous_ratios([1], [2])
    with pytest.raises(InputError, match="2 counts of selected for 1 totals"):
        simultaneous_ratios([1, 2], [2])
    with pytest.raises(UndefinedMetricError, match="a rate is 0"):
        simultaneous_log_ratios([0.0, 0.5], np.eye(2))
