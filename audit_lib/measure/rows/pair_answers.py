"""The answers of a pairwise audit, as the metrics of pairs see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from audit_lib.errors import EvidenceError
from audit_lib.metrics.pairwise import (
    PairwiseStatistics,
    consistent_winner,
    paired_answers,
    pairwise_output_statistics,
)
from audit_lib.run import Run

_COLUMNS: Final = ("first", "second", "repeat", "answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAnswers:
    """One entry a pair and repeat: the two candidates, and the answer in each order.

    Parameters
    ----------
    one, other : ndarray of int
        Places of the candidates in the sorted table of variants; one's is the lower.
    one_first, other_first : ndarray of int
        Code of the answer (`audit_lib.pairs.ANSWERS`) with that candidate shown first.
    """

    one: NDArray[np.int64]
    other: NDArray[np.int64]
    one_first: NDArray[np.int64]
    other_first: NDArray[np.int64]

    @classmethod
    def load(cls, run: Run, shards: Sequence[int], ids: pa.ChunkedArray) -> PairAnswers:
        """Read ``pairs.parquet`` of all shards.

        Raises
        ------
        EvidenceError
            If an answer is about somebody who is no variant.
        """
        tables = [
            pq.read_table(run.stage(f"scores/{shard}").parquet("pairs.parquet"), columns=list(_COLUMNS))
            for shard in shards
        ]
        return cls.of(pa.concat_tables(tables), ids)

    @classmethod
    def of(cls, table: pa.Table, ids: pa.ChunkedArray) -> PairAnswers:
        """Make them of a table with the columns first, second, repeat and answer; `ids` are sorted."""
        known = pa.array(ids.to_pylist(), pa.string())
        shown = [pc.index_in(table[name], value_set=known) for name in ("first", "second")]
        if any(places.null_count for places in shown):
            raise EvidenceError("pairs.parquet: answers about candidates who are no variants")
        if not len(table):
            nothing = np.zeros(0, np.int64)
            return cls(one=nothing, other=nothing, one_first=nothing, other_first=nothing)
        # Each repeat of a pair is a pair of its own.
        base = table["repeat"].to_numpy().astype(np.int64) * len(ids)
        first, second = (places.to_numpy().astype(np.int64) + base for places in shown)
        pairs = paired_answers({"first": first, "second": second, "answer": table["answer"].to_pylist()})
        one, other = (pairs.ids[codes].astype(np.int64) % len(ids) for codes in (pairs.low, pairs.high))
        return cls(one=one, other=other, one_first=pairs.low_shown_first, other_first=pairs.high_shown_first)

    def take(self, which: NDArray[Any]) -> PairAnswers:
        """Return some of the pairs."""
        return PairAnswers(**{field.name: getattr(self, field.name)[which] for field in fields(self)})

    def winner(self) -> NDArray[np.int64]:
        """Return 1 where `one` won in both orders, -1 where `other` did, else 0."""
        return consistent_winner(self.one_first, self.other_first)

    def statistics(self) -> PairwiseStatistics:
        """Count what the answers look like."""
        return pairwise_output_statistics(self.one_first, self.other_first)
