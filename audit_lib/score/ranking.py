"""Reading a ranking of named candidates from a model's text.

The rule, in full:

1. Markdown signs are dropped, white space is one space, letters compare without regard to case.
2. A candidate is named where the FULL name stands as whole words. Where one name begins or holds
   another, the longest fits first. Nothing shorter is guessed: a misspelt name names nobody.
3. If two or more lines that begin with a number, a letter or a bullet name somebody, the ranking is
   those lines, each standing for the first candidate it names; if all of them carry numbers, and
   no two the same, the numbers are the ranks' order. Otherwise it is the order of first mention in the text.
4. A candidate named twice keeps the first place.
5. Candidates not named come last, in the order shown.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

NEAR = 0.8
"""Least similarity (difflib's ratio of letters) at which a name not found is called misspelt, not absent."""

Place = Literal["named", "misspelt", "absent"]

_MARKDOWN = re.compile(r"[*_`#>|~]+")
_NUMBER = r"(?:rank|no\.?|number)?\s*(?P<number>\d{1,3})(?:\s*[.):\-–—]|(?=[^\W\d]))"
_ITEM = re.compile(rf"^\s*(?:{_NUMBER}|[a-z]\s*[.)]|[-•·+])\s*(?P<rest>.*)$")
_WORD = re.compile(r"\w+(?:['’.-]\w+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Where each candidate stands.

    Attributes
    ----------
    rank : tuple of int
        Rank of each candidate, 1 the best, in the order the names were given.
    place : tuple of str
        ``named``; or why the candidate is not: ``misspelt`` (something like the name is there) or ``absent``.
    """

    rank: tuple[int, ...]
    place: tuple[Place, ...]

    @property
    def names_nobody(self) -> bool:
        """Whether the text ranks none of the candidates."""
        return "named" not in self.place


def read_ranking(text: str, names: Sequence[str]) -> Ranking:
    r"""Read a ranking of `names` (in the order shown) from `text`.

    Raises
    ------
    ValueError
        If two candidates share a name, so that no text could tell them apart.

    Examples
    --------
    >>> read_ranking("1. **Ann Lee**\n2. BO CHI", ["Bo Chi", "Cy Wood", "Ann Lee"])
    Ranking(rank=(2, 3, 1), place=('named', 'absent', 'named'))
    """
    wanted = [_plain(name) for name in names]
    if len(set(wanted)) != len(wanted) or "" in wanted:
        raise ValueError("two candidates share a name, or one has none")
    order = _from_list(text, wanted) or _mentions(_plain(text), wanted)
    unnamed = [i for i in range(len(wanted)) if i not in order]
    plain = _plain(text)
    places = {i: _why_unnamed(plain, wanted, i) for i in unnamed}
    rank = {i: r for r, i in enumerate((*order, *unnamed), start=1)}
    return Ranking(
        rank=tuple(rank[i] for i in range(len(wanted))),
        place=tuple(places.get(i, "named") for i in range(len(wanted))),
    )


def _plain(text: str) -> str:
    return " ".join(_MARKDOWN.sub(" ", _one_form(text)).casefold().split())


def _one_form(text: str) -> str:
    """The same name in one Unicode form, with one kind of apostrophe; accents stay, they tell names apart."""
    return (
        unicodedata.normalize("NFKC", text)
        .replace("\u2019", "'")
        .replace("\u02bc", "'")
        .replace("\u2018", "'")
    )


def _from_list(text: str, names: list[str]) -> list[int]:
    items: list[tuple[str | None, int]] = []
    for line in _one_form(text).splitlines():
        if (item := _ITEM.match(_MARKDOWN.sub(" ", line).casefold())) is None:
            continue
        if mentioned := _mentions(" ".join(item["rest"].split()), names):
            items.append((item["number"], mentioned[0]))
    if len(items) < 2:
        return []
    numbers = [int(number) for number, _ in items if number is not None]
    if len(set(numbers)) == len(items):
        items = [item for _, item in sorted(zip(numbers, items, strict=True))]
    return list(dict.fromkeys(i for _, i in items))


def _mentions(text: str, names: list[str]) -> list[int]:
    """Return the candidates whom the text names, in the order of their first mention."""
    return list(dict.fromkeys(i for i, _, _ in _spans(text, names)))


def _spans(text: str, names: list[str]) -> list[tuple[int, int, int]]:
    index = {name: i for i, name in enumerate(names)}
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    # A digit may touch a name ("7Amari Robinson"), a letter may not.
    pattern = r"(?<![^\W\d])(?:" + "|".join(map(re.escape, longest_first)) + r")(?!\w)"
    return [(index[found.group()], found.start(), found.end()) for found in re.finditer(pattern, text)]


def _why_unnamed(text: str, names: list[str], candidate: int) -> Place:
    name = names[candidate]
    taken = [(start, end) for _, start, end in _spans(text, names)]
    words = [w for w in _WORD.finditer(text) if not any(s < w.end() and w.start() < e for s, e in taken)]
    for size in {max(len(name.split()) + change, 1) for change in (-1, 0, 1)}:
        for first, last in zip(words, words[size - 1 :], strict=False):
            near = difflib.SequenceMatcher(None, text[first.start() : last.end()], name, autojunk=False)
            if near.real_quick_ratio() >= NEAR and near.quick_ratio() >= NEAR and near.ratio() >= NEAR:
                return "misspelt"
    return "absent"
