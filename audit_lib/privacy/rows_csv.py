"""Lines of ``metrics/scores.csv``, taken apart without changing how anything in them is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from audit_lib.errors import EvidenceError

_CELL: Final = r'("(?:[^"]|"")*"|[^,"\n]*)'
# Two quotes within a cell end one piece and begin the next: were they a case of their own, there would be two ways to
# read them, and a line that does not match would be tried in all of them.
_LINE: Final = re.compile(rf'{_CELL},{_CELL},{_CELL},((?:[^"\n]|"[^"]*")*\n)')
LEADING: Final = 3
"""Cells of a line that are taken apart: variant, application and round."""


def csv_lines(body: str) -> Iterator[re.Match[str]]:
    r"""Yield the lines of ``scores.csv`` below its head: groups 1 to 3 are the first three cells, and 4 is the rest.

    Raises
    ------
    EvidenceError
        If there is a line that is none.

    Examples
    --------
    >>> [line.groups() for line in csv_lines('v1,"a,1",,ok,"x""y"' + '\n')]
    [('v1', '"a,1"', '', 'ok,"x""y"\n')]
    """
    at = 0
    while at < len(body):
        line = _LINE.match(body, at)
        if line is None:
            raise EvidenceError("metrics/scores.csv: holds a line that is none")
        yield line
        at = line.end()


def as_it_was(cell: str) -> str:
    """Return what a cell holds: without quotes, and without the apostrophe before what a spreadsheet would run.

    Examples
    --------
    >>> as_it_was('"a,b"'), as_it_was("'=1+1"), as_it_was("p1")
    ('a,b', '=1+1', 'p1')
    """
    text = cell[1:-1].replace('""', '"') if cell[:1] == '"' else cell
    return text[1:] if text[:1] == "'" else text
