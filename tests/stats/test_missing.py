from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.stats import rate_bounds, ratio_bounds, ratio_bounds_joint

cells = st.integers(1, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(cells, st.integers(0, 8))
def test_rate_bounds_hold_every_way_to_place_the_unknown(cell, missing):
    s, n = cell
    bounds = rate_bounds(s, n, missing)
    rates = [Fraction(s + k, n + j) for j in range(missing + 1) for k in range(j + 1)]
    assert (bounds.low, bounds.high) == (min(rates), max(rates))


@given(cells, cells, st.integers(0, 6))
def test_joint_bounds_are_sharp(cell, comparator, missing):
    (s, n), (t, m) = cell, comparator
    if t + missing == 0:
        with pytest.raises(UndefinedMetricError):
            ratio_bounds_joint(s, n, missing, t, m)
        return
    ratios = [
        Fraction(s + a, n + i) / Fraction(t + b, m + j)
        for i, j in product(range(missing + 1), repeat=2)
        if i + j <= missing
        for a, b in product(range(i + 1), range(j + 1))
        if t + b > 0
    ]
    bounds = ratio_bounds_joint(s, n, missing, t, m)
    assert bounds.low == min(ratios)
    assert bounds.high == (max(ratios) if t else None)


def test_the_convention_of_published_audits():
    bounds = ratio_bounds(40, 90, 10, 50, 100)
    assert (bounds.low, bounds.high) == (
        Fraction(40, 100) / Fraction(1, 2),
        Fraction(50, 100) / Fraction(1, 2),
    )
    assert bounds.as_dict() == {"low": 0.8, "high": 1.0, "missing": 10}


def test_without_unknowns_the_bounds_are_the_value():
    bounds = ratio_bounds_joint(3, 7, 0, 5, 9)
    assert bounds.low == bounds.high == Fraction(27, 35)
    assert rate_bounds(3, 7, 0).low == Fraction(3, 7)


def test_a_category_known_only_through_unknowns():
    bounds = rate_bounds(0, 0, 4)
    assert (bounds.low, bounds.high) == (0, 1)


def test_many_unknowns_are_quick():
    bounds = ratio_bounds_joint(400, 900, 10**6, 500, 1000)
    assert bounds.low < Fraction(1, 500)
    assert bounds.high > 2


def test_refusals():
    with pytest.raises(UndefinedMetricError, match="no one in the category"):
        rate_bounds(0, 0, 0)
    with pytest.raises(UndefinedMetricError, match="comparator selected nobody"):
        ratio_bounds(1, 2, 3, 0, 4)
    with pytest.raises(InputError, match="missing is -1"):
        rate_bounds(1, 2, -1)
    with pytest.raises(InputError, match="2 selected of 0"):
        rate_bounds(2, 0, 3)


@pytest.mark.parametrize("counts", [(0, -5, 10), (-1, 0, 10), (0, 5, 1.5), (0, 5, "1"), (0, 2.5, 0)])
def test_bounds_want_counts(counts):
    with pytest.raises(InputError):
        rate_bounds(*counts)
