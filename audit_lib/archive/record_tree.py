"""The tree over people's score records, whose root is in the manifest: one leaf for each applicant.

A leaf holds two digests: of the application's id, and of all of its score records together. The leaves lie in the order
of the first, so that a person's records are proved to be in, all of them, or proved not to be, without anybody else's
(`audit_lib.archive.record_proof`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from audit_lib.archive.merkle import MerkleTree
from audit_lib.canonical import jcs, sha256
from audit_lib.documents.evidence import RecordTree
from audit_lib.errors import EvidenceError
from audit_lib.records import parquet_source
from audit_lib.run import Run

ScoreRecord = Mapping[str, Any]


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
        return MerkleTree.over([leaf_data(*leaf) for leaf in self.leaves])

    def summary(self) -> RecordTree:
        """Return what the manifest says of it."""
        return RecordTree(applications=len(self.leaves), records=self.records, root=self.tree.root.hex())


def leaf_data(application_sha256: str, records_sha256: str) -> bytes:
    """Return what a leaf is the hash of."""
    return jcs({"application_sha256": application_sha256, "records_sha256": records_sha256})


def id_digest(application_id: str) -> str:
    """Return the digest of an application's id, by which the leaves are ordered."""
    return sha256(application_id.encode())


def records_digest(records: Sequence[ScoreRecord]) -> str:
    """Return the digest of an application's score records: of their digests, one after another, in hex.

    Raises
    ------
    EvidenceError
        If a record holds a number that JSON has no word for.
    """
    return sha256("".join(record_digest(record) for record in records).encode())


def record_digest(record: ScoreRecord) -> str:
    """Return the digest of one score record, written as RFC 8785 has it."""
    try:
        return sha256(jcs(record))
    except ValueError as error:
        raise EvidenceError(f"a score record {error}") from None


def people_tree(run: Run, stages: Sequence[str]) -> PeopleTree:
    """Return the tree over the scores in the shards of `stages`.

    Raises
    ------
    EvidenceError
        If a score is of no archived variant.
    """
    application = _applications(run)
    digests: dict[str, list[str]] = defaultdict(list)
    count = 0
    for stage in _shards(stages):
        for row in _rows(run, stage):
            digests[_of(application, row, stage)].append(record_digest(row))
            count += 1
    leaves = sorted((id_digest(name), sha256("".join(of_one).encode())) for name, of_one in digests.items())
    return PeopleTree(count, leaves)


def records_of(run: Run, stages: Sequence[str], application_id: str) -> list[ScoreRecord]:
    """Return an application's score records, in the order of shards and rows."""
    application = _applications(run)
    return [
        row
        for stage in _shards(stages)
        for row in _rows(run, stage)
        if _of(application, row, stage) == application_id
    ]


def _shards(stages: Sequence[str]) -> list[str]:
    return sorted(
        (stage for stage in stages if stage.startswith("scores/")), key=lambda name: int(name.split("/")[1])
    )


def _applications(run: Run) -> dict[str, str]:
    """Return variant -> application."""
    import pyarrow.parquet as pq

    content = run.stage("variants").read("variants.parquet")
    table = pq.read_table(parquet_source(content), columns=["variant_id", "application_id"])
    return dict(zip(*(table[name].to_pylist() for name in ("variant_id", "application_id")), strict=True))


def _rows(run: Run, stage: str) -> Any:
    """Yield the score records of a shard, each with the shard that it is from, a batch at a time."""
    import pyarrow.parquet as pq

    content = run.stage(stage).read("scores.parquet")
    for batch in pq.ParquetFile(parquet_source(content)).iter_batches(batch_size=8192):
        for row in batch.to_pylist():
            yield {"shard": stage, **row}


def _of(application: Mapping[str, str], row: ScoreRecord, stage: str) -> str:
    try:
        return application[row["variant_id"]]
    except KeyError:
        raise EvidenceError(f"{stage}/scores.parquet: a score is of no archived variant") from None
