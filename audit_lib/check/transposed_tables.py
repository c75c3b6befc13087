"""Tables that lie on their side: categories are columns, and each row is a number of people, a rate or a ratio."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from audit_lib.check.grids import Grid, even
from audit_lib.check.headers import NUMBERS, Meaning, is_of_rates, meaning_of, only_text
from audit_lib.check.published_numbers import read_cell, says_none
from audit_lib.check.row_labels import named_alone, read_label
from audit_lib.policies import Policy

_FEWEST: Final = 2  # categories that are no slip of a word
_LABEL_ROWS: Final = 2  # sex, and race/ethnicity


def upright(grids: Iterable[Grid], policy: Policy) -> tuple[Grid, ...]:
    """Turn each table that lies on its side; what stands around it in the same grid keeps its place."""
    return tuple(part for grid in grids for part in _parts(grid, policy))


def lies_on_its_side(grid: Grid) -> bool:
    """Whether categories stand over numbers of people, rates and ratios, each in a row that its first cell names.

    Examples
    --------
    >>> lies_on_its_side(Grid(rows=[("", "Male", "Female"), ("Applicants", "92", "80"), ("Rate", "50%", "40%")]))
    True
    """
    over = False
    meanings: list[Meaning | None] = []
    for row in grid.rows:
        if any(read_cell(text).number for text in row[1:]):
            meanings.append(meaning_of(row[0]) if over else None)
        else:
            over |= len({named_alone(text) for text in row[1:]} - {()}) >= _FEWEST
    return is_of_rates(meanings)


def _parts(grid: Grid, policy: Policy) -> Iterator[Grid]:
    done, start = 0, 0
    while start < len(grid.rows):
        first = _labels(grid.rows, start, policy)
        end = _end(grid.rows, start) if first is not None else start
        meanings = [meaning_of(row[0]) for row in grid.rows[start:end]]
        if first is None or not is_of_rates(meanings):
            start += 1
            continue
        if before := _rows(grid.rows[done:first]):
            yield replace(grid, rows=even(before))
        yield replace(grid, rows=even(_turned(grid.rows[first:end], start - first)))
        done = start = end
    if not done:
        yield grid
    elif after := _rows(grid.rows[done:]):
        yield replace(grid, rows=even(after))


def _labels(rows: Sequence[Sequence[str]], start: int, policy: Policy) -> int | None:
    """Return the first of the rows of categories that end above a row of numbers; None where there are none."""
    if not start or meaning_of(rows[start][0]) not in NUMBERS:
        return None
    first = start
    while first and start - first < _LABEL_ROWS and names_categories(rows[first - 1], policy):
        first -= 1
    return first if first < start else None


def names_categories(row: Sequence[str], policy: Policy) -> bool:
    """Whether the cells of a row, but for its first, name categories of people."""
    if only_text(row[1:]):
        return False
    named = [read_label([text], policy) for text in row[1:] if text and read_cell(text).number is None]
    return sum(bool(label.levels) for label in named) >= _FEWEST


def _end(rows: Sequence[Sequence[str]], start: int) -> int:
    """Return the first row that is no number of the table's."""
    for i in range(start, len(rows)):
        held = [text for text in rows[i][1:] if text]
        if meaning_of(rows[i][0]) is None or not any(
            read_cell(text).number or says_none(text) for text in held
        ):
            return i
    return len(rows)


def _turned(rows: Sequence[Sequence[str]], labels: int) -> list[list[str]]:
    """Make columns rows; what stands in the corner says nothing of people."""
    turned = [list(column) for column in zip(*rows, strict=True)]
    turned[0][:labels] = ["Category"] * labels
    # Cells merged over several columns were filled with copies; a sheet leaves holes right of them instead.
    for before, column in pairwise(turned[1:]):
        if labels > 1 and not column[0] and any(column[labels:]):
            column[0] = before[0]
    return [column for column in turned if any(column)]


def _rows(rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    return [row for row in rows if any(row)]
