"""How numbers print: half up, once, from exact values, and never across a threshold."""

from __future__ import annotations

import math
from datetime import date
from fractions import Fraction
from typing import Final

from audit_lib.results import Undefined
from audit_lib.translation import mark, t

UNDEFINED = mark("undefined")
MINUS = "\N{MINUS SIGN}"
_MOST_DIGITS = 12
_MONTHS: Final = (
    mark("January"), mark("February"), mark("March"), mark("April"), mark("May"), mark("June"), mark("July"),
    mark("August"), mark("September"), mark("October"), mark("November"), mark("December"),
)  # fmt: skip


def half_up(value: Fraction, digits: int) -> str:
    """Print `value` with `digits` after the point, halves away from zero.

    Examples
    --------
    >>> half_up(Fraction(1, 8), 2), half_up(Fraction(-1, 8), 2), half_up(Fraction(2, 3), 0)
    ('0.13', '−0.13', '1')
    """
    scaled = abs(value) * 10**digits
    whole = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    text = str(whole).rjust(digits + 1, "0")
    text = f"{text[:-digits]}.{text[-digits:]}" if digits else text
    return f"{MINUS}{text}" if value < 0 and whole else text


def guarded(value: Fraction, digits: int, *thresholds: Fraction) -> str:
    """Print `value` with `digits` after the point, or more where these would put it on or over a threshold.

    Examples
    --------
    >>> guarded(Fraction(7996, 10000), 3, Fraction(4, 5)), guarded(Fraction(4, 5), 3, Fraction(4, 5))
    ('0.7996', '0.800')
    """
    for precision in range(digits, _MOST_DIGITS):
        text = half_up(value, precision)
        printed = Fraction(text.replace(MINUS, "-"))
        if all((printed > t) - (printed < t) == (value > t) - (value < t) for t in thresholds):
            return text
    return half_up(value, _MOST_DIGITS)


def percent(value: Fraction, digits: int, *thresholds: Fraction) -> str:
    """Print a share as a percentage; it never rounds across a threshold, given as a share.

    Examples
    --------
    >>> percent(Fraction(667, 1390), 1), percent(Fraction(196, 10000), 1, Fraction(2, 100))
    ('48.0%', '1.96%')
    """
    return f"{guarded(value * 100, digits, *(100 * threshold for threshold in thresholds))}%"


def signed(value: float | Fraction | Undefined, digits: int = 3) -> str:
    """Print a difference with its sign; a difference that is not 0 never prints as 0.

    Examples
    --------
    >>> signed(0.0421), signed(-0.0421), signed(0.0), signed(-0.0000021)
    ('+0.042', '−0.042', '0.000', '−0.000002')
    """
    if isinstance(value, Undefined):
        return t(UNDEFINED)
    exact = Fraction(value)
    text = guarded(exact, digits, Fraction(0))
    return f"+{text}" if exact > 0 else text


def decimal(value: float | Undefined, digits: int = 3) -> str:
    """Print a number that is not a ratio to be compared with a threshold."""
    return t(UNDEFINED) if isinstance(value, Undefined) else half_up(Fraction(value), digits)


def p_value(value: float | Undefined, alpha: float) -> str:
    """Print a p-value; it never rounds across `alpha`.

    Examples
    --------
    >>> p_value(0.0496, 0.05), p_value(0.04999, 0.05), p_value(1e-9, 0.05), p_value(0.0006, 0.0005)
    ('0.0496', '0.04999', '< 0.001', '0.001')
    """
    if isinstance(value, Undefined):
        return t(UNDEFINED)
    if value < 0.001 <= alpha:
        return "< 0.001"
    return guarded(Fraction(value), 3, Fraction(str(alpha)))


def p_or_dash(value: float | None, alpha: float) -> str:
    """Print a p-value; a dash where there is none."""
    return "\N{EN DASH}" if value is None else p_value(value, alpha)


def interval(
    low: float | None, high: float | None, digits: int, *thresholds: Fraction, sign: bool = False
) -> str:
    """Print an interval; a limit that does not exist prints as such.

    Examples
    --------
    >>> interval(0.61, 1.2, 3, Fraction(4, 5)), interval(0.0, None, 3)
    ('0.610 to 1.200', '0.000 to no limit')
    """

    def limit(value: float | None) -> str:
        if value is None or math.isinf(value):
            return t("no limit")
        return signed(value, digits) if sign else guarded(Fraction(value), digits, *thresholds)

    return t("{low} to {high}", low=limit(low), high=limit(high))


def day(value: date) -> str:
    """Print a day with its month in words.

    Examples
    --------
    >>> day(date(2026, 1, 5))
    '5 January 2026'
    """
    return t("{day} {month} {year}", day=value.day, month=t(_MONTHS[value.month - 1]), year=value.year)


def count(value: int) -> str:
    """Print a whole number with thousands separated.

    Examples
    --------
    >>> count(19200)
    '19,200'
    """
    return f"{value:,}"
