"""Texts with places, read backwards: which values fill the places of an English text that is filled in already."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Final

_LEAST_LITERAL: Final = 6
"""A text with fewer letters of its own would be found in any other."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """An English text with places, as what finds it again.

    Parameters
    ----------
    english : str
        The text with its places.
    expression : re.Pattern
        What a filled text must match in full.
    literal : int
        How many characters are its own.
    """

    english: str
    expression: re.Pattern[str]
    literal: int

    def read(self, words: str) -> dict[str, str] | None:
        """Return what fills the places, or None where the text is another."""
        found = self.expression.fullmatch(words)
        return None if found is None else found.groupdict()

    def fill(self, template: str, values: Mapping[str, str]) -> str:
        """Fill the places of a translation with what was read."""
        made = []
        for literal, place, _, _ in Formatter().parse(template):
            made.append(literal)
            if place is not None:
                made.append(values[place])
        return "".join(made)


def pattern_of(english: str) -> Pattern | None:
    """Return the pattern of a text with places; None where it has too few words of its own to be told by them.

    Examples
    --------
    >>> found = pattern_of("{n} members, fewer than the minimum of {least}")
    >>> found.read("3 members, fewer than the minimum of 5")
    {'n': '3', 'least': '5'}
    >>> pattern_of("{a} to {b}") is None
    True
    """
    pieces, seen, letters, literal = [], set(), 0, 0
    for own, place, _, _ in Formatter().parse(english):
        pieces.append(re.escape(own))
        letters += sum(c.isalpha() for c in own)
        literal += len(own)
        if place is not None:
            pieces.append(f"(?P={place})" if place in seen else f"(?P<{place}>.+?)")
            seen.add(place)
    if letters < _LEAST_LITERAL or not seen:
        return None
    return Pattern(english, re.compile("".join(pieces), re.DOTALL), literal)
