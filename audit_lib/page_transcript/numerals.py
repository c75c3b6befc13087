"""Numerals of a text, each with its type and what it is: a day is no number, the 144 of LL144 is part of a name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

NumeralType = Literal["time", "day", "percent", "decimal", "count", "name"]

MINUS: Final = "\N{MINUS SIGN}"
_NUMBER: Final = rf"[+\-{MINUS}]?(?:\d{{1,3}}(?:,\d{{3}})+|\d+)"
_DAY: Final = r"\d{4}-\d\d-\d\d"
_TYPES: Final[tuple[tuple[NumeralType, re.Pattern[str]], ...]] = (
    ("time", re.compile(rf"{_DAY}[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z| UTC|[+-]\d\d:\d\d)?")),
    ("day", re.compile(_DAY)),
    ("percent", re.compile(rf"{_NUMBER}(?:\.\d+)?\s?%")),
    ("decimal", re.compile(rf"{_NUMBER}\.\d+(?:e[+-]?\d+)?")),
    ("count", re.compile(_NUMBER)),
)
_AROUND: Final = (
    "()[]{}.,;:!?\"'*=<>\N{LESS-THAN OR EQUAL TO}\N{DAGGER}"
    "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}"
)
_TOKEN: Final = re.compile(rf"{_DAY}[T ]\d\d:\d\d\S*(?: UTC)?|\S*\d\S*(?:\s%)?")


@dataclass(frozen=True, slots=True)
class Numeral:
    """A numeral of a text.

    Parameters
    ----------
    type : {"time", "day", "percent", "decimal", "count", "name"}
        What it is; ``name``: digits that are part of a name, a paragraph or a digest.
    text : str
        As it is written, without what stands around it.
    of : str
        What it is, as the page says: the name of the place that it fills, such as ``selected``; ``words``: it is one
        of the fixed words of this library or of a policy pack. Empty where the page does not say.
    """

    type: NumeralType
    text: str
    of: str = ""


Named = tuple[int, int, str]
"""Where a stretch of a text is, and what it is."""


def numerals(words: str, named: Sequence[Named] = ()) -> tuple[Numeral, ...]:
    """Return the numerals of a text in their order; none is left without a type.

    Parameters
    ----------
    words : str
        The text.
    named : sequence of (int, int, str)
        Stretches of the text and what they are, in their order.

    Examples
    --------
    >>> [(one.type, one.text) for one in numerals("1,204 of LL144 (45.4%, 0.859) on 2026-01-05.")]
    [('count', '1,204'), ('name', 'LL144'), ('percent', '45.4%'), ('decimal', '0.859'), ('day', '2026-01-05')]
    >>> numerals("20 of 48", [(0, 2, "selected")])
    (Numeral(type='count', text='20', of='selected'), Numeral(type='count', text='48', of=''))
    """
    made: list[Numeral] = []
    first = 0
    for found in _TOKEN.finditer(words):
        while first < len(named) and named[first][1] <= found.start():
            first += 1
        made.append(_typed(found, named, first))
    return tuple(made)


def _typed(token: re.Match[str], named: Sequence[Named], first: int) -> Numeral:
    """Return a numeral; stretches before the one at `first` end before it."""
    bare = token[0].strip(_AROUND)
    start = token.start() + len(token[0]) - len(token[0].lstrip(_AROUND))
    while first < len(named) and named[first][1] <= start:
        first += 1
    of = named[first][2] if first < len(named) and named[first][0] < start + len(bare) else ""
    for type_, pattern in _TYPES:
        if pattern.fullmatch(bare):
            return Numeral(type_, bare, of)
    return Numeral("name", bare, of)
