"""Which rows of the table of requests belong to which shard, and each shard's own table of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from audit_lib.coded import CodedTexts
from audit_lib.large_file import LARGE, Content
from audit_lib.parquet_batches import batches_of
from audit_lib.records import ParquetSink, parquet_source
from audit_lib.score.packs import Pack, deal, ends_of_packs

FIRST_REPEAT: Final = "shard:first_repeat"
END_REPEAT: Final = "shard:end_repeat"
_READ: Final = 1 << 24
"""Bytes of the whole table that are read at a time."""
_MOST: Final = 1 << 28
"""Bytes of all shards' tables that are held in memory."""
_FILES: Final = 256
"""The most shards that may have a file each."""
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

    def by_shard(self, start: int, end: int) -> Iterator[tuple[int, NDArray[np.int64], Any, Any]]:
        """Yield, of the rows from `start` to `end`, what `of` returns for each shard that has some."""
        if self.repeats > 1:
            for shard in self.spans:
                mine, first, last = self.of(shard, start, end)
                if len(mine):
                    yield shard, mine, first, last
            return
        place = self.request_of_row[start:end]
        shards = sorted(self.spans, key=lambda shard: self.spans[shard])
        number = np.searchsorted([self.spans[shard][0] for shard in shards], place, "right") - 1
        order = np.argsort(number, kind="stable")
        cuts = np.searchsorted(number[order], np.arange(len(shards) + 1))
        for shard, low, high in zip(shards, cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            if high > low:
                none = np.zeros(high - low, np.int64)
                yield shard, order[low:high], none, none + 1


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
    place, sections, families, names = _in_order(*(table[name] for name in ("request_id", section, family)))
    packs: list[tuple[int, str]] = []
    for start, end in pairwise([0, *(np.flatnonzero(np.diff(sections)) + 1), len(sections)]):
        own = families[start:end]
        ends = np.append(np.flatnonzero(own[1:] != own[:-1]) + 1, len(own)) * repeats
        sizes = (high - low for low, high in pairwise([0, *ends_of_packs(ends, pack_size)]))
        packs += ((size, names[sections[start]]) for size in sizes)
    dealt = deal(packs, shards, whole_sections=whole_sections)
    return ShardRows(
        request_of_row=place,
        repeats=repeats,
        spans=_spans(zip(dealt, (size for size, _ in packs), strict=True)),
    )


def _in_order(
    requests: pa.ChunkedArray, section: pa.ChunkedArray, family: pa.ChunkedArray
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], list[str]]:
    """Put requests in the order in which they are asked: by section, family (the smallest of its rows') and id.

    Returns
    -------
    array of int
        Of each row, the place of its request.
    array of int
        Of each request in order, the place of its section among the names.
    array
        Of each request in order, its family; where equal ones come together, they are one.
    list of str
        The names of the sections, sorted.
    """
    if _ascend(requests, strictly=True) and _ascend(
        family
    ):  # as nearly always: a request a row, by their ids
        coded = CodedTexts.of(section)
        names = sorted(word for word in coded.words if word is not None)
        number = {name: place for place, name in enumerate(names)}
        rank = np.array([number[word or ""] for word in coded.words], np.int32)[coded.codes]
        order = np.argsort(rank, kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return place, rank[order], _numbered(family)[order], names
    keys = pa.table({"request_id": requests, "section": section, "family": family})
    asked = keys.group_by("request_id", use_threads=False).aggregate(
        [("section", "first"), ("family", "min")]
    )
    asked = asked.sort_by([(name, "ascending") for name in ("section_first", "family_min", "request_id")])
    place = pc.index_in(requests, value_set=asked["request_id"].combine_chunks()).to_numpy()
    coded = CodedTexts.of(asked["section_first"])  # sorted, so that names are, too
    return (
        place.astype(np.int64),
        coded.codes.astype(np.int32),
        _numbered(asked["family_min"]),
        [word for word in coded.words if word is not None],
    )


def _ascend(texts: pa.ChunkedArray, *, strictly: bool = False) -> bool:
    """Tell whether no text comes before the one before it; strictly: nor is equal to it."""
    wrong, last = pc.greater_equal if strictly else pc.greater, None
    for part in texts.chunks:
        ids = part if last is None else pa.concat_arrays([last, part])
        if pc.any(wrong(ids[:-1], ids[1:])).as_py():
            return False
        last = ids[-1:]
    return True


def _numbered(texts: pa.ChunkedArray) -> NDArray[np.int32]:
    """Return a number for each text: that of how often it changed so far."""
    changed, last = [], None
    for part in texts.chunks:
        ids = part if last is None else pa.concat_arrays([last, part])
        own = pc.not_equal(ids[:-1], ids[1:]).to_numpy(zero_copy_only=False)
        changed += [own] if last is not None else [np.zeros(min(len(part), 1), np.bool_), own]
        last = ids[-1:]
    return np.cumsum(np.concatenate(changed), dtype=np.int32)


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
    file = pq.ParquetFile(parquet_source(content), buffer_size=1 << 20)
    schema = file.schema_arrow.remove_metadata()
    for name in (FIRST_REPEAT, END_REPEAT):
        schema = schema.append(pa.field(name, pa.int32()))
    group = max(_HELD // max(len(rows.spans), 1), 64)
    most = _MOST // len(rows.spans) if 0 < len(rows.spans) <= _FILES else LARGE
    parts = {shard: _Part(schema, group, most) for shard in rows.spans}
    at = 0
    for batch in batches_of(file, _rows_read(file)):
        for shard, mine, first, last in rows.by_shard(at, at + batch.num_rows):
            own = batch.take(pa.array(mine)).columns
            repeats = [pa.array(first, pa.int32()), pa.array(last, pa.int32())]
            parts[shard].add(pa.Table.from_arrays([*own, *repeats], schema=schema))
        at += batch.num_rows
    return {shard: part.content() for shard, part in parts.items()}


def _rows_read(file: pq.ParquetFile) -> int:
    """Return how many rows come to `_READ` bytes, texts unpacked."""
    groups = range(file.num_row_groups)
    size = sum(int(file.metadata.row_group(group).total_byte_size) for group in groups)
    rows = int(file.metadata.num_rows)
    return max(1, min(_HELD, _READ * rows // max(size, 1)))


class _Part:
    """The table of one shard, written by row groups of one size, whatever came at a time."""

    def __init__(self, schema: pa.Schema, group: int, most: int) -> None:
        self._sink, self._group, self._waiting = ParquetSink(schema, most), group, schema.empty_table()

    def add(self, table: pa.Table) -> None:
        waiting, at = pa.concat_tables([self._waiting, table]), 0
        while waiting.num_rows - at >= self._group:
            self._sink.write(waiting.slice(at, self._group).combine_chunks())
            at += self._group
        self._waiting = waiting.slice(at).combine_chunks() if at else waiting

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
