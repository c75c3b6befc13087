"""Grids understood: which column is which, which rows are headers, and where one table ends."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from audit_lib.check.documents import Grid
from audit_lib.check.labels import Label, read_label
from audit_lib.check.numbers import Cell, read_cell, says_none
from audit_lib.policies import Policy

Meaning = Literal["applicants", "selected", "rate", "ratio", "share", "unknown", "place", "label", "other"]
NUMBERS: Final[tuple[Meaning, ...]] = ("applicants", "selected", "rate", "ratio", "share")

# The first that matches counts, so what only looks like a rate (its interval, its p-value) comes first.
_HEADERS: Final[tuple[tuple[Meaning, str], ...]] = (
    ("other", r"\b(?:interval|if|than|expected|ci|confidence|p|p-?value|low|high|lower|upper|limits?|bounds?|"
              r"standard|deviations?|sd|"
              r"fisher|comparator|below|flag|excluded|undefined|small|simultaneous|tests?|significan\w*|power|ties|"
              r"tied|total of|table total|mean|average|shortfall|detectable|threshold|guideline|"
              r"pass(?:es)? 4/5\w*|status)\b"),
    ("unknown", r"\bunknown\b"),
    ("share", r"\bshare\b|(?:%|percent(?:age)?|proportion) of (?:the )?(?:data|total|sample|applicants|candidates|"
              r"population|all|pool)\b"),
    ("ratio", r"\bratio\b|\bair\b|\bir\b"),
    ("rate", r"\b(?:selection|scoring|pass|passing|hire|hiring|success|advancement|promotion|recommendation) ?"
             r"(?:rate|%|percent\w*)|\brates?\b|(?:%|percent(?:age)?) (?:selected|above|hired|passed|advanced)"),
    ("selected", r"\b(?:selected|selections|hired|hires|advanced|moved forward|passed|passing|promoted|offers?|"
                 r"above(?: the)? median|scored above|scoring above|above|favou?rable|recommended)\b"),
    ("applicants", r"(?:#|\bno\.?|\bnumber|\bcount|\btotal) (?:of )?(?:applicants|candidates|individuals|"
                   r"people|employees)\b"),
    ("place", r"^(?:table|family|kind|section|stratum|position|positions|job|job title|title|role|employer|company|"
              r"audit|window|classification|classification group|style|tool|model|department|business unit)$"),
    ("label", r"\b(?:category|categories|group|groups|sex|gender|race|ethnicity|ethnic|demographics?|class|"
              r"subgroup|protected)\b"),
    ("applicants", r"\b(?:applicants?|applied|assessed|considered|candidates?|individuals|people|persons|participants|"
                   r"employees|total|count|n|number|sample|sample size|population|assessments|evaluated|headcount)\b"),
)  # fmt: skip
# Words of captions and headings that do not tell one position from another.
_PHRASES: Final = re.compile(
    r"\b(?:(?:table|figure|exhibit) [0-9]+(?:\.[0-9]+)*|local law 144|ll ?-?144|new york city|nyc)\b"
)
_COMMON: Final = re.compile(
    r"an?|and|the|of|by|for|in|to|on|with|its|this|tables?|impact|adverse|ratios?|rates?|results?|bias|audits?|"
    r"selection|scoring|sex|gender|races?|ethnicity|ethnic|intersectional|category|categories|summary|candidates?|"
    r"applicants?|data|analysis|demographics?|groups?|aedt|based|combined|statistics|statutory|calculations"
)
_HEADER_ROWS: Final = 3
_LONGEST_LABEL: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row: what it is about, and its cells by meaning."""

    label: Label
    cells: dict[Meaning, Cell]

    def cell(self, meaning: Meaning) -> Cell:
        """Return the cell, or an empty one."""
        return self.cells.get(meaning, Cell(""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A published table of rates.

    Parameters
    ----------
    number : int
        Its place among the tables of rates in the file, from 1.
    caption : str
        Its caption, or the heading above it.
    place : str
        What tells it from tables of the same family: the position, the employer, the classification group.
    kind : {"selection", "scoring"}
        What its rate is.
    family : str or None
        The policy's table family, None where too few rows were recognised.
    headers : dict of str to str
        Meaning -> header as it prints, for the columns that are there.
    rows : tuple of Row
        Its rows, in order.
    unknown, total : tuple of int
        People of unknown and of known category that the table itself states, below it or in a column: one number, or
        all that its rows give. Empty if it states none.
    page : int
        The page on which it was read from where words stand; 0 where its cells are the file's own.
    """

    number: int
    caption: str
    place: str
    kind: Literal["selection", "scoring"]
    family: str | None
    headers: dict[Meaning, str]
    rows: tuple[Row, ...]
    unknown: tuple[int, ...] = ()
    total: tuple[int, ...] = ()
    page: int = 0

    @property
    def name(self) -> str:
        """What findings call it."""
        return f"{self.number} ({self.caption or self.family or 'without a caption'})"

    def of(self, role: str) -> list[Row]:
        """Rows of a role: ``category``, ``unknown`` or ``total``."""
        return [row for row in self.rows if row.label.role == role]


@cache
def meaning_of(header: str) -> Meaning | None:
    """Say what a column holds, from its header; None if nothing gives it away.

    Examples
    --------
    >>> meaning_of("# of Applicants"), meaning_of("Impact Ratio"), meaning_of("95% interval"), meaning_of("")
    ('applicants', 'ratio', 'other', None)
    """
    words = re.sub(r"[_\s]+", " ", header.lower()).strip(" :*.")
    if words in ("#", "no.", "no"):
        return "applicants"
    words = words.removesuffix(" printed")
    return next((meaning for meaning, pattern in _HEADERS if re.search(pattern, words)), None)


def has_header(grid: Grid) -> bool:
    """Whether some row of the grid heads a table of rates."""
    return any(_header_at(grid.rows, start) is not None for start in range(len(grid.rows)))


def tables_of(grids: Sequence[Grid], policy: Policy) -> list[Table]:
    """Return every table of rates: one that has a rate or a ratio beside a number of people, or both of them."""
    parts: list[_Part] = []
    title = ""
    for grid in grids:
        if parts and grid.continues and len(grid.rows[0]) == len(parts[-1].headers):
            # The rest of a table on another page, under no header or under the same one again.
            again = _header_at(grid.rows, 0)
            if again is not None and again[1] == parts[-1].headers:
                parts[-1].rows.extend(grid.rows[again[0] :])
                continue
            if not has_header(grid):
                parts[-1].rows.extend(grid.rows)
                continue
        heading = [_only_text(row) for row in grid.rows]
        if all(heading):  # a block of titles: the name of what comes next
            title = heading[-1]
            continue
        parts += _parts(grid, title)
        title = ""
    found: list[Table] = []
    for part in parts:
        for table in _tables(part, policy, len(found) + 1):
            # Other tables have rates too (of power, of answers); people's categories or the law's word make it one.
            if table.family is not None or "impact" in table.headers.get("ratio", "").lower():
                found += [table]
    return found


@dataclass(slots=True)
class _Part:
    """Rows under one header."""

    headers: tuple[str, ...]
    meanings: tuple[Meaning | None, ...]
    caption: str
    trail: tuple[str, ...]
    notes: str
    page: int
    rows: list[Sequence[str]]


def _parts(grid: Grid, title: str) -> Iterator[_Part]:
    """Cut a grid at its header rows; a line of one text above a header is the caption of what follows."""
    caption, part, start = grid.caption or title, None, 0
    while start < len(grid.rows):
        header = _header_at(grid.rows, start)
        if header is None:
            if part is not None:
                part.rows.append(grid.rows[start])
            else:
                caption = _only_text(grid.rows[start]) or caption
            start += 1
            continue
        if part is not None:
            if part.rows and (own := _only_text(part.rows[-1])):
                caption = own
                part.rows.pop()
            yield part
        deep, headers, meanings = header
        part = _Part(headers, meanings, caption, grid.trail, grid.notes, grid.page, [])
        start += deep
    if part is not None:
        yield part


def _header_at(
    rows: Sequence[Sequence[str]], start: int
) -> tuple[int, tuple[str, ...], tuple[Meaning | None, ...]] | None:
    """Return depth, texts and meanings of a header that begins at a row, or None."""
    if _only_text(rows[start]):
        return None
    for deep in range(1, _HEADER_ROWS + 1):
        block = rows[start : start + deep]
        if len(block) < deep or any(read_cell(text).number for text in block[-1]):
            return None
        headers = tuple(
            " ".join(dict.fromkeys(t for t in column if t)) for column in zip(*block, strict=True)
        )
        meanings = _meanings(headers)
        if {"ratio", "rate"} & set(meanings) and len(set(NUMBERS) & set(meanings)) >= 2:
            return deep, headers, meanings
    return None


def _meanings(headers: tuple[str, ...]) -> tuple[Meaning | None, ...]:
    found: list[Meaning | None] = []
    for header in headers:
        meaning = meaning_of(header)
        # The plainest header wins the meaning: a second "rate" column is something else.
        found.append("other" if meaning in NUMBERS and meaning in found else meaning)
    return tuple(found)


def _only_text(row: Sequence[str]) -> str:
    texts = {text for text in row if text}
    return texts.pop() if len(texts) == 1 else ""


def _tables(part: _Part, policy: Policy, number: int) -> Iterator[Table]:
    first = next(i for i, meaning in enumerate(part.meanings) if meaning in NUMBERS)
    labels = [
        i
        for i, meaning in enumerate(part.meanings)
        if meaning == "label" or (i < first and meaning in (None, "other"))
    ]
    places = [i for i, meaning in enumerate(part.meanings) if meaning == "place"]
    if not labels and places:  # the only column of words is headed by an ordinary word such as "Table"
        labels, places = places[-1:], places[:-1]
    groups: dict[tuple[str, ...], list[Row]] = {}
    stated = {
        name: i
        for i, text in enumerate(part.headers)
        if (name := " ".join(text.lower().replace("_", " ").split())) in ("table total", "table unknown")
    }
    said: dict[tuple[tuple[str, ...], str], dict[int, None]] = {}
    prefix, above = "", [""] * len(labels)
    for texts in part.rows:
        if title := _only_text(texts):
            known = read_label([title], policy) if len(title) <= _LONGEST_LABEL else None
            prefix = title if known and known.levels and known.role == "category" else ""
            continue
        cells: dict[Meaning, Cell] = {
            meaning: read_cell(texts[i])
            for i, meaning in enumerate(part.meanings)
            if meaning in NUMBERS or meaning == "unknown"
        }
        parts = _filled([texts[i] for i in labels], above)
        # Notes under a table and repeated headers hold no number at all.
        if not any(parts) or all(c.number is None and not says_none(c.text) for c in cells.values()):
            continue
        if all(c.is_none for c in cells.values()) and not read_label(parts, policy).levels:
            continue
        above = parts
        where = tuple(texts[i] for i in places)
        for name, i in stated.items():
            if (people := read_cell(texts[i]).count) is not None:
                said.setdefault((where, name), {})[people] = None
        groups.setdefault(where, []).append(
            Row(label=read_label([prefix, *parts] if prefix else parts, policy), cells=cells)
        )
    headers = {m: part.headers[i] for i, m in enumerate(part.meanings) if m in NUMBERS or m == "unknown"}
    for offset, (where, rows) in enumerate(groups.items()):
        words = ", ".join(dict.fromkeys(word for word in where if word))
        caption = part.caption or (part.trail[-1] if part.trail else "")
        yield Table(
            number=number + offset,
            caption=words or caption,
            place=_place([words] if words else [part.caption, *reversed(part.trail)]),
            kind=_kind(headers.get("rate", ""), words, caption, headers.get("selected", "")),
            family=_family(rows, policy),
            headers=headers,
            rows=tuple(rows),
            unknown=tuple(said.get((where, "table unknown"), _unknown_below(part.notes))),
            total=tuple(said.get((where, "table total"), ())),
            page=part.page,
        )


def _unknown_below(notes: str) -> list[int]:
    """Return the number of people of unknown category that a line below a table gives for that table."""
    found = re.search(r"^\W*([0-9][0-9,]*)\b[^.%]*\bin this table\b[^.]*\bunknown\b", notes, re.MULTILINE)
    return [int(found[1].replace(",", ""))] if found else []


def _filled(parts: list[str], above: list[str]) -> list[str]:
    """Fill an empty label left of one that is not from the row above: merged cells leave such holes."""
    last = max((i for i, part in enumerate(parts) if part), default=-1)
    return [above[i] if not part and i < last else part for i, part in enumerate(parts)]


def _kind(*texts: str) -> Literal["selection", "scoring"]:
    for text in texts:
        if re.search(r"scor|median", text.lower()):
            return "scoring"
        if re.search(r"select", text.lower()):
            return "selection"
    return "selection"


def _family(rows: Sequence[Row], policy: Policy) -> str | None:
    known = Counter(
        tuple(sorted(row.label.levels)) for row in rows if row.label.role == "category" and row.label.levels
    )
    if not known:
        return None
    attributes = set(known.most_common(1)[0][0])
    return next((family.name for family in policy.families if set(family.attributes) == attributes), None)


def _place(texts: Sequence[str]) -> str:
    """Return the words that are left of a caption, or else of the nearest heading that has any."""
    for text in texts:
        words = re.findall(r"[\w'-]+", _PHRASES.sub(" ", text.lower().replace("_", " ")))
        kept = [word for word in words if not _COMMON.fullmatch(word)]
        if kept:
            return " ".join(kept)
    return ""
