"""Locks of a store that was stopped, killed and filled again: SeaweedFS, with the attacker's hands on its keys."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from audit_lib.archive.lock_check import not_locked
from audit_lib.archive.verify import verify
from audit_lib.run import Run
from audit_lib.store import open_store
from tests.servers import S3Server, SeaweedFS


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SeaweedFS]:
    """A store of this test's own."""
    folder = tmp_path / "seaweedfs"
    folder.mkdir()
    made = SeaweedFS(folder)
    for name, value in made.server.environment.items():
        monkeypatch.setenv(name, value)
    made.start()
    yield made
    made.kill()


def in_a_week(at: datetime) -> datetime:
    return at + timedelta(days=7)


def put_run(root: str, sealed: Run) -> str:
    """Put a sealed run and its journal into a bucket, locked; return where it is."""
    store = open_store(root).locking(in_a_week)
    for key in sealed.store.list(""):
        store.put(key, sealed.store.get(key))
    return store.uri(sealed.prefix)


def attacked(server: S3Server, bucket: str, key: str) -> None:
    """What must be refused is; then another version is put over it, and a delete marker over that."""
    s3 = server.client()
    first = s3.list_object_versions(Bucket=bucket, Prefix=key)["Versions"][-1]["VersionId"]
    for refused in (
        lambda: s3.delete_object(Bucket=bucket, Key=key, VersionId=first, BypassGovernanceRetention=True),
        lambda: s3.put_object_retention(Bucket=bucket, Key=key, VersionId=first, Retention={}),
        lambda: s3.delete_bucket(Bucket=bucket),
    ):
        with pytest.raises(ClientError):
            refused()
    s3.put_object(Bucket=bucket, Key=key, Body=b"forged")
    s3.delete_object(Bucket=bucket, Key=key)


@pytest.mark.slow  # a store that was killed takes some 20 s to elect a leader again
def test_locks_outlive_a_stop_a_kill_and_a_refill(machine: SeaweedFS, sealed_run: Run) -> None:
    server = machine.ready()
    bucket = server.new_bucket(locked=True)
    uri = put_run(f"s3://{bucket}", sealed_run)
    assert verify(uri).ok and not not_locked(uri)
    for attacks, end in enumerate((machine.stop, machine.kill), start=1):
        end()
        machine.start()
        machine.ready()
        attacked(server, bucket, f"{sealed_run.prefix}/scores/{attacks - 1}/scores.parquet")
        found = verify(uri)
        assert len(found.findings) == 2 * attacks
        assert {finding.kind for finding in found.findings} == {"overwritten", "deleted"}
        assert not not_locked(uri)
    other = put_run(f"s3://{bucket}/filled/again", sealed_run)
    assert verify(other).ok and not not_locked(other)
    assert len(verify(uri).findings) == 4
