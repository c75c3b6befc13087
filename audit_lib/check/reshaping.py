"""Tables of any shape as what the rest reads: a header row, and below it a row for each category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from audit_lib.check.column_arithmetic import named
from audit_lib.check.compact_cells import spread
from audit_lib.check.complementary_tables import completed
from audit_lib.check.decorations import undecorated
from audit_lib.check.grids import Grid
from audit_lib.check.headers import NUMBERS, meaning_of
from audit_lib.check.long_tables import widened, with_named_breakdowns
from audit_lib.check.measure_matrices import tabled
from audit_lib.check.neighbouring_tables import apart
from audit_lib.check.published_numbers import read_number
from audit_lib.check.row_labels import categories_in
from audit_lib.check.transposed_tables import upright
from audit_lib.policies import Policy

_FEWEST: Final = 2


def _with_label_header(grid: Grid) -> Grid:
    """Call a first column of categories so where its header is a word for numbers: "Population", "Rate group"."""
    for number, row in enumerate(grid.rows):
        meanings = [meaning_of(text) for text in row]
        if len(set(meanings) & set(NUMBERS)) <= _FEWEST:
            continue
        labels = [below[0] for below in grid.rows[number + 1 :]]
        of_people = sum(bool(categories_in(text)) for text in labels) >= _FEWEST
        if meanings[0] in NUMBERS and of_people and all(read_number(text) is None for text in labels):
            rows = [*grid.rows[:number], ("Category", *row[1:]), *grid.rows[number + 1 :]]
            return replace(grid, rows=rows)
        break
    return grid


def reshaped(grids: Sequence[Grid], policy: Policy, *, ours: bool = False) -> tuple[Grid, ...]:
    """Cut tables that stand next to each other, turn those on their side, and spread what one cell or column holds.

    A column whose header says nothing is known by its numbers, but on a page of ours (`ours`), whose headers all do.
    """
    grids = upright(tuple(map(_with_label_header, undecorated(apart(grids, policy)))), policy)
    found = completed(spread(widened(with_named_breakdowns(tabled(grids, policy)))))
    return found if ours else named(found)
