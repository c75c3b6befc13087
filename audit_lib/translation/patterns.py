"""Texts with places, read backwards: which values fill the places of an English text that is filled in already."""

from __future__ import annotations

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
    literals, places : tuple of str
        What is its own, and the names of the places between: always one literal more.
    literal : int
        How many characters are its own.
    """

    english: str
    literals: tuple[str, ...]
    places: tuple[str, ...]
    literal: int

    def read(self, words: str) -> dict[str, str] | None:
        """Return what fills the places, or None where the text is another.

        Each place holds as little as it can, and at least a character; found in one pass, whatever the text.
        """
        first, *between, last = self.literals
        if not words.startswith(first) or not words.endswith(last):
            return None
        at, end, filled = len(first), len(words) - len(last), list[str]()
        for literal in between:
            found = words.find(literal, at + 1, end)
            if found < 0:
                return None
            filled.append(words[at:found])
            at = found + len(literal)
        if at >= end:
            return None
        filled.append(words[at:end])
        values: dict[str, str] = {}
        for place, value in zip(self.places, filled, strict=True):
            if values.setdefault(place, value) != value:
                return None
        return values

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
    literals, places, letters = [""], list[str](), 0
    for own, place, _, _ in Formatter().parse(english):
        literals[-1] += own
        letters += sum(c.isalpha() for c in own)
        if place is not None:
            places.append(place)
            literals.append("")
    if letters < _LEAST_LITERAL or not places:
        return None
    return Pattern(english, tuple(literals), tuple(places), sum(map(len, literals)))
