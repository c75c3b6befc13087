"""The rows of a window: in sorted runs in a temporary file, and in memory what the stage asks of all of them.

A run is as many rows as come to `RUN_BYTES`, sorted by id. What is written at last are the runs merged, some thousand
rows at a time, of each run a piece: memory grows with the rows by their ids and a number for each column of labels.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from audit_lib.beside import Behind, ahead
from audit_lib.coded import CodedTexts, Coding
from audit_lib.large_file import Content
from audit_lib.records import ParquetSink

GROUP: Final = 1 << 14
"""Rows of a row group of ``prompts.parquet``, which are merged at a time."""
RUN_BYTES: Final = 1 << 26
"""Bytes of rows that are sorted at a time."""
PIECE_BYTES: Final = 1 << 19
"""Bytes of rows of a run that are read back at a time."""
_IDS: Final = ("prompt_id", "application_id", "round_id", "occurred_at", "qualified")
_LABELS: Final = ("position", "recorded_model")
_COMPRESSED: Final = pa.ipc.IpcWriteOptions(compression="lz4")


@dataclass(frozen=True, slots=True)
class _Run:
    """Some rows in the order of their ids.

    Attributes
    ----------
    start, rows : int
        The place of its first row among all, in the order in which they came, and how many it has.
    order : array of int, optional
        Where its rows were before they were sorted; None where they came sorted.
    batch : int
        The number of its first piece in the file.
    ends : array of int
        Where each of its pieces ends.
    """

    start: int
    rows: int
    order: NDArray[np.int32] | None
    batch: int
    ends: NDArray[np.int64]

    def places(self, own: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return which rows among all some of its own are."""
        return self.start + (own if self.order is None else self.order[own].astype(np.int64))


