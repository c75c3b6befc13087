"""Tables of the same categories that divide the columns between them: numbers in one, rates and ratios in another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from audit_lib.check.grids import Grid
from audit_lib.check.headers import NUMBERS, RATES, Meaning, meaning_of
from audit_lib.check.published_numbers import read_number, says_none
from audit_lib.check.row_labels import categories_in

_FEWEST: Final = 2


@dataclass(slots=True)
class _Half:
    """A grid with one column of labels, and what its other columns hold."""

    grid: int
    header: int
    labels: tuple[str, ...]
    meanings: frozenset[Meaning]


def completed(grids: Sequence[Grid]) -> tuple[Grid, ...]:
    """Put the columns of tables with the same rows and other measures beside each other, in place of the first."""
    found: dict[int, Grid] = dict(enumerate(grids))
    open_: _Half | None = None
    for number, grid in enumerate(grids):
        half = _half(number, grid)
        if half is None:
            continue
        is_rest = (
            open_ is not None
            and open_.labels == half.labels
            and open_.meanings.isdisjoint(half.meanings)
            and (open_.meanings | half.meanings) & set(RATES)
        )
        if open_ is None or not is_rest:
            open_ = half
            continue
        found[open_.grid] = _beside(found[open_.grid], open_.header, grid, half.header)
        del found[number]
        open_ = replace(open_, meanings=open_.meanings | half.meanings)
    return tuple(found[number] for number in sorted(found))


def _half(number: int, grid: Grid) -> _Half | None:
    """Return a grid that is a header and rows of categories from there to its end; None for any other."""
    rows = grid.rows
    header = next((i for i, row in enumerate(rows) if len({text for text in row if text}) > 1), None)
    if header is None or len(rows) - header - 1 < _FEWEST or len(rows[0]) < _FEWEST:
        return None
    meanings = [meaning_of(text) for text in rows[header][1:]]
    body = rows[header + 1 :]
    numbers = [meaning for meaning in meanings if meaning is not None and meaning in NUMBERS]
    if len(numbers) < len(meanings) or len(set(numbers)) < len(numbers) or len(numbers) >= len(NUMBERS) - 1:
        return None
    is_of_people = sum(bool(categories_in(row[0])) for row in body) >= _FEWEST
    if not is_of_people or not all(read_number(text) or says_none(text) for row in body for text in row[1:]):
        return None
    return _Half(number, header, tuple(row[0] for row in body), frozenset(numbers))


def _beside(first: Grid, header: int, second: Grid, other: int) -> Grid:
    rows: list[Sequence[str]] = [(*row, *[""] * (len(second.rows[0]) - 1)) for row in first.rows[:header]]
    rows += [
        (*left, *right[1:]) for left, right in zip(first.rows[header:], second.rows[other:], strict=True)
    ]
    return replace(
        first,
        rows=rows,
        notes=second.notes or first.notes,
        unsure=first.unsure or second.unsure,
        is_whole=first.is_whole and second.is_whole,
    )
