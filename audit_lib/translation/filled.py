"""Texts that remember what fills their places, so that a page can say of each of its numerals what it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from string import Formatter
from typing import Final

FIXED: Final = "words"
"""What the text's own words are: they stand in this library or in a policy pack."""
STATED: Final = "stated"
"""What a text is that the spec states."""

PERCENT: Final = "%"
"""Form of a place: as `percent_of` prints."""
Stretch = tuple[str, str]
"""Words, and what they are: the name of the place that they fill, `FIXED`, or empty where nobody knows."""


class Filled(str):
    """A text with what each stretch of it is. Sums and `join` keep that; other operations give plain strings.

    Parameters
    ----------
    words : str
        The text.
    stretches : iterable of (str, str), optional
        Its stretches in order. Default: the text itself, of which nobody knows what it is.

    Examples
    --------
    >>> (filled_in("{n} of {total} rows", {"n": 3, "total": 4}) + ".").stretches
    (('3', 'n'), (' of ', 'words'), ('4', 'total'), (' rows', 'words'), ('.', ''))
    >>> Filled("; ").join([named("3", "n"), "4"]).stretches
    (('3', 'n'), ('; ', ''), ('4', ''))
    """

    __slots__ = ("stretches",)

    stretches: tuple[Stretch, ...]

    def __new__(cls, words: str = "", stretches: Iterable[Stretch] | None = None) -> Filled:
        """Make a text."""
        made = super().__new__(cls, words)
        made.stretches = ((words, ""),) if stretches is None else tuple(stretches)
        return made

    def __add__(self, other: str) -> Filled:
        """Return both texts, one after the other."""
        return from_stretches((*self.stretches, *stretches_of(other)))

    def __radd__(self, other: str) -> Filled:
        """Return both texts, one after the other."""
        return from_stretches((*stretches_of(other), *self.stretches))

    def join(self, texts: Iterable[str], /) -> Filled:
        """Return the texts with this one between them."""
        found: list[Stretch] = []
        for number, words in enumerate(texts):
            found += (*self.stretches, *stretches_of(words)) if number else stretches_of(words)
        return from_stretches(found)

    def format(self, *args: object, **values: object) -> str:
        """Fill the places, which have names."""
        return super().format(*args, **values) if args else filled_in(self, values)


def stretches_of(words: str) -> tuple[Stretch, ...]:
    """Return the stretches of a text; of a plain one itself, of which nobody knows what it is."""
    if isinstance(words, Filled):
        return words.stretches
    return ((words, ""),) if words else ()


def from_stretches(stretches: Iterable[Stretch]) -> Filled:
    """Make a text of stretches."""
    kept = tuple(one for one in stretches if one[0])
    return Filled("".join(words for words, _ in kept), kept)


def named(words: str, of: str) -> Filled:
    """Say what a whole text is.

    Examples
    --------
    >>> named("2026", "year").stretches
    (('2026', 'year'),)
    """
    return from_stretches(((words, of),))


def stated(words: str | None) -> Filled:
    """Return a text that the spec states; empty where it states none."""
    return named(words or "", STATED)


def capitalised(words: str) -> Filled:
    """Return a text whose first letter is a capital one.

    Examples
    --------
    >>> capitalised(named("all of 3", "what")).stretches
    (('A', 'what'), ('ll of 3', 'what'))
    """
    (first, of), *rest = stretches_of(words) or (("", ""),)
    return from_stretches([(first[:1].upper(), of), (first[1:], of), *rest])


def percent_of(share: float) -> str:
    """Print a share that somebody chose, such as a level, in percent with all of its digits.

    Examples
    --------
    >>> percent_of(0.95), percent_of(0.975), percent_of(0.9999)
    ('95%', '97.5%', '99.99%')
    """
    return f"{round(100 * share, 10):.10g}%"


def filled_in(template: str, values: Mapping[str, object]) -> Filled:
    """Fill the places of a text. A value that is such a text itself keeps what is known of it.

    Parameters
    ----------
    template : str
        With places as in `str.format`: a name, and how it is printed; ``{level:%}`` as `percent_of` does.
    values : mapping
        Name of a place -> what fills it.

    Examples
    --------
    >>> filled_in("{who}: {share:.0%}", {"who": named("Ada", "name"), "share": 0.5}).stretches
    (('Ada', 'name'), (': ', 'words'), ('50%', 'share'))
    """
    stretches: list[Stretch] = []
    for literal, place, form in _pieces(template):
        stretches.append((literal, FIXED))
        if place is None:
            continue
        value = values[place]
        if isinstance(value, Filled) and not form:
            stretches += ((words, of or place) for words, of in value.stretches)
        else:
            stretches.append((_printed(value, form), place))
    return from_stretches(stretches)


def _printed(value: object, form: str) -> str:
    if form == PERCENT and isinstance(value, int | float):
        return percent_of(value)
    return format(value, form)


@lru_cache(4096)
def _pieces(template: str) -> tuple[tuple[str, str | None, str], ...]:
    found = tuple(Formatter().parse(template))
    if any(conversion for _, _, _, conversion in found):
        raise ValueError(f"{template!r}: a place has a name and a form, and no conversion")
    return tuple((literal, place, form or "") for literal, place, form, _ in found)
