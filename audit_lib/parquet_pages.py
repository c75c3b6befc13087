"""What the pages of a Parquet file unpack to, by their own headers: a footer may say anything, a page's header may not.

Arrow unpacks a page to the size that its header says, and refuses it where that is wrong. What it makes of a page is
more where values of a dictionary repeat: that takes reading (`audit_lib.archive.table_bounds`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Final

import pyarrow.parquet as pq

from audit_lib.errors import EvidenceError
from audit_lib.parquet_footer import require_columns
from audit_lib.thrift_compact import CompactReader

_HEADER: Final = (1 << 8, 1 << 16, 1 << 24)
"""Bytes in which a page's header lies: few, unless it holds the smallest and the largest of long values."""
_DICTIONARY_PAGE: Final = 2
_SECOND_FORM: Final = 3
"""A page of values whose header has a place of its own."""
_GOES_ON: Final = 7
"""The encoding in which a value says how much of the one before it begins with."""
_EACH: Final = 16
"""Bytes that a value takes in memory besides what it says: where it begins, whether it is there, a number."""


@dataclass(frozen=True, slots=True)
class UnpackedColumn:
    """What the pages of a column in one row group unpack to.

    Parameters
    ----------
    name : str
        Of the column.
    size : int
        Bytes of all pages.
    values : int
        Values of all pages but the dictionary's.
    dictionary : int
        Bytes of the dictionary, of which any value may be as long as all of it, or of the largest page whose values
        begin as the one before does; 0 where there is neither, or where all values have one length.
    length : int
        Bytes of each value, also of one that is missing, where the column says that all have one length; else 0.
    repeated : bool
        Whether a row may hold several values.
    goes_on : bool
        Whether a value of it may say how much of the one before it begins with.
    """

    name: str
    size: int
    values: int
    dictionary: int
    length: int
    repeated: bool
    goes_on: bool

    @property
    def least(self) -> int:
        """Bytes that it takes at least in memory."""
        return max(self.size, self.values * self.length)

    @property
    def longest(self) -> int:
        """Bytes that any of its values may take though the pages hold them once, or not at all."""
        return max(self.dictionary, self.length)

    @property
    def as_places(self) -> int:
        """Bytes that it takes at most where each value is a place in the dictionary, which is kept once."""
        return self.size + _EACH * self.values

    @property
    def most(self) -> int:
        """Bytes that it takes at most in memory: each value may be the longest."""
        return max(self.size, self.values * self.longest) + _EACH * self.values


def unpacked_columns(stream: BinaryIO, metadata: pq.FileMetaData) -> Iterator[UnpackedColumn]:
    """Yield what each column of each row group unpacks to.

    Parameters
    ----------
    stream : binary stream
        The file, which can be read from any place.
    metadata : pyarrow.parquet.FileMetaData
        Its footer, which says where the pages begin.

    Raises
    ------
    EvidenceError
        If there is no page where one should be, or if the footer would end Arrow and this process with it.
    """
    require_columns(stream, metadata)
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for column in range(row_group.num_columns):
            yield _unpacked(stream, row_group.column(column), metadata.schema.column(column))


def _unpacked(stream: BinaryIO, chunk: pq.ColumnChunkMetaData, column: pq.ColumnSchema) -> UnpackedColumn:
    at = chunk.data_page_offset
    if chunk.dictionary_page_offset is not None and 0 < chunk.dictionary_page_offset < at:
        at = chunk.dictionary_page_offset
    end = at + chunk.total_compressed_size
    size = values = dictionary = 0
    goes_on = False
    while at < end and values < chunk.num_values:
        header, length = _header(stream, at)
        kind, unpacked, packed = (_count(header, field) for field in (1, 2, 3))
        size += unpacked
        if kind == _DICTIONARY_PAGE:
            dictionary = max(dictionary, unpacked)
        else:
            own, encoding = (8, 4) if kind == _SECOND_FORM else (5, 2)
            found = header.get(own)
            said = found if isinstance(found, dict) else {}
            values += _count(said, 1)
            if _count(said, encoding) == _GOES_ON:
                dictionary, goes_on = max(dictionary, unpacked), True
        at += length + packed
    return UnpackedColumn(
        name=chunk.path_in_schema,
        size=size,
        values=values,
        dictionary=dictionary if chunk.physical_type == "BYTE_ARRAY" else 0,
        length=column.length if chunk.physical_type == "FIXED_LEN_BYTE_ARRAY" else 0,
        repeated=column.max_repetition_level > 0,
        goes_on=goes_on,
    )


def _header(stream: BinaryIO, at: int) -> tuple[Mapping[int, object], int]:
    """Return a page's header and its length."""
    for most in _HEADER:
        stream.seek(at)
        read = CompactReader(stream.read(most))
        try:
            return read.structure(), read.at
        except EvidenceError:
            if most == _HEADER[-1]:
                raise
    raise AssertionError


def _count(said: Mapping[int, object], field: int) -> int:
    count = said.get(field)
    if not isinstance(count, int) or count < 0:
        raise EvidenceError("a page does not say how large it is")
    return count
