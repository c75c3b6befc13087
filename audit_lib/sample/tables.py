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
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePosixPath
from typing import Any, BinaryIO, Final, NoReturn

from audit_lib.digesting_stream import DigestingStream
from audit_lib.errors import AuditError, CorruptFileError, InputError, StoreUnreachableError
from audit_lib.store import open_uri

BATCH_ROWS = 8192
_CHUNK_BYTES = 1 << 20
_SEPARATOR = re.compile(r"sep=.", re.I)  # Excel's own first line
_HALF = re.compile(r"\\ud[89a-f]", re.I)


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file.

    Parameters
    ----------
    values : mapping of str to object
        The file's columns; a null cell is None.
    where : str
        The file and the line (Parquet: the row), both counted from 1, for messages.
    is_text : bool
        Whether every value is text (CSV), so that numbers are still to be read from it.
    """

    values: Mapping[str, Any]
    where: str
    is_text: bool = False


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
        with closing(open_uri(self.uri)) as raw:
            hashing = DigestingStream(raw, "sha256")
            stream = io.BufferedReader(hashing, _CHUNK_BYTES)
            yield from self._read(gzip.GzipFile(fileobj=stream) if self._gzipped else stream)  # type: ignore[arg-type]
            self.sha256 = hashing.digests()["sha256"]

    def _json(self, stream: BinaryIO) -> Iterator[Record]:
        for number, line in self._lines(stream):
            if not line.strip():
                continue
            where = f"{self.uri}, line {number}"
            try:
                values = _decoded(line)
            except json.JSONDecodeError as error:
                raise CorruptFileError(
                    f"{where}: not JSON ({error.msg.removesuffix(' at')} at column {error.colno}); each line "
                    "is one object"
                ) from None
            except ValueError as error:
                raise CorruptFileError(f"{where}: not JSON ({error})") from None
            except RecursionError:
                raise CorruptFileError(f"{where}: JSON nested too deep to be read") from None
            if not isinstance(values, dict):
                raise CorruptFileError(f"{where}: a JSON {type(values).__name__}; each line is one object")
            if _HALF.search(line) is not None and _holds_half(values):
                raise CorruptFileError(
                    f"{where}: half of a surrogate pair (\\ud800 to \\udfff alone), which no text holds; write the "
                    "file again"
                )
            yield Record(values, where)

    def _csv(self, stream: BinaryIO) -> Iterator[Record]:
        lines = (line for _, line in self._lines(stream))
        first = ""
        skipped = 0
        for first in lines:
            if first.strip() and not _SEPARATOR.fullmatch(first.strip("\r\n")):
                break
            skipped += 1
        separator = _separator(first)
        reader = csv.reader(chain([first], lines), strict=True, delimiter=separator)
        header: list[str] | None = None
        while True:
            where = f"{self.uri}, line {reader.line_num + 1 + skipped}"
            try:
                cells = next(reader, None)
            except csv.Error as error:
                raise CorruptFileError(f"{where}: not CSV ({error})") from None
            if cells is None:
                return
            if not any(cell.strip() for cell in cells):  # a blank line, also as a spreadsheet writes it: ;;;
                continue
            if header is None:
                header = _header(cells, where)
                continue
            if any(cell.strip() for cell in cells[len(header) :]):
                raise CorruptFileError(f"{where}: {len(cells)} cells, but the header has {len(header)}")
            if len(cells) < len(header):
                raise CorruptFileError(f"{where}: {len(cells)} cells, but the header has {len(header)}")
            yield Record(
                dict(zip(header, (cell or None for cell in cells), strict=False)), where, is_text=True
            )

    def _parquet(self, stream: BinaryIO) -> Iterator[Record]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        # Parquet is read from its end, and object storage cannot seek.
        with tempfile.TemporaryFile() as local:
            while chunk := stream.read(_CHUNK_BYTES):
                local.write(chunk)
            number = 0
            try:
                for batch in pq.ParquetFile(local).iter_batches(batch_size=BATCH_ROWS):
                    for values in batch.to_pylist():
                        number += 1
                        yield Record(values, f"{self.uri}, row {number}")
            except (pa.ArrowException, OSError):
                raise CorruptFileError(
                    f"{self.uri}, row {number + 1}: not Parquet, or it ends early; write the file again"
                ) from None

    def _lines(self, stream: BinaryIO) -> Iterator[tuple[int, str]]:
        number = 0
        while True:
            where = f"{self.uri}, line {number + 1}"
            try:
                line = stream.readline()
            except (EOFError, zlib.error, gzip.BadGzipFile):
                raise CorruptFileError(
                    f"{where}: the gzip stream ends early or is damaged; fetch or write the file again"
                ) from None
            if not line:
                return
            number += 1
            try:
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise CorruptFileError(
                    f"{where}: not UTF-8 (byte {error.start + 1} of the line); save the file "
                    'as UTF-8, which spreadsheets call "CSV UTF-8"'
                ) from None


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
            digest.update(json.dumps(dict(record.values), sort_keys=True, default=str).encode() + b"\n")
            yield record
        self.sha256 = digest.hexdigest()


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


def _holds_half(values: dict[str, Any]) -> bool:
    try:
        json.dumps(values, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _not_a_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


_decoded: Final = json.JSONDecoder(parse_constant=_not_a_number).decode
"""Made once: `json.loads` makes a decoder for each line."""
