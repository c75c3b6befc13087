"""What each shard counts by itself: how many rows have which group, status, decision and score.

`ValueCounts` holds the counts of some shards of a run, each shard's by themselves, with the digest of the scores they
were counted in. Merging is the union of the shards. So any order and any grouping gives the same, a shard that comes
twice is there once, and a late one is added without the others being read. All numbers are whole, and a score stands
with how often it occurs: what is computed from them does not depend on the cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from audit_lib.canonical import canonical_json
from audit_lib.errors import ConflictError, EvidenceError
from audit_lib.large_file import Content
from audit_lib.records import ParquetSink, parquet_source

SCHEMA: Final = "audit-value-counts/1"
_HEAD: Final = b"value_counts"
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardCounts:
    """The counts of one shard.

    Parameters
    ----------
    sha256 : str
        Of the scores that were counted.
    lines : Table
        ``position``, the attributes, ``status``, ``selected``, ``score`` and ``n``: one line for each combination of
        values that occurs, sorted, with how many rows have it.
    """

    sha256: str
    lines: pa.Table

    @classmethod
    def of(cls, rows: pa.Table, axes: tuple[str, ...], sha256: str) -> ShardCounts:
        """Count rows by their position, attributes (`axes`), status, decision and score."""
        schema = _schema(axes)
        names = [name for name in schema.names if name != "n"]
        found = rows.select(names).group_by(names, use_threads=False).aggregate([([], "count_all")])
        found = found.rename_columns([*names, "n"]).cast(schema)
        return cls(sha256=sha256, lines=_sorted(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueCounts:
    """The counts of some shards of one run.

    Parameters
    ----------
    run : str
        Which.
    axes : tuple of str
        The spec's attributes, in their order.
    shards : mapping of int to ShardCounts
        In the order of their numbers.
    """

    run: str
    axes: tuple[str, ...]
    shards: Mapping[int, ShardCounts]

    def merge(self, other: ValueCounts) -> ValueCounts:
        """Return the counts of the shards of both.

        Raises
        ------
        ConflictError
            If they are of different runs, or a shard of both was counted in different scores.
        """
        if (self.run, self.axes) != (other.run, other.axes):
            raise ConflictError(f"counts of {self.run} and of {other.run} are not counts of one run")
        for shard in self.shards.keys() & other.shards.keys():
            if self.shards[shard] != other.shards[shard]:
                digests = " and of ".join(one.shards[shard].sha256[:12] for one in (self, other))
                raise ConflictError(
                    f"shard {shard}: the counts of scores {digests} differ; a shard is scored once, so count it anew"
                )
        both = {**self.shards, **other.shards}
        return ValueCounts(run=self.run, axes=self.axes, shards=dict(sorted(both.items())))

    @property
    def lines(self) -> pa.Table:
        """The lines of all shards."""
        return pa.concat_tables(
            [_schema(self.axes).empty_table(), *(one.lines for one in self.shards.values())]
        )

    def content(self) -> Content:
        """Return the counts as Parquet: the same bytes for the same shards."""
        head = {
            "schema": SCHEMA,
            "run": self.run,
            "axes": list(self.axes),
            "shards": [[number, one.sha256, len(one.lines)] for number, one in self.shards.items()],
        }
        schema = _schema(self.axes).with_metadata({_HEAD: canonical_json(head)})
        with ParquetSink(schema) as sink:
            for one in self.shards.values():
                sink.write(one.lines.replace_schema_metadata(schema.metadata))
        return sink.content()

    @classmethod
    def read(cls, content: Content, where: str) -> ValueCounts:
        """Read what `content` gave.

        Raises
        ------
        EvidenceError
            If it is anything else; `where` says whose.
        """
        try:
            found = _read(content)
        except (pa.ArrowException, KeyError, ValueError, TypeError):
            found = None
        if found is None:
            raise EvidenceError(
                f"{where}: is no file of counts ({SCHEMA}), or was changed; count the run anew"
            )
        return found


def merged(parts: Iterable[ValueCounts]) -> ValueCounts:
    """Return the counts of the shards of all parts, of which there is one at least."""
    first, *others = parts
    for other in others:
        first = first.merge(other)
    return first


def _read(content: Content) -> ValueCounts | None:
    table = pq.read_table(parquet_source(content))
    head = json.loads(table.schema.metadata[_HEAD])
    table, axes = table.replace_schema_metadata(None), tuple(head["axes"])
    counts: dict[int, ShardCounts] = {}
    start = 0
    for number, sha256, size in head["shards"]:
        lines = table.slice(start, size).combine_chunks()
        if not isinstance(number, int) or not _SHA256.fullmatch(sha256) or not lines.equals(_sorted(lines)):
            return None
        counts[number] = ShardCounts(sha256=sha256, lines=lines)
        start += size
    whole = start == len(table) and len(counts) == len(head["shards"]) and list(counts) == sorted(counts)
    positive = pc.all(pc.greater(table["n"], 0), min_count=0).as_py()
    if head["schema"] != SCHEMA or not table.schema.equals(_schema(axes)) or not whole or not positive:
        return None
    return ValueCounts(run=str(head["run"]), axes=axes, shards=counts)


def _schema(axes: tuple[str, ...]) -> pa.Schema:
    return pa.schema(
        [
            pa.field("position", pa.string(), nullable=False),
            *(pa.field(axis, pa.string()) for axis in axes),
            pa.field("status", pa.string(), nullable=False),
            pa.field("selected", pa.bool_()),
            pa.field("score", pa.float64()),
            pa.field("n", pa.int64(), nullable=False),
        ]
    )


def _sorted(lines: pa.Table) -> pa.Table:
    return lines.sort_by([(name, "ascending") for name in lines.column_names]).combine_chunks()
