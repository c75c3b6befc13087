"""Facts of a PDF page that stand side by side, each name over its value: "Auditor", and "Blue Lake LLP" below it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from audit_lib.check.pdf_lines import PlacedWord, TextLine
from audit_lib.check.pdf_texts import texts_of

_EDGE: Final = 2.0  # points: what begins as far left stands below
_CLOSE: Final = 1.5  # heights of white space between a name and its value
_ALIKE: Final = 0.1  # heights by which the white space between lines may differ
_FEWEST: Final = 2
_LONGEST_NAME: Final = 5  # words
_MOST_LINES: Final = 4
_OF_AUDITS: Final = re.compile(
    r"\b(?:audit\w*|tools?|aedt|vendor|developer|employer|company|date|distribution|since|used?|source)\b",
    re.IGNORECASE,
)


def fact_lines(lines: Sequence[TextLine]) -> Iterator[str]:
    """Yield "name: value" for names in a line and what stands right below each."""
    for i, line in enumerate(lines):
        names = texts_of(line)
        if len(names) < _FEWEST or not all(map(_is_name, names)) or not _OF_AUDITS.search(line.text):
            continue
        values: list[list[str]] = [[] for _ in names]
        for below in _below(lines, i):
            places = [_place(text, names) for text in texts_of(below)]
            if None in places:
                break
            for place, text in zip(places, texts_of(below), strict=True):
                values[place or 0].append(text.text)
        if all(values):
            yield from (f"{name.text}: {' '.join(value)}" for name, value in zip(names, values, strict=True))


def _below(lines: Sequence[TextLine], i: int) -> Iterator[TextLine]:
    """Yield the line of values below a line of names, and those that go on with it: no further than it stands."""
    most = _CLOSE
    for before, line in zip(lines[i:], lines[i + 1 : i + 1 + _MOST_LINES], strict=False):
        if (white := line.distance(before)) > most:
            return
        most = min(most, white + _ALIKE)
        yield line


def _place(text: PlacedWord, names: Sequence[PlacedWord]) -> int | None:
    """Return the name that a text stands below; a text that goes on below the next one is none of its values."""
    for n, name in enumerate(names):
        if abs(text.left - name.left) < _EDGE:
            return n if n + 1 == len(names) or text.right < names[n + 1].left else None
    return None


def _is_name(text: PlacedWord) -> bool:
    return len(text.text.split()) <= _LONGEST_NAME and not any(letter.isdigit() for letter in text.text)
