"""The answers of a pairwise audit, as the metrics of pairs see them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from audit_lib.errors import EvidenceError
from audit_lib.measure.pairwise import PairwiseStatistics, paired, statistics
from audit_lib.pairs import FIRST, SECOND
from audit_lib.run import Run

if TYPE_CHECKING:
    from audit_lib.measure.rows import Rows
    from audit_lib.spec import AuditSpec

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
            pq.read_table(
                pa.BufferReader(run.stage(f"scores/{shard}").read("pairs.parquet")), columns=list(_COLUMNS)
            )
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
        pairs = paired({"first": first, "second": second, "answer": table["answer"].to_pylist()})
        one, other = (pairs.ids[codes].astype(np.int64) % len(ids) for codes in (pairs.low, pairs.high))
        return cls(one=one, other=other, one_first=pairs.low_shown_first, other_first=pairs.high_shown_first)

    def take(self, which: NDArray[Any]) -> PairAnswers:
        """Return some of the pairs."""
        return PairAnswers(**{field.name: getattr(self, field.name)[which] for field in fields(self)})

    def winner(self) -> NDArray[np.int64]:
        """Return 1 where `one` won in both orders, -1 where `other` did, else 0."""
        won = (self.one_first == FIRST) & (self.other_first == SECOND)
        lost = (self.one_first == SECOND) & (self.other_first == FIRST)
        return np.asarray(won.astype(np.int64) - lost.astype(np.int64))

    def statistics(self) -> PairwiseStatistics:
        """Count what the answers look like."""
        return statistics(self.one_first, self.other_first)


@dataclass(frozen=True, slots=True, kw_only=True)
class Faced:
    """Pairs between a group and its reference, seen from the group.

    Parameters
    ----------
    pairs : PairAnswers
        The pairs.
    outcome : ndarray of int
        1 where the group's candidate won in both orders, -1 where the reference's did, else 0.
    round : ndarray of int
        The pool of each pair.
    n_group, n_reference : int
        Candidates a side.
    """

    pairs: PairAnswers
    outcome: NDArray[np.int64]
    round: NDArray[np.int32]
    n_group: int
    n_reference: int


def faced(rows: Rows, pairs: PairAnswers, group: Mapping[str, str], reference: Mapping[str, str]) -> Faced:
    """Return the pairs of a stratum that have one candidate in the group and one in the reference."""
    size = 1 + max(int(values.max(initial=0)) for values in (rows.place, pairs.one, pairs.other))
    side = np.zeros(size, dtype=np.int8)
    side[rows.place[rows.members(group)]] = 1
    side[rows.place[rows.members(reference)]] = -1
    rounds = np.full(size, -1, dtype=np.int32)
    rounds[rows.place] = rows.round
    between = pairs.take(side[pairs.one] * side[pairs.other] == -1)
    ours = np.where(side[between.one] == 1, between.one, between.other)
    theirs = np.where(side[between.one] == 1, between.other, between.one)
    return Faced(
        pairs=between,
        outcome=side[between.one] * between.winner(),
        round=rounds[between.one],
        n_group=int(np.unique(ours).size),
        n_reference=int(np.unique(theirs).size),
    )


def pair_table(rows: Rows, spec: AuditSpec) -> Iterator[dict[str, Any]]:
    """Yield what the answers look like (the paper's Table 2): over all pairs, then for each comparison of the spec."""
    if rows.pairs is None:
        return
    here = np.zeros(1 + max(int(v.max(initial=0)) for v in (rows.place, rows.pairs.other)), dtype=bool)
    here[rows.place] = True
    everybody = rows.pairs.take(here[rows.pairs.one] & here[rows.pairs.other])
    yield {"stratum": dict(rows.levels), "group": None, "reference": None, **_as_dict(everybody)}
    for group, reference in spec.groups.comparisons():
        between = faced(rows, rows.pairs, group, reference).pairs
        yield {
            "stratum": dict(rows.levels),
            "group": dict(group),
            "reference": dict(reference),
            **_as_dict(between),
        }


def _as_dict(pairs: PairAnswers) -> dict[str, Any]:
    counts = pairs.statistics()
    found: dict[str, Any] = {field.name: getattr(counts, field.name) for field in fields(counts)}
    for name, whole in (
        ("regular", counts.prompts),
        ("tie", counts.prompts),
        ("unparsed", counts.prompts),
        ("flipped", counts.pairs),
        ("inconsistent", counts.pairs),
    ):
        found[f"{name}_share"] = getattr(counts, f"{name}_share") if whole else None
    return found
