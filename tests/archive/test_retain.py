"""Locks that are extended and never shortened, and legal holds, on a real store."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from audit_lib.archive.retain import extend_all, extend_run
from audit_lib.archive.verify import verify
from audit_lib.cli.main import main
from audit_lib.errors import StoreError
from audit_lib.policies import load_policy
from audit_lib.policies.retention import kept_until
from audit_lib.run import Run
from audit_lib.store import open_store
from tests.archive.cases import new_run
from tests.servers import S3Server
from tests.specs import load

DAY = timedelta(days=1)


@pytest.fixture
def bucket(locked_s3: str) -> str:
    return locked_s3.removeprefix("s3://")


@pytest.fixture
def run(sealed_folder: Path, locked_s3: str) -> Run:
    """The sealed run as it lies in a bucket: its files are locked for two days, and the policy asks for a year."""
    folder = open_store(str(sealed_folder / "store"))
    store = open_store(locked_s3).locking(lambda at: at + 2 * DAY)
    for key in folder.list(""):
        store.put(key, folder.get(key))
    return new_run(sealed_folder, locked_s3)


def locks(server: S3Server, bucket: str, run: Run) -> dict[str, datetime]:
    s3 = server.client()
    return {
        key: s3.get_object_retention(Bucket=bucket, Key=key)["Retention"]["RetainUntilDate"]
        for key in run.store.list(run.prefix)
    }


@pytest.mark.parametrize(
    ("policy", "days", "end"),
    [
        ("nyc_ll144", None, datetime(2027, 11, 24, tzinfo=UTC)),
        ("nyc_ll144", 30, datetime(2027, 11, 24, tzinfo=UTC)),
        ("nyc_ll144", 400, datetime(2027, 12, 29, tzinfo=UTC)),
        ("us_ugesp", None, datetime(2028, 11, 24, tzinfo=UTC)),
        ("california_crd", None, datetime(2030, 11, 24, tzinfo=UTC)),
        ("eu_ai_act_annex_iii", None, datetime(2036, 11, 24, tzinfo=UTC)),
        ("generic", None, None),
        ("generic", 1, datetime(2026, 11, 25, tzinfo=UTC)),
    ],
)
def test_the_longest_period_wins(policy: str, days: int | None, end: datetime | None, tmp_path: Path) -> None:
    spec = load(tmp_path, retention={"days": days})
    at = datetime(2026, 11, 23, 15, tzinfo=UTC)
    assert kept_until(load_policy(policy), spec, at) == end


def test_locks_are_extended_to_what_the_policy_asks_now(run: Run, bucket: str, s3_server: S3Server) -> None:
    before = locks(s3_server, bucket, run)
    found = extend_all(run.store.root)
    assert (found.runs, found.files, found.extended, found.unlocked) == (1, len(before), len(before), 0)
    after = locks(s3_server, bucket, run)
    assert all(after[key] - before[key] > 300 * DAY for key in before)
    assert extend_run(run.uri).extended == 0
    assert verify(run.uri).ok


def test_an_earlier_day_shortens_nothing(
    run: Run, bucket: str, s3_server: S3Server, capsys: pytest.CaptureFixture[str]
) -> None:
    extend_run(run.uri)
    before = locks(s3_server, bucket, run)
    assert main(["store", "extend", run.uri, "--until", f"{datetime.now(UTC) + 5 * DAY:%Y-%m-%d}"]) == 0
    assert locks(s3_server, bucket, run) == before
    past = f"{datetime.now(UTC) - DAY:%Y-%m-%d}"
    assert main(["store", "extend", run.uri, "--until", past]) == 2
    assert f"--until {past}: is past" in capsys.readouterr().err
    assert locks(s3_server, bucket, run) == before
    later = datetime.now(UTC) + 800 * DAY
    assert main(["store", "extend", run.uri, "--until", f"{later:%Y-%m-%d}"]) == 0
    assert all(end > later - DAY for end in locks(s3_server, bucket, run).values())


def test_what_was_not_locked_is_and_what_came_over_it_is_not(
    sealed_folder: Path, locked_s3: str, bucket: str, s3_server: S3Server
) -> None:
    folder, plain = open_store(str(sealed_folder / "store")), open_store(locked_s3)
    for key in folder.list(""):
        plain.put(key, folder.get(key))
    run, s3 = new_run(sealed_folder, locked_s3), s3_server.client()
    key = f"{run.prefix}/plan/plan.json"
    first = s3.head_object(Bucket=bucket, Key=key)["VersionId"]
    forged = s3.put_object(Bucket=bucket, Key=key, Body=b"{}")["VersionId"]
    found = extend_run(run.uri)
    assert found.unlocked == found.extended == found.files
    with pytest.raises(ClientError, match="AccessDenied"):
        s3.delete_object(Bucket=bucket, Key=key, VersionId=first)
    s3.delete_object(Bucket=bucket, Key=key, VersionId=forged)
    assert verify(run.uri).ok


def test_one_run_that_cannot_be_read_hides_no_other(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    odd = f"{run.key.audit}/{run.key.window.label}/0000000000000000/plan/_SUCCESS"
    open_store(run.store.root).put(odd, b"nothing")
    found = extend_all(run.store.root)
    assert found.runs == 1 and found.extended > 0
    assert len(found.faults) == 1 and "0000000000000000" in found.faults[0]
    assert main(["store", "extend", "--store", run.store.root]) == 1


def test_a_spec_that_asks_for_no_lock_gets_none(sealed_folder: Path, tmp_path: Path, locked_s3: str) -> None:
    from tests.archive.cases import do

    run = do(new_run(tmp_path, locked_s3, retention={"lock": "none"}), until="plan")
    assert extend_run(run.uri) == replace(extend_run(run.uri), extended=0)


def test_a_hold_outlives_the_lock_and_is_written_down(
    run: Run, bucket: str, s3_server: S3Server, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--by", "Jo Doe", "--reason", "charge 520-2026-1"]
    assert main(["store", "hold", run.uri, *asked]) == 0
    files = run.store.list(run.prefix)
    assert f"{len(files)} files are held" in capsys.readouterr().out
    s3 = s3_server.client()
    for key in files:
        assert s3.get_object_legal_hold(Bucket=bucket, Key=key)["LegalHold"]["Status"] == "ON"
    assert any(f"a legal hold is on {len(files)}" in note for note in verify(run.uri).notes)
    assert main(["store", "release", run.uri, *asked]) == 0
    assert s3.get_object_legal_hold(Bucket=bucket, Key=files[0])["LegalHold"]["Status"] == "OFF"
    records = [json.loads(run.store.get(key)) for key in run.store.list(f"{run.key.audit}/holds")]
    assert [(one["on"], one["by"], one["reason"], one["run"]) for one in records] == [
        (True, "Jo Doe", "charge 520-2026-1", run.prefix),
        (False, "Jo Doe", "charge 520-2026-1", run.prefix),
    ]


def test_a_folder_can_be_neither_extended_nor_held(sealed_run: Run) -> None:
    with pytest.raises(StoreError, match="a folder locks nothing"):
        extend_all(sealed_run.store.root)
    assert main(["store", "hold", sealed_run.uri, "--by", "Jo Doe", "--reason", "a charge"]) == 2


def test_a_bucket_without_lock_cannot_be_extended(s3: str) -> None:
    with pytest.raises(StoreError, match="the bucket has no Object Lock"):
        extend_all(s3)


def test_the_probe_is_a_command(
    s3: str, locked_s3: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["store", "probe", "--store", locked_s3]) == 0
    assert "locks what is put into it" in capsys.readouterr().out
    assert main(["store", "probe", "--store", s3]) == 1
    assert "the bucket has no Object Lock" in capsys.readouterr().out
    assert main(["store", "probe", "--store", str(tmp_path), "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["kind"] == "folder"
    assert main(["store"]) == 2
