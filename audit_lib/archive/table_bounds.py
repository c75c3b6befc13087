"""Tables that unpack to more than they may: found before anything reads them whole.

Of a table whose rows are encrypted, what is stored is bounded, which takes no key; and where every key is here, what
was encrypted too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from audit_lib.archive.findings import Work
from audit_lib.errors import AuditError, EvidenceError, StoreUnreachableError
from audit_lib.large_file import LARGE, Content, LargeFile, fetched, stream_of
from audit_lib.parquet_batches import batches_of
from audit_lib.parquet_pages import UnpackedColumn, unpacked_columns
from audit_lib.privacy.levels import is_withheld
from audit_lib.privacy.vault import HEADER, parts_of
from audit_lib.records import parquet_source
from audit_lib.run import PEOPLE
from audit_lib.store import LocalStore

_LEAST: Final = 1 << 30
_TIMES: Final = 200
"""What a table may unpack to where nobody says otherwise: 1 GiB, or so many times its size."""
_TOGETHER: Final = 1 << 26
"""Bytes of the rows that are unpacked together to be counted."""
_ROWS: Final = 1024


def check_tables(work: Work, most: int | None = None) -> bool:
    """Find tables that unpack to more than they may; return whether all the others may be read.

    Parameters
    ----------
    work : Work
        Whose files were hashed; takes the findings.
    most : int, optional
        Bytes that a table may unpack to. Default: 1 GiB, or 200 times its size if that is more.
    """
    within = True
    for path in sorted(work.digests):
        if not path.endswith((".parquet", ".csv")) or path in work.withheld:
            continue
        try:
            found = _why_not_read(work, path, _bound(work, path, most))
        except StoreUnreachableError:
            raise
        except AuditError:
            continue  # not there, or no encrypted table: whoever reads it is told
        if found:
            work.find("record", path, found)
            within = False
    return within


def check_keys(work: Work, most: int | None = None) -> bool:
    """Find a sample whose encrypted rows unpack to more than they may; return whether whose they are may be read.

    Before the run is opened, which asks the table for the names of its keys. The parameters are those of
    `check_tables`.
    """
    if PEOPLE not in work.digests or PEOPLE in work.withheld:
        return True
    with stream_of(_content(work, PEOPLE)) as stream:
        if stream.read(len(HEADER)) != HEADER:
            return True
    found = why_not_read(parts_of(work.store.get(PEOPLE))[1], _bound(work, PEOPLE, most))
    if found:
        work.find("record", PEOPLE, found)
    return not found


def _bound(work: Work, path: str, most: int | None) -> int:
    return max(_LEAST, _TIMES * work.sizes[path]) if most is None else most


def _why_not_read(work: Work, path: str, bound: int) -> str:
    if _is_encrypted(work, path):
        found = why_not_read(parts_of(work.store.get(path))[1], bound)
        if found or work.vault is None or path.endswith(".csv"):
            return found
        return why_not_read(work.as_made(path), bound)
    return why_not_read(_content(work, path), bound) if path.endswith(".parquet") else ""


def _is_encrypted(work: Work, path: str) -> bool:
    """Return whether whoever reads a table here decrypts it; in any other run it is read as the table it is."""
    if work.vault is None and not (work.encrypted and is_withheld(path, "redacted")):
        return False
    with stream_of(_content(work, path)) as stream:
        return stream.read(len(HEADER)) == HEADER


def why_not_read(content: Content, bound: int) -> str:
    """Say why a table may not be read; empty where it may."""
    try:
        file = pq.ParquetFile(parquet_source(content), pre_buffer=False)
    except Exception:  # noqa: BLE001 - no table at all, which whoever reads it is told at once
        return ""
    try:
        _check_types(file.schema_arrow)
        with stream_of(content) as stream:
            within = _is_within(content, file, list(unpacked_columns(stream, file.metadata)), bound)
    except EvidenceError as error:
        return f"nobody knows what it unpacks to, so nothing was computed again: {error}"
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
        return f"cannot be unpacked, so nothing was computed again ({type(error).__name__})"
    if within:
        return ""
    return (
        f"unpacks to more than {bound:,} bytes, so nothing was computed again; where a table is that large rightly, "
        "raise the bound (`--table-gb`)"
    )


def _is_within(content: Content, file: pq.ParquetFile, columns: list[UnpackedColumn], bound: int) -> bool:
    if sum(one.least for one in columns) > bound:
        return False
    most: dict[str, int] = {}
    longest: dict[str, int] = {}
    for one in columns:
        most[one.name] = most.get(one.name, 0) + one.most
        longest[one.name] = max(longest.get(one.name, 0), one.longest)
    repeated = {one.name for one in columns if one.repeated}
    kept_once = {one.name for one in columns} - {one.name for one in columns if one.goes_on or one.length}
    left, counted = bound, []
    for name in sorted(most, key=lambda name: most[name]):
        if most[name] <= left:
            left -= most[name]
        elif name in repeated:  # one row of it could be all of that, so no rows of it are made
            size = _size_of_lists(content, name, columns, left) if name in kept_once else None
            if size is None or size > left:
                return False
            left -= size
        else:
            counted.append(name)
    if not counted:
        return True
    # Values of a dictionary may repeat, so that little holds much: what comes out is counted, some rows at a time.
    rows = max(1, min(_ROWS, _TOGETHER // max(1, sum(longest[name] for name in counted))))
    for batch in batches_of(file, rows, counted, use_threads=False):
        left -= batch.nbytes
        if left < 0:
            return False
    return True


def _size_of_lists(content: Content, name: str, columns: list[UnpackedColumn], most: int) -> int | None:
    """Return what lists of texts take, read as places in their dictionary; None where that takes too much already."""
    size = sum(one.as_places for one in columns if one.name == name)
    if size > most:
        return None
    file = pq.ParquetFile(parquet_source(content), pre_buffer=False, read_dictionary=[name])
    for group in range(file.num_row_groups):
        for part in file.read_row_group(group, columns=[name], use_threads=False).column(0).chunks:
            values = part
            while pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
                values = values.flatten()
            if not pa.types.is_dictionary(values.type):
                return None
            lengths = pc.binary_length(values.dictionary).cast(pa.int64())
            size += pc.sum(lengths.take(values.indices)).as_py() or 0
    return size


def _check_types(fields: Iterable[pa.Field]) -> None:
    """Refuse lists of a fixed length: one that is missing takes as much memory as any, and no page says so."""
    for one in fields:
        kind = one.type.storage_type if isinstance(one.type, pa.BaseExtensionType) else one.type
        if pa.types.is_fixed_size_list(kind):
            raise EvidenceError("it has lists of a fixed length, which no table of a run has")
        _check_types(kind.field(place) for place in range(kind.num_fields))


def _content(work: Work, path: str) -> Content:
    if isinstance(work.store, LocalStore):
        return LargeFile(work.store.path(path), work.digests[path], work.sizes[path], own=False)
    return work.store.get(path) if work.sizes[path] < LARGE else fetched(work.store, path)
