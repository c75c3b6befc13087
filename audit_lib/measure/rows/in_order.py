"""The score rows of all shards in the order of their variants: sorted tables, merged while they are read.

This is the keyed exchange of the stage ``metrics``. Each shard's table is in the order of its variants' ids, and so is
the table of variants; of each shard no more than a batch is held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from audit_lib.errors import EvidenceError
from audit_lib.parquet_batches import batches_of
from audit_lib.shard_scores import ShardScores

BLOCK: Final = 1 << 18
"""Variants whose rows are looked at together."""
_BUFFER: Final = 1 << 16


class SortedIds:
    """The ids of variants, sorted: read some at a time, so that not all of their texts are held.

    Parameters
    ----------
    size : int
        How many.
    parts : callable
        Gives their ids in order, some at a time, as often as it is called.
    """

    def __init__(self, size: int, parts: Callable[[], Iterator[pa.Array]]) -> None:
        self._size, self._parts = size, parts

    @classmethod
    def of_array(cls, ids: pa.ChunkedArray) -> SortedIds:
        """Take ids that are at hand.

        Examples
        --------
        >>> [block.to_pylist() for block in SortedIds.of_array(pa.chunked_array([["a", "b"], ["c"]])).blocks(2)]
        [['a', 'b'], ['c']]
        """
        return cls(len(ids), lambda: iter(ids.chunks))

    @classmethod
    def of_file(cls, source: Callable[[], pa.NativeFile], size: int) -> SortedIds:
        """Read the column ``variant_id`` of a Parquet table, whenever they are asked for.

        That they are in order is looked at until they were read to the end once: `source` gives the same bytes again.
        """
        looked_at = False

        def parts() -> Iterator[pa.Array]:
            nonlocal looked_at
            file = pq.ParquetFile(source(), buffer_size=_BUFFER, pre_buffer=False)
            last = ""
            for batch in batches_of(file, BLOCK, ["variant_id"]):
                ids = batch.column(0)
                if not looked_at:
                    if not _rises(ids, last):
                        raise UnsortedError
                    last = ids[-1].as_py()
                yield ids
            looked_at = True

        return cls(size, parts)

    def __len__(self) -> int:
        return self._size

    def blocks(self, size: int) -> Iterator[pa.Array]:
        """Give them so many at a time."""
        held: list[pa.Array] = []
        count = 0
        for part in self._parts():
            start = 0
            while count + len(part) - start >= size:
                held.append(part.slice(start, size - count))
                yield held[0] if len(held) == 1 else pa.concat_arrays(held)
                start += size - count
                held, count = [], 0
            if start < len(part):
                held.append(part.slice(start))
                count += len(part) - start
        if held:
            yield held[0] if len(held) == 1 else pa.concat_arrays(held)

    def whole(self) -> pa.ChunkedArray:
        """Return all of them."""
        return pa.chunked_array(list(self._parts()), pa.string())


class UnsortedError(Exception):
    """The variants of a run are not in the order of their ids."""


def _rises(ids: pa.Array, last: str) -> bool:
    if not len(ids):
        return True
    rising = pc.all(pc.less(ids.slice(0, len(ids) - 1), ids.slice(1)), min_count=0).as_py()
    return bool(rising) and last < ids[0].as_py()


def in_blocks(shards: Iterable[ShardScores], ids: SortedIds) -> Iterator[tuple[int, pa.Array, pa.Table]]:
    """Yield the sorted ids of variants some at a time, where they begin, and all score rows of these variants.

    Raises
    ------
    EvidenceError
        If there are rows of other variants behind the last one.
    """
    shards, start = [*shards], 0
    for block in ids.blocks(BLOCK):
        last = block[-1].as_py()
        own = [part for shard in shards for part in shard.until(last)]
        yield start, block, pa.concat_tables([shards[0].empty, *own])
        start += len(block)
    strange = sum(len(part) for shard in shards for part in shard.until(None))
    if strange:
        raise EvidenceError(f"scores: {strange} rows of variants that were never made")
