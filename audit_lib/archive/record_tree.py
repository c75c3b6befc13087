"""The tree over people's score records, whose root is in the manifest: one leaf for each applicant.

A leaf holds two digests: of the application's id, and of all of its score records together. The leaves lie in the order
of the first, so that a person's records are proved to be in, all of them, or proved not to be, without anybody else's
(`audit_lib.archive.record_proof`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Final, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from audit_lib.archive.merkle import MerkleTree
from audit_lib.canonical import jcs
from audit_lib.canonical_columns import jcs_columns
from audit_lib.documents.evidence import RecordTree
from audit_lib.errors import EvidenceError
from audit_lib.run import Run

ScoreRecord = Mapping[str, Any]
_BATCH: Final = 16384
"""Score records that are written together."""
_LEAVES: Final = 16384
"""Applications whose names are read together."""


class Leaves(Sequence[tuple[str, str]]):
    """Digests of each application's id and of its records, in order: 64 bytes each, however many there are.

    Parameters
    ----------
    digests : array of uint8, shape (applications, 2, 32)
    """

    def __init__(self, digests: NDArray[np.uint8]) -> None:
        self._digests = digests[np.lexsort(digests[:, 0].copy().view(">u8").T[::-1])]

    def __len__(self) -> int:
        return len(self._digests)

    @overload
    def __getitem__(self, place: int) -> tuple[str, str]: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[tuple[str, str]]: ...
    def __getitem__(self, place: int | slice) -> tuple[str, str] | Sequence[tuple[str, str]]:
        if isinstance(place, slice):
            return Leaves(self._digests[place])
        one = self._digests[place]
        return one[0].tobytes().hex(), one[1].tobytes().hex()


@dataclass(frozen=True)
class PeopleTree:
    """Leaves and tree of a run.

    Parameters
    ----------
    records : int
        Score records in all.
    leaves : sequence of (str, str)
        Digests of an application's id and of its records, in order.
    """

    records: int
    leaves: Sequence[tuple[str, str]]

    @cached_property
    def tree(self) -> MerkleTree:
        """The tree itself."""
        return MerkleTree.over(leaf_data(*leaf) for leaf in self.leaves)

    def summary(self) -> RecordTree:
        """Return what the manifest says of it."""
        return RecordTree(applications=len(self.leaves), records=self.records, root=self.tree.root.hex())


def leaf_data(application_sha256: str, records_sha256: str) -> bytes:
    """Return what a leaf is the hash of: its two digests in hex, as RFC 8785 writes them."""
    return f'{{"application_sha256":"{application_sha256}","records_sha256":"{records_sha256}"}}'.encode()


def id_digest(application_id: str) -> str:
    """Return the digest of an application's id, by which the leaves are ordered."""
    return sha256(application_id.encode()).hexdigest()


def records_digest(records: Sequence[ScoreRecord]) -> str:
    """Return the digest of an application's score records: of their digests, one after another, in hex.

    Raises
    ------
    EvidenceError
        If a record holds a number that JSON has no word for.
    """
    return sha256("".join(record_digest(record) for record in records).encode()).hexdigest()


def record_digest(record: ScoreRecord) -> str:
    """Return the digest of one score record, written as RFC 8785 has it."""
    try:
        return sha256(jcs(record)).hexdigest()
    except ValueError as error:
        raise EvidenceError(f"a score record {error}") from None


def people_tree(run: Run, stages: Sequence[str]) -> PeopleTree:
    """Return the tree over the scores in the shards of `stages`.

    Raises
    ------
    EvidenceError
        If a score is of no archived variant.
    """
    shards = _shards(stages)
    names, owner = _owners(run, shards)
    digests = np.frombuffer(
        b"".join(part for stage in shards for part in _record_digests(run, stage)), np.uint8
    ).reshape(-1, 32)
    order = np.argsort(owner, kind="stable")
    owned = owner[order]
    starts = np.flatnonzero(np.diff(owned, prepend=-1))
    ends = [*starts[1:].tolist(), len(owned)]
    in_order = digests[order].tobytes()
    leaves = bytearray()
    for at in range(0, len(starts), _LEAVES):
        begun = starts[at : at + _LEAVES]
        own_names = names.take(pa.array(owned[begun])).to_pylist()
        for name, start, end in zip(own_names, begun.tolist(), ends[at : at + _LEAVES], strict=True):
            own = in_order[start * 32 : end * 32].hex().encode()
            leaves += sha256(name.encode()).digest() + sha256(own).digest()
    return PeopleTree(len(owned), Leaves(np.frombuffer(leaves, np.uint8).reshape(-1, 2, 32)))


def records_of(run: Run, stages: Sequence[str], application_id: str) -> list[ScoreRecord]:
    """Return an application's score records, in the order of shards and rows."""
    shards = _shards(stages)
    names, owner = _owners(run, shards)
    own = pc.equal(names, application_id).to_numpy(zero_copy_only=False)[owner]
    found: list[ScoreRecord] = []
    at = 0
    for stage in shards:
        for batch in _batches(run, stage):
            mine = batch.filter(pa.array(own[at : at + batch.num_rows]))
            found += [{"shard": stage, **row} for row in mine.to_pylist()]
            at += batch.num_rows
    return found


def _shards(stages: Sequence[str]) -> list[str]:
    return sorted(
        (stage for stage in stages if stage.startswith("scores/")), key=lambda name: int(name.split("/")[1])
    )


def _owners(run: Run, shards: Sequence[str]) -> tuple[pa.Array, NDArray[np.int64]]:
    """Return the applications, and the place among them of each score record's, in the order of shards and rows."""
    variants = pq.read_table(
        run.stage("variants").parquet("variants.parquet"), columns=["variant_id", "application_id"]
    )
    coded = variants["application_id"].combine_chunks().dictionary_encode()
    scored = [
        pq.read_table(run.stage(one).parquet("scores.parquet"), columns=["variant_id"]) for one in shards
    ]
    ids = pa.concat_tables(scored)["variant_id"] if scored else pa.chunked_array([], pa.string())
    place = pc.index_in(ids, value_set=variants["variant_id"].combine_chunks())
    if place.null_count:
        at = np.flatnonzero(place.is_null().to_numpy(zero_copy_only=False))[0]
        ends = np.cumsum([one.num_rows for one in scored])
        stage = shards[int(np.searchsorted(ends, at, side="right"))]
        raise EvidenceError(f"{stage}/scores.parquet: a score is of no archived variant")
    return coded.dictionary, coded.indices.to_numpy()[place.to_numpy()].astype(np.int64)


def _batches(run: Run, stage: str) -> Iterator[pa.RecordBatch]:
    """Yield the score records of a shard, a batch at a time."""
    source = run.stage(stage).parquet("scores.parquet")
    yield from pq.ParquetFile(source).iter_batches(batch_size=_BATCH)


def _record_digests(run: Run, stage: str) -> Iterator[bytes]:
    """Yield the digests of the score records of a shard, as `record_digest` has them, one after another."""
    shard = pa.scalar(stage)
    for batch in _batches(run, stage):
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        try:
            rows = jcs_columns({"shard": shard, **columns})
            yield b"".join(sha256(row).digest() for row in rows)
        except ValueError as error:
            raise EvidenceError(f"a score record {error}") from None
