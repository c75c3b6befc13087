"""Whether the store locks is looked at before the model is asked, written down, sealed and printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit_lib.archive.store_record import why_not_kept
from audit_lib.archive.verify import verify
from audit_lib.documents.store_lock import STORE_LOCK, Behaviour, StoreLock
from audit_lib.errors import StoreError
from audit_lib.pipeline import run_stage
from audit_lib.run import Run
from audit_lib.store import open_store
from tests.archive.cases import do, new_run, reseal
from tests.servers import S3Server
from tests.specs import load

LOCKED = StoreLock(kind="s3", locked=True)
PLAIN = StoreLock(kind="s3", locked=False)
WEAK = StoreLock(
    kind="s3",
    locked=False,
    behaviours=(Behaviour(name="shortening_refused", held=False, said="accepted"),),
)
RULED = StoreLock(kind="s3", locked=True, default_retention="COMPLIANCE, 30 days")
GOVERNED = StoreLock(kind="s3", locked=True, default_retention="GOVERNANCE, 30 days")
FOLDER = StoreLock(kind="folder", locked=False)


@pytest.mark.parametrize(
    ("found", "retention", "policy", "why"),
    [
        (FOLDER, {}, "generic", ""),
        (FOLDER, {"lock": "none"}, "generic", ""),
        (FOLDER, {"lock": "required", "days": 3}, "generic", "a folder locks nothing"),
        (PLAIN, {}, "nyc_ll144", "no Object Lock"),
        (PLAIN, {"lock": "required"}, "nyc_ll144", "no Object Lock"),
        (PLAIN, {"lock": "none"}, "nyc_ll144", ""),
        (WEAK, {}, "nyc_ll144", r"shortening_refused \(accepted\)"),
        (LOCKED, {}, "nyc_ll144", ""),
        (LOCKED, {}, "generic", "policy generic sets no period of retention; write retention.days"),
        (LOCKED, {"days": 1}, "generic", ""),
        (RULED, {}, "generic", ""),
        (GOVERNED, {}, "generic", "write retention.days"),
    ],
)
def test_what_a_spec_asks_of_a_store(
    found: StoreLock, retention: dict, policy: str, why: str, tmp_path: Path
) -> None:
    import re

    spec = load(tmp_path, retention=retention, report={"policy": policy})
    said = why_not_kept(spec, "somewhere", found)
    assert bool(said) is bool(why) and re.search(why, said)


def page(run: Run) -> str:
    return run.stage("report").read("report.html").decode()


def test_of_a_folder_the_page_says_that_it_locks_nothing(sealed_run: Run) -> None:
    assert json.loads(sealed_run.store.get(f"{sealed_run.prefix}/{STORE_LOCK}")) == {
        "asked": "buckets", "behaviours": [], "kind": "folder", "locked": False, "schema": "audit-store/1",
    }  # fmt: skip
    assert "a folder, which locks nothing" in page(sealed_run)
    manifest = sealed_run.stage("evidence").read_json("manifest.json")
    assert manifest["store"]["path"] == STORE_LOCK


@pytest.mark.parametrize("resealed", [False, True], ids=["as it is", "resealed"])
def test_a_folder_that_is_said_to_lock_is_found(sealed_run: Run, resealed: bool) -> None:
    folder = Path(sealed_run.uri)
    path = folder / STORE_LOCK
    path.write_bytes(path.read_bytes().replace(b'"folder"', b'"s3"').replace(b"false", b"true"))
    if resealed:
        reseal(folder)
    kinds = {finding.path for finding in verify(str(folder)).findings}
    assert STORE_LOCK in kinds


def test_a_record_that_was_taken_away_is_found(sealed_run: Run) -> None:
    (Path(sealed_run.uri) / STORE_LOCK).unlink()
    findings = verify(sealed_run.uri).findings
    assert ("missing", STORE_LOCK) in {(one.kind, one.path) for one in findings}


def test_a_folder_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    run = new_run(tmp_path, str(tmp_path / "store"), retention={"lock": "required", "days": 1})
    with pytest.raises(StoreError, match="a folder locks nothing"):
        run_stage(run, "plan")
    assert open_store(str(tmp_path / "store")).list("") == []


@pytest.mark.slow  # makes a run in a bucket
def test_a_bucket_without_lock_is_refused_unless_the_spec_allows_it(tmp_path: Path, s3: str) -> None:
    with pytest.raises(StoreError, match="no Object Lock"):
        do(new_run(tmp_path, s3, retention={"days": 1}))
    run = do(new_run(tmp_path, s3, retention={"lock": "none"}))
    assert "a bucket that locks nothing, as the spec lets it" in page(run)
    assert verify(run.uri).ok


@pytest.mark.slow  # makes a run in a bucket
def test_all_of_a_run_is_locked(tmp_path: Path, locked_s3: str, s3_server: S3Server) -> None:
    run = do(new_run(tmp_path, f"{locked_s3}/runs", retention={"lock": "required", "days": 400}))
    bucket, s3 = locked_s3.removeprefix("s3://"), s3_server.client()
    keys = [one["Key"] for one in s3.list_objects_v2(Bucket=bucket, Prefix="runs/")["Contents"]]
    assert len(keys) > 20
    assert {s3.get_object_retention(Bucket=bucket, Key=key)["Retention"]["Mode"] for key in keys} == {
        "COMPLIANCE"
    }
    assert "Each is locked for 400 days at least" in page(run)
    record = json.loads(run.store.get(f"{run.prefix}/{STORE_LOCK}"))
    assert record["locked"] and all(one["held"] for one in record["behaviours"])
    assert verify(run.uri).ok