class WindowRows:
    """Rows in the order in which the source gives them.

    Parameters
    ----------
    schema : pyarrow.Schema
        Of ``prompts.parquet``.
    axes : sequence of str
        The attributes.
    """

    def __init__(self, schema: pa.Schema, axes: Sequence[str]) -> None:
        self._schema = schema
        self._kept: dict[str, list[Any]] = {name: [] for name in _IDS}
        self._labels = {name: Coding() for name in (*_LABELS, *axes)}
        self._order: NDArray[np.int64] | None = None
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_bytes = self._number = 0
        self._runs: list[_Run] = []
        self._spilled = _Spilled(schema)
        self._behind: Behind | None = None

    def __enter__(self) -> WindowRows:
        """Sort and write runs in a second thread, until the block is left."""
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
        self._waiting.append(batch)
        self._waiting_bytes += batch.nbytes
        self._number += batch.num_rows
        if self._waiting_bytes >= RUN_BYTES:
            self._end_run()

    def __len__(self) -> int:
        return self._number

    def column(self, name: str) -> pa.ChunkedArray:
        """Return the ids, instants or truth values of all rows."""
        self._end_run()
        kind = self._schema.field(name).type
        parts = [pa.nulls(part, kind) if isinstance(part, int) else part for part in self._kept[name]]
        return pa.chunked_array(parts, kind)

    def labels(self, name: str) -> CodedTexts:
        """Return the labels of all rows."""
        self._end_run()
        return self._labels[name].coded()

    def has_labels(self, name: str) -> bool:
        """Tell whether a column is one of labels."""
        return name in self._labels

    def field(self, name: str) -> list[Any]:
        """Return one field of each row's prompt; None where it has none."""
        self._end_run()
        found: list[Any] = [None] * self._number
        known: dict[Any, Any] = {}  # equal texts are held once
        for run in self._runs:
            at = 0
            for piece in self._spilled.pieces(run):
                places = run.places(np.arange(at, at + piece.num_rows)).tolist()
                at += piece.num_rows
                for place, text in zip(places, piece["fields"].to_pylist(), strict=True):
                    value = msgspec.json.decode(text).get(name)
                    found[place] = known.setdefault(value, value) if len(known) < GROUP else value
        return found

    def first_repeated(self) -> str | None:
        """Return the id of the first row whose ``prompt_id`` another one had before it; None where all differ."""
        ids, order = self.column("prompt_id"), self._by_id()
        if order is None:
            return None
        repeated = [
            order[start + 1 : end][_equal_neighbours(ids.take(pa.array(order[start:end])))]
            for start in range(0, len(order), GROUP)
            if (end := min(start + GROUP + 1, len(order))) > start + 1
        ]
        places = np.concatenate(repeated)
        return str(ids[int(places.min())]) if len(places) else None

    def sorted_content(self, chosen: NDArray[np.int64] | None, labels: Mapping[str, CodedTexts]) -> Content:
        """Return ``prompts.parquet``: the chosen rows, sorted by ``prompt_id``.

        Parameters
        ----------
        chosen : array of int, optional
            Their places; None: all.
        labels : mapping of str to CodedTexts
            What columns of labels hold in place of what the source gave, for all rows.
        """
        groups = ahead(self._merged(self._ranks(chosen)))
        with ParquetSink(self._schema) as sink, Behind() as behind, closing(groups):
            for rows, places in groups:
                columns = [
                    labels[name].array(places) if name in labels else rows[name]
                    for name in self._schema.names
                ]
                behind.do(sink.write, pa.Table.from_arrays(columns, schema=self._schema))
        return sink.content()

    def _end_run(self) -> None:
        """Sort and write the rows that wait, and keep of them what is asked of all rows."""
        if not self._waiting:
            return
        table = pa.Table.from_batches(self._waiting, schema=self._schema)
        self._waiting, size, self._waiting_bytes = [], self._waiting_bytes, 0
        for name, coding in self._labels.items():
            coding.add(_whole(table[name]))
        for name, kept in self._kept.items():
            column = _whole(table[name])
            if name == "application_id" and column.equals(self._kept["prompt_id"][-1]):
                column = self._kept["prompt_id"][-1]
            kept.append(column if column.null_count < len(column) else len(column))
        ids = self._kept["prompt_id"][-1]
        order = None if _ascends(ids) else pc.sort_indices(ids).to_numpy().astype(np.int32)
        piece = max(1, len(ids) * PIECE_BYTES // max(size, 1))
        sizes = [len(ids)] if order is not None else [part.num_rows for part in table.to_batches()]
        cuts = [min(piece, rows - at) for rows in sizes for at in range(0, rows, piece)]
        before = self._runs[-1] if self._runs else None
        batch = 0 if before is None else before.batch + len(before.ends)
        run = _Run(self._number - len(ids), len(ids), order, batch, np.cumsum(cuts))
        self._runs.append(run)
        if self._behind is None:
            self._spilled.add(run, table, piece)
        else:
            self._behind.do(self._spilled.add, run, table, piece)

    def _by_id(self) -> NDArray[np.int64] | None:
        """Return the places of all rows in the order of their ids; None where they came so, with no id twice."""
        self._end_run()
        if self._order is None:
            ids = self._kept["prompt_id"]
            if all(run.order is None for run in self._runs) and all(
                one[-1].as_py() < other[0].as_py() for one, other in pairwise(ids)
            ):
                return None
            self._order = pc.sort_indices(self.column("prompt_id")).to_numpy().view(np.int64)
        return self._order

    def _ranks(self, chosen: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """Return of each row its place among the chosen ones in the order of their ids; -1: is not chosen."""
        order = self._by_id()
        self._order = None  # needed no longer
        if order is None:
            order = np.arange(self._number)
        if chosen is not None:
            taken = np.zeros(self._number, np.bool_)
            taken[chosen] = True
            order = order[taken[order]]
        ranks = np.full(self._number, -1, np.int64)
        ranks[order] = np.arange(len(order))
        return ranks

    def _merged(self, ranks: NDArray[np.int64]) -> Iterator[tuple[pa.Table, NDArray[np.int64]]]:
        """Yield the ranked rows in their order, `GROUP` at a time, and where each was."""
        edges = np.arange(0, int(ranks.max(initial=-1)) + 1 + GROUP, GROUP)
        readers = [_Reader(self._spilled, run, ranks, edges) for run in self._runs]
        for group in range(len(edges) - 1):
            parts: list[pa.RecordBatch] = []
            places, rank = [], []
            for reader in readers:
                own = reader.rows_of(group)
                if len(own):
                    parts += reader.read(own)
                    places.append(reader.run.places(own))
                    rank.append(ranks[places[-1]])
            table = pa.Table.from_batches(parts, schema=self._schema)
            place, by_rank = np.concatenate(places), np.concatenate(rank)
            if not bool((by_rank[1:] > by_rank[:-1]).all()):
                order = np.argsort(by_rank)
                table, place = table.take(pa.array(order)), place[order]
            yield table.combine_chunks(), place


class _Reader:
    """Reads a run front to back, a piece at a time.

    Parameters
    ----------
    spilled : _Spilled
    run : _Run
    ranks : array of int
        Of all rows.
    edges : array of int
        Ranks at which groups begin, and the end.
    """

    def __init__(
        self, spilled: _Spilled, run: _Run, ranks: NDArray[np.int64], edges: NDArray[np.int64]
    ) -> None:
        self.run, self._spilled = run, spilled
        own = ranks[run.start : run.start + run.rows]
        own = own if run.order is None else own[run.order]
        self._all = bool((own >= 0).all())
        self._rows = np.arange(0) if self._all else np.flatnonzero(own >= 0).astype(np.int32)
        self._ends = np.searchsorted(own if self._all else own[self._rows], edges).astype(np.int32)
        self._held: tuple[int, pa.RecordBatch] | None = None

    def rows_of(self, group: int) -> NDArray[np.int64]:
        """Return which of its rows are in a group."""
        start, end = self._ends[group], self._ends[group + 1]
        return np.arange(start, end) if self._all else self._rows[start:end].astype(np.int64)

    def read(self, own: NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
        """Yield some of its rows, given in their order."""
        ends = self.run.ends
        number = int(np.searchsorted(ends, own[0], "right"))
        while len(own):
            start = int(ends[number - 1]) if number else 0
            until = int(np.searchsorted(own, ends[number]))
            rows, own = own[:until] - start, own[until:]
            if not until:
                number += 1
                continue
            if self._held is None or self._held[0] != number:
                self._held = number, self._spilled.batch(self.run.batch + number)
            batch = self._held[1]
            first, last = int(rows[0]), int(rows[-1])
            yield (
                batch.slice(first, len(rows)) if last - first + 1 == len(rows) else batch.take(pa.array(rows))
            )
            if last == batch.num_rows - 1:
                self._held = None
            number += 1


class _Spilled:
    """Runs that are written to a temporary file, and can then be read again and again, in any order."""

    def __init__(self, schema: pa.Schema) -> None:
        descriptor, self._path = tempfile.mkstemp(prefix="audit-")
        os.close(descriptor)
        weakref.finalize(self, _remove, self._path)
        self._sink = pa.OSFile(self._path, "wb")
        self._writer = pa.ipc.new_file(self._sink, schema, options=_COMPRESSED)
        self._reader: pa.ipc.RecordBatchFileReader | None = None

    def add(self, run: _Run, table: pa.Table, piece: int) -> None:
        """Write the rows of a run in its order, `piece` at a time."""
        ordered = table if run.order is None else table.take(pa.array(run.order)).combine_chunks()
        self._writer.write_table(ordered, max_chunksize=piece)

    def batch(self, number: int) -> pa.RecordBatch:
        """Return a piece; none can be added afterwards."""
        if self._reader is None:
            self._writer.close()
            self._sink.close()
            self._reader = pa.ipc.open_file(pa.OSFile(self._path))
        return self._reader.get_batch(number)

    def pieces(self, run: _Run) -> Iterator[pa.RecordBatch]:
        """Yield the pieces of a run."""
        return map(self.batch, range(run.batch, run.batch + len(run.ends)))


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece of memory, which nothing else keeps."""
    return pa.concat_arrays(column.chunks)


def _ascends(ids: pa.Array) -> bool:
    return len(ids) < 2 or bool(pc.all(pc.less(ids[:-1], ids[1:])).as_py())


def _equal_neighbours(ids: pa.ChunkedArray) -> NDArray[np.bool_]:
    whole = ids.combine_chunks()
    found: NDArray[np.bool_] = pc.equal(whole[:-1], whole[1:]).to_numpy(zero_copy_only=False)
    return found


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
