"""The rows of a window: their long texts in a temporary file, all else in memory, so that a million fit."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import pairwise
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from audit_lib.beside import Behind, ahead
from audit_lib.large_file import Content
from audit_lib.records import ParquetSink

TEXTS: Final = ("fields", "recorded_response")
GROUP: Final = 1 << 14
"""Rows of a row group of ``prompts.parquet``, which are sorted at a time."""
_COMPRESSED: Final = pa.ipc.IpcWriteOptions(compression="lz4")


class WindowRows:
    """Rows in the order in which the source gives them.

    Parameters
    ----------
    schema : pyarrow.Schema
        Of ``prompts.parquet``.
    """

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._long = pa.schema([field for field in schema if field.name in TEXTS])
        self._short = pa.schema([field for field in schema if field.name not in TEXTS])
        self._spilled = _Spilled(self._long)
        self._batches: list[pa.RecordBatch] = []
        self._behind: Behind | None = None

    def __enter__(self) -> WindowRows:
        """Write the texts in a second thread, until the block is left."""
        self._behind = Behind().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        behind, self._behind = self._behind, None
        if behind is not None:
            behind.__exit__(*error)

    def add(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Take rows."""
        self.add_batch(pa.RecordBatch.from_pylist(rows, schema=self._schema))

    def add_batch(self, batch: pa.RecordBatch) -> None:
        """Take rows that are a batch of the schema."""
        texts = batch.select(self._long.names)
        if self._behind is None:
            self._spilled.add(texts)
        else:
            self._behind.do(self._spilled.add, texts)
        self._batches.append(batch.select(self._short.names))

    def __len__(self) -> int:
        return sum(batch.num_rows for batch in self._batches)

    def table(self) -> pa.Table:
        """Return all rows without their long texts."""
        return pa.Table.from_batches(self._batches, schema=self._short)

    def field(self, name: str) -> list[Any]:
        """Return one field of each row's prompt; None where it has none."""
        return [
            msgspec.json.decode(text).get(name)
            for batch in self._spilled
            for text in batch["fields"].to_pylist()
        ]

    def first_repeated(self) -> str | None:
        """Return the id of the first row whose ``prompt_id`` another one had before it; None where all differ."""
        ids = self.table()["prompt_id"]
        if pc.count_distinct(ids).as_py() == len(ids):
            return None
        (places,) = np.nonzero(ids.to_pandas().duplicated().to_numpy())
        return str(ids[int(places[0])])

    def sorted_content(self, short: pa.Table, chosen: NDArray[np.int64]) -> Content:
        """Return ``prompts.parquet``: the chosen rows with their long texts, sorted by ``prompt_id``.

        Parameters
        ----------
        short : pyarrow.Table
            The chosen rows without their long texts, in the order of `chosen`.
        chosen : array of int
            Their places.
        """
        order = pc.sort_indices(short["prompt_id"]).to_numpy()
        rank = np.full(len(self), -1, np.int64)
        rank[chosen[order]] = np.arange(len(order))
        groups = ahead(self._by_rank(rank, len(order)))
        with ParquetSink(self._schema) as sink, Behind() as behind, closing(groups):
            for start, texts in enumerate(groups):
                rows = short.take(pa.array(order[start * GROUP : (start + 1) * GROUP]))
                columns = [(texts if name in TEXTS else rows)[name] for name in self._schema.names]
                group = pa.Table.from_arrays(
                    [column.combine_chunks() for column in columns], schema=self._schema
                )
                behind.do(sink.write, group)
        return sink.content()

    def _by_rank(self, rank: NDArray[np.int64], number: int) -> Iterator[pa.Table]:
        """Yield the long texts in the order of their rank, `GROUP` at a time."""
        kept = rank[rank >= 0]
        if bool((kept[1:] > kept[:-1]).all()):  # they come in this order
            yield from _cut(self._chosen(rank), self._long)
            return
        ranked = self._long.append(pa.field("rank", pa.int64()))
        scattered, pieces = _Spilled(ranked), [list[int]() for _ in range(0, number, GROUP)]
        at = written = 0
        with Behind() as behind, closing(ahead(_cut(self._spilled, self._long))) as parts:
            for part in parts:
                own = rank[at : at + part.num_rows]
                at += part.num_rows
                places = np.argsort(own, kind="stable")[np.count_nonzero(own < 0) :]
                ordered = own[places]
                if not len(ordered):
                    continue
                rows = part.take(pa.array(places)).append_column("rank", pa.array(ordered)).combine_chunks()
                starts = np.flatnonzero(np.diff(ordered // GROUP, prepend=-1))
                groups = ordered[starts] // GROUP
                for group, place in zip(groups, range(written, written + len(starts)), strict=True):
                    pieces[group].append(place)
                written += len(starts)
                behind.do(scattered.add_pieces, rows, [*starts, len(ordered)])
        for places_of_group in pieces:
            yield pa.Table.from_batches(map(scattered.batch, places_of_group), schema=ranked).sort_by("rank")

    def _chosen(self, rank: NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
        at = 0
        for batch in self._spilled:
            own = rank[at : at + batch.num_rows] >= 0
            at += batch.num_rows
            yield batch if own.all() else batch.filter(pa.array(own))


def _cut(batches: Iterator[pa.RecordBatch] | _Spilled, schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield tables of `GROUP` rows, and the rest."""
    held: list[pa.RecordBatch] = []
    number = 0
    for batch in batches:
        held.append(batch)
        number += batch.num_rows
        while number >= GROUP:
            table = pa.Table.from_batches(held, schema=schema)
            yield table.slice(0, GROUP)
            held = table.slice(GROUP).to_batches()
            number -= GROUP
    if number:
        yield pa.Table.from_batches(held, schema=schema)


class _Spilled:
    """Batches that are written to a temporary file, and can then be read again and again, in any order."""

    def __init__(self, schema: pa.Schema) -> None:
        descriptor, self._path = tempfile.mkstemp(prefix="audit-")
        os.close(descriptor)
        weakref.finalize(self, _remove, self._path)
        self._sink = pa.OSFile(self._path, "wb")
        self._writer = pa.ipc.new_file(self._sink, schema, options=_COMPRESSED)
        self._reader: pa.ipc.RecordBatchFileReader | None = None
        self._number = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Write a batch; it has the number of those before it."""
        self._writer.write_batch(batch)
        self._number += 1

    def add_pieces(self, rows: pa.Table, ends: Sequence[int]) -> None:
        """Write rows that lie in one piece of memory as a batch from each end to the next."""
        for start, end in pairwise(ends):
            (batch,) = rows.slice(start, end - start).to_batches()
            self.add(batch)

    def batch(self, number: int) -> pa.RecordBatch:
        """Return a batch; none can be added afterwards."""
        if self._reader is None:
            self._writer.close()
            self._sink.close()
            self._reader = pa.ipc.open_file(pa.OSFile(self._path))
        return self._reader.get_batch(number)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return map(self.batch, range(self._number))


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
