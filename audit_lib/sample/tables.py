"""Records of JSONL, CSV and Parquet files, read as a stream, each with its place in the file."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import re
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import PurePosixPath
from typing import Any, BinaryIO, Final

from audit_lib.beside import ahead
from audit_lib.digesting_stream import DigestingStream
from audit_lib.errors import AuditError, CorruptFileError, InputError, StoreUnreachableError
from audit_lib.parquet_batches import batches_of
from audit_lib.sample.blocks import (
    BLOCK_ROWS,
    RecordBlock,
    TableBlock,
    single_records,
)
from audit_lib.sample.blocks import (
    Record as Record,
)
from audit_lib.sample.json_lines import JsonLines, decoded
from audit_lib.store import open_uri

_CHUNK_BYTES: Final = 1 << 21
_SEPARATOR = re.compile(r"sep=.", re.I)  # Excel's own first line


class TableFile:
    """A JSONL, CSV (each also ``.gz``) or Parquet file, by local path or URI.

    Iterating reads it once, front to back. `sha256` is that of its bytes; it exists once the file
    was read to its end.

    Raises
    ------
    InputError
        If the name does not tell the format.
    CorruptFileError
        While iterating: if a record does not parse or the file ends early; names file and line.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self.sha256 = ""
        suffixes = PurePosixPath(uri.lower()).suffixes
        self._gzipped = suffixes[-1:] == [".gz"]
        suffix = (suffixes[:-1] if self._gzipped else suffixes)[-1:]
        readers = {".jsonl": self._json, ".ndjson": self._json, ".csv": self._csv, ".parquet": self._parquet}
        known = [name for name in readers if not (self._gzipped and name == ".parquet")]
        if not suffix or suffix[0] not in known:
            what, use = "by the name", "use .jsonl, .csv (also .gz) or .parquet"
            if suffix and suffix[0].startswith(".xls"):
                what, use = "of an Excel workbook", "save it as CSV UTF-8"
            raise InputError(f"{uri}: cannot tell the format {what}; {use}")
        self._read = readers[suffix[0]]

    def __iter__(self) -> Iterator[Record]:
        for block in self.blocks():
            yield from block.records()

    def blocks(self) -> Iterator[RecordBlock]:
        """Yield the records some at a time; a fault comes after all records before it."""
        with closing(open_uri(self.uri)) as raw:
            hashing = DigestingStream(raw, "sha256")
            stream = io.BufferedReader(hashing, _CHUNK_BYTES)
            plain = gzip.GzipFile(fileobj=stream) if self._gzipped else stream
            yield from self._read(plain)  # type: ignore[arg-type]
            self.sha256 = hashing.digests()["sha256"]

    def _json(self, stream: BinaryIO) -> Iterator[RecordBlock]:
        with closing(ahead(self._whole_lines(stream))) as chunks:
            for first, lines in chunks:
                numbers: Sequence[int] = range(first, first + len(lines))
                if b"" in lines:
                    numbers = [number for number, line in zip(numbers, lines, strict=True) if line]
                    lines = [line for line in lines if line]
                if lines:
                    yield JsonLines(lines, numbers, self.uri)

    def _csv(self, stream: BinaryIO) -> Iterator[RecordBlock]:
        with closing(ahead(self._whole_lines(stream))) as chunks:
            lines = (line for first, part in chunks for _, line in decoded(part, partial(self._line, first)))
            first = ""
            skipped = 0
            for first in lines:
                if first.strip() and not _SEPARATOR.fullmatch(first.strip("\r\n")):
                    break
                skipped += 1
            reader = csv.reader(chain([first], lines), strict=True, delimiter=_separator(first))
            yield from self._cells(reader, skipped + 1)

    def _cells(self, reader: Any, first: int) -> Iterator[RecordBlock]:
        """Yield the rows below the header, of which there is one line at least before `first`."""
        header: list[str] | None = None
        rows: list[list[str]] = []
        numbers: list[int] = []
        size = 0
        failed: CorruptFileError | None = None
        cells: list[str] | None = []
        while cells is not None and failed is None:
            number = reader.line_num + first
            try:
                cells = next(reader, None)
                if cells is not None and header is None:
                    header = _header(cells, self._line(number, 0)) if any(map(str.strip, cells)) else None
                elif cells is not None and header is not None:
                    if len(cells) != len(header):
                        cells = _fitted(cells, header, self._line(number, 0))
                    if any(map(str.strip, cells)):  # else a blank line, also as a spreadsheet writes it: ;;;
                        rows.append(cells)
                        numbers.append(number)
                        size += sum(map(len, cells))
            except csv.Error as error:
                failed = CorruptFileError(f"{self._line(number, 0)}: not CSV ({error})")
            except CorruptFileError as error:
                failed = error
            if rows and (
                size > _CHUNK_BYTES or len(rows) == BLOCK_ROWS or cells is None or failed is not None
            ):
                yield self._text_rows(header or [], rows, numbers)
                rows, numbers, size = [], [], 0
        if failed is not None:
            raise failed from None

    def _text_rows(self, header: Sequence[str], rows: list[list[str]], numbers: list[int]) -> RecordBlock:
        columns = [partial(_filled_cells, column) for column in zip(*rows, strict=True)]
        where = partial(_nth_line, self.uri, numbers)
        return TableBlock(dict(zip(header, columns, strict=True)), len(rows), where, is_text=True)

    def _parquet(self, stream: BinaryIO) -> Iterator[RecordBlock]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        # Parquet is read from its end, and object storage cannot seek.
        with tempfile.NamedTemporaryFile(prefix="audit-") as local:
            while chunk := stream.read(_CHUNK_BYTES):
                local.write(chunk)
            local.flush()
            number = 0
            try:
                with pa.OSFile(local.name) as source:
                    file = pq.ParquetFile(
                        source, buffer_size=_CHUNK_BYTES
                    )  # page by page, not a whole row group
                    for batch in batches_of(file, BLOCK_ROWS):
                        columns = {
                            name: column.to_pylist
                            for name, column in zip(batch.schema.names, batch.columns, strict=True)
                        }
                        yield TableBlock(columns, batch.num_rows, partial(_nth_row, self.uri, number))
                        number += batch.num_rows
            except (pa.ArrowException, OSError):
                raise CorruptFileError(
                    f"{self.uri}, row {number + 1}: not Parquet, or it ends early; write the file again"
                ) from None

    def _line(self, first: int, place: int) -> str:
        return f"{self.uri}, line {first + place}"

    def _whole_lines(self, stream: BinaryIO) -> Iterator[tuple[int, list[bytes]]]:
        """Yield lines some at a time, with the number of the first; a line ends with a line feed and nothing else."""
        number, begun = 1, [b""]
        for chunk in _chunks(stream):
            if isinstance(chunk, bytes):
                *lines, last = chunk.split(b"\n")
                if not lines:  # a long one goes on
                    begun.append(last)
                    continue
                lines[0] = b"".join([*begun, lines[0]])
                begun = [last]
            else:
                lines = [line] if chunk is None and (line := b"".join(begun)) else []
            if lines and number == 1:
                lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
            if lines:
                yield number, lines
                number += len(lines)
            if isinstance(chunk, Exception):
                raise CorruptFileError(
                    f"{self._line(number, 0)}: the gzip stream ends early or is damaged; fetch or write the file again"
                )


