"""What the second reader found."""

from __future__ import annotations

import csv
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Final

from audit_lib.resources import include_dir

GONE: Final = "\ufffc"
"""Stands for each character that was removed, so that places are those of the original."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class LeftPassage:
    """A place of the original that is left in the result, and why a person has to look at it."""

    start: int
    end: int
    kind: str
    why: str


def plain(text: str) -> str:
    """Return a text in lower case without accents, character for character.

    Examples
    --------
    >>> plain("Żółć’s Ünal")
    "zolc's unal"
    """
    return "".join(map(_plain, text))


_LETTERS: Final = dict(zip("łøđıæœßþð’‘ʼ‐‑–—", "lodiaosrd'''----", strict=True))


@cache
def _plain(char: str) -> str:
    bare = unicodedata.normalize("NFKD", char.lower())
    bare = next((c for c in bare if not unicodedata.combining(c)), "\u0301")
    return _LETTERS.get(bare, bare)


def words(text: str) -> frozenset[str]:
    """Return the words of a text, for lists that stand in code."""
    return frozenset(text.split())


@cache
def listed(name: str) -> tuple[tuple[str, str], ...]:
    """Return the rows of a list of the second reader's: kind and term."""
    path = include_dir() / "lexicons" / "rereading" / f"{name}.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    return tuple((kind, term) for kind, term in rows)
