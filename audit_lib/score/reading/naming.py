"""Where a text names candidates: full names as whole words, in one form of writing."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Sequence
from typing import Final, Literal

NEAR: Final = 0.8
"""Least similarity (difflib's ratio of letters) at which a name not found is called misspelt, not absent."""

NameMatch = Literal["named", "misspelt", "absent"]

MARKDOWN: Final = re.compile(r"[*_`#>|~]+")
_WORD: Final = re.compile(r"\w+(?:['’.-]\w+)*")


def one_form(text: str) -> str:
    """Return a text in one Unicode form, with one kind of apostrophe; accents stay, they tell names apart."""
    return (
        unicodedata.normalize("NFKC", text)
        .replace("\u2019", "'")
        .replace("\u02bc", "'")
        .replace("\u2018", "'")
    )


def plain(text: str) -> str:
    r"""Return a text without markdown, in one case and on one line.

    Examples
    --------
    >>> plain("1. **Ann\n LEE**")
    '1. ann lee'
    """
    return " ".join(MARKDOWN.sub(" ", one_form(text)).casefold().split())


def flat(text: str) -> str:
    """Return a text without markdown, in one case, its lines kept."""
    lines = MARKDOWN.sub(" ", one_form(text)).casefold().splitlines()
    return "\n".join(" ".join(line.split()) for line in lines)


def spans(text: str, names: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return which of the `names` (`plain`) stands where in `text` (`plain` or `flat`): place, start, end.

    Where one name begins or holds another, the longest fits first.
    """
    index = {name: i for i, name in enumerate(names)}
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    # A digit may touch a name ("7Amari Robinson"), a letter may not.
    pattern = r"(?<![^\W\d])(?:" + "|".join(map(re.escape, longest_first)) + r")(?!\w)"
    return [(index[found.group()], found.start(), found.end()) for found in re.finditer(pattern, text)]


def mentions(text: str, names: Sequence[str]) -> list[int]:
    """Return the candidates whom the text names, in the order of their first mention."""
    return list(dict.fromkeys(i for i, _, _ in spans(text, names)))


def why_unnamed(text: str, names: Sequence[str], candidate: int) -> NameMatch:
    """Return whether a candidate whom the text does not name is ``misspelt`` in it, or ``absent``."""
    name = names[candidate]
    taken = bytearray(len(text))
    for _, start, end in spans(text, names):
        taken[start:end] = b"\x01" * (end - start)
    words = [word for word in _WORD.finditer(text) if not any(taken[word.start() : word.end()])]
    near = difflib.SequenceMatcher(None, "", name, autojunk=False)
    for size in {max(len(name.split()) + change, 1) for change in (-1, 0, 1)}:
        for first, last in zip(words, words[size - 1 :], strict=False):
            near.set_seq1(text[first.start() : last.end()])
            if near.real_quick_ratio() >= NEAR and near.quick_ratio() >= NEAR and near.ratio() >= NEAR:
                return "misspelt"
    return "absent"
