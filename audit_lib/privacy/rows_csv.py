"""Lines of ``metrics/scores.csv``, taken apart without changing how anything in them is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit_lib.errors import EvidenceError

_CELL: Final = r'("(?:[^"]|"")*"|[^,"\n]*)'
# Two quotes within a cell end one piece and begin the next: were they a case of their own, there would be two ways to
# read them, and a line that does not match would be tried in all of them.
_LINE: Final = re.compile(rf'{_CELL},{_CELL},{_CELL},((?:[^"\n]|"[^"]*")*\n)')
LEADING: Final = 3
"""Cells of a line that are taken apart: variant, application and round."""


_LINES: Final = 65536
"""Lines that are taken apart together."""
_BLOCK: Final = 1 << 22
"""Bytes that are read together."""
_NONE: Final = "metrics/scores.csv: holds a line that is none"


class CsvPart(NamedTuple):
    """Some lines of ``scores.csv`` below its head.

    Parameters
    ----------
    ids : list of pyarrow.Array
        What the first three cells of each line hold: variant, application and round; null where there is nothing.
    rest : pyarrow.Array
        All after them, as it is written, with the line's end.
    """

    ids: list[pa.Array]
    rest: pa.Array


def whole_lines(stream: BinaryIO, most: int = _BLOCK) -> Iterator[bytes]:
    r"""Yield what is left of ``scores.csv`` some lines at a time, none of them cut, whatever stands in quotes.

    Examples
    --------
    >>> import io
    >>> list(whole_lines(io.BytesIO(b'a,1\nb,"x\ny"\nc,2\n'), 10))
    [b'a,1\n', b'b,"x\ny"\nc,2\n']
    """
    left = b""
    while part := stream.read(most):
        left += part
        bytes_read = np.frombuffer(left, np.uint8)
        ends = np.flatnonzero(bytes_read == ord("\n"))
        if b'"' in left:
            quotes = np.flatnonzero(bytes_read == ord('"'))
            ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
        if len(ends):
            yield left[: ends[-1] + 1]
            left = left[ends[-1] + 1 :]
    if left:
        yield left


def csv_parts(body: bytes) -> Iterator[CsvPart]:
    r"""Yield the lines of ``scores.csv`` below its head.

    Raises
    ------
    EvidenceError
        If there is a line that is none.

    Examples
    --------
    >>> [(part.ids[1].to_pylist(), part.rest.to_pylist()) for part in csv_parts(b"v1,a1,,ok,1" + b"\n")]
    [(['a1'], ['ok,1\n'])]
    """
    yield from _quoted(body.decode()) if b'"' in body else _unquoted(body)


def _unquoted(body: bytes) -> Iterator[CsvPart]:
    """Take apart lines of which a comma ends each cell, and a line's end each line."""
    ends = np.flatnonzero(np.frombuffer(body, np.uint8) == ord("\n")) + 1
    if len(body) != (ends[-1] if len(ends) else 0):
        raise EvidenceError(_NONE)
    whole = pa.py_buffer(body)
    begun = 0
    for at in range(0, len(ends), _LINES):
        offsets = np.concatenate(([begun], ends[at : at + _LINES]))
        content = whole.slice(begun, int(offsets[-1]) - begun)
        lines = pa.StringArray.from_buffers(
            len(offsets) - 1, pa.py_buffer((offsets - begun).astype(np.int32)), content
        )
        lines.validate(full=True)
        begun = int(offsets[-1])
        cells = pc.split_pattern(lines, ",", max_splits=LEADING)
        if not pc.all(pc.equal(pc.list_value_length(cells), LEADING + 1)).as_py():
            raise EvidenceError(_NONE)
        first, rest = (pc.list_element(cells, at) for at in range(LEADING)), pc.list_element(cells, LEADING)
        yield CsvPart([_ids(one) for one in first], rest)


def _ids(cells: pa.Array) -> pa.Array:
    """Return what cells without quotes hold (`as_it_was`)."""
    texts = pc.replace_substring_regex(cells, "^'", "")
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)


def _quoted(body: str) -> Iterator[CsvPart]:
    """Take apart lines of which a cell may hold commas and ends of lines."""
    lines = csv_lines(body)
    while part := list(islice(lines, _LINES)):
        ids = [
            pa.array([as_it_was(line[at]) or None for line in part], pa.string())
            for at in range(1, LEADING + 1)
        ]
        yield CsvPart(ids, pa.array([line[LEADING + 1] for line in part], pa.string()))


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
            raise EvidenceError(_NONE)
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
