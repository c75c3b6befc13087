"""Texts without case and accents, to find names however they are written, with the way back to the characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_OTHERS: Final = {
    "’": "'", "‘": "'", "ʼ": "'", "´": "'", "`": "'", "“": '"', "”": '"',
    "‐": "-", "‑": "-", "–": "-", "—": "-", "\u00ad": "", "\u200b": "", "\u200c": "", "\u200d": "", "\ufeff": "",
    "ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "đ": "d", "Đ": "d", "ı": "i", "æ": "ae", "Æ": "ae", "œ": "oe",
    "Œ": "oe", "ß": "ss", "þ": "th", "Þ": "th", "ð": "d", "Ð": "d",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text.

    Attributes
    ----------
    text : str
        Lower case, without accents; curly apostrophes and quotes, and all dashes, as the plain ones.
    at : list of int
        For each of its characters, and one past the last, the character of the original where it begins.
    """

    text: str
    at: list[int]

    def finditer(self, pattern: str | re.Pattern[str]) -> Iterator[tuple[int, int, re.Match[str]]]:
        """Yield start and end in the original, and the match in the folded text."""
        for match in re.finditer(pattern, self.text):
            yield self.at[match.start()], self.at[match.end()], match

    def span(self, match: re.Match[str], group: int | str) -> tuple[int, int]:
        """Return where a group of a match stands in the original."""
        return self.at[match.start(group)], self.at[match.end(group)]


def fold(text: str) -> Folded:
    r"""Fold a text.

    Examples
    --------
    >>> fold("José O’Brien").text, fold("Jose\u0301!").at
    ("jose o'brien", [0, 1, 2, 3, 5, 6])
    """
    out: list[str] = []
    at: list[int] = []
    for index, char in enumerate(text):
        for plain in char.lower() if char.isascii() else _folded(char):
            out.append(plain)
            at.append(index)
    return Folded("".join(out), [*at, len(text)])


@lru_cache(4096)
def _folded(char: str) -> str:
    if char in _OTHERS:
        return _OTHERS[char]
    plain = "".join(c for c in unicodedata.normalize("NFKD", char) if not unicodedata.combining(c))
    return "".join(_OTHERS.get(c, c) for c in plain).lower()
