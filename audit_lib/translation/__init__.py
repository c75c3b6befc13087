"""Texts that people read, in the language of the page: English in the code, other languages in catalogues (gettext).

The English sentence is the key. `t`, `tn` and `tp` look it up and fill its places; `mark` only names a constant as a
text, which is looked up where it is printed. Texts that a run's archive holds already filled in, such as the reason of
an undefined number, are found again by their pattern (`archived`). ``tools/catalogue.py`` collects them all, and a
page in a made-up language (`PSEUDO`) shows every text that was not written this way.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from audit_lib.translation.filled import (
    FIXED,
    STATED,
    Filled,
    capitalised,
    filled_in,
    named,
    percent_of,
    stated,
    stretches_of,
)
from audit_lib.translation.patterns import Pattern, pattern_of

__all__ = [
    "ARCHIVED",
    "FIXED",
    "LANGUAGES",
    "PSEUDO",
    "STATED",
    "Filled",
    "Language",
    "Speaker",
    "archived",
    "capitalised",
    "known",
    "mark",
    "named",
    "originals",
    "percent_of",
    "speaking",
    "spoken",
    "stated",
    "stretches_of",
    "t",
    "texts_in",
    "tn",
    "tp",
]

Language = Literal["en", "es"]
LANGUAGES: Final[dict[str, str]] = {"en": "English", "es": "Español"}
"""Languages that a page can be in, each by its own name."""
PSEUDO: Final = "en-XA"
"""A made-up language: each letter of a text gets a mark, the values filled in do not."""

ARCHIVED: Final = "archived"
"""What a text is that the run's archive holds as it is printed."""

_MARKED: Final = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "ȧƀƈḓḗƒɠħīĵķŀḿƞǿƥɋřşŧŭṽẇẋẏẑȦƁƇḒḖƑƓĦĪĴĶĿḾȠǾƤɊŘŞŦŬṼẆẊẎẐ",
)
_PLACE: Final = re.compile(r"(\{\{|\}\}|\{[^{}]*\})")


@dataclass(slots=True)
class Speaker:
    """A language while texts are made in it, and what it had no words for.

    Parameters
    ----------
    language : str
        ``en``, another language of `LANGUAGES`, or `PSEUDO`.
    untranslated : dict of str to None
        English texts that its catalogue does not hold, in the order in which they came up.
    """

    language: str
    untranslated: dict[str, None] = field(default_factory=dict)

    def look_up(self, english: str, context: str | None = None) -> str:
        """Return the text in this language, with its places; the English one where the catalogue has none."""
        if self.language == "en" or not any(character.isalpha() for character in english):
            return english
        if self.language == PSEUDO:
            return _pseudo(english)
        catalogue = _catalogue(self.language)
        found = catalogue.gettext(english) if context is None else catalogue.pgettext(context, english)
        if found == english and (english if context is None else f"{context}\4{english}") not in _ids(
            self.language
        ):
            self.untranslated[english] = None
        return found

    def look_up_number(self, one: str, several: str, n: int) -> str:
        """Return the form of the text for a number."""
        if self.language in ("en", PSEUDO):
            return self.look_up(one if n == 1 else several)
        if one not in _ids(self.language):
            self.untranslated[one] = None
            return one if n == 1 else several
        return _catalogue(self.language).ngettext(one, several, n)


_speaker: ContextVar[Speaker | None] = ContextVar("speaker", default=None)
_ENGLISH: Final = Speaker("en")


@contextmanager
def speaking(language: str) -> Iterator[Speaker]:
    """Make all texts inside in a language.

    Raises
    ------
    ValueError
        If no page can be in that language.

    Examples
    --------
    >>> with speaking("es") as speaker:
    ...     t("No text of this library.")
    'No text of this library.'
    >>> list(speaker.untranslated)
    ['No text of this library.']
    """
    if language not in (*LANGUAGES, PSEUDO):
        raise ValueError(f"no texts in the language {language!r}; there are: {', '.join(LANGUAGES)}")
    speaker = Speaker(language)
    token = _speaker.set(speaker)
    try:
        yield speaker
    finally:
        _speaker.reset(token)


def spoken() -> str:
    """Language that texts are made in now."""
    return _now().language


def _now() -> Speaker:
    return _speaker.get() or _ENGLISH


def mark(english: str) -> str:
    """Name a constant as a text for people; it is looked up by `t` where it is printed.

    Examples
    --------
    >>> mark("not signed")
    'not signed'
    """
    return english