class RecordStream:
    """Records from anywhere but a file, such as the rows of a query; `sha256` is that of their values in this order.

    Parameters
    ----------
    records : iterable of Record
        Read once. Values that JSON does not have, such as instants, are digested as Python writes them.

    Examples
    --------
    >>> stream = RecordStream([Record({"id": 1}, "row 1")])
    >>> [record.where for record in stream], stream.sha256[:8]
    (['row 1'], '82b0cf5d')
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self._records = records
        self.sha256 = ""

    def __iter__(self) -> Iterator[Record]:
        digest = hashlib.sha256()
        for record in self._records:
            if not isinstance(record, Record):
                raise InputError(f"the source gave {type(record).__name__}; a RecordStream is of Record")
            digest.update(_digested(dict(record.values)).encode() + b"\n")
            yield record
        self.sha256 = digest.hexdigest()

    def blocks(self) -> Iterator[RecordBlock]:
        """Yield the records some at a time."""
        return single_records(self)


def file_digest(uri: str) -> str:
    """Return the SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    with closing(open_uri(uri)) as stream:
        while piece := stream.read(_CHUNK_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def unreadable(key: str, reference: str, uri: str) -> AuditError | None:
    """Return why a file of a spec cannot be opened now; None where it can be.

    Parameters
    ----------
    key, reference, uri : str
        Its key in the spec, as it is written there, and where it is.
    """
    try:
        with closing(open_uri(uri)) as stream:
            stream.read(1)
    except AuditError as error:
        kind = StoreUnreachableError if isinstance(error, StoreUnreachableError) else InputError
        return kind(f"{key}: {reference} cannot be read: {error}")
    except OSError as error:
        return InputError(f"{key}: {reference} cannot be read ({error.strerror})")
    return None


def _separator(header: str) -> str:
    """Return what parts the header's cells: a comma, or where that makes fewer of them, a semicolon or a tab."""
    counts = {}
    for separator in (",", ";", "\t"):
        try:
            counts[separator] = len(next(csv.reader([header], delimiter=separator), []))
        except csv.Error:
            counts[separator] = 0
    return max(counts, key=lambda separator: counts[separator])


def _header(cells: list[str], where: str) -> list[str]:
    """Return the names of the columns, without spaces around them and without unnamed ones at the end."""
    names = [cell.strip() for cell in cells]
    while names and not names[-1]:
        names.pop()
    if "" in names:
        raise CorruptFileError(
            f"{where}: column {names.index('') + 1} of the header has no name; give it one"
        )
    if repeated := next((name for place, name in enumerate(names) if name in names[:place]), None):
        raise CorruptFileError(f"{where}: two columns of the header have the same name, {repeated!r}")
    return names


_digested: Final = json.JSONEncoder(sort_keys=True, default=str).encode


def _chunks(stream: BinaryIO) -> Iterator[bytes | Exception | None]:
    """Yield what is read, then None, or what was wrong with a gzip stream."""
    pieces: list[bytes] = []
    while True:
        end: Exception | None = None
        try:
            if piece := stream.read1(_CHUNK_BYTES):  # type: ignore[attr-defined]
                pieces.append(piece)
                if sum(map(len, pieces)) < _CHUNK_BYTES:
                    continue
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            piece, end = b"", error
        if pieces:
            yield b"".join(pieces)
            pieces = []
        if not piece:
            yield end
            return


def _fitted(cells: list[str], header: Sequence[str], where: str) -> list[str]:
    """Return the cells that the header names, none of a blank line; refuse a line of another number of cells."""
    if not any(map(str.strip, cells)):
        return []
    if len(cells) < len(header) or any(map(str.strip, cells[len(header) :])):
        raise CorruptFileError(f"{where}: {len(cells)} cells, but the header has {len(header)}")
    return cells[: len(header)]


def _filled_cells(cells: Sequence[str]) -> list[str | None]:
    return [cell or None for cell in cells]


def _nth_line(uri: str, numbers: Sequence[int], place: int) -> str:
    return f"{uri}, line {numbers[place]}"


def _nth_row(uri: str, before: int, place: int) -> str:
    return f"{uri}, row {before + place + 1}"
