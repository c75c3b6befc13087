"""The tree over people's score records, whose root is in the manifest: one leaf for each applicant.

A leaf holds two digests: of the application's id, and of all of its score records together. The leaves lie in the order
of the first, so that a person's records are proved to be in, all of them, or proved not to be, without anybody else's
(`audit_lib.archive.record_proof`). Where rows are encrypted with a key for each applicant, both digests are salted with
what follows from that key, and the hashes of all leaves are listed: when a key is gone the tree stays, and what a leaf
was of cannot be guessed from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, NamedTuple, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from audit_lib.archive.merkle import MerkleTree
from audit_lib.canonical import jcs
from audit_lib.canonical_columns import jcs_columns
from audit_lib.documents.evidence import SALTED_LEAVES, ListedFile, RecordTree
from audit_lib.errors import EvidenceError
from audit_lib.privacy.leaf_salts import LeafSalts
from audit_lib.run import Run

ScoreRecord = Mapping[str, Any]
_BATCH: Final = 16384
"""Score records that are written together."""
_LEAVES: Final = 16384
"""Applications whose names are read together."""


class Leaf(NamedTuple):
    """Digests of an application's id and of its records; with the salt of each, where it has them and they are told.

    A digest whose salt is not told is the salted one.
    """

    application_sha256: str
    records_sha256: str
    application_salt: str | None = None
    records_salt: str | None = None

    def data(self) -> bytes:
        """Return what the leaf is the hash of: its two digests in hex, as RFC 8785 writes them."""
        application = _salted(self.application_salt, self.application_sha256)
        records = _salted(self.records_salt, self.records_sha256)
        return f'{{"application_sha256":"{application}","records_sha256":"{records}"}}'.encode()

    def without_records(self) -> Leaf:
        """Return the same leaf, such that of its records nothing can be guessed if they are salted."""
        return self._replace(
            records_sha256=_salted(self.records_salt, self.records_sha256), records_salt=None
        )


def _salted(salt: str | None, digest: str) -> str:
    if salt is None:
        return digest
    return sha256(bytes.fromhex(salt) + bytes.fromhex(digest)).hexdigest()


class Leaves(Sequence[Leaf]):
    """The leaves in order: 64 bytes each, or 128 where they are salted, however many there are.

    Parameters
    ----------
    parts : array of uint8, shape (applications, 2 or 4, 32)
        What a `Leaf` has.
    """

    def __init__(self, parts: NDArray[np.uint8]) -> None:
        self._parts = parts[np.lexsort(parts[:, 0].copy().view(">u8").T[::-1])]

    def __len__(self) -> int:
        return len(self._parts)

    @overload
    def __getitem__(self, place: int) -> Leaf: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Leaf]: ...
    def __getitem__(self, place: int | slice) -> Leaf | Sequence[Leaf]:
        if isinstance(place, slice):
            return Leaves(self._parts[place])
        return Leaf(*(part.tobytes().hex() for part in self._parts[place]))


@dataclass(frozen=True)
class PeopleTree:
    """Leaves and tree of a run.

    Parameters
    ----------
    records : int
        Score records of the applications below.
    leaves : sequence of Leaf
        Of each application whose records can be read, in order.
    places : sequence of int
        Where in the tree each of them is.
    tree : MerkleTree
        The tree itself, over all applications.
    """

    records: int
    leaves: Sequence[Leaf]
    places: Sequence[int]
    tree: MerkleTree

    @classmethod
    def over(cls, records: int, leaves: Sequence[Leaf]) -> PeopleTree:
        """Return the tree of a run of which all records can be read."""
        return cls(records, leaves, range(len(leaves)), MerkleTree.over(leaf.data() for leaf in leaves))

    def summary(self) -> RecordTree:
        """Return what the manifest says of it, where all records can be read."""
        listed = self.listed()
        return RecordTree(
            applications=self.tree.size,
            records=self.records,
            root=self.tree.root.hex(),
            salted_leaves=None
            if listed is None
            else ListedFile(path=SALTED_LEAVES, sha256=sha256(listed).hexdigest(), bytes=len(listed)),
        )

    def listed(self) -> bytes | None:
        """Return the file of the leaves' hashes, a line each; None where they are not salted."""
        if not self.leaves or self.leaves[0].application_salt is None:
            return None
        return "".join(f"{each.hex()}\n" for each in self.tree.levels[0]).encode()


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


def people_tree(run: Run, stages: Sequence[str], salts: LeafSalts | None = None) -> PeopleTree:
    """Return the tree over the scores in the shards of `stages`; with salted leaves if salts are given.

    Raises
    ------
    EvidenceError
        If a score is of no archived variant.
    """
    return PeopleTree.over(*people_leaves(run, stages, salts))


def people_leaves(run: Run, stages: Sequence[str], salts: LeafSalts | None) -> tuple[int, Leaves]:
    """Return how many score records there are, and the leaves of those whose they are; salts may leave some out.

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
    leaves, records = bytearray(), 0
    for at in range(0, len(starts), _LEAVES):
        begun = starts[at : at + _LEAVES]
        own_names = names.take(pa.array(owned[begun])).to_pylist()
        for name, start, end in zip(own_names, begun.tolist(), ends[at : at + _LEAVES], strict=True):
            own = sha256(in_order[start * 32 : end * 32].hex().encode()).digest()
            own_salts = b"" if salts is None else salts.of(name, own)
            if own_salts is None:
                continue
            leaves += sha256(name.encode()).digest() + own + own_salts
            records += end - start
    return records, Leaves(np.frombuffer(leaves, np.uint8).reshape(-1, 2 if salts is None else 4, 32))


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
