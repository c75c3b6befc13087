"""Tables that stand next to each other in one grid, as on a sheet: each becomes a grid of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from audit_lib.check.grids import Grid, even
from audit_lib.check.headers import NUMBERS, is_of_rates, meaning_of
from audit_lib.check.transposed_tables import names_categories
from audit_lib.policies import Policy


def apart(grids: Iterable[Grid], policy: Policy) -> tuple[Grid, ...]:
    """Cut each grid where tables stand next to each other; what is above and below keeps its place."""
    return tuple(part for grid in grids for part in _parts(grid, policy))


def _parts(grid: Grid, policy: Policy) -> Iterator[Grid]:
    done = at = 0
    while at < len(grid.rows):
        tables = _tables_from(grid.rows[at], policy)
        if len(tables) < 2:
            at += 1
            continue
        gaps = [range(left[1], right[0]) for left, right in pairwise(tables)]
        first, end = at, at + 1
        while first > done and _is_parted(grid.rows[first - 1], gaps):
            first -= 1
        while end < len(grid.rows) and _is_parted(grid.rows[end], gaps):
            end += 1
        if any(map(any, grid.rows[done:first])):
            yield replace(grid, rows=grid.rows[done:first])
        starts = [0, *(table[0] for table in tables[1:])]
        for start, stop in zip(starts, [*starts[1:], len(grid.rows[0])], strict=True):
            rows = [row[start:stop] for row in grid.rows[first:end]]
            yield replace(grid, rows=even(row for row in rows if any(row)), continues=False)
        done = at = end
    if not done:
        yield grid
    elif any(map(any, grid.rows[done:])):
        yield replace(grid, rows=grid.rows[done:], continues=False)


def _tables_from(row: Sequence[str], policy: Policy) -> list[tuple[int, int]]:
    """Return where tables begin and end in a row that heads them: columns of labels and of numbers, or categories."""
    found = []
    for start, end in _spans(row):
        texts = row[start:end]
        has_labels = meaning_of(texts[0]) not in NUMBERS
        if has_labels and (
            is_of_rates([meaning_of(text) for text in texts]) or names_categories(texts, policy)
        ):
            found.append((start, end))
    return found


def _spans(row: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the runs of cells that hold something."""
    start = None
    for i, text in enumerate((*row, "")):
        if text and start is None:
            start = i
        elif not text and start is not None:
            yield start, i
            start = None


def _is_parted(row: Sequence[str], gaps: Sequence[range]) -> bool:
    return any(row) and not any(row[i] for gap in gaps for i in gap)
