"""The score rows of one shard in the order of their variants, read on as they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from audit_lib.errors import EvidenceError
from audit_lib.parquet_batches import batches_of

_BATCH: Final = 1 << 14
"""Rows of a shard that are read at a time."""
_BUFFER: Final = 1 << 16


class ShardScores:
    """The score rows of one shard, in the order of their variants.

    Parameters
    ----------
    empty : Table
        Of its columns, without a row.
    parts : iterator of Table
        Its rows.
    first : str, optional
        The variant of its first row: nothing is read before this one is asked for.
    """

    def __init__(self, empty: pa.Table, parts: Iterator[pa.Table], first: str = "") -> None:
        self.empty, self._first = empty, first
        self._parts = parts
        self._held = empty
        self._last = ""

    @classmethod
    def of_table(cls, table: pa.Table) -> ShardScores:
        """Take rows that are at hand, in any order."""
        return cls(table.slice(0, 0), iter([table.sort_by("variant_id")]))

    @classmethod
    def of_file(cls, source: pa.NativeFile, columns: Iterable[str], labels: Iterable[str]) -> ShardScores:
        """Read columns of a Parquet table a batch at a time, those of few `labels` as codes."""
        file = pq.ParquetFile(source, read_dictionary=[*labels], buffer_size=_BUFFER, pre_buffer=False)
        names = [*columns]
        schema = pa.schema([file.schema_arrow.field(name) for name in names])
        batches = batches_of(file, _BATCH, names)
        first = next(file.iter_batches(1, columns=["variant_id"], use_threads=False), None)
        return cls(
            schema.empty_table(),
            (pa.Table.from_batches([batch]) for batch in batches),
            "" if first is None or not first.num_rows else first["variant_id"][0].as_py(),
        )

    def table(self) -> pa.Table:
        """Return all rows."""
        return pa.concat_tables([self.empty, *self.until(None)])

    def until(self, last: str | None) -> Iterator[pa.Table]:
        """Give the rows up to the variant `last`, or all that are left.

        Raises
        ------
        EvidenceError
            If the rows are not in the order of their variants.
        """
        if last is not None and last < self._first:
            return
        while True:
            if not len(self._held):
                self._held = self.empty  # what was read is let go of
                found = next(self._parts, None)
                if found is None:
                    return
                self._held = self._in_order(found)
            ids = self._held["variant_id"]
            count = len(ids) if last is None else pc.sum(pc.less_equal(ids, last)).as_py() or 0
            if count:
                yield self._held.slice(0, count)
            self._held = self._held.slice(count)
            if len(self._held):
                return

    def _in_order(self, table: pa.Table) -> pa.Table:
        ids = table["variant_id"]
        rises = pc.less_equal(ids.slice(0, max(len(ids) - 1, 0)), ids.slice(1))
        if len(ids) and (not pc.all(rises, min_count=0).as_py() or ids[0].as_py() < self._last):
            raise EvidenceError("scores: the rows of a shard are not in the order of their variants")
        self._last = ids[-1].as_py() if len(ids) else self._last
        return table
