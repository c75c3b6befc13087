"""Exact numbers as they are printed, and how a printed number agrees with the exact one."""

from __future__ import annotations

from fractions import Fraction
from numbers import Rational
from typing import Literal

from audit_lib.errors import InputError


def as_fraction(value: Fraction | int | float | str) -> Fraction:
    """Return the decimal a person wrote: 0.8 becomes 4/5, not the binary number nearest to it.

    Python's and numpy's floats alike are read as they print.

    Parameters
    ----------
    value : Fraction, int, float or str
        A number, or its decimal digits.

    Raises
    ------
    InputError
        If it is no finite number.

    Examples
    --------
    >>> as_fraction(0.8)
    Fraction(4, 5)
    """
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise InputError(f"expected a finite number such as 0.8 or '4/5', got {value!r}") from None


def round_half_up(value: Fraction, digits: int) -> str:
    """Print an exact value with so many decimals, halves rounded up, as the rule's tables do.

    Parameters
    ----------
    value : Fraction
        At least 0. For a percentage, pass ``100 * rate``.
    digits : int
        Decimals, at least 0.

    Raises
    ------
    InputError
        If `value` is a float, which is not the decimal it prints, or one of the two is negative.

    Examples
    --------
    >>> round_half_up(Fraction(1, 8), 2), round_half_up(100 * Fraction(18, 28), 1)
    ('0.13', '64.3')
    """
    return _decimal(_half_up(value, digits), digits)


def rounded_half_up(value: Fraction, digits: int) -> Fraction:
    """Return what `round_half_up` prints, as an exact value.

    Parameters
    ----------
    value : Fraction
        At least 0.
    digits : int
        Decimals, at least 0.

    Raises
    ------
    InputError
        As `round_half_up` does.

    Examples
    --------
    >>> rounded_half_up(Fraction(1, 8), 2)
    Fraction(13, 100)
    """
    return Fraction(_half_up(value, digits), 10**digits)


def printed_agreement(value: Fraction, printed: str) -> Literal["rounded", "truncated", "differs"]:
    """Say how a printed number agrees with the exact one, at the printed digits.

    Parameters
    ----------
    value : Fraction
        The exact number, in the unit printed (100 times the rate for a percentage).
    printed : str
        Digits as printed; a percent sign is ignored, and a leading zero may be missing.

    Returns
    -------
    {"rounded", "truncated", "differs"}
        ``rounded``: equal after rounding half up. ``truncated``: equal after cutting digits off.

    Raises
    ------
    InputError
        If `printed` is no decimal number.

    Examples
    --------
    >>> printed_agreement(100 * Fraction(18, 28), "64.2%"), printed_agreement(Fraction(2, 3), ".67")
    ('truncated', 'rounded')
    """
    text = printed.strip().rstrip("%").strip()
    whole, _, decimals = text.partition(".")
    if not (whole + decimals).isdecimal():
        raise InputError(f"expected a printed decimal number, got {printed!r}")
    digits, shown = len(decimals), int(whole + decimals)
    if _half_up(value, digits) == shown:
        return "rounded"
    return "truncated" if value.numerator * 10**digits // value.denominator == shown else "differs"


def _half_up(value: Fraction, digits: int) -> int:
    """Return the value in units of its last decimal; whole numbers alone are a tenth of the work of fractions."""
    if not isinstance(value, Rational):
        raise InputError(f"expected an exact value such as Fraction(1, 8), got {type(value).__name__}")
    if value < 0 or digits < 0:
        raise InputError(f"expected a value and digits of at least 0, got {value} and {digits}")
    units: int = (2 * value.numerator * 10**digits + value.denominator) // (2 * value.denominator)
    return units


def _decimal(scaled: int, digits: int) -> str:
    text = str(scaled).rjust(digits + 1, "0")
    return f"{text[:-digits]}.{text[-digits:]}" if digits else text
