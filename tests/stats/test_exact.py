from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.results import Undefined
from audit_lib.stats import boschloo, fisher_exact
from audit_lib.stats.exact import fisher_p_values

SIDES = ("two-sided", "less", "greater")

cells = st.tuples(*[st.integers(0, 40)] * 4).filter(lambda t: t[0] + t[1] and t[2] + t[3])


def by_enumeration(a, b, c, d, midp):
    """Integers only: no rounding decides which tables are equally likely."""
    n1, n2, selected = a + b, c + d, a + c
    weights = {
        k: comb(n1, k) * comb(n2, selected - k) for k in range(max(0, selected - n2), min(n1, selected) + 1)
    }
    less = sum(w for w in weights.values() if w < weights[a])
    equal = sum(w for w in weights.values() if w == weights[a])
    return (less + (equal / 2 if midp else equal)) / sum(weights.values())


@given(cells, st.booleans())
def test_fisher_agrees_with_integer_enumeration(table, midp):
    assert fisher_exact(*table, midp=midp).p_value == pytest.approx(by_enumeration(*table, midp), rel=1e-10)


@given(cells)
def test_fisher_agrees_with_scipy(table):
    a, b, c, d = table
    for side in SIDES:
        ours = fisher_exact(*table, alternative=side).p_value
        assert ours == pytest.approx(stats.fisher_exact([[a, b], [c, d]], alternative=side).pvalue, rel=1e-9)


def test_fisher_of_large_tables():
    # far beyond what factorials in floating point would bear
    table = (10**6, 10**6 + 3000, 10**6 - 1000, 10**6)
    theirs = stats.fisher_exact([table[:2], table[2:]]).pvalue
    assert fisher_exact(*table).p_value == pytest.approx(theirs, rel=1e-8)


def test_fisher_p_value_of_an_extreme_table_is_tiny_not_zero():
    assert 0 < fisher_exact(0, 300, 300, 0).p_value < 1e-170


def test_fisher_where_nobody_was_selected():
    result = fisher_exact(0, 5, 0, 8)
    assert result.p_value == 1.0
    assert isinstance(result.statistic, Undefined)


def test_midp_of_a_symmetrical_table_halves_both_tails():
    plain, midp = fisher_exact(3, 1, 1, 3), fisher_exact(3, 1, 1, 3, midp=True)
    assert plain.p_value == pytest.approx(34 / 70)
    assert midp.p_value == pytest.approx(18 / 70)
    assert "mid-p" in midp.method
    assert "mid-p" not in plain.method


@pytest.mark.parametrize("midp", [False, True])
def test_p_values_of_all_tables_with_the_same_margins(midp):
    for selected in range(31):
        counts, p_values = fisher_p_values(selected, 12, 18, midp=midp)
        for k, p in zip(counts.tolist(), p_values, strict=True):
            assert p == pytest.approx(
                by_enumeration(k, 12 - k, selected - k, 18 - selected + k, midp), rel=1e-9
            )


@pytest.mark.parametrize(
    "table",
    [(7, 8, 12, 3), (1, 9, 8, 4), (0, 6, 3, 9), (5, 5, 5, 5), (20, 15, 30, 4), (2, 40, 3, 9), (9, 0, 4, 6)],
)
@pytest.mark.parametrize("side", SIDES)
def test_boschloo_agrees_with_scipy(table, side):
    a, b, c, d = table
    theirs = stats.boschloo_exact([[a, c], [b, d]], alternative=side, n=64).pvalue
    # theirs searches the supremum from a random start, and may stop just below it
    assert boschloo(*table, alternative=side).p_value == pytest.approx(theirs, rel=1e-5)


def unconditional(a, b, c, d, midp):
    """Every table, its own Fisher p-value, and the supremum over a fine grid."""
    n1, n2 = a + b, c + d
    observed = fisher_exact(a, b, c, d, alternative="less").p_value
    rates = np.linspace(0, 1, 4001)
    total = np.zeros(rates.size)
    for x1, x2 in product(range(n1 + 1), range(n2 + 1)):
        p = fisher_exact(x1, n1 - x1, x2, n2 - x2, alternative="less").p_value
        weight = (
            1.0 if p < observed * (1 - 1e-9) else (0.5 if midp else 1.0) if p < observed * (1 + 1e-9) else 0.0
        )
        if weight:
            total += weight * stats.binom.pmf(x1, n1, rates) * stats.binom.pmf(x2, n2, rates)
    return total.max()


@pytest.mark.parametrize("midp", [False, True])
@pytest.mark.parametrize("table", [(2, 8, 6, 3), (3, 3, 9, 1), (5, 7, 4, 1)])
def test_boschloo_agrees_with_enumeration(table, midp):
    ours = boschloo(*table, alternative="less", midp=midp).p_value
    assert ours == pytest.approx(unconditional(*table, midp), rel=1e-5)


@given(st.tuples(*[st.integers(0, 9)] * 4).filter(lambda t: t[0] + t[1] and t[2] + t[3]))
def test_boschloo_is_never_above_one_sided_fisher(table):
    for side in ("less", "greater"):
        fisher = fisher_exact(*table, alternative=side).p_value
        assert boschloo(*table, alternative=side).p_value <= fisher * (1 + 1e-9) + 1e-12


def test_boschloo_keeps_its_level():
    n1, n2, alpha = 9, 7, 0.05
    rejected = np.array(
        [[boschloo(x, n1 - x, y, n2 - y).p_value <= alpha for y in range(n2 + 1)] for x in range(n1 + 1)]
    )
    assert rejected.any()
    for rate in np.linspace(0.01, 0.99, 50):
        size = (
            stats.binom.pmf(np.arange(n1 + 1), n1, rate)
            @ rejected
            @ stats.binom.pmf(np.arange(n2 + 1), n2, rate)
        )
        assert size <= alpha + 1e-9


@pytest.mark.parametrize("call", [fisher_exact, boschloo])
def test_refusals(call):
    with pytest.raises(UndefinedMetricError, match="no one in the group"):
        call(0, 0, 1, 2)
    with pytest.raises(InputError, match="negative cell"):
        call(-1, 2, 1, 2)
    with pytest.raises(InputError, match="alternative is 'lower'"):
        call(1, 2, 1, 2, alternative="lower")
