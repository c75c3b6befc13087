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
from typing import Any, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from audit_lib.archive.merkle import MerkleTree
from audit_lib.canonical import jcs, jcs_rows
from audit_lib.documents.evidence import RecordTree
from audit_lib.errors import EvidenceError
from audit_lib.run import Run

ScoreRecord = Mapping[str, Any]


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
    """Return what a leaf is the hash of."""
    return jcs({"application_sha256": application_sha256, "records_sha256": records_sha256})


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
    written = (
        sha256(record).digest()
        for stage in shards
        for one in _batches(run, stage)
        for record in _written(one)
    )
    digests = np.frombuffer(b"".join(written), np.uint8).reshape(-1, 32)
    order = np.argsort(owner, kind="stable")
    owned = owner[order]
    starts = np.flatnonzero(np.diff(owned, prepend=-1))
    ends = [*starts[1:].tolist(), len(owned)]
    leaves = bytearray()
    for start, end in zip(starts.tolist(), ends, strict=True):
        own = digests[order[start:end]].tobytes().hex()
        leaves += sha256(names[int(owned[start])].as_py().encode()).digest() + sha256(own.encode()).digest()
    return PeopleTree(len(owned), Leaves(np.frombuffer(leaves, np.uint8).reshape(-1, 2, 32)))


def records_of(run: Run, stages: Sequence[str], application_id: str) -> list[ScoreRecord]:
    """Return an application's score records, in the order of shards and rows."""
    shards = _shards(stages)
    names, owner = _owners(run, shards)
    rows = (
        dict(zip(columns, values, strict=True))
        for stage in shards
        for columns in _batches(run, stage)
        for values in zip(*columns.values(), strict=True)
    )
    own = pc.equal(names, application_id).to_numpy(zero_copy_only=False)[owner]
    return [row for row, is_own in zip(rows, own, strict=True) if is_own]


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


def _batches(run: Run, stage: str) -> Iterator[dict[str, list[Any]]]:
    """Yield the score records of a shard as columns, each with the shard that it is from, a batch at a time."""
    source = run.stage(stage).parquet("scores.parquet")
    for batch in pq.ParquetFile(source).iter_batches(batch_size=8192):
        yield {"shard": [stage] * batch.num_rows, **batch.to_pydict()}


def _written(columns: Mapping[str, Sequence[Any]]) -> list[bytes]:
    try:
        return list(jcs_rows(columns))
    except ValueError as error:
        raise EvidenceError(f"a score record {error}") from None
