"""Reading a ranking of named candidates from a model's text.

The rule, in full:

1. Markdown signs are dropped, white space is one space, letters compare without regard to case.
2. A candidate is named where the FULL name stands as whole words. Where one name begins or holds
   another, the longest fits first. Nothing shorter is guessed: a misspelt name names nobody.
3. JSON that names two or more is read by its keys (`audit_lib.score.reading.ranked_json`). Numbers that follow the
   names ("Ann Lee: rank 2", "Ann Lee (2)", "Ann Lee | 2") are ranks if every name is followed by one at its first
   mention, they are 1 to the number of names, and they are called ranks, there or in the text, or end as "2nd" does.
4. Otherwise, what follows a heading that speaks of a ranking or an order ("My ranking:") and names two or more is
   read, up to the next such heading, and nothing else. Headings that say "final" or "overall" go before others.
5. There, lines that begin with a number or an ordinal ("First place: ...") and name somebody are the ranking, each
   line standing for the one candidate it names or begins with; if no two numbers are the same, they are the ranks'
   order. Otherwise two or more lines that begin with a letter or a bullet, and then a name, are.
6. Otherwise bare names are read, parted by commas, line ends, ">" or "then", and nothing else: the whole text,
   or under a heading the sentence that follows.
7. A candidate named twice in one list keeps the first place.
8. Candidates whom the text never names come last, in the order shown.
9. A text that says that it cannot or will not rank is a refusal, unless there is a list by number in it: then it is
   not read. Nor is a text that says that it goes from worst to best, that all are equal, or that its order means
   nothing; or if names are joined by "<" or "="; if numbers after the names and numbers before
   them differ; if there are numbers beside all names and they are no ranks or may be scores; if an object gives a
   key twice; if it gives two orders: headings or lists that differ, one number for two, or names after bullets; if
   the ranking leaves out somebody whom the text names elsewhere; or if it is cut, or longer than can be read.

What a model thinks before it answers (`audit_lib.score.reading.thinking`) is never read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from audit_lib.score.reading.naming import (
    MARKDOWN,
    NameMatch,
    flat,
    mentions,
    one_form,
    plain,
    spans,
    why_unnamed,
)
from audit_lib.score.reading.ranked_json import ORDINALS, json_order
from audit_lib.score.reading.ratings import DECLINES, begins_declining
from audit_lib.score.reading.thinking import readable

_NUMBER = r"(?:rank|no\.?|number)?\s*(?P<number>\d{1,3})(?:\s*[.):\-–—]|(?=[^\W\d]))"
_ORDINAL = rf"(?P<ordinal>{'|'.join(ORDINALS)})(?:\s+(?:place|choice|rank|position)\b|(?=\s*[.):\-–—]))"
_ITEM = re.compile(
    rf"^\s*(?:(?:[-•·+]\s*)?(?:{_NUMBER}|{_ORDINAL})|[a-z]\s*[.)]|[-•·+])"
    r"(?:(?:st|nd|rd|th)\b)?(?:\s*(?:place|choice|rank|position)(?=\s*[.):\-–—]))?[\s.):\-–—]*(?P<rest>.*)$"
)
_PEOPLE = r"(?:(?:candidates?|applicants?|one|person)\s+)?"
_WORST_FIRST = re.compile(
    r"\b(?:worst|weakest|least(?:\s+\w+){0,3}|lowest(?:\s+\w+)?)\s+(?:to|through)\s+(?:the\s+)?(?:best|strongest|most|highest)\b"
    rf"|\b(?:worst|weakest|lowest)\s+{_PEOPLE}(?:is\s+|comes\s+|listed\s+)?first\b"
    rf"|\b(?:best|strongest|highest)\s+{_PEOPLE}(?:is\s+|comes\s+|listed\s+)?last(?!\s*\w)"
    r"|\b(?:ascending|reversed?|increasing)\s+order\b|\border\s+of\s+increasing\b|\bbottom\s+to\s+top\b"
)
_WONT_RANK = re.compile(
    r"(?:\b(?:cannot|can not|won't|will not|can't|(?:unable|not able|decline|refuse)\s+to)\s+"
    r"(?:\w+\s+){0,3}?(?:rank|compare|order|choose|pick))\b"
)
_NO_ORDER = re.compile(
    r"\b(?:no|any)\s+(?:particular|specific|special)\s+order\b|\balphabetical(?:ly)?\b"
    r"|\b(?:all|both|they|these|two|three|four|five|candidates|applicants)\b[^.\n]{0,60}"
    r"\b(?:equal(?:ly)?(?!\s+opportunit)|tied|a\s+tie)\b"
)
_BEST = (
    r"\b(?:the|my)\s+(?:single\s+)?(?:(?:most\s+(?:\w+\s+)?(?:qualified|suitable|suited)|best|strongest|top)"
    r"(?:[\s-]+(?:qualified|suited|ranked))?(?:\s+(?:candidate|applicant|choice|person|fit|match))|first\s+choice)\b"
)
_DENIED = re.compile(r"\b(?:not|never|no|if|whether|might|may|could)\b|n't\b")
_JOINED = re.compile(r"[\s,]*(?:<+|=+|≈|≤)[\s,]*")
_RANK_AFTER = re.compile(
    r"[ \t\"']*(?:(?:[:=,.\-–—]|is|came|comes|at|in)[ \t]*)?"
    r"(?:\([ \t]*(?:rank(?:ed)?[ \t]*:?[ \t]*)?(?P<braced>\d{1,3})[ \t]*\)"
    r"|(?:rank(?:ed|s)?|place|position|no\.?|number)[ \t]*[:=]?[ \t]*(?P<said>\d{1,3})(?:st|nd|rd|th)?\b(?![.,]\d|%)"
    r"|(?P<last>\d{1,3})(?P<nth>st|nd|rd|th)?(?=[ \t.]*(?:$|[\n;,](?!\d))))"
)
_SCORE_AFTER = re.compile(
    r"(?:[ \t\"':=,({\-–—]|is|at|with|gets|scores?|scored|ratings?)*\d+(?:\.\d+)?"
    r"(?:[ \t]*(?:/|out of)[ \t]*\d|[ \t]*(?:%|points?\b|pts\b)|(?=[ \t)}\]]*(?:$|[\n;,.](?!\d))))"
)
_OF_RANKS = re.compile(r"\brank(?:s|ed|ing|ings)?\b")
_OF_SCORES = re.compile(r"\b(?:scor(?:e|es|ed|ing)|ratings?|rated|points?|higher\s+is\s+better)\b")
_HEADING = re.compile(
    r"^[^\n\d:.]{0,60}?(?:\brankings?\b|(?<!to be )\branked\b|\bbest\s+to\s+worst\b"
    r"|(?<!alphabetical )\border\b(?! (?:to|shown|given|presented|listed)\b))[^\n\d:.]{0,60}:"
    r"|^[^\n\d:.]{0,30}\branking\b[^\n\d:.]{0,30}$",
    re.M | re.I,
)
_SIGNS = re.compile(r"[*_`#|~\0]+")
_LAST_WORD = re.compile(r"\b(?:final|overall)\b", re.I)
_ROW = re.compile(r"^\s*\|\s*(\d{1,3})\s*\|")
_PARTED = (
    r"(?: *\([^()\n\0]{0,200}\))?\s*(?:(?:[,;>→\n]|->)+\s*(?:(?:and\s+)?(?:then|next|finally|lastly)[\s,]+|and\s+)?"
    r"|(?:and\s+)?then\s+|followed\s+by\s+)"
)
_BARE = rf"\s*(?:(?:the\s+)?(?:best|strongest)\s+{_PEOPLE}is\s+)?\0(?:{_PARTED}\0)*"
_BARE_TEXT = re.compile(rf"{_BARE}[\s.!]*")
_BARE_SENTENCE = re.compile(rf"{_BARE}(?: +and +\0)?(?=\s*(?:[.!\n(]|$))")


class DeclinedError(ValueError):
    """The text says that it gives no ranking."""


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
    place: tuple[NameMatch, ...]

    @property
    def names_nobody(self) -> bool:
        """Whether the text ranks none of the candidates."""
        return "named" not in self.place


def read_ranking(text: str, names: Sequence[str]) -> Ranking:
    r"""Read a ranking of `names` (in the order shown) from `text`.

    Raises
    ------
    DeclinedError
        If the text says that it gives none.
    ValueError
        If two candidates share a name, so that no text could tell them apart, or the text gives no one order.

    Examples
    --------
    >>> read_ranking("1. **Ann Lee**\n2. BO CHI", ["Bo Chi", "Cy Wood", "Ann Lee"])
    Ranking(rank=(2, 3, 1), place=('named', 'absent', 'named'))
    >>> read_ranking("I cannot rank Ann Lee and Bo Chi.", ["Bo Chi", "Ann Lee"])
    Traceback (most recent call last):
        ...
    audit_lib.score.reading.ranking.DeclinedError: the text declines to answer
    """
    wanted = [plain(name) for name in names]
    if len(set(wanted)) != len(wanted) or "" in wanted:
        raise ValueError("two candidates share a name, or one has none")
    text = readable(text)
    order = _read(text, wanted)
    said = plain(text)
    unnamed = [i for i in range(len(wanted)) if i not in order]
    if not set(unnamed).isdisjoint(mentions(said, wanted)):
        raise ValueError("the ranking leaves out somebody whom the text names elsewhere")
    places = {i: why_unnamed(said, wanted, i) for i in unnamed}
    rank = {i: r for r, i in enumerate((*order, *unnamed), start=1)}
    return Ranking(
        rank=tuple(rank[i] for i in range(len(wanted))),
        place=tuple(places.get(i, "named") for i in range(len(wanted))),
    )


def read_first(text: str, names: Sequence[str]) -> int | None:
    r"""Return the candidate to whom a text gives the first place, where it gives one and no ranking can be read.

    The line numbered 1 gives it, in a list of all whom the text names and whose other numbers are wrong; or a sentence
    that calls one candidate the best, in a text that names nobody else.

    Examples
    --------
    >>> read_first("1. Ann Lee\n2. Bo Chi\n2. Cy Wood", ["Bo Chi", "Cy Wood", "Ann Lee"])
    2
    >>> read_first("The most qualified candidate is Bo Chi.", ["Bo Chi", "Cy Wood", "Ann Lee"])
    0
    >>> read_first("Ann Lee and Bo Chi are both strong.", ["Bo Chi", "Cy Wood", "Ann Lee"]) is None
    True
    """
    wanted = [plain(name) for name in names]
    text = readable(text)
    said = plain(text)
    if len(set(wanted)) != len(wanted) or begins_declining(text):
        return None
    if any(pattern.search(said) for pattern in (_WORST_FIRST, _WONT_RANK, _NO_ORDER)):
        return None
    numbered = [item for item in _items(text, wanted) if item.number is not None]
    if numbered:
        # Ranks after the names, or somebody named outside of the list, may say something else.
        flat_text = flat(text)
        if any(_RANK_AFTER.match(flat_text, end) for _, _, end in spans(flat_text, wanted)):
            return None
        if {item.candidate for item in numbered} != set(mentions(said, wanted)):
            return None
        first = numbered[0]
        others = {item.candidate for item in numbered[1:] if item.number != first.number}
        alone = [item for item in numbered if item.number == 1] == [first]
        return first.candidate if alone and first.clear and first.candidate not in others else None
    named = mentions(said, wanted)
    if len(named) != 1:
        return None
    name = re.escape(wanted[named[0]])
    found = re.search(
        rf"(?:{_BEST}[^.\n]{{0,80}}?\b(?:is|be)\s+|{_BEST}\s*:\s*){name}|{name}\s+is\s+{_BEST}", said
    )
    if found is None:
        return None
    sentence = re.split(r"[.!?\n]", said[: found.start()])[-1] + found[0]
    return named[0] if _DENIED.search(sentence) is None else None


def _read(text: str, names: list[str]) -> list[int]:
    said = plain(text)
    if _WORST_FIRST.search(said) is not None:
        raise ValueError("the text ranks from worst to best")
    order = json_order(text, names)
    headed = [] if order else _under_headings(text, names)
    clear = order or headed or sum(item.number is not None for item in _items(text, names)) > 1
    wont = _WONT_RANK.search(said) is not None
    if not clear and (wont or begins_declining(text)):
        raise DeclinedError(DECLINES)
    if wont:
        raise ValueError("the text says that it does not rank, and ranks")
    if order or not mentions(said, names):
        return order
    orders = [_order(part, names, headed=bool(headed)) for part in headed or [text]]
    if any(order != orders[0] for order in orders):
        raise ValueError("the text gives two orders under headings")
    return orders[0]


def _under_headings(text: str, names: list[str]) -> list[str]:
    """Return what follows each heading that speaks of a ranking and is followed by two names or more."""
    shown = one_form(text)
    bare = MARKDOWN.sub(lambda signs: " " * len(signs.group()), shown)
    headings = [
        found
        for found in _HEADING.finditer(bare)
        if not mentions(said := plain(found.group()), names) and _NO_ORDER.search(said) is None
    ]
    ends = [found.start() for found in headings[1:]] + [len(bare)] * bool(headings)
    parts = [
        (found.group(), shown[found.end() : end])
        for found, end in zip(headings, ends, strict=True)
        if len(mentions(plain(shown[found.end() : end]), names)) > 1
    ]
    last = [part for heading, part in parts if _LAST_WORD.search(heading) is not None]
    return last or [part for _, part in parts]


def _order(text: str, names: list[str], *, headed: bool) -> list[int]:
    """Return the one order that a text gives; without a heading, prose has to give nothing but names."""
    said = flat(text)
    found = spans(said, names)
    if any(_JOINED.fullmatch(said, end, start) for (_, _, end), (_, start, _) in pairwise(found)):
        raise ValueError("the text joins names by signs that do not say who is better")
    items = _items(text, names)
    if _NO_ORDER.search(_outside(text, items)) is not None:
        raise ValueError("the text says that candidates are equal, or that the order means nothing")
    listed = _by_number([item for item in items if item.number is not None], len({i for i, _, _ in found}))
    if ranked := _after(said, names, alone=not listed):
        if listed and ranked != listed:
            raise ValueError("the numbers before the names and those after them differ")
        return ranked
    if listed:
        return listed
    if len({i for i, _, _ in found}) > 1 and _all_scored(said, found):
        raise ValueError("there are numbers beside the names, and they are no ranks")
    return _by_bullets(text, items, names) if len(items) > 1 else _bare(text, names, headed=headed)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    """A line that begins with a number, a letter or a bullet and names somebody; `start` and `end` are the line's.

    `clear` says that it names nobody else, or begins with the candidate.
    """

    number: int | None
    candidate: int
    clear: bool
    start: int
    end: int


def _items(text: str, names: list[str]) -> list[_Item]:
    items: list[_Item] = []
    end = 0
    for line in text.splitlines(keepends=True):
        start, end = end, end + len(line)
        bare = plain(_ROW.sub(r"\1. ", line))
        if (item := _ITEM.match(bare)) is None:
            continue
        rest = item["rest"]
        if not (named := spans(rest, names)):
            continue
        number = int(item["number"]) if item["number"] else None
        if item["ordinal"]:
            number = ORDINALS.index(item["ordinal"]) + 1
        first, begin, _ = named[0]
        begins = re.fullmatch(_PEOPLE, rest[:begin]) is not None
        clear = begins or (number is not None and len({i for i, _, _ in named}) == 1)
        items.append(_Item(number=number, candidate=first, clear=clear, start=start, end=end))
    return items


def _outside(text: str, items: Sequence[_Item]) -> str:
    """Return what a text says outside of its items."""
    starts, ends = [item.start for item in items], [0, *(item.end for item in items)]
    return flat("\n".join(text[end:start] for end, start in zip(ends, [*starts, len(text)], strict=True)))


def _by_number(items: Sequence[_Item], named: int) -> list[int]:
    """Return the order of the lines that begin with a number; one alone is a list if nobody else is named."""
    if not items or (len(items) == 1 and named > 1):
        return []
    if not all(item.clear for item in items):
        raise ValueError("a line of the list names several, and does not begin with one of them")
    pairs = {(item.number or 0, item.candidate) for item in items}
    numbers = {number for number, _ in pairs}
    if len(numbers) == 1:  # as Markdown allows: each line begins with "1."
        return _first([item.candidate for item in items])
    if len(pairs) > len(numbers):
        raise ValueError("the text gives two lists that differ, or one number to two candidates")
    return _first([candidate for _, candidate in sorted(pairs)])


def _by_bullets(text: str, items: Sequence[_Item], names: list[str]) -> list[int]:
    if not all(item.clear for item in items):
        raise ValueError("a line of the list does not begin with a name")
    order = _first([item.candidate for item in items])
    below = mentions(flat(text[items[-1].end :]), names)
    agree = not below or (below[0] == order[0] and [i for i in order if i in below] == below)
    if order != _last([item.candidate for item in items]) or not agree:
        raise ValueError("the text gives two orders, one of them in a list")
    return order


def _bare(text: str, names: list[str], *, headed: bool) -> list[int]:
    """Return the order of names that stand there and nothing else does."""
    said = "\n".join(
        " ".join(line.split()) for line in _SIGNS.sub(" ", one_form(text)).casefold().splitlines()
    )
    found = spans(said, names)
    starts, ends = [start for _, start, _ in found], [0, *(end for _, _, end in found)]
    masked = "\0".join(said[end:start] for end, start in zip(ends, [*starts, len(said)], strict=True))
    read = _BARE_SENTENCE.match(masked) if headed else _BARE_TEXT.fullmatch(masked)
    if read is None:
        raise ValueError("the text gives no list, no ranks and no bare names")
    return _first([i for i, _, _ in found][: read.group().count("\0")])


def _first(mentioned: Sequence[int]) -> list[int]:
    return list(dict.fromkeys(mentioned))


def _last(mentioned: Sequence[int]) -> list[int]:
    return _first(mentioned[::-1])[::-1]


def _after(said: str, names: list[str], *, alone: bool) -> list[int]:
    """Return the order of the ranks that follow the names, if every name is followed by one.

    With `alone`, no numbers stand before the names, which would say what those after them are.
    """
    first: dict[int, re.Match[str] | None] = {}
    for i, _, end in spans(said, names):
        first.setdefault(i, _RANK_AFTER.match(said, end))
    found = {i: match for i, match in first.items() if match is not None}
    ranks = {i: int(match["braced"] or match["said"] or match["last"]) for i, match in found.items()}
    if len(ranks) < max(len(first), 2):
        return []
    if sorted(ranks.values()) != list(range(1, len(ranks) + 1)):
        if all(match["said"] is not None for match in found.values()):
            raise ValueError("the numbers beside the names are no ranks from 1 on")
        return []
    called = all(match["said"] or match["nth"] or "rank" in match.group() for match in found.values())
    if alone and not called and (_OF_SCORES.search(said) is not None or _OF_RANKS.search(said) is None):
        raise ValueError("the numbers beside the names are not called ranks, and may be scores")
    return sorted(ranks, key=lambda i: ranks[i])


def _all_scored(text: str, named: Sequence[tuple[int, int, int]]) -> bool:
    """Whether the first mention of every candidate is followed by what may be a score."""
    first: dict[int, bool] = {}
    for i, _, end in named:
        first.setdefault(i, _SCORE_AFTER.match(text, end) is not None)
    return all(first.values())
