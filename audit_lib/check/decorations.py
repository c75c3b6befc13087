"""Columns that are there to be looked at and hold no number of people: places in a ranking, and bars drawn by letters.

They are emptied, header and all, so that none is taken for the column whose name they share.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from audit_lib.check.grids import Grid
from audit_lib.check.headers import NUMBERS, Header, header_at, meaning_of
from audit_lib.check.published_numbers import read_cell

_PLACES: Final = re.compile(r"(?:#|no\.?|nr\.?|rank(?:ed|ing)?|order|place|)", re.IGNORECASE)
_FEWEST: Final = 2  # rows


def undecorated(grids: Iterable[Grid]) -> Iterator[Grid]:
    """Yield grids without such columns."""
    for grid in grids:
        rows = [list(row) for row in grid.rows]
        for start, header, end in _tables(grid.rows):
            body = range(start + len(header.rows), end)
            for column in _decorations(header, [grid.rows[i] for i in body]):
                for i in range(start, end):
                    rows[i][column] = ""
        made = tuple(map(tuple, rows))
        yield grid if made == tuple(map(tuple, grid.rows)) else replace(grid, rows=made)


def _tables(rows: Sequence[Sequence[str]]) -> Iterator[tuple[int, Header, int]]:
    """Yield where each table of rates begins, its header, and where it ends."""
    found: list[tuple[int, Header]] = []
    at = 0
    while at < len(rows):
        header = header_at(rows, at)
        if header is not None:
            found.append((at, header))
        at += len(header.rows) if header is not None else 1
    for (start, header), end in zip(found, [*(later for later, _ in found[1:]), len(rows)], strict=False):
        yield start, header, end


def _decorations(header: Header, rows: Sequence[Sequence[str]]) -> Iterator[int]:
    held = [row for row in rows if any(read_cell(text).number for text in row)]
    if len(held) < _FEWEST:
        return
    meanings = [meaning_of(text) for text in header.texts]
    for column, text in enumerate(header.texts):
        texts = [row[column] for row in held if row[column]]
        is_drawn = not any(re.search(r"\w", one) for one in texts)
        is_second = meanings[column] in NUMBERS and meanings.count(meanings[column]) > 1
        if (is_drawn and is_second) or (_PLACES.fullmatch(text.strip(" :*.")) and _are_places(texts)):
            yield column


def _are_places(texts: Sequence[str]) -> bool:
    """Whether texts are whole numbers, each one more than the one before.

    Examples
    --------
    >>> _are_places(["1", "2", "3"]), _are_places(["9.", "10."]), _are_places(["12", "7"])
    (True, True, False)
    """
    numbers = [read_cell(text.rstrip(".")).count for text in texts]
    return len(numbers) >= _FEWEST and all(
        number is not None and (i == 0 or number == (numbers[i - 1] or 0) + 1)
        for i, number in enumerate(numbers)
    )
