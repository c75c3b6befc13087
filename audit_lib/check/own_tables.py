"""The tables of rates of our own page as they print, in any language: columns say what they hold (``data-of``)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Final

from audit_lib.page_transcript import PageText
from audit_lib.translation import LANGUAGES, Speaker

_COUNT: Final = re.compile(r"\d{1,3}(?:,\d{3})+|\d+")
_DECIMAL: Final = re.compile(r"\d+(?:\.(\d+))?")
_MINUS: Final = "\N{MINUS SIGN}"
_NUMBER: Final = re.compile(rf"[+{_MINUS}]?\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|[+{_MINUS}]?\d+(?:\.\d+)?")
STAR: Final = "*"
"""What marks a ratio below the guideline."""


@dataclass(slots=True)
class OwnRow:
    """A row: what its cells say, whether its ratio is marked, and what stands small under a number."""

    label: str
    cells: dict[str, str] = field(default_factory=dict)
    star: bool = False
    notes: dict[str, str] = field(default_factory=dict)

    def count(self, of: str) -> int | None:
        """The whole number that is printed; None where there is none."""
        words = self.cells.get(of, "")
        return int(words.replace(",", "")) if _COUNT.fullmatch(words) else None

    def value(self, of: str) -> tuple[Fraction, int] | None:
        """The number that is printed, as a fraction, and its digits."""
        words = self.cells.get(of, "")
        found = _DECIMAL.fullmatch(words.removesuffix("%").strip())
        if found is None:
            return None
        return Fraction(found[0]), len(found[1] or "")


@dataclass(slots=True)
class OwnTable:
    """A table of people, selected people, rates and ratios, and the part of the page that it is in."""

    part: str
    caption: str
    rows: list[OwnRow] = field(default_factory=list)

    @property
    def top(self) -> Fraction | None:
        """The highest rate of the rows that have a ratio."""
        rates = [
            rate for row in self.rows if row.value("ratio") is not None and (rate := rate_of(row)) is not None
        ]
        return max(rates, default=None)


def counted_tables(texts: Sequence[PageText]) -> list[OwnTable]:
    """Return the tables of rates of a page."""
    tables: list[OwnTable] = []
    began = False
    for one in texts:
        if one.kind == "caption":
            tables.append(OwnTable(one.part, one.words))
            began = True
        elif one.table and began and one.row:
            table = tables[-1]
            if one.kind == "th":
                table.rows.append(OwnRow(one.row))
            elif table.rows and one.of:
                row = table.rows[-1]
                if one.kind == "td":
                    row.cells[one.of] = one.words
                elif one.kind == "mark" and one.of == "ratio":
                    row.star = one.words == STAR
                elif one.kind == "small":
                    row.notes[one.of] = one.words
    return [table for table in tables if any({"n", "selected"} <= row.cells.keys() for row in table.rows)]


def rate_of(row: OwnRow) -> Fraction | None:
    """Return the rate that the counts of a row give."""
    n, selected = row.count("n"), row.count("selected")
    return Fraction(selected, n) if n and selected is not None else None


def half_up(value: Fraction, digits: int) -> Fraction:
    """Round half up, as people do."""
    scaled = value * 10**digits
    return Fraction((2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator), 10**digits)


def numbers_in(words: str) -> list[tuple[Fraction, int]]:
    """Return the numbers of a cell, each with its printed decimals."""
    found = []
    for match in _NUMBER.finditer(words):
        plain = match[0].replace(",", "").replace(_MINUS, "-").lstrip("+")
        found.append((Fraction(plain), len(plain.partition(".")[2])))
    return found


@cache
def in_all_languages(english: str) -> frozenset[str]:
    """Return a text of the catalogue in every language."""
    return frozenset(Speaker(language).look_up(english) for language in LANGUAGES)
