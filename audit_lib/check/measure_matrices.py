"""A matrix for each measure, races down and sexes across: together they are one table of both attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from audit_lib.check.grids import Grid, even
from audit_lib.check.headers import NUMBERS, RATES, Meaning, has_header, meaning_of, only_text
from audit_lib.check.published_numbers import read_number, says_none
from audit_lib.check.row_labels import Label, read_label
from audit_lib.policies import Policy

_FEWEST: Final = 2
_LONGEST: Final = 80  # a line that names a measure is no sentence


@dataclass(frozen=True, slots=True)
class _Matrix:
    """Rows of a grid that are a matrix, and the measure that all its numbers are of.

    It begins at `first`, its numbers at `start`, and its header may stand above an earlier one.
    """

    first: int
    start: int
    end: int
    header: int
    measure: str
    meaning: Meaning | None


def tabled(grids: Iterable[Grid], policy: Policy) -> tuple[Grid, ...]:
    """Put matrices of the same people, one for each measure, together to a table with a row for each cell."""
    found: list[Grid] = []
    waiting: list[tuple[_Matrix, Grid]] = []
    for grid in grids:
        at = 0
        for matrix in _matrices(grid, policy):
            if any(map(any, before := grid.rows[at : matrix.first])):
                if has_header(replace(grid, rows=before)):
                    found += _put_together(waiting)
                    waiting = []
                found.append(replace(grid, rows=before))
            if waiting and not _fits(waiting, matrix, grid):
                found += _put_together(waiting)
                waiting = []
            waiting.append((matrix, grid))
            at = matrix.end
        rest = grid.rows[at:]
        if not at or any(map(any, rest)):
            found += _put_together(waiting)
            waiting = []
            found.append(replace(grid, rows=rest) if at else grid)
    return (*found, *_put_together(waiting))


def _matrices(grid: Grid, policy: Policy) -> Iterator[_Matrix]:
    """Yield the matrices of a grid: categories of one attribute in a row, those of another below its first cell."""
    rows, i = grid.rows, 0
    while i < len(rows) - 1:
        across = [read_label([text], policy) for text in rows[i][1:] if text]
        end = i + 1
        attributes = _attributes(across)
        is_told_apart = len({label.key for label in across}) == len(across)
        is_header = len(rows[i]) > _FEWEST and len(attributes) == 1 and is_told_apart
        if is_header and meaning_of(only_text(rows[end])) in NUMBERS:
            sections = list(_sections(rows, i, attributes, policy))
            yield from sections
            i = sections[-1].end if sections else i + 1
            continue
        if is_header:
            while end < len(rows) and _is_row(rows[end], attributes, policy):
                end += 1
        if end - i <= _FEWEST:
            i += 1
            continue
        above = next((n for n in range(i - 1, -1, -1) if any(rows[n])), None)
        line = only_text(rows[above]) if above is not None else ""
        names = [(rows[i][0], i), (line if len(line) <= _LONGEST else "", above)]
        if above is None:
            names += [(grid.caption, i), (grid.above, i), *((text, i) for text in grid.trail[-1:])]
        name, first = next(((text, n) for text, n in names if meaning_of(text) in NUMBERS), (grid.caption, i))
        meaning = meaning_of(name)
        yield _Matrix(
            i if first is None else first, i + 1, end, i, name, meaning if meaning in NUMBERS else None
        )
        i = end


def _sections(
    rows: Sequence[Sequence[str]], header: int, attributes: set[str], policy: Policy
) -> Iterator[_Matrix]:
    """Yield the matrices under one header, each below a line that names its measure."""
    at = header + 1
    while at < len(rows) and meaning_of(name := only_text(rows[at])) in NUMBERS:
        end = at + 1
        while end < len(rows) and _is_row(rows[end], attributes, policy):
            end += 1
        yield _Matrix(header if at == header + 1 else at, at + 1, end, header, name, meaning_of(name))
        at = end


def _attributes(labels: Sequence[Label]) -> set[str]:
    """Return the attribute that all labels but sums are categories of."""
    found = {tuple(label.levels) for label in labels if label.role == "category"}
    return set(next(iter(found))) if len(found) == 1 and labels and len(labels) >= _FEWEST else set()


def _is_row(row: Sequence[str], across: set[str], policy: Policy) -> bool:
    label = read_label(row[:1], policy)
    is_of_people = (len(label.levels) == 1 and not across & label.levels.keys()) or label.role != "category"
    held = [text for text in row[1:] if text]
    return (
        bool(row[0])
        and is_of_people
        and bool(held)
        and all(read_number(text) or says_none(text) for text in held)
    )


def _fits(waiting: Sequence[tuple[_Matrix, Grid]], matrix: _Matrix, grid: Grid) -> bool:
    """Whether a matrix is of another measure and the same categories as those before it.

    One may have no name that was found: its numbers show what it is.
    """
    last, before = waiting[-1]
    return _labels(last, before) == _labels(matrix, grid) and all(
        matrix.meaning != other.meaning for other, _ in waiting
    )


def _labels(matrix: _Matrix, grid: Grid) -> tuple[list[str], list[str]]:
    rows = grid.rows[matrix.start : matrix.end]
    return list(grid.rows[matrix.header][1:]), [row[0] for row in rows]


def _put_together(waiting: Sequence[tuple[_Matrix, Grid]]) -> Iterator[Grid]:
    if not {matrix.meaning for matrix, _ in waiting} & {*RATES, None} or len(waiting) < _FEWEST:
        yield from (
            replace(grid, rows=[grid.rows[matrix.header], *grid.rows[matrix.start : matrix.end]])
            for matrix, grid in waiting
        )
        return
    first, grid = waiting[0]
    across, down = _labels(first, grid)
    rows = [["Category", "Category", *(matrix.measure if matrix.meaning else "" for matrix, _ in waiting)]]
    for i, label in enumerate(down, 1):
        for j, category in enumerate(across, 1):
            if not category:  # a sheet is as wide as its widest table
                continue
            cells = [one.rows[matrix.start - 1 + i][j] for matrix, one in waiting]
            rows.append([label, category, *cells])
    grids = [one for _, one in waiting]
    caption = "" if grid.caption == first.measure else grid.caption
    yield replace(
        grid,
        rows=even(rows),
        caption=caption,
        notes=grids[-1].notes,
        unsure=next((one.unsure for one in grids if one.unsure), ""),
        is_whole=all(one.is_whole for one in grids),
        continues=False,
    )
