"""The rows of a window: their long texts in a temporary file, all else in memory, so that a million fit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from audit_lib.large_file import Content, Sink
from audit_lib.records import ParquetSink, parquet_source

TEXTS: Final = ("fields", "recorded_response")
GROUP: Final = 1 << 14
"""Rows of a row group of ``prompts.parquet``, which are sorted at a time."""
_HELD: Final = 1 << 20
"""Bytes of texts that are held of each group that is sorted; a million rows are 62 groups."""
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

    def add(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Take rows."""
        batch = pa.RecordBatch.from_pylist(rows, schema=self._schema)
        self._spilled.add(batch.select(self._long.names))
        self._batches.append(batch.select(self._short.names))

    def __len__(self) -> int:
        return sum(batch.num_rows for batch in self._batches)

    def table(self) -> pa.Table:
        """Return all rows without their long texts."""
        return pa.Table.from_batches(self._batches, schema=self._short)

    def field(self, name: str) -> list[Any]:
        """Return one field of each row's prompt; None where it has none."""
        return [json.loads(text).get(name) for batch in self._spilled for text in batch["fields"].to_pylist()]

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
        with ParquetSink(self._schema) as sink:
            for start, texts in enumerate(self._by_rank(rank, len(order))):
                rows = short.take(pa.array(order[start * GROUP : (start + 1) * GROUP]))
                columns = [(texts if name in TEXTS else rows)[name] for name in self._schema.names]
                group = pa.Table.from_arrays(
                    [column.combine_chunks() for column in columns], schema=self._schema
                )
                sink.write(group)
        return sink.content()

    def _by_rank(self, rank: NDArray[np.int64], number: int) -> Iterator[pa.Table]:
        """Yield the long texts in the order of their rank, `GROUP` at a time."""
        ranked = self._long.append(pa.field("rank", pa.int64()))
        groups = [_Spilled(ranked) for _ in range(0, number, GROUP)]
        at = 0
        for batch in self._spilled:
            own = rank[at : at + batch.num_rows]
            at += batch.num_rows
            for group in np.unique(own[own >= 0] // GROUP):
                (rows,) = np.nonzero((own >= 0) & (own // GROUP == group))
                part = batch.take(pa.array(rows))
                groups[group].add(
                    pa.RecordBatch.from_arrays([*part.columns, pa.array(own[rows])], schema=ranked)
                )
        for place, group in enumerate(groups):
            yield pa.Table.from_batches(list(group), schema=ranked).sort_by("rank")
            groups[place] = _Spilled(ranked)  # whose file goes


class _Spilled:
    """Batches that are written to a temporary file, where they are many, and can then be read again and again."""

    def __init__(self, schema: pa.Schema) -> None:
        self._sink = Sink(_HELD)
        self._writer = pa.ipc.new_file(self._sink, schema, options=_COMPRESSED)
        self._content: Content | None = None

    def add(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        if self._content is None:
            self._writer.close()
            self._content = self._sink.content()
        file = pa.ipc.open_file(parquet_source(self._content))
        for place in range(file.num_record_batches):
            yield file.get_batch(place)
