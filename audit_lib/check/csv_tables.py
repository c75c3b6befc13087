"""Tables of a CSV file: one header and many rows, or several tables under each other, and the words around them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from audit_lib.check.grids import Grid, even
from audit_lib.check.headers import has_header
from audit_lib.check.published_numbers import read_number
from audit_lib.errors import CorruptFileError

_DELIMITERS: Final = ",;\t|"
_FEWEST_WORDS: Final = 8  # of a sentence that commas cut into cells


def csv_grids(text: str, path: Path) -> Iterator[Grid]:
    """Yield the blocks of rows that blank lines divide.

    Raises
    ------
    CorruptFileError
        If it does not parse as CSV.
    """
    # Prose holds commas too, so the delimiter is the one that most lines have.
    lines = text.splitlines()
    delimiter = max(_DELIMITERS, key=lambda mark: sum(mark in line for line in lines))
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise CorruptFileError(f"{path}: not CSV: {error}") from None
    block: list[list[str]] = []
    for row in [*rows, []]:
        if any(cell.strip() for cell in row):
            block.append([cell.strip() for cell in row])
        elif block:
            yield Grid(rows=even(block))
            block = []


def csv_words(grids: Sequence[Grid]) -> str:
    """Return what stands around the tables of rates, a line a row: titles, facts beside their names, and sentences.

    Examples
    --------
    >>> rows = [("Date of audit", "May 2, 2026", ""), ("Sex", "Rate", "Impact ratio"), ("Male", "40%", "1.00")]
    >>> csv_words([Grid(rows=rows)])
    'Date of audit May 2, 2026'
    """
    lines: list[str] = []
    for grid in grids:
        is_table = has_header(grid)
        for row in grid.rows:
            cells = [text for text in row if text]
            if not is_table or _is_of_words(cells):
                lines.append(" ".join(" ".join(cells).split()))
    return "\n".join(lines)


def _is_of_words(cells: Sequence[str]) -> bool:
    """Whether a row among those of a table is none of it: a title, a name and its fact, or a sentence."""
    if len(cells) < 3:
        return True
    numbers = any(read_number(text) is not None for text in cells)
    return not numbers and len(" ".join(cells).split()) >= _FEWEST_WORDS and cells[-1].endswith((".", "!"))
