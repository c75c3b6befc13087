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

from audit_lib.archive.merkle import MerkleRoot, MerkleTree, leaf_hash
from audit_lib.canonical import jcs
from audit_lib.canonical_columns import jcs_columns
from audit_lib.dealt_rows import DealtRows
from audit_lib.documents.evidence import SALTED_LEAVES, ListedFile, RecordTree
from audit_lib.errors import EvidenceError
from audit_lib.known_ids import KnownIds, as_texts, dealt
from audit_lib.large_file import Content, Sink, sha256_of, size_of
from audit_lib.parquet_batches import batches_of
from audit_lib.privacy.leaf_salts import LeafSalts
from audit_lib.run import Run

ScoreRecord = Mapping[str, Any]
_BATCH: Final = 16384
"""Score records that are written together."""
_PART: Final = 1 << 17
"""Variants of a part of the tree."""
_LARGE: Final = 1 << 20
"""Bytes up to which a table is held; a larger one is read from its file."""
_PLACE: Final = 8
"""Bytes in which a place is written."""


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
        What a `Leaf` has, in any order.
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
    """Leaves and tree of a run, held whole: what a proof is looked up in.

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


def record_tree(
    run: Run, stages: Sequence[str], salts: LeafSalts | None = None
) -> tuple[RecordTree, Content | None]:
    """Return what the manifest says of the tree over the scores in the shards of `stages`, of which little is held.

    And, where the leaves are salted, the file of their hashes, a line each.

    Raises
    ------
    EvidenceError
        If a score is of no archived variant.
    """
    records, root, listed = 0, MerkleRoot(), Sink()
    for leaves, count in leaves_in_parts(run, stages, salts):
        records += count
        for leaf in leaves:
            own = leaf_hash(leaf.data())
            root.add(own)
            if salts is not None:
                listed.write(f"{own.hex()}\n".encode())
    file = listed.content() if salts is not None and root.size else None
    return RecordTree(
        applications=root.size,
        records=records,
        root=root.root().hex(),
        salted_leaves=None
        if file is None
        else ListedFile(path=SALTED_LEAVES, sha256=sha256_of(file), bytes=size_of(file)),
    ), file


def people_tree(run: Run, stages: Sequence[str], salts: LeafSalts | None = None) -> PeopleTree:
    """Return the tree over the scores in the shards of `stages`; with salted leaves if salts are given.

    Raises
    ------
    EvidenceError
        If a score is of no archived variant.
    """
    return PeopleTree.over(*people_leaves(run, stages, salts))


def people_leaves(run: Run, stages: Sequence[str], salts: LeafSalts | None) -> tuple[int, Sequence[Leaf]]:
    """Return how many score records there are, and the leaves of those whose they are; salts may leave some out.

    Raises
    ------
    EvidenceError
        If a score is of no archived variant.
    """
    records, found = 0, list[Leaf]()
    for leaves, count in leaves_in_parts(run, stages, salts):
        found += leaves
        records += count
    return records, found


def leaves_in_parts(run: Run, stages: Sequence[str], salts: LeafSalts | None) -> Iterator[tuple[Leaves, int]]:
    """Yield all leaves in order, a part at a time, and how many records each part is of.

    The records are dealt to parts by whose they are, and the leaves made of each part by where they lie in the order,
    both by way of temporary files: what is held is the ids of variants and applications, and a part.

    Raises
    ------
    EvidenceError
        If a score is of no archived variant.
    """
    owners = _Owners(run)
    digests = DealtRows(owners.parts, _PLACE + 32)
    for stage in _shards(stages):
        for batch in _batches(run, stage):
            place = owners.variants.places(batch["variant_id"])
            if len(place) and place.min() < 0:
                raise EvidenceError(f"{stage}/scores.parquet: a score is of no archived variant")
            digests.add(owners.part[place], np.hstack([_as_bytes(place), _record_digests(stage, batch)]))
    width = 64 if salts is None else 128
    made, counts = DealtRows(owners.parts, width), np.zeros(owners.parts, np.int64)
    for part in range(owners.parts):
        leaves, records = _leaves_of(owners, part, digests.rows(part), salts)
        # By the first bytes of the digest, so that one part lies behind the other.
        first = leaves[:, :2].astype(np.int64) @ np.array([256, 1])
        to = first * owners.parts >> 16
        made.add(to, leaves)
        counts += np.bincount(to, records, owners.parts).astype(np.int64)
    for part in range(owners.parts):
        yield Leaves(made.rows(part).reshape(-1, width // 32, 32)), int(counts[part])


class _Owners:
    """The variants' ids, and whose each of them is."""

    def __init__(self, run: Run) -> None:
        table = pq.read_table(
            run.stage("variants").parquet("variants.parquet", _LARGE),
            columns=["variant_id", "application_id"],
        )
        self.variants = KnownIds(table["variant_id"])
        applications = as_texts(table["application_id"])
        del table
        self._applications = self.variants.arranged(applications)
        self.parts = 1 + len(self.variants) // _PART
        self.part = dealt(self._applications, self.parts).astype(np.uint16)

    def of(self, part: int) -> tuple[NDArray[np.int64], pa.Array, NDArray[np.int64]]:
        """Return the places of a part's variants, its applications, and the place among these of each variant's."""
        places = np.flatnonzero(self.part == part)
        coded = self._applications.take(pa.array(places)).dictionary_encode()
        return places, coded.dictionary, coded.indices.to_numpy()


