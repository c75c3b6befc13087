"""Which rows of the table of requests belong to which shard, and each shard's own table of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from audit_lib.large_file import Content
from audit_lib.records import ParquetSink, parquet_source
from audit_lib.score.packs import Pack, deal, pack_ends

FIRST_REPEAT: Final = "shard:first_repeat"
END_REPEAT: Final = "shard:end_repeat"
_READ: Final = 4096
"""Rows of the whole table that are read at a time."""
_HELD: Final = 65536
"""Rows that wait to be written, over all shards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardRows:
    """The rows of each shard.

    Attributes
    ----------
    request_of_row : array of int
        Of each row, the place of its request among all, in the order in which they are asked; -1: is not asked.
    repeats : int
        How often each is asked, one time after another.
    spans : mapping of int to (int, int)
        Shard -> where it begins and ends, counted in requests times repeats.
    """

    request_of_row: NDArray[np.int64]
    repeats: int
    spans: Mapping[int, tuple[int, int]]

    def of(self, shard: int, start: int = 0, end: int | None = None) -> tuple[NDArray[np.int64], ...]:
        """Return a shard's rows of those from `start` to `end`; of each the first repeat and the one after the last."""
        low, high = self.spans[shard]
        place = self.request_of_row[start:end]
        first = np.maximum(low - place * self.repeats, 0)
        last = np.minimum(high - place * self.repeats, self.repeats)
        (rows,) = np.nonzero((place >= 0) & (first < last))
        return rows, first[rows], last[rows]


def planned_rows(
    content: Content,
    columns: tuple[str, str],
    *,
    repeats: int,
    pack_size: int,
    shards: int,
    whole_sections: bool,
) -> ShardRows:
    """Deal the requests of a table to shards by their ids, sections and families alone.

    Parameters
    ----------
    content : bytes or LargeFile
        The table of requests.
    columns : (str, str)
        Its columns of section and family.
    repeats, pack_size, shards : int
    whole_sections : bool
        As of `audit_lib.score.packs.cut`.
    """
    section, family = columns
    table = pq.read_table(
        parquet_source(content), columns=list(dict.fromkeys(("request_id", section, family)))
    )
    if not table.num_rows:
        return ShardRows(request_of_row=np.empty(0, np.int64), repeats=repeats, spans={})
    keys = pa.table({"request_id": table["request_id"], "section": table[section], "family": table[family]})
    asked = keys.group_by("request_id", use_threads=False).aggregate(
        [("section", "first"), ("family", "min")]
    )
    asked = asked.sort_by([(name, "ascending") for name in ("section_first", "family_min", "request_id")])
    place = pc.index_in(table["request_id"], value_set=asked["request_id"].combine_chunks())
    sections, families = (asked[name].to_pylist() for name in ("section_first", "family_min"))
    repeated = (key for key in zip(sections, families, strict=True) for _ in range(repeats))
    ends = pack_ends(repeated, pack_size)
    packs = [(end - start, sections[start // repeats]) for start, end in pairwise([0, *ends])]
    dealt = deal(packs, shards, whole_sections=whole_sections)
    return ShardRows(
        request_of_row=place.to_numpy().astype(np.int64),
        repeats=repeats,
        spans=_spans(zip(dealt, (size for size, _ in packs), strict=True)),
    )


def rows_of_packs(content: Content, cuts: Mapping[int, Sequence[Pack]], repeats: int) -> ShardRows:
    """Return the rows of shards whose packs are given."""
    place: dict[str, int] = {}
    sizes = []
    for shard, packs in cuts.items():
        for one in packs:
            sizes.append((shard, len(one)))
            for request in one:
                place.setdefault(request.request_id, len(place))
    ids = pq.read_table(parquet_source(content), columns=["request_id"])["request_id"].to_pylist()
    return ShardRows(
        request_of_row=np.array([place.get(name, -1) for name in ids], np.int64),
        repeats=repeats,
        spans=_spans(sizes),
    )


def _spans(packs: Iterable[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """Return where each shard begins and ends, of the shards and sizes of packs in order."""
    spans: dict[int, tuple[int, int]] = {}
    at = 0
    for shard, size in packs:
        begun = spans.get(shard, (at, at))[0]
        spans[shard] = (begun, at + size)
        at += size
    return spans


def shard_tables(content: Content, rows: ShardRows) -> dict[int, Content]:
    """Return each shard's own table: its rows, in order, and which repeats of each are asked."""
    file = pq.ParquetFile(parquet_source(content))
    schema = file.schema_arrow.remove_metadata()
    for name in (FIRST_REPEAT, END_REPEAT):
        schema = schema.append(pa.field(name, pa.int32()))
    group = max(_HELD // max(len(rows.spans), 1), 64)
    parts = {shard: _Part(schema, group) for shard in rows.spans}
    at = 0
    for batch in file.iter_batches(batch_size=_READ):
        for shard, part in parts.items():
            mine, first, last = rows.of(shard, at, at + batch.num_rows)
            if len(mine):
                own = [
                    *batch.take(pa.array(mine)).columns,
                    pa.array(first, pa.int32()),
                    pa.array(last, pa.int32()),
                ]
                part.add(pa.Table.from_arrays(own, schema=schema))
        at += batch.num_rows
    return {shard: part.content() for shard, part in parts.items()}


class _Part:
    """The table of one shard, written by row groups of one size, whatever came at a time."""

    def __init__(self, schema: pa.Schema, group: int) -> None:
        self._sink, self._group, self._waiting = ParquetSink(schema), group, schema.empty_table()

    def add(self, table: pa.Table) -> None:
        self._waiting = pa.concat_tables([self._waiting, table])
        while self._waiting.num_rows >= self._group:
            self._sink.write(self._waiting.slice(0, self._group).combine_chunks())
            self._waiting = self._waiting.slice(self._group)

    def content(self) -> Content:
        with self._sink:
            if self._waiting.num_rows:
                self._sink.write(self._waiting.combine_chunks())
        return self._sink.content()


def variants_by_shard(content: Content, columns: Sequence[str], rows: ShardRows) -> dict[str, set[int]]:
    """Return the shards that ask about each variant, named in `columns`: several where repeats are cut."""
    table = pq.read_table(parquet_source(content), columns=list(columns))
    found: dict[str, set[int]] = {}
    for shard in rows.spans:
        mine, _, _ = rows.of(shard)
        for name in columns:
            variants: list[Any] = table[name].take(pa.array(mine)).to_pylist()
            for variant in variants:
                found.setdefault(variant, set()).add(shard)
    return found