def t(english: str, /, **values: object) -> str:
    """Return a text in the language spoken now, its places filled in.

    Parameters
    ----------
    english : str
        A whole sentence or label, with named places as in `str.format`; braces that are no place are doubled.
        Without values it is taken as it is.
    **values : object
        What fills the places.

    Examples
    --------
    >>> t("{n} of {total} rows", n=3, total=4)
    '3 of 4 rows'
    """
    return _filled(_now().look_up(english), values)


def tn(one: str, several: str, n: int, /, **values: object) -> str:
    """Return the form of a text for the number `n`, its places filled in; ``{n}`` is the number.

    Examples
    --------
    >>> tn("{n} row", "{n} rows", 1), tn("{n} row", "{n} rows", 1200, n="1,200")
    ('1 row', '1,200 rows')
    """
    return filled_in(_now().look_up_number(one, several, n), {"n": n, **values})


def tp(context: str, english: str, /, **values: object) -> str:
    """Return a text whose translation depends on what it is said of.

    Examples
    --------
    >>> tp("of a rate", "hidden")
    'hidden'
    """
    return _filled(_now().look_up(english, context), values)


def _filled(found: str, values: Mapping[str, object]) -> Filled:
    return filled_in(found, values) if values else named(found, FIXED)


def known(words: str, /) -> str:
    """Return a name of other people's, such as a category, in the language spoken now if it has one; else as it is.

    Examples
    --------
    >>> with speaking("es"):
    ...     known("Team of Ms. Ruiz")
    'Team of Ms. Ruiz'
    """
    speaker = _now()
    if speaker.language in ("en", PSEUDO) or words not in _ids(speaker.language):
        return words
    return _catalogue(speaker.language).gettext(words)


def archived(words: str, /) -> str:
    """Return a text that an archive holds with its places filled in, in the language spoken now.

    The text itself is looked up first; then the patterns of the catalogue are tried, the most literal first, and what
    fills their places is treated in the same way.

    Examples
    --------
    >>> archived("3 members, fewer than the minimum of 5")
    '3 members, fewer than the minimum of 5'
    """
    speaker = _now()
    if speaker.language == "en" or not any(c.isalpha() for c in words):
        return named(words, ARCHIVED)
    found = _of_pattern(speaker.language, words)
    if found is None:
        speaker.untranslated[words] = None
        found = words
    return named(found, ARCHIVED)


@cache
def _of_pattern(language: str, words: str) -> str | None:
    """Translate a filled text, or None where no text of the catalogue has its form."""
    of: Callable[[str], str] = _pseudo if language == PSEUDO else _catalogue(language).gettext
    # The made-up language has the patterns of a real one: what it cannot tell is what that one would miss.
    ids = _ids("es" if language == PSEUDO else language)
    if words in ids:
        return of(words)
    for pattern in _patterns("es" if language == PSEUDO else language):
        if (filled := pattern.read(words)) is not None:
            values = {place: _of_pattern(language, value) or value for place, value in filled.items()}
            return pattern.fill(of(pattern.english), values)
    return None


@cache
def _catalogue(language: str) -> gettext.GNUTranslations:
    with files("audit_lib.translation").joinpath(f"{language}.mo").open("rb") as file:
        return gettext.GNUTranslations(file)


@cache
def texts_in(language: str) -> frozenset[str]:
    """Return all texts that the catalogues hold in a language, with their places (of English plurals the singular).

    Examples
    --------
    >>> "not signed" in texts_in("en"), "sin firma" in texts_in("es")
    (True, True)
    """
    if language == "en":
        return frozenset(one.rpartition("\4")[2] for one in _ids("es"))
    return frozenset(words for key, words in vars(_catalogue(language))["_catalog"].items() if key)


def originals(language: str) -> Iterator[tuple[str, str]]:
    """Yield the texts of a language's catalogue: in English (of plurals the singular), and in the language.

    Examples
    --------
    >>> ("not signed", "sin firma") in set(originals("es"))
    True
    """
    for key, words in vars(_catalogue(language))["_catalog"].items():
        english = (key[0] if isinstance(key, tuple) else key).rpartition("\4")[2]
        if english and words:
            yield english, words


@cache
def _ids(language: str) -> frozenset[str]:
    """English texts that a catalogue holds (of plural forms the singular); with a context, after it."""
    held = vars(_catalogue(language))["_catalog"]
    return frozenset(key[0] if isinstance(key, tuple) else key for key in held if key)


@cache
def _patterns(language: str) -> tuple[Pattern, ...]:
    made = [pattern_of(english) for english in _ids(language) if "{" in english and "\4" not in english]
    return tuple(
        sorted((one for one in made if one is not None), key=lambda one: (-one.literal, one.english))
    )


def _pseudo(english: str) -> str:
    pieces = _PLACE.split(english)
    return "".join(piece if index % 2 else piece.translate(_MARKED) for index, piece in enumerate(pieces))
