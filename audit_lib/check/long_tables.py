"""Long tables: a row for each number, or one table for every breakdown, named in a column of its own.

A column that names the measure is spread over columns again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from audit_lib.check.grids import Grid, even
from audit_lib.check.headers import NUMBERS, is_of_rates, meaning_of
from audit_lib.check.published_numbers import read_number, says_none

_FEWEST: Final = 3  # rows
_BREAKDOWNS: Final = frozenset({"sex", "gender", "race", "ethnicity", "intersectional", "intersection"})
_FILLED: Final = frozenset(
    {"by", "and", "or", "x", "only", "identity", "categories", "category", "results", "group", "groups", "eeo", "1"}
)  # fmt: skip
_BREAKDOWN: Final = "Category type"  # what a column whose cells name breakdowns is called


def with_named_breakdowns(grids: Iterable[Grid]) -> tuple[Grid, ...]:
    """Give the column that says "Sex" or "Race/Ethnicity" in each row a header that says so: "Group" may be either."""
    return tuple(_with_named_breakdowns(grid) for grid in grids)


def _with_named_breakdowns(grid: Grid) -> Grid:
    for at, header in enumerate(grid.rows):
        meanings = [meaning_of(text) for text in header]
        if not {"rate", "ratio"} & set(meanings):
            continue
        for i, text in enumerate(header):
            label = next((j for j, meaning in enumerate(meanings) if meaning == "label" and j != i), None)
            if not text or label is None or meanings[i] not in (None, "label"):
                continue
            below = [row[i] for row in grid.rows[at + 1 :] if row[i] and row[label] and row[i] != row[label]]
            names = [text for text in below if _names_breakdown(text)]
            if len(names) == len(below) >= _FEWEST and len(set(names)) > 1:
                named = [_BREAKDOWN if j == i else text for j, text in enumerate(header)]
                return replace(grid, rows=(*grid.rows[:at], tuple(named), *grid.rows[at + 1 :]))
    return grid


def widened(grids: Iterable[Grid]) -> tuple[Grid, ...]:
    """Make one row of the rows that are about one category and differ in their measure and their number."""
    return tuple(_widened(grid) for grid in grids)


def _names_breakdown(text: str) -> bool:
    """Whether a cell says "Sex", "Race/Ethnicity" or "Intersectional (sex x race)", and no category."""
    words = set(re.findall(r"[a-z]+|\d+", text.lower())) - _FILLED
    return bool(words) and words <= _BREAKDOWNS


def _widened(grid: Grid) -> Grid:
    for header in range(min(2, len(grid.rows))):
        found = _measures(grid.rows[header + 1 :])
        if found is not None:
            rows = _spread(grid.rows[header], grid.rows[header + 1 :], *found)
            return replace(grid, rows=even([*grid.rows[:header], *rows]))
    return grid


def _measures(rows: Sequence[Sequence[str]]) -> tuple[int, list[int]] | None:
    """Return the column that names measures and those of their numbers; None where there are none such."""
    full = [row for row in rows if sum(bool(text) for text in row) > _FEWEST - 1]
    if len(full) < _FEWEST:
        return None
    for name in range(len(rows[0])):
        meanings = [meaning_of(row[name]) for row in full]
        if not all(meaning in NUMBERS for meaning in meanings) or not is_of_rates(
            sorted(set(meanings), key=str)
        ):
            continue
        if any(read_number(row[name]) for row in full):
            continue
        values = [
            i
            for i in range(len(rows[0]))
            if i != name and all(read_number(row[i]) or says_none(row[i]) for row in full)
        ]
        if values:
            return name, values
    return None


def _spread(
    header: Sequence[str], rows: Sequence[Sequence[str]], name: int, values: Sequence[int]
) -> list[Sequence[str]]:
    """Return a row for each category; where numbers stand in several columns, these are of categories, too."""
    others = [i for i in range(len(header)) if i != name and i not in values]
    measures = list(dict.fromkeys(row[name] for row in rows if meaning_of(row[name]) in NUMBERS))
    made: dict[tuple[str, ...], dict[str, str]] = {}
    turns: dict[tuple[str, ...], int] = {}
    for row, value in ((row, value) for row in rows for value in values):
        if meaning_of(row[name]) not in NUMBERS:
            continue
        key = (*(row[i] for i in others), *([header[value]] if len(values) > 1 else []))
        turn = turns.setdefault(key, 0)
        if row[name] in made.get((*key, str(turn)), {}):  # the category comes a second time
            turn = turns[key] = turn + 1
        made.setdefault((*key, str(turn)), {})[row[name]] = row[value]
    labels = [header[i] or "Category" for i in others] + (["Category"] if len(values) > 1 else [])
    table: list[Sequence[str]] = [[*labels, *measures]]
    return [*table, *([*key[:-1], *(cells.get(one, "") for one in measures)] for key, cells in made.items())]
