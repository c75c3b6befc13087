"""How a page writes rates, ratios and dates."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction


@dataclass(frozen=True)
class Notation:
    """A share as a percentage, as a percentage without its sign (``bare``) or as a fraction (0.439 or .439)."""

    unit: str
    places: int
    leading_zero: bool = True

    def write(self, value: Fraction) -> str:
        if self.unit == "fraction":
            digits = rounded(value, self.places)
            return digits[1:] if digits.startswith("0.") and not self.leading_zero else digits
        return rounded(value * 100, self.places) + ("%" if self.unit == "percent" else "")

    def cell_format(self) -> str:
        """The number format of a cell in a workbook."""
        return ("0." + "0" * self.places if self.places else "0") + ("%" if self.unit == "percent" else "")


def percent(places: int) -> Notation:
    return Notation("percent", places)


def bare(places: int) -> Notation:
    return Notation("bare", places)


def fraction(places: int, *, leading_zero: bool = True) -> Notation:
    return Notation("fraction", places, leading_zero)


def rounded(value: Fraction, places: int) -> str:
    """Half up, by integers alone."""
    units = (2 * value.numerator * 10**places + value.denominator) // (2 * value.denominator)
    return f"{Decimal(units).scaleb(-places):.{places}f}"


MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def written_date(day: dt.date, style: str) -> str:
    month = MONTHS[day.month - 1]
    if style == "us":
        return f"{month} {day.day}, {day.year}"
    if style == "uk":
        return f"{day.day} {month} {day.year}"
    if style == "slash":
        return f"{day.month:02d}/{day.day:02d}/{day.year}"
    if style == "iso":
        return day.isoformat()
    if style == "short":
        return f"{month[:3]}{'.' if day.month != 5 else ''} {day.day}, {day.year}"
    if style == "dash":
        return f"{day.day:02d}-{month[:3]}-{day.year}"
    return f"{month} {day.day}{ordinal(day.day)}, {day.year}"


def ordinal(number: int) -> str:
    return "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
