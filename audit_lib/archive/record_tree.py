"""The tree over people's score records, whose root is in the manifest: one leaf for each applicant.

A leaf holds two digests: of the application's id, and of all of its score records together. The leaves lie in the order
of the first, so that a person's records are proved to be in, all of them, or proved not to be, without anybody else's
(`audit_lib.archive.record_proof`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from audit_lib.archive.merkle import MerkleTree
from audit_lib.canonical import jcs, jcs_rows, sha256
from audit_lib.documents.evidence import RecordTree
from audit_lib.errors import EvidenceError
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
        people, records = zip(*self.leaves, strict=True) if self.leaves else ((), ())
        return MerkleTree.over(list(jcs_rows({"application_sha256": people, "records_sha256": records})))

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
        for columns in _batches(run, stage):
            names = [_of(application, variant, stage) for variant in columns["variant_id"]]
            for name, record in zip(names, _written(columns), strict=True):
                digests[name].append(sha256(record))
            count += len(names)
    leaves = sorted((id_digest(name), sha256("".join(of_one).encode())) for name, of_one in digests.items())
    return PeopleTree(count, leaves)


def records_of(run: Run, stages: Sequence[str], application_id: str) -> list[ScoreRecord]:
    """Return an application's score records, in the order of shards and rows."""
    application = _applications(run)
    return [
        row
        for stage in _shards(stages)
        for columns in _batches(run, stage)
        for row in (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
        if _of(application, row["variant_id"], stage) == application_id
    ]


def _shards(stages: Sequence[str]) -> list[str]:
    return sorted(
        (stage for stage in stages if stage.startswith("scores/")), key=lambda name: int(name.split("/")[1])
    )


def _applications(run: Run) -> dict[str, str]:
    """Return variant -> application."""
    import pyarrow.parquet as pq

    source = run.stage("variants").parquet("variants.parquet")
    table = pq.read_table(source, columns=["variant_id", "application_id"])
    return dict(zip(*(table[name].to_pylist() for name in ("variant_id", "application_id")), strict=True))


def _batches(run: Run, stage: str) -> Iterator[dict[str, list[Any]]]:
    """Yield the score records of a shard as columns, each with the shard that it is from, a batch at a time."""
    import pyarrow.parquet as pq

    source = run.stage(stage).parquet("scores.parquet")
    for batch in pq.ParquetFile(source).iter_batches(batch_size=8192):
        yield {"shard": [stage] * batch.num_rows, **batch.to_pydict()}


def _written(columns: Mapping[str, Sequence[Any]]) -> list[bytes]:
    try:
        return list(jcs_rows(columns))
    except ValueError as error:
        raise EvidenceError(f"a score record {error}") from None


def _of(application: Mapping[str, str], variant: str, stage: str) -> str:
    try:
        return application[variant]
    except KeyError:
        raise EvidenceError(f"{stage}/scores.parquet: a score is of no archived variant") from None
