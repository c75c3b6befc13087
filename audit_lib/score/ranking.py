"""Reading a ranking of named candidates from a model's text.

The rule, in full:

1. Markdown signs are dropped, white space is one space, letters compare without regard to case.
2. A candidate is named where the FULL name stands as whole words. Where one name begins or holds
   another, the longest fits first. Nothing shorter is guessed: a misspelt name names nobody.
3. The numbers of a JSON object, under the names or under "rank", "position" or "place" beside a name, are the
   ranks. So are numbers that follow the names ("Ann Lee: rank 2", "Ann Lee (2)", "Ann Lee | 2"), if every name
   is followed by one at its first mention and they are 1 to the number of names.
4. Otherwise, what follows a heading that speaks of a ranking or an order ("My ranking:") and names two or more is
   read, up to the next such heading, and nothing else. Headings that say "final" or "overall" go before others.
5. There, two or more lines that begin with a number and name somebody are the ranking, each line standing for the
   first candidate it names; if no two numbers are the same, they are the ranks' order. Otherwise lines that begin
   with a letter or a bullet are; otherwise the order of first mention in the text is.
6. A candidate named twice in one list keeps the first place.
7. Candidates whom the text never names come last, in the order shown.
8. A text is not read if it says that it goes from worst to best; if numbers after the names and numbers before
   them differ; if there are numbers beside all names and they are no ranks or may be scores; if an object gives a
   key twice; if it gives two orders: headings or lists that differ, names after bullets in another order, or,
   without a heading or a list, an order of first mention that is not that of last mention; or if the ranking
   leaves out somebody whom the text names elsewhere.

What a model thinks before it answers (`audit_lib.score.thinking`) is never read.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from audit_lib.score.json_values import json_values
from audit_lib.score.thinking import without_thinking

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
_SCORE_AFTER = re.compile(
    r"(?:[ \t\"':=,({\-–—]|is|at|with|gets|scores?|scored|ratings?)*\d+(?:\.\d+)?"
    r"(?:[ \t]*(?:/|out of)[ \t]*\d|[ \t]*(?:%|points?\b|pts\b)|(?=[ \t)}\]]*(?:$|[\n;,.](?!\d))))"
)
_OF_SCORES = re.compile(r"\b(?:scor(?:e|es|ed|ing)|ratings?|rated|points?|higher\s+is\s+better)\b")
_HEADING = re.compile(
    r"^[^\n\d:.]{0,60}?(?:\brankings?\b|(?<!to be )\branked\b|\bbest\s+to\s+worst\b"
    r"|(?<!alphabetical )\border\b(?! (?:to|shown|given|presented|listed)\b))[^\n\d:.]{0,60}:"
    r"|^[^\n\d:.]{0,30}\branking\b[^\n\d:.]{0,30}$",
    re.M | re.I,
)
_LAST_WORD = re.compile(r"\b(?:final|overall)\b", re.I)
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
    text = without_thinking(text)
    plain = _plain(text)
    if _WORST_FIRST.search(plain) is not None:
        raise ValueError("the text ranks from worst to best")
    headed = [] if _from_json(text, wanted) else _under_headings(text, wanted)
    orders = [_order(part, wanted, headed=bool(headed)) for part in headed or [text]]
    if any(order != orders[0] for order in orders):
        raise ValueError("the text gives two orders under headings")
    order = orders[0]
    unnamed = [i for i in range(len(wanted)) if i not in order]
    if not set(unnamed).isdisjoint(_mentions(plain, wanted)):
        raise ValueError("the ranking leaves out somebody whom the text names elsewhere")
    places = {i: _why_unnamed(plain, wanted, i) for i in unnamed}
    rank = {i: r for r, i in enumerate((*order, *unnamed), start=1)}
    return Ranking(
        rank=tuple(rank[i] for i in range(len(wanted))),
        place=tuple(places.get(i, "named") for i in range(len(wanted))),
    )


def _under_headings(text: str, names: list[str]) -> list[str]:
    """Return what follows each heading that speaks of a ranking and is followed by two names or more."""
    shown = _one_form(text)
    bare = _MARKDOWN.sub(lambda signs: " " * len(signs.group()), shown)
    headings = [found for found in _HEADING.finditer(bare) if not _mentions(_plain(found.group()), names)]
    ends = [found.start() for found in headings[1:]] + [len(bare)] * bool(headings)
    parts = [
        (found.group(), shown[found.end() : end])
        for found, end in zip(headings, ends, strict=True)
        if len(_mentions(_plain(shown[found.end() : end]), names)) > 1
    ]
    last = [part for heading, part in parts if _LAST_WORD.search(heading) is not None]
    return last or [part for _, part in parts]


def _order(text: str, names: list[str], *, headed: bool) -> list[int]:
    """Return the one order that a text gives; without a heading, prose has to give it from first to last."""
    items = _items(text, names)
    numbered = [(int(item.number), item.candidate) for item in items if item.number is not None]
    by_number = len(numbered) > 1 and len({number for number, _ in numbered}) == len(numbered)
    listed = [i for _, i in (sorted(numbered) if by_number else numbered)]
    if ranked := _from_json(text, names) or _after(text, names, alone=not by_number):
        if by_number and ranked != _first(listed):
            raise ValueError("the numbers before the names and those after them differ")
        return ranked
    if len(numbered) > 1:
        if not by_number and _first(listed) != _last(listed):
            raise ValueError("the text gives two lists that differ")
        return _first(listed)
    flat = _flat(text)
    spans = _spans(flat, names)
    if len({i for i, _, _ in spans}) > 1 and _all_scored(flat, spans):
        raise ValueError("there are numbers beside the names, and they are no ranks")
    if len(items) > 1:
        listed = [item.candidate for item in items]
        below = _mentions(" ".join(_flat(text[items[-1].end :]).split()), names)
        if _first(listed) != _last(listed) or [i for i in _first(listed) if i in below] != [
            i for i in below if i in listed
        ]:
            raise ValueError("the text gives two orders, one of them in a list")
        return _first(listed)
    mentioned = [i for i, _, _ in _spans(_plain(text), names)]
    if not headed and _first(mentioned) != _last(mentioned):
        raise ValueError(
            "the text names candidates in two orders, and no heading or list says which is meant"
        )
    return _first(mentioned)


def _first(mentioned: Sequence[int]) -> list[int]:
    return list(dict.fromkeys(mentioned))


def _last(mentioned: Sequence[int]) -> list[int]:
    return _first(mentioned[::-1])[::-1]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    """A line that begins with a number, a letter or a bullet and names somebody; `end` is the line's."""

    number: str | None
    candidate: int
    end: int


