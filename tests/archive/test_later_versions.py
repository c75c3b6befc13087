"""Attacks on a run in a bucket with Object Lock: each is named, and what was written first is verified.

The store is a real one, SeaweedFS, and the attacker has its keys: whatever it lets them do is done.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from audit_lib.archive.findings import Verification
from audit_lib.archive.lock_check import not_locked
from audit_lib.archive.verify import verify
from audit_lib.cli.main import main
from audit_lib.errors import ConflictError, EvidenceError
from audit_lib.journal import enter, read_journal
from audit_lib.pipeline import open_run
from audit_lib.run import Run
from audit_lib.signoff import verify_signed
from audit_lib.store import open_store
from audit_lib.store.versions import FirstVersions, as_first_written
from tests.archive.cases import do, new_run
from tests.servers import S3Server
from tests.specs import write


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], Path]:
    """The files of a run and its journal, made once in a bucket's stead: in a folder."""
    folder = tmp_path_factory.mktemp("whole")
    do(new_run(folder, str(folder / "store"), retention={"days": 30}))
    store = open_store(str(folder / "store"))
    return {key: store.get(key) for key in store.list("")}, folder


@pytest.fixture
def bucket(locked_s3: str) -> str:
    return locked_s3.removeprefix("s3://")


@pytest.fixture
def run(whole: tuple[dict[str, bytes], Path], locked_s3: str) -> Run:
    """The run, locked in a bucket."""
    files, folder = whole
    run = new_run(folder, locked_s3, retention={"days": 30})
    for key, content in files.items():
        assert run.store.put(key, content)
    return run


def said(verification: Verification) -> list[tuple[str, str]]:
    return [(finding.kind, finding.path) for finding in verification.findings]


def test_a_run_that_nobody_touched_verifies_and_is_locked(run: Run) -> None:
    verification = verify(run.uri)
    assert verification.ok and not not_locked(run.uri)
    assert any(
        f"locks: {verification.files} of {verification.files} files" in note for note in verification.notes
    )


def test_an_overwritten_file_is_named_and_the_first_version_verifies(
    run: Run, bucket: str, s3_server: S3Server, capsys: pytest.CaptureFixture[str]
) -> None:
    key = f"{run.prefix}/metrics/metrics.json"
    s3 = s3_server.client()
    first = s3.head_object(Bucket=bucket, Key=key)["VersionId"]
    forged = s3.put_object(Bucket=bucket, Key=key, Body=b'{"ratio": 1}')["VersionId"]
    verification = verify_signed(run.uri)
    assert said(verification) == [("overwritten", "metrics/metrics.json")]
    detail = verification.findings[0].detail
    assert forged in detail and first in detail and " UTC" in detail
    assert verification.recomputed[-1] == "report"
    assert (
        verification.summary()
        .splitlines()[0]
        .startswith("NOT VERIFIED: 1 finding; what was written first verifies")
    )
    assert main(["verify", run.uri]) == 1
    assert f"was overwritten by version {forged}" in capsys.readouterr().out


def test_a_deleted_file_is_named_and_the_first_version_verifies(
    run: Run, bucket: str, s3_server: S3Server
) -> None:
    key = f"{run.prefix}/evidence/manifest.json"
    marker = s3_server.client().delete_object(Bucket=bucket, Key=key)["VersionId"]
    assert not run.store.exists(key)
    verification = verify(run.uri)
    assert said(verification) == [("deleted", "evidence/manifest.json")]
    assert marker in verification.findings[0].detail


@pytest.mark.slow  # makes two runs
def test_the_consistent_rewrite_is_named_file_by_file(
    run: Run, bucket: str, s3_server: S3Server, whole: tuple[dict[str, bytes], Path], tmp_path: Path
) -> None:
    """Everything is made again from other answers, as the tool makes it, and put over what was there."""
    from tests.archive.cases import applicants

    other = do(new_run(tmp_path, str(tmp_path / "store"), rows=applicants(shift=0.4), retention={"days": 30}))
    assert other.key == run.key and verify(other.uri).ok
    changed = set()
    for key in (forged := open_store(str(tmp_path / "store"))).list(""):
        content = forged.get(key)
        if content != whole[0].get(key):
            s3_server.client().put_object(Bucket=bucket, Key=key, Body=content)
            changed.add(key)
    assert len(changed) > 10
    verification = verify_signed(run.uri)
    assert {finding.kind for finding in verification.findings} == {"overwritten"}
    own = {key.removeprefix(f"{run.prefix}/") for key in changed}
    assert {finding.path for finding in verification.findings} == own
    assert "what was written first verifies" in verification.summary()


def test_a_run_that_was_deleted_whole_is_verified(run: Run, bucket: str, s3_server: S3Server) -> None:
    for key in run.store.list(""):
        s3_server.client().delete_object(Bucket=bucket, Key=key)
    assert open_store(run.store.root).list("") == []
    verification = verify_signed(run.uri)
    assert {finding.kind for finding in verification.findings} == {"deleted"}
    assert "scores" in verification.recomputed


