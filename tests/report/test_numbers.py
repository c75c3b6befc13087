"""Printed numbers never say what the exact ones do not."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.report.numbers import MINUS, guarded, half_up, p_value, signed

FOUR_FIFTHS = Fraction(4, 5)


def read(text: str) -> Fraction:
    return Fraction(text.replace(MINUS, "-"))


@given(st.integers(-(10**6), 10**6), st.integers(0, 6))
def test_halves_go_up_as_in_decimal_arithmetic(thousandths: int, digits: int) -> None:
    expected = Decimal(thousandths).scaleb(-3).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    assert read(half_up(Fraction(thousandths, 1000), digits)) == Fraction(expected)


@given(st.fractions(0, 2, max_denominator=10**5), st.integers(1, 4))
def test_a_ratio_never_rounds_across_the_guideline(value: Fraction, digits: int) -> None:
    printed = read(guarded(value, digits, FOUR_FIFTHS))
    assert (printed < FOUR_FIFTHS, printed == FOUR_FIFTHS) == (value < FOUR_FIFTHS, value == FOUR_FIFTHS)
    assert abs(printed - value) <= Fraction(1, 2 * 10**digits)


@given(st.floats(-1, 1, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-9))
def test_a_difference_that_is_not_zero_is_not_printed_as_zero(value: float) -> None:
    printed = read(signed(value))
    assert (printed > 0, printed < 0) == (value > 0, value < 0)


@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.1])
@given(p=st.floats(0.001, 1))
def test_a_p_value_never_rounds_across_alpha(alpha: float, p: float) -> None:
    limit = Fraction(str(alpha))
    if abs(Fraction(p) - limit) > Fraction(1, 10**11):
        assert (read(p_value(p, alpha)) < limit) == (Fraction(p) < limit)
