"""A page of ours in another language, put back into English by its own catalogue, so that it is read as any page is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Final

from audit_lib.check.grids import Grid, PublishedFile
from audit_lib.check.own_footer import language_of
from audit_lib.translation import LANGUAGES, originals, texts_in
from audit_lib.translation.patterns import Pattern, pattern_of

_SENTENCE: Final = re.compile(r"(?<=[.:;?!])\s+")
_PARTS: Final = re.compile(r"(, |: |; | \(|\)|\s?[*\u2020])")
"""Between the names that a label lists: "Blanco (No hispano ni latino)"."""


def in_english(document: PublishedFile) -> PublishedFile:
    """Return a page of ours with its tables and sentences in English; any other file as it is.

    What the catalogue does not hold (names, and texts of the spec) stays as it is. What the page shows, and its
    transcript, are not touched.
    """
    if document.own is None or isinstance(document.own, Mapping):
        return document
    language = language_of(document.text)
    if language is None or language == "en":
        return document
    caution = (
        f"the page is in another language ({LANGUAGES[language]}): its tables and sentences were put into English by "
        "this library's own texts, and findings name them so"
    )
    return replace(
        document,
        text=_text(language, document.text),
        in_order=_text(language, document.in_order),
        grids=tuple(_grid(language, grid) for grid in document.grids),
        caution="; ".join(filter(None, [document.caution, caution])),
    )


@cache
def is_own(words: str) -> bool:
    """Whether a header is one of this library's: a text of its catalogue, or one filled in.

    Examples
    --------
    >>> is_own("95% interval, comparator held fixed"), is_own("Parity index")
    (True, False)
    """
    return words.strip() in texts_in("en") or any(
        pattern.read(words.strip()) is not None for pattern in _english_patterns()
    )


@cache
def _english_patterns() -> tuple[Pattern, ...]:
    return tuple(one for words in texts_in("en") if (one := pattern_of(words)) is not None)


def _text(language: str, text: str) -> str:
    return "\n".join(_line(language, line) for line in text.split("\n"))


def _line(language: str, line: str) -> str:
    """Put a paragraph into English: as a whole, or else sentence by sentence."""
    if not any(map(str.isalpha, line)):
        return line
    if (whole := _known(language, line.strip())) is not None:
        return whole
    return " ".join(_label(language, sentence) for sentence in _SENTENCE.split(line))


def _grid(language: str, grid: Grid) -> Grid:
    rows = tuple(tuple(_label(language, cell) for cell in row) for row in grid.rows)
    return replace(
        grid,
        rows=rows,
        caption=_label(language, grid.caption),
        trail=tuple(_label(language, heading) for heading in grid.trail),
        place=_label(language, grid.place),
        above=_line(language, grid.above),
        notes=_line(language, grid.notes),
    )


def _label(language: str, words: str) -> str:
    """Put a label or a sentence into English: as a whole, or the names that it lists."""
    bare = words.strip()
    if not any(map(str.isalpha, bare)):
        return words
    if (whole := _known(language, bare)) is not None:
        return whole
    return "".join(_exact(language).get(part.casefold(), part) for part in _PARTS.split(bare))


@cache
def _known(language: str, words: str) -> str | None:
    """Return the English text of which this is a translation, its places filled in the same way."""
    if (found := _exact(language).get(words.casefold())) is not None:
        return found
    for pattern, english in _patterns(language):
        if (values := pattern.read(words)) is not None:
            filled = {place: _label(language, value) for place, value in values.items()}
            return pattern.fill(english, filled)
    return None


@cache
def _exact(language: str) -> Mapping[str, str]:
    """Text in the language, in small letters -> in English."""
    found: dict[str, str] = {}
    for english, words in sorted(originals(language)):
        if "{" not in english:
            found.setdefault(words.casefold(), english)
    return found


@cache
def _patterns(language: str) -> tuple[tuple[Pattern, str], ...]:
    made = [(pattern_of(words), english) for english, words in sorted(originals(language)) if "{" in words]
    return tuple(
        sorted(
            ((one, english) for one, english in made if one is not None),
            key=lambda pair: (-pair[0].literal, pair[1]),
        )
    )
