"""Tables of a CSV file: one header and many rows, or several tables under each other."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from audit_lib.check.grids import Grid, even
from audit_lib.errors import CorruptFileError

_DELIMITERS: Final = ",;\t|"


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