def test_the_tool_makes_no_second_run_of_a_deleted_one(run: Run, bucket: str, s3_server: S3Server) -> None:
    for key in run.store.list(f"{run.prefix}/plan"):
        s3_server.client().delete_object(Bucket=bucket, Key=key)
    with pytest.raises(ConflictError, match=r"plan/[a-z.]+: was written on .* and deleted since"):
        do(run)


def test_a_rolled_back_journal_is_read_as_it_was(run: Run, bucket: str, s3_server: S3Server) -> None:
    folder = f"{run.key.audit}/journal"
    last = run.store.list(folder)[-1]
    s3_server.client().delete_object(Bucket=bucket, Key=last)
    first, _ = as_first_written(run.store.root)
    assert [one.event for one in read_journal(first, run.key.audit)] == [
        "planned",
        "asked",
        "completed",
    ]
    assert len(read_journal(run.store, run.key.audit)) == 2
    assert said(verify_signed(run.uri)) == [("deleted", last)]
    assert main(["journal", run.key.audit, "--store", run.store.root]) == 1
    with pytest.raises(ConflictError, match="deleted since"):
        enter(run.store, run.key, 9, "failed")


def test_the_store_refuses_what_would_hide_the_attack(run: Run, bucket: str, s3_server: S3Server) -> None:
    s3, key = s3_server.client(), f"{run.prefix}/scores/0/scores.parquet"
    first = s3.head_object(Bucket=bucket, Key=key)["VersionId"]
    s3.put_object(Bucket=bucket, Key=key, Body=b"forged")
    for removed in (
        lambda: s3.delete_object(Bucket=bucket, Key=key, VersionId=first, BypassGovernanceRetention=True),
        lambda: s3.put_object_retention(Bucket=bucket, Key=key, VersionId=first, Retention={}),
        lambda: s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Suspended"}),
        lambda: s3.delete_bucket(Bucket=bucket),
    ):
        with pytest.raises(ClientError):
            removed()
    assert said(verify(run.uri)) == [("overwritten", "scores/0/scores.parquet")]


def test_a_file_that_was_added_is_found(run: Run, bucket: str, s3_server: S3Server) -> None:
    s3_server.client().put_object(Bucket=bucket, Key=f"{run.prefix}/scores/9/scores.parquet", Body=b"x")
    kinds = {finding.kind for finding in verify(run.uri).findings}
    assert kinds >= {"extra", "lock"}


def test_a_file_without_lock_next_to_locked_ones_is_found(
    run: Run, bucket: str, s3_server: S3Server, whole: tuple[dict[str, bytes], Path]
) -> None:
    plain = open_store(f"{run.store.root}/copy")
    for key, content in whole[0].items():
        (run.store if key.endswith("plan.json") else plain).put(
            f"copy/{key}" if key.endswith("plan.json") else key, content
        )
    verification = verify(f"{run.store.root}/copy/{run.prefix}")
    assert {finding.kind for finding in verification.findings} == {"lock"}


def test_a_copy_without_lock_verifies_unless_it_must_be_locked(
    whole: tuple[dict[str, bytes], Path], s3: str
) -> None:
    files, folder = whole
    store = open_store(s3)
    for key, content in files.items():
        store.put(key, content)
    uri = f"{s3}/{new_run(folder, s3, retention={'days': 30}).prefix}"
    verification = verify(uri)
    assert verification.ok
    assert any("none of" in note and "is locked" in note for note in verification.notes)
    assert len(not_locked(uri)) == verification.files
    assert main(["verify", uri]) == 0
    assert main(["verify", uri, "--locked"]) == 1


def test_a_folder_is_not_locked(sealed_run: Run) -> None:
    assert verify(sealed_run.uri).ok
    assert {finding.detail for finding in not_locked(sealed_run.uri)} == {
        "is in a folder, which locks nothing"
    }


def test_versions_that_may_not_be_listed_are_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = FirstVersions.ask

    def denied(self: FirstVersions, call: Any, key: str) -> Any:
        from audit_lib.errors import StoreError

        raise StoreError("access denied (AccessDenied)")

    monkeypatch.setattr(FirstVersions, "ask", denied)
    verification = verify(run.uri)
    assert verification.ok
    assert any("what was overwritten is not known here: access denied" in note for note in verification.notes)
    monkeypatch.setattr(FirstVersions, "ask", ask)
    assert verify(run.uri).notes != verification.notes


@pytest.mark.parametrize("path", ["plan/_SUCCESS", "sample/prompts.parquet", "evidence/manifest.json"])
def test_a_run_under_a_delete_marker_does_not_go_on_and_the_attack_is_named(
    path: str, run: Run, whole: tuple[dict[str, bytes], Path], bucket: str, s3_server: S3Server
) -> None:
    key, s3 = f"{run.prefix}/{path}", s3_server.client()
    first = s3.head_object(Bucket=bucket, Key=key)["VersionId"]
    marker = s3.delete_object(Bucket=bucket, Key=key)["VersionId"]
    spec = write(
        whole[1], groups={"provenance": "self_reported"}, score={"shards": 3}, retention={"days": 30}
    )
    with pytest.raises(EvidenceError, match="was changed in its bucket") as refused:
        open_run(spec, run.key.window, f"s3://{bucket}")
    said = str(refused.value)
    assert f"{key}: was deleted by delete marker {marker}" in said and f"version {first}" in said
