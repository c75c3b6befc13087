"""Reading a ranking of named candidates from a model's text.

The rule, in full:

1. Markdown signs are dropped, white space is one space, letters compare without regard to case.
2. A candidate is named where the FULL name stands as whole words. Where one name begins or holds
   another, the longest fits first. Nothing shorter is guessed: a misspelt name names nobody.
3. The numbers of a JSON object, under the names or under "rank", "position" or "place" beside a name, are the
   ranks. So are numbers that follow the names ("Ann Lee: rank 2", "Ann Lee (2)", "Ann Lee | 2"), if every name
   is followed by one at its first mention and they are 1 to the number of names.
4. Otherwise, if two or more lines that begin with a number, a letter or a bullet name somebody, the ranking is
   those lines, each standing for the first candidate it names; if all of them carry numbers, and
   no two the same, the numbers are the ranks' order. Otherwise it is the order of first mention in the text.
5. A candidate named twice keeps the first place.
6. Candidates not named come last, in the order shown.
7. A text is not read if it says that it goes from worst to best, if numbers after the names and numbers before
   them differ, if the numbers of a JSON object are no ranks, or if one gives a key twice.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from audit_lib.score.json_values import json_values

NEAR = 0.8
"""Least similarity (difflib's ratio of letters) at which a name not found is called misspelt, not absent."""

Place = Literal["named", "misspelt", "absent"]

_MARKDOWN = re.compile(r"[*_`#>|~]+")
_NUMBER = r"(?:rank|no\.?|number)?\s*(?P<number>\d{1,3})(?:\s*[.):\-–—]|(?=[^\W\d]))"
_ITEM = re.compile(rf"^\s*(?:{_NUMBER}|[a-z]\s*[.)]|[-•·+])\s*(?P<rest>.*)$")
_PEOPLE = r"(?:(?:candidates?|applicants?|one|person)\s+)?"
_WORST_FIRST = re.compile(
    r"\b(?:worst|weakest|least(?:\s+\w+){0,3}|lowest(?:\s+\w+)?)\s+(?:to|through)\s+(?:the\s+)?(?:best|strongest|most|highest)\b"
    rf"|\b(?:worst|weakest|lowest)\s+{_PEOPLE}(?:is\s+|comes\s+|listed\s+)?first\b"
    rf"|\b(?:best|strongest|highest)\s+{_PEOPLE}(?:is\s+|comes\s+|listed\s+)?last(?!\s*\w)"
    r"|\b(?:ascending|reversed?)\s+order\b"
)
_RANK_AFTER = re.compile(
    r"[ \t\"']*(?:(?:[:=,.\-–—]|is|comes|at|in)[ \t]*)?"
    r"(?:\([ \t]*(?:rank(?:ed)?[ \t]*:?[ \t]*)?(?P<braced>\d{1,3})[ \t]*\)"
    r"|(?:rank(?:ed|s)?|place|position|no\.?|number)[ \t]*[:=]?[ \t]*(?P<said>\d{1,3})(?:st|nd|rd|th)?\b(?![.,]\d|%)"
    r"|(?P<last>\d{1,3})(?:st|nd|rd|th)?(?=[ \t.]*(?:$|[\n;,](?!\d))))"
)
_ROW = re.compile(r"^\s*\|\s*(\d{1,3})\s*\|")
_RANK_KEYS = ("rank", "ranking", "position", "place")
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
        If two candidates share a name, so that no text could tell them apart, or the text gives no one order.

    Examples
    --------
    >>> read_ranking("1. **Ann Lee**\n2. BO CHI", ["Bo Chi", "Cy Wood", "Ann Lee"])
    Ranking(rank=(2, 3, 1), place=('named', 'absent', 'named'))
    """
    wanted = [_plain(name) for name in names]
    if len(set(wanted)) != len(wanted) or "" in wanted:
        raise ValueError("two candidates share a name, or one has none")
    if _WORST_FIRST.search(_plain(text)) is not None:
        raise ValueError("the text ranks from worst to best")
    (order, by_number), ranked = _from_list(text, wanted), _from_json(text, wanted) or _after(text, wanted)
    if ranked and by_number and ranked != order:
        raise ValueError("the numbers before the names and those after them differ")
    order = ranked or order or _mentions(_plain(text), wanted)
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


def _from_list(text: str, names: list[str]) -> tuple[list[int], bool]:
    """Return the order of a list's lines, and whether it is that of their numbers."""
    items: list[tuple[str | None, int]] = []
    for line in _one_form(text).splitlines():
        plain = _MARKDOWN.sub(" ", _ROW.sub(r"\1. ", line)).casefold()
        if (item := _ITEM.match(plain)) is None:
            continue
        if mentioned := _mentions(" ".join(item["rest"].split()), names):
            items.append((item["number"], mentioned[0]))
    if len(items) < 2:
        return [], False
    numbers = [int(number) for number, _ in items if number is not None]
    if by_number := len(set(numbers)) == len(items):
        items = [item for _, item in sorted(zip(numbers, items, strict=True))]
    return list(dict.fromkeys(i for _, i in items)), by_number


def _from_json(text: str, names: list[str]) -> list[int]:
    """Return the order of the ranks that JSON objects give, if they do."""
    ranks: dict[int, int] = {}
    for _, value in json_values(_one_form(text)):
        for rank, words in _ranks_of(value):
            if len(named := _mentions(_plain(words), names)) == 1:
                ranks.setdefault(named[0], rank)
    if len(ranks) < 2:
        return []
    if sorted(ranks.values()) != list(range(1, len(ranks) + 1)):
        raise ValueError("the numbers beside the names are no ranks from 1 on")
    return sorted(ranks, key=lambda i: ranks[i])


def _ranks_of(value: Any) -> Iterator[tuple[int, str]]:
    """Yield each rank in a JSON value and the words beside it."""
    if isinstance(value, list):
        for one in value:
            yield from _ranks_of(one)
    if not isinstance(value, dict):
        return
    said = [rank for key, rank in value.items() if key.casefold() in _RANK_KEYS and _is_rank(rank)]
    if len(said) == 1:
        yield int(said[0]), " / ".join(one for one in value.values() if isinstance(one, str))
        return
    for key, one in value.items():
        if _is_rank(key) and isinstance(one, str):
            yield int(key), one
        elif _is_rank(one):
            yield int(one), key
        else:
            yield from _ranks_of(one)


def _is_rank(value: Any) -> bool:
    if isinstance(value, str):
        return re.fullmatch(r"\d{1,3}", value, re.ASCII) is not None
    return isinstance(value, int) and not isinstance(value, bool)


def _after(text: str, names: list[str]) -> list[int]:
    """Return the order of the ranks that follow the names, if every name is followed by one."""
    lines = _MARKDOWN.sub(" ", _one_form(text)).casefold().splitlines()
    plain = "\n".join(" ".join(line.split()) for line in lines)
    first: dict[int, re.Match[str] | None] = {}
    for i, _, end in _spans(plain, names):
        first.setdefault(i, _RANK_AFTER.match(plain, end))
    found = {i: match for i, match in first.items() if match is not None}
    ranks = {i: int(match["braced"] or match["said"] or match["last"]) for i, match in found.items()}
    if len(ranks) < max(len(first), 2):
        return []
    if sorted(ranks.values()) != list(range(1, len(ranks) + 1)):
        if all(match["said"] is not None for match in found.values()):
            raise ValueError("the numbers beside the names are no ranks from 1 on")
        return []
    return sorted(ranks, key=lambda i: ranks[i])


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
