"""Characters of a PDF that are in the way of reading: raised footnote marks, and spaces that separate thousands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from audit_lib.check.published_numbers import SEPARATORS

Char = Mapping[str, Any]
SMALL: Final = 0.92  # characters under this share of the others' size are remarks or footnote marks
_RAISED: Final = 0.15  # of the size of what it stands behind
_BESIDE: Final = 0.5  # of that size: a mark stands right behind its word
_LIGATURES: Final = {f"(cid:{27 + i})": letters for i, letters in enumerate(("ff", "fi", "fl", "ffi", "ffl"))}
"""As TeX's fonts number them (T1), where a PDF does not say what letters they stand for."""
_THOUSANDS: Final = 3  # digits between two separators


def raised(chars: Sequence[Char]) -> Iterator[Char]:
    """Yield the smaller characters that stand raised right behind others, in the order of the content."""
    base = end = None
    for char in chars:
        if base is not None and end is not None and _is_raised(base, end, char):
            yield char
        else:
            base = char
        end = char


def _is_raised(base: Char, end: Char, char: Char) -> bool:
    size = base["size"]
    return bool(
        char["size"] < SMALL * size
        and char["bottom"] < base["bottom"] - _RAISED * size
        and char["bottom"] > base["top"]
        and abs(char["x0"] - end["x1"]) < _BESIDE * size
    )


def _follows(before: Char, char: Char) -> bool:
    size = before["size"]
    return bool(
        abs(char["x0"] - before["x1"]) < _BESIDE * size
        and abs(char["bottom"] - before["bottom"]) < _RAISED * size
    )


def plain_page(page: Any) -> Any:
    """Return a pdfplumber page without raised marks, in which commas part thousands, so that words keep together."""
    marks = {id(char) for char in raised(page.chars)}
    kept = [char for char in page.chars if id(char) not in marks]
    for char in kept:
        char["text"] = _LIGATURES.get(char["text"], char["text"])
    for i in range(1, len(kept) - _THOUSANDS):
        after = kept[i + 1 : i + 1 + _THOUSANDS]
        if (
            kept[i]["text"] in SEPARATORS
            and all(char["text"].isdigit() for char in (kept[i - 1], *after))
            and all(_follows(*pair) for pair in pairwise(kept[i - 1 : i + 1 + _THOUSANDS]))
        ):
            kept[i]["text"] = ","
    return page.filter(lambda thing: id(thing) not in marks)
