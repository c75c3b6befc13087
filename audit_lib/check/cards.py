"""Cards: each category has a heading and, below it, its numbers with their names, in no table at all.

They are read from lines: "Asian", "Applicants 1,767", "Selection rate: 15.4%", or from one line for a category. Names
and numbers may stand on lines of their own, and a heading may go over several lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from audit_lib.check.grids import Grid, even
from audit_lib.check.headers import NUMBERS, is_of_rates, meaning_of
from audit_lib.check.published_numbers import WHOLE, read_number, says_none
from audit_lib.check.row_labels import categories_in, read_label
from audit_lib.policies import Policy

CARDS_UNSURE: Final = (
    "the PDF has no table: numbers were read from where their names stand, and one may be another card's; look at the "
    "page"
)
_LONGEST: Final = 100
_TITLE_LINES: Final = 3
_FEWEST: Final = 2  # cards, and numbers in one
_VALUE: Final = r"(?:[-\u2212]?[\d.,]*\d ?%?|N/?A|n/?a|\*|[-\u2013\u2014])[*\u2020\u2021]?"
_NAMED: Final = re.compile(rf"(?P<name>\D.{{0,60}}?)\s*(?::|\s|\u2013|=)\s*(?P<value>{_VALUE})")


# "Selected 209 of 1,117 applicants"
_OF_ALL: Final = re.compile(
    rf"(?P<name>\D.{{0,60}}?)\s*:?\s+(?P<selected>{WHOLE})\s*(?:/|of|out of)\s*(?P<all>{WHOLE})(?: (?P<who>[a-z ]+))?"
)
# "209 of 1,117 applicants were selected"
_ALONE: Final = re.compile(
    rf"(?P<selected>{WHOLE}) (?:of|out of) (?P<all>{WHOLE}) (?:applicants|candidates|people|individuals)"
    r"(?: (?:were |was )?selected)?\.?",
    re.IGNORECASE,
)
_PARTS: Final = re.compile(r"[;|]\s*|,\s+(?:and )?|\s[\u2013\u2014]\s|\s+and\s+")
_PLAIN_VALUE: Final = re.compile(r"(?<![\w.])(?:\d[\d.,]*\d|\d)(?: ?%)?(?!\w)|\bN/?A\b|\bn/a\b")


@dataclass(slots=True)
class _Card:
    title: str
    heading: str
    numbers: dict[str, str] = field(default_factory=dict)


def grids_of_cards(text: str, policy: Policy) -> list[Grid]:
    """Return a grid for each run of cards under one heading."""
    lines = [" ".join(line.split()) for line in text.split("\n")]
    grids: list[Grid] = []
    run: list[_Card] = []
    cards = list(_cards([line for line in lines if line], policy))
    if len({read_label([card.title], policy).key for card in cards}) == len(cards):
        return list(
            _grid(cards)
        )  # their categories tell what they are about, better than what stands above them
    for card in [*cards, None]:
        if run and (card is None or card.heading != run[-1].heading):
            grids += _grid(run)
            run = []
        if card is not None:
            run.append(card)
    return grids


def _grid(cards: Sequence[_Card]) -> Iterator[Grid]:
    names = list(dict.fromkeys(name for card in cards for name in card.numbers))
    if len(cards) >= _FEWEST and is_of_rates([meaning_of(name) for name in names]):
        rows = [
            ["Category", *names],
            *([card.title, *(card.numbers.get(n, "") for n in names)] for card in cards),
        ]
        yield Grid(rows=even(rows), caption=cards[0].heading)


def _cards(lines: Sequence[str], policy: Policy) -> Iterator[_Card]:
    heading, at = "", 0
    loose: list[str] = []  # lines that are of no card, since the last one
    while at < len(lines):
        if (card := _one_line(lines[at], policy)) is not None:
            above = [line for line in loose if _is_heading(line)]
            card.heading = heading = above[-1] if above else heading
            yield card
            loose = []
            at += 1
            continue
        numbers, end = _numbers(lines, at)
        if len(numbers) < _FEWEST:
            loose.append(lines[at])
            at += 1
            continue
        title, used = _title(loose, policy)
        if title:
            above = [line for line in loose[: len(loose) - used] if _is_heading(line)]
            heading = above[-1] if above else heading
            yield _Card(title, heading, numbers)
        loose = []
        at = end


def _one_line(line: str, policy: Policy) -> _Card | None:
    """Read "Asian: 1,767 applicants, 272 selected, selection rate 15.4%"; None for any other line."""
    title, _, rest = line.partition(": ")
    label = read_label([title], policy)
    if not rest or len(title) > _LONGEST or not (label.levels or label.role != "category"):
        return None
    numbers: dict[str, str] = {}
    for part in _PARTS.split(rest.rstrip(".")):
        values = _PLAIN_VALUE.findall(part)
        name = " ".join(_PLAIN_VALUE.sub(" ", part).split()).strip(" :=-")
        if len(values) != 1 or meaning_of(name) not in NUMBERS or name in numbers:
            return None
        numbers[name] = values[0].strip()
    return _Card(title, "", numbers) if is_of_rates([meaning_of(name) for name in numbers]) else None


def _is_heading(line: str) -> bool:
    return len(line) <= _LONGEST and not re.search(r"[.:;)]$|\d", line)


def _numbers(lines: Sequence[str], at: int) -> tuple[dict[str, str], int]:
    """Return the named numbers that begin at a line, and where they end."""
    found: dict[str, str] = {}
    while at < len(lines):
        line = lines[at]
        after = lines[at + 1] if at + 1 < len(lines) else ""
        if (both := _of_all(line)) and not set(both) & set(found):
            found |= both
            at += 1
            continue
        if (
            meaning_of(line) == "selected"
            and (both := _of_all(f"{line} {after}"))
            and not set(both) & set(found)
        ):
            found |= both
            at += 2
            continue
        named = _NAMED.fullmatch(line)
        if named is not None and meaning_of(named["name"]) in NUMBERS:
            name, value, step = named["name"].strip(" :"), named["value"], 1
        elif meaning_of(line) in NUMBERS and len(line) <= _LONGEST and _is_value(after):
            name, value, step = line.strip(" :"), after, 2
        else:
            break
        if name in found:
            break
        found[name] = value
        at += step
    return found, at


def _of_all(line: str) -> dict[str, str]:
    """Return the two numbers of "Selected 209 of 1,117 applicants" with their names; none of any other line."""
    if (alone := _ALONE.fullmatch(line)) is not None:
        return {"Selected": alone["selected"], "Applicants": alone["all"]}
    both = _OF_ALL.fullmatch(line)
    if both is None or meaning_of(both["name"]) != "selected" or categories_in(both["name"]):
        return {}
    who = both["who"] if both["who"] and meaning_of(both["who"]) == "applicants" else "Applicants"
    return {both["name"]: both["selected"], who: both["all"]}


def _is_value(text: str) -> bool:
    return bool(text) and (read_number(text) is not None or says_none(text))


def _title(loose: Sequence[str], policy: Policy) -> tuple[str, int]:
    """Return the category that the lines above a card's numbers name, and how many of them its name takes."""
    best: tuple[str, int, int] = ("", 0, 0)
    for size in range(1, min(_TITLE_LINES, len(loose)) + 1):
        words = " ".join(loose[-size:])
        if len(words) > _LONGEST or re.search(r"[.;]$", loose[-size]):
            break
        label = read_label([words], policy)
        known = len(label.levels) + (label.role != "category")
        if known > best[2]:
            best = (words, size, known)
    return best[0], best[1]
