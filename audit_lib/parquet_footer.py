"""What a Parquet file's footer may not say, since Arrow would end the whole process and not raise an error.

pyarrow hands the exceptions of C++ that building a column chunk's metadata throws to nobody, so a footer that a
stranger made could end a verification without a verdict. So these things are looked for in the footer's own bytes.
"""

from __future__ import annotations

from typing import BinaryIO, Final

import pyarrow.parquet as pq

from audit_lib.errors import EvidenceError
from audit_lib.thrift_compact import CompactReader

_END: Final = 8
"""Bytes of the footer's length and of the mark after it."""
_ROW_GROUPS: Final = 4
_COLUMNS: Final = 1
_METADATA, _CRYPTO, _ENCRYPTED = 3, 8, 9
_SIZES, _PLACES = 16, 17
_TEXT_BYTES, _REPETITIONS, _DEFINITIONS = 1, 2, 3


def require_columns(stream: BinaryIO, metadata: pq.FileMetaData) -> None:
    """Refuse a footer whose column chunks Arrow cannot describe.

    Parameters
    ----------
    stream : binary stream
        The file, which can be read from any place.
    metadata : pyarrow.parquet.FileMetaData
        Its footer, as Arrow read it.

    Raises
    ------
    EvidenceError
        If the footer says something twice, has other columns than its schema, an encrypted column, or sizes of a
        column that do not fit it.
    """
    groups = _footer(stream).get(_ROW_GROUPS)
    if not isinstance(groups, list) or len(groups) != metadata.num_row_groups:
        raise EvidenceError("its footer has other row groups than Arrow found")
    for group in groups:
        columns = group.get(_COLUMNS) if isinstance(group, dict) else None
        if not isinstance(columns, list) or len(columns) != metadata.num_columns:
            raise EvidenceError("a row group has other columns than the table")
        for place, chunk in enumerate(columns):
            _require_column(chunk, metadata.schema.column(place))


def _footer(stream: BinaryIO) -> dict[int, object]:
    size = stream.seek(0, 2)
    stream.seek(max(0, size - _END))
    length = int.from_bytes(stream.read(_END)[:4], "little")
    if length + _END > size:
        raise EvidenceError("its footer is longer than the file")
    stream.seek(size - _END - length)
    return CompactReader(stream.read(length), lists=True).structure()


def _require_column(chunk: object, column: pq.ColumnSchema) -> None:
    described = chunk.get(_METADATA) if isinstance(chunk, dict) else None
    if not isinstance(chunk, dict) or not isinstance(described, dict):
        raise EvidenceError("a column is not described")
    if _CRYPTO in chunk or _ENCRYPTED in chunk:
        raise EvidenceError("a column is encrypted by Parquet's own means, which no table of ours is")
    if _PLACES in described:
        raise EvidenceError("a column has statistics of places on a map, which no table of ours has")
    sizes = described.get(_SIZES)
    if not isinstance(sizes, dict):
        return
    if _TEXT_BYTES in sizes and column.physical_type != "BYTE_ARRAY":
        raise EvidenceError("a column of numbers says how long its texts are")
    levels = ((_REPETITIONS, column.max_repetition_level), (_DEFINITIONS, column.max_definition_level))
    for field, most in levels:
        counts = sizes.get(field)
        if counts is not None and (not isinstance(counts, list) or len(counts) not in (0, most + 1)):
            raise EvidenceError("a column counts other levels than it has")