def _items(text: str, names: list[str]) -> list[_Item]:
    items: list[_Item] = []
    end = 0
    for line in text.splitlines(keepends=True):
        end += len(line)
        plain = _MARKDOWN.sub(" ", _ROW.sub(r"\1. ", _one_form(line))).casefold().rstrip("\r\n")
        if (item := _ITEM.match(plain)) is None:
            continue
        if mentioned := _mentions(" ".join(item["rest"].split()), names):
            items.append(_Item(number=item["number"], candidate=mentioned[0], end=end))
    return items


def _flat(text: str) -> str:
    """Return the text without markdown, in one case, its lines kept."""
    lines = _MARKDOWN.sub(" ", _one_form(text)).casefold().splitlines()
    return "\n".join(" ".join(line.split()) for line in lines)


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


def _after(text: str, names: list[str], *, alone: bool) -> list[int]:
    """Return the order of the ranks that follow the names, if every name is followed by one.

    With `alone`, no numbers stand before the names, which would say what those after them are.
    """
    plain = _flat(text)
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
    called = all(match["said"] is not None or "rank" in match.group() for match in found.values())
    if alone and not called and _OF_SCORES.search(plain) is not None:
        raise ValueError("the numbers beside the names may be scores")
    return sorted(ranks, key=lambda i: ranks[i])


def _all_scored(text: str, spans: Sequence[tuple[int, int, int]]) -> bool:
    """Whether the first mention of every candidate is followed by what may be a score."""
    first: dict[int, bool] = {}
    for i, _, end in spans:
        first.setdefault(i, _SCORE_AFTER.match(text, end) is not None)
    return all(first.values())


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
