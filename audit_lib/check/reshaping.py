"""Tables of any shape as what the rest reads: a header row, and below it a row for each category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
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
    """Call a first column of categories so where a header is a word for numbers: "Population", "Rate group".

    Not where a column of numbers has no header: then the header row may begin one column late.
    """
    headers = [i for i, row in enumerate(grid.rows) if _is_header(row)]
    renamed = list(grid.rows)
    for number, end in pairwise([*headers, len(grid.rows)]):
        below = grid.rows[number + 1 : end]
        row = grid.rows[number]
        of_people = [one for one in below if categories_in(one[0])]
        heads_all = all(
            text or all(read_number(one[i]) is None for one in of_people) for i, text in enumerate(row)
        )
        if len(of_people) >= _FEWEST and heads_all and all(read_number(one[0]) is None for one in below):
            renamed[number] = ("Category", *row[1:])
    return grid if renamed == list(grid.rows) else replace(grid, rows=renamed)


def _is_header(row: Sequence[str]) -> bool:
    """Whether a row names numbers, and one of them over the column of labels."""
    meanings = [meaning_of(text) for text in row]
    return bool(row) and meanings[0] in NUMBERS and len(set(meanings) & set(NUMBERS)) > _FEWEST


def reshaped(grids: Sequence[Grid], policy: Policy, *, ours: bool = False) -> tuple[Grid, ...]:
    """Cut tables that stand next to each other, turn those on their side, and spread what one cell or column holds.

    A column whose header says nothing is known by its numbers; on a page of ours (`ours`) our own headers say enough.
    """
    grids = upright(tuple(map(_with_label_header, undecorated(apart(grids, policy)))), policy)
    found = completed(spread(widened(with_named_breakdowns(tabled(grids, policy)))))
    return named(found, ours=ours)
