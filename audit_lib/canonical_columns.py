"""Rows of Arrow columns written as RFC 8785 has it (`audit_lib.canonical.jcs`), a column at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from audit_lib.canonical import jcs, jcs_rows

_ESCAPED: Final = r'["\\\x00-\x1f]'
_NULL: Final = pa.scalar("null", pa.string())
_PLAIN: Final = 1e9
"""Doubles from which Arrow writes another form than ECMAScript."""
_EXACT: Final = 2**53

Column: TypeAlias = pa.Array | pa.Scalar
"""Of every row its own value, or one value for all of them."""


def jcs_columns(columns: Mapping[str, Column]) -> Iterator[memoryview]:
    r"""Yield, for each row of a table, what `jcs` makes of it as an object.

    Parameters
    ----------
    columns : mapping of str to pyarrow.Array or pyarrow.Scalar
        All of one length; a scalar is every row's. At least one is an array.

    Raises
    ------
    ValueError
        As `jcs`.

    Examples
    --------
    >>> rows = jcs_columns({"b": pa.array([1.0, None]), "a": pa.scalar("x")})
    >>> [bytes(row) for row in rows]
    [b'{"a":"x","b":1}', b'{"a":"x","b":null}']
    """
    parts: list[Column] = []
    opening = "{"
    for name in sorted(columns, key=lambda name: name.encode("utf-16-be")):
        opening += jcs(name).decode() + ":"
        column = columns[name]
        if isinstance(column, pa.Scalar):
            opening += jcs(column.as_py()).decode()
        else:
            parts += [pa.scalar(opening), _written(column)]
            opening = ""
        opening += ","
    rows = pc.binary_join_element_wise(*parts, pa.scalar(f"{opening[:-1]}}}"), "")
    if isinstance(rows, pa.ChunkedArray):
        rows = rows.combine_chunks()
    _, offsets, content = rows.buffers()
    if content is None:
        return
    ends = memoryview(offsets).cast("i")[rows.offset : rows.offset + len(rows) + 1]
    view = memoryview(content)
    for start, end in pairwise(ends):
        yield view[start:end]


def _written(column: pa.Array) -> pa.Array:
    """Return the JSON of each value; null is a value too."""
    if column.null_count == len(column):
        return pa.repeat(_NULL, len(column))
    kind = column.type
    if pa.types.is_string(kind):
        return pc.fill_null(_text(column), _NULL)
    if pa.types.is_boolean(kind) or (pa.types.is_integer(kind) and _is_exact(column)):
        return pc.fill_null(pc.cast(column, pa.string()), _NULL)
    if pa.types.is_float64(kind) and _is_plain(column):
        unsigned = pc.if_else(pc.equal(column, 0.0), pa.scalar(0.0), column)  # of which -0 is one
        return pc.fill_null(pc.cast(unsigned, pa.string()), _NULL)
    return _one_by_one(column)


def _text(column: pa.Array) -> pa.Array:
    if pc.any(pc.match_substring_regex(column, _ESCAPED)).as_py():
        return _one_by_one(column)
    quote = pa.scalar('"')
    return pc.binary_join_element_wise(quote, column, quote, "")


def _is_exact(column: pa.Array) -> bool:
    ends = pc.min_max(column).as_py()
    return bool(ends["min"] > -_EXACT and ends["max"] < _EXACT)


def _is_plain(column: pa.Array) -> bool:
    return bool(pc.all(pc.less(pc.abs(column), _PLAIN)).as_py())


def _one_by_one(column: pa.Array) -> pa.Array:
    values: list[Any] = column.to_pylist()
    return pa.array([row[len('{"":') : -1].decode() for row in jcs_rows({"": values})], pa.string())
