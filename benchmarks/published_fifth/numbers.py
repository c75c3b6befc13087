"""Rounding and the ways in which numbers and dates are written."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from math import floor

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def half_up(value: Fraction, digits: int) -> str:
    """The value with so many digits, halves rounded up."""
    whole = floor(value * 10**digits + Fraction(1, 2))
    if digits == 0:
        return str(whole)
    text = str(whole).rjust(digits + 1, "0")
    return f"{text[:-digits]}.{text[-digits:]}"


def count_text(value: int, style: str) -> str:
    """A count, with or without a comma for thousands."""
    return f"{value:,}" if style == "comma" else str(value)


def no_zero(text: str) -> str:
    """The number without the zero before its point."""
    return text[1:] if text.startswith("0.") else text


def rate_text(value: Fraction, style: str) -> str:
    """A rate: pct1 is 43.2%, frac3 is 0.432, dot3 is .432, bare1 is 43.2."""
    digits = int(style[-1])
    if style.startswith("pct"):
        return half_up(value * 100, digits) + "%"
    if style.startswith("bare"):
        return half_up(value * 100, digits)
    text = half_up(value, digits)
    return no_zero(text) if style.startswith("dot") else text


def ratio_text(value: Fraction, style: str) -> str:
    """An impact ratio: r2 is 0.88, dot2 is .88, pct1 is 88.1%."""
    digits = int(style[-1])
    if style.startswith("pct"):
        return half_up(value * 100, digits) + "%"
    text = half_up(value, digits)
    return no_zero(text) if style.startswith("dot") else text


def rate_rounding(style: str) -> str:
    """How the page tells the rounding of its rates."""
    digits = int(style[-1])
    if style.startswith(("pct", "bare")):
        return ["the nearest whole percent", "one decimal place", "two decimal places"][digits]
    return {2: "two", 3: "three", 4: "four"}[digits] + " decimal places"


def ratio_rounding(style: str) -> str:
    """How the page tells the rounding of its ratios."""
    if style.startswith("pct"):
        return "one tenth of a percent"
    return {2: "two", 3: "three", 4: "four"}[int(style[-1])] + " decimal places"


def date_text(day: date, style: str) -> str:
    """A date in one of the usual forms."""
    month = MONTHS[day.month - 1]
    if style == "us":
        return f"{month} {day.day}, {day.year}"
    if style == "day":
        return f"{day.day} {month} {day.year}"
    if style == "slash":
        return f"{day.month:02d}/{day.day:02d}/{day.year}"
    if style == "iso":
        return day.isoformat()
    short = month if len(month) < 5 else month[:3] + "."
    return f"{short} {day.day}, {day.year}"
