"""Columns whose headers say nothing are known by their numbers: a rate is people over people, a ratio a rate over the
highest one.

What is found is written into the header, in brackets, so that all that reads headers knows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from statistics import median
from typing import Final

from audit_lib.check.grids import Grid
from audit_lib.check.headers import NUMBERS, Meaning, header_at, meaning_of
from audit_lib.check.own_language import is_own
from audit_lib.check.published_numbers import Number, read_cell, read_number
from audit_lib.check.row_labels import categories_in

_NAMES: Final[Mapping[Meaning, str]] = {
    "applicants": "applicants",
    "selected": "selected",
    "rate": "selection rate",
    "ratio": "impact ratio",
}
_NEEDED: Final = frozenset({"applicants", "rate", "ratio"})
_FEWEST_ROWS: Final = 3
_MOST: Final = Fraction(4, 5)  # of the rows: others may be faults of the page
_MOST_COLUMNS: Final = 8

NumberColumn = Sequence[Number | None]


@dataclass(frozen=True, slots=True)
class _Block:
    """A header row, and the rows of categories below it."""

    grid: int
    header: int
    texts: tuple[str, ...]
    rows: Sequence[Sequence[str]]


def named(grids: Sequence[Grid], *, ours: bool = False) -> tuple[Grid, ...]:
    """Return grids whose headers say what their columns hold, as far as the numbers show it.

    On a page of ours a table whose headers are all this library's own is left as it is.
    """
    grids = [_without_row_numbers(grid) for grid in grids]
    alike: dict[tuple[str, ...], list[_Block]] = {}
    for number, grid in enumerate(grids):
        for block in _blocks(number, grid):
            if ours and all(map(is_own, block.texts)):
                continue
            alike.setdefault(block.texts[1:], []).append(block)
    found = [list(grid.rows) for grid in grids]
    for blocks in alike.values():
        names = _roles(blocks)
        for block in blocks:
            texts = [_with(text, names[i]) if i in names else text for i, text in enumerate(block.texts)]
            found[block.grid][block.header] = tuple(texts)
    return tuple(
        grid if rows == list(grid.rows) else replace(grid, rows=rows)
        for grid, rows in zip(grids, found, strict=True)
    )


def _without_row_numbers(grid: Grid) -> Grid:
    """Leave out a first column that counts the rows below its header: 1, 2, 3."""
    rows = grid.rows
    if len(rows) < _FEWEST_ROWS or len(rows[0]) < _FEWEST_ROWS or read_number(rows[0][0]) is not None:
        return grid
    numbers = [row[0].rstrip(".") for row in rows[1:] if row[0]]
    if (
        len(numbers) < _FEWEST_ROWS - 1
        or numbers != [str(i) for i in range(1, len(numbers) + 1)]
        or not any(categories_in(row[1]) for row in rows[1:])
    ):
        return grid
    return replace(grid, rows=[row[1:] for row in rows])


def _with(text: str, meaning: Meaning) -> str:
    name = _NAMES[meaning]
    both = f"{text} ({name})" if text else name
    return both if meaning_of(both) == meaning else name


def _blocks(number: int, grid: Grid) -> Iterator[_Block]:
    """Yield the rows of words that stand over rows of categories with numbers, where their words do not say all."""
    rows = grid.rows
    told = _told(rows)
    for i in range(len(rows) - 1):
        if i in told or not _is_of_words(rows[i]) or not _is_of_category(rows[i + 1]):
            continue
        end = i + 1
        while end < len(rows) and not _is_of_words(rows[end]):
            end += 1
        meanings = [meaning_of(text) for text in rows[i]]
        known = [meaning for meaning in meanings if meaning in NUMBERS]
        lacks = _NEEDED - set(known)
        if lacks and len(set(known)) == len(known):
            held = [row for row in rows[i + 1 : end] if _is_of_category(row)]
            yield _Block(number, i, tuple(rows[i]), held)


def _told(rows: Sequence[Sequence[str]]) -> set[int]:
    """Return the rows of headers that say what they need to."""
    headers = ((i, header_at(rows, i)) for i in range(len(rows)))
    return {
        i + deep
        for i, header in headers
        if header is not None and set(header.meanings) >= _NEEDED
        for deep in range(len(header.rows))
    }


def _is_of_words(row: Sequence[str]) -> bool:
    texts = [text for text in row if text]
    if categories_in(" ".join(texts[:1])) or 2 * len(texts) < len(row):
        return False  # a row of a category whose numbers are left out
    return len(set(texts)) > 1 and all(
        read_cell(t).number is None and not read_cell(t).is_none for t in texts
    )


def _is_of_category(row: Sequence[str]) -> bool:
    label = next((text for text in row if text), "")
    return bool(categories_in(label)) and sum(read_number(text) is not None for text in row) > 1


def _roles(blocks: Sequence[_Block]) -> dict[int, Meaning]:
    """Return what the columns without a telling header hold: column -> meaning."""
    texts = blocks[0].texts
    tables = [[[read_number(row[i]) for row in block.rows] for i in range(len(texts))] for block in blocks]
    if sum(len(block.rows) for block in blocks) < _FEWEST_ROWS or len(texts) > _MOST_COLUMNS:
        return {}
    known: dict[Meaning, int] = {}
    for i, text in enumerate(texts):
        meaning = meaning_of(text)
        if meaning is not None and meaning in _NAMES:
            known[meaning] = i
    free = [
        i
        for i, text in enumerate(texts)
        if meaning_of(text) in (None, "share", "other")
        and any(n for table in tables for n in table[i])
        and not _is_of_differences([row[i] for block in blocks for row in block.rows])
    ]
    whole = [
        i for i in free if all(n is None or (n.is_whole and not n.percent) for t in tables for n in t[i])
    ]
    parts = [i for i in free if i not in whole or any(n and n.percent for t in tables for n in t[i])]
    best: tuple[int, dict[Meaning, int]] = (0, {})
    for roles in _assignments(known, whole, parts):
        score = _score(tables, roles)
        if score > best[0]:
            best = (score, roles)
    return {column: meaning for meaning, column in best[1].items() if meaning not in known}


def _is_of_differences(texts: Sequence[str]) -> bool:
    """Whether many cells have a sign, as no number of people, rate or ratio does; one may be a fault of the page."""
    numbers = [(text, number) for text in texts if (number := read_number(text)) is not None]
    signs = sum(number.negative or text.lstrip().startswith("+") for text, number in numbers)
    return signs > (1 - _MOST) * len(numbers)


def _assignments(
    known: Mapping[Meaning, int], whole: Sequence[int], parts: Sequence[int]
) -> Iterator[dict[Meaning, int]]:
    lacking = [meaning for meaning in _NAMES if meaning not in known]
    for size in range(1, len(lacking) + 1):
        for chosen in permutations([*whole, *parts], size):
            for meanings in permutations(lacking, size):
                if list(meanings) != sorted(meanings):
                    continue
                roles = dict(zip(meanings, chosen, strict=True))
                if all(
                    (column in whole) == (meaning in ("applicants", "selected"))
                    for meaning, column in roles.items()
                ):
                    yield {**known, **roles}


def _score(tables: Sequence[Sequence[NumberColumn]], roles: Mapping[Meaning, int]) -> int:
    """Count the relations between columns that hold in most rows; 0 where one of them does not.

    Without ratios over the highest rate it is another table of shares, as of answers.
    """
    if not {"rate", "ratio"} <= roles.keys():
        return 0
    score = 0
    if {"applicants", "selected", "rate"} <= roles.keys():
        rows = [
            (n, k, r)
            for table in tables
            for n, k, r in zip(
                table[roles["applicants"]], table[roles["selected"]], table[roles["rate"]], strict=True
            )
            if n and k and r and n.value
        ]
        held = sum(_is_near(k.value / n.value, r) for n, k, r in rows)
        if len(rows) < _FEWEST_ROWS or held < _MOST * len(rows):
            return 0
        score += 1
    held = asked = 0
    different: set[Fraction] = set()
    for table in tables:
        pairs = [
            (r, q)
            for r, q in zip(table[roles["rate"]], table[roles["ratio"]], strict=True)
            if r and q and r.value and q.value
        ]
        top = median(_share(r) / _share(q) for r, q in pairs) if pairs else Fraction(0)
        for r, q in pairs:
            if top:
                asked += 1
                different.add(q.value)
                slack = Fraction(1, 10**r.decimals * (100 if r.percent or r.value > 1 else 1)) / top
                held += abs(_share(r) / top - _share(q)) <= slack + Fraction(1, 10**q.decimals)
    if asked < _FEWEST_ROWS or held < _MOST * asked or len(different) < _FEWEST_ROWS - 1:
        return 0
    # Of two readings that hold alike, the one that explains more columns.
    return 10 * score + len(roles)


def _share(number: Number) -> Fraction:
    return number.value / 100 if number.percent or number.value > 1 else number.value


def _is_near(value: Fraction, number: Number) -> bool:
    scale = 100 if number.percent or number.value > 1 else 1
    return abs(value * scale - number.value) <= Fraction(1, 10**number.decimals)