def _leaves_of(
    owners: _Owners, part: int, rows: NDArray[np.uint8], salts: LeafSalts | None
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the leaves of a part in any order, and how many records each is of."""
    width = 64 if salts is None else 128
    if not len(rows):
        return np.empty((0, width), np.uint8), np.empty(0, np.int64)
    places, names, owner = owners.of(part)
    own = owner[np.searchsorted(places, rows[:, :_PLACE].copy().view(np.int64).ravel())]
    order = np.argsort(own, kind="stable")
    owned = own[order]
    starts = np.flatnonzero(np.diff(owned, prepend=-1))
    ends = [*starts[1:].tolist(), len(owned)]
    in_order = rows[order, _PLACE:].tobytes().hex()
    leaves, records = bytearray(), list[int]()
    own_names = names.take(pa.array(owned[starts])).to_pylist()
    for name, start, end in zip(own_names, starts.tolist(), ends, strict=True):
        digest = sha256(in_order[start * 64 : end * 64].encode()).digest()
        own_salts = b"" if salts is None else salts.of(name, digest)
        if own_salts is None:
            continue
        leaves += sha256(name.encode()).digest() + digest + own_salts
        records.append(end - start)
    return np.frombuffer(bytes(leaves), np.uint8).reshape(-1, width), np.array(records, np.int64)


def records_of(run: Run, stages: Sequence[str], application_id: str) -> list[ScoreRecord]:
    """Return an application's score records, in the order of shards and rows."""
    table = pq.read_table(
        run.stage("variants").parquet("variants.parquet", _LARGE), columns=["variant_id", "application_id"]
    )
    own = table.filter(pc.equal(table["application_id"], application_id))["variant_id"].combine_chunks()
    found: list[ScoreRecord] = []
    for stage in _shards(stages):
        for batch in _batches(run, stage):
            mine = batch.filter(pc.is_in(batch["variant_id"], value_set=own))
            found += [{"shard": stage, **row} for row in mine.to_pylist()]
    return found


def _shards(stages: Sequence[str]) -> list[str]:
    return sorted(
        (stage for stage in stages if stage.startswith("scores/")), key=lambda name: int(name.split("/")[1])
    )


def _batches(run: Run, stage: str) -> Iterator[pa.RecordBatch]:
    """Yield the score records of a shard, a batch at a time."""
    source = run.stage(stage).parquet("scores.parquet", _LARGE)
    yield from batches_of(pq.ParquetFile(source), _BATCH)


def _as_bytes(places: NDArray[np.int64]) -> NDArray[np.uint8]:
    return places.view(np.uint8).reshape(-1, _PLACE)


def _record_digests(stage: str, batch: pa.RecordBatch) -> NDArray[np.uint8]:
    """Return the digests of score records, as `record_digest` has them."""
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    try:
        rows = jcs_columns({"shard": pa.scalar(stage), **columns})
        made = b"".join(sha256(row).digest() for row in rows)
    except ValueError as error:
        raise EvidenceError(f"a score record {error}") from None
    return np.frombuffer(made, np.uint8).reshape(-1, 32)
