"""Lines of ``metrics/scores.csv``, taken apart without changing how anything in them is written."""

from __future__ import annotations

import re
from typing import Final

_CELL: Final = r'("(?:[^"]|"")*"|[^,"\n]*)'
CSV_LINE: Final = re.compile(rf'{_CELL},{_CELL},{_CELL},((?:[^"\n]|"(?:[^"]|"")*")*\n)')
"""A line of ``scores.csv``: variant, application and round, and the rest."""


def as_it_was(cell: str) -> str:
    """Return what a cell holds: without quotes, and without the apostrophe before what a spreadsheet would run.

    Examples
    --------
    >>> as_it_was('"a,b"'), as_it_was("'=1+1"), as_it_was("p1")
    ('a,b', '=1+1', 'p1')
    """
    text = cell[1:-1].replace('""', '"') if cell[:1] == '"' else cell
    return text[1:] if text[:1] == "'" else text
