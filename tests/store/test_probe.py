"""The probe of a store: what holds on a real one, and each way in which another could fail."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from audit_lib.documents.store_lock import LOCKING, StoreLock
from audit_lib.store import open_store
from audit_lib.store.probe import FOLDER, _Probe, probe
from audit_lib.store.s3 import S3Store
from tests.servers import S3Server


def held(found: StoreLock) -> dict[str, bool]:
    return {one.name: one.held for one in found.behaviours}


def test_a_folder_locks_nothing(tmp_path) -> None:
    assert probe(str(tmp_path)) == StoreLock(kind="folder", locked=False)
    assert list(tmp_path.iterdir()) == []


def test_a_bucket_without_lock_is_seen(s3: str) -> None:
    found = probe(f"{s3}/deep")
    assert not found.locked and not found.failed
    assert held(found) == {"conditional_create": True, "checksum_checked": True}
    assert open_store(s3).list("") == []


def test_a_bucket_with_lock_holds_all(locked_s3: str, s3_server: S3Server) -> None:
    found = probe(f"{locked_s3}/deep")
    assert found.locked and all(held(found).values())
    assert set(held(found)) == {
        *LOCKING, "conditional_create", "checksum_checked", "legal_hold", "deletion_after",
    }  # fmt: skip
    assert found.server is not None and "SeaweedFS" in found.server
    assert found.default_retention is None
    assert open_store(locked_s3).list("") == []


def test_the_bucket_s_own_rule_is_written_down(locked_s3: str, s3_server: S3Server) -> None:
    rule = {"DefaultRetention": {"Mode": "COMPLIANCE", "Days": 1}}
    s3_server.client().put_object_lock_configuration(
        Bucket=locked_s3.removeprefix("s3://"),
        ObjectLockConfiguration={"ObjectLockEnabled": "Enabled", "Rule": rule},
    )
    assert probe(locked_s3).default_retention == "COMPLIANCE, 1 days"


@pytest.mark.slow  # waits until the locks of the first probe are over
def test_the_next_probe_takes_away_what_was_left(
    locked_s3: str, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    from datetime import timedelta

    monkeypatch.setattr("audit_lib.store.probe._LOCKED_S", 25)
    monkeypatch.setattr("audit_lib.store.probe._LEFT_BEHIND", timedelta(seconds=20))
    bucket = locked_s3.removeprefix("s3://")
    assert probe(locked_s3).locked
    first = s3_server.client().list_object_versions(Bucket=bucket)["Versions"]
    time.sleep(32)
    assert probe(locked_s3).locked
    left = s3_server.client().list_object_versions(Bucket=bucket)["Versions"]
    assert first and not {one["Key"] for one in first} & {one["Key"] for one in left}
    assert all(one["Key"].startswith(f"{FOLDER}/") for one in left)


class Lenient:
    """A client of boto3 that does not ask the store for some things, and says that they were done."""

    def __init__(self, real: Any, said: dict[str, Callable[..., Any]]) -> None:
        self._real, self._said = real, said

    def __getattr__(self, name: str) -> Any:
        return self._said.get(name) or getattr(self._real, name)


def shortens(real: Any) -> dict[str, Callable[..., Any]]:
    return {"put_object_retention": lambda **_: {}}


def forgets_the_lock(real: Any) -> dict[str, Callable[..., Any]]:
    def put(**said: Any) -> Any:
        said.pop("ObjectLockMode", None), said.pop("ObjectLockRetainUntilDate", None)
        return real.put_object(**said)

    return {"put_object": put}


def forgets_it_of_parts(real: Any) -> dict[str, Callable[..., Any]]:
    def create(**said: Any) -> Any:
        said.pop("ObjectLockMode", None), said.pop("ObjectLockRetainUntilDate", None)
        return real.create_multipart_upload(**said)

    return {"create_multipart_upload": create}


def says_it_deleted(real: Any) -> dict[str, Callable[..., Any]]:
    return {"delete_object": lambda **_: {}}


def ignores_conditions(real: Any) -> dict[str, Callable[..., Any]]:
    def put(**said: Any) -> Any:
        said.pop("IfNoneMatch", None)
        return real.put_object(**said)

    return {"put_object": put}


@pytest.mark.parametrize(
    ("way", "failed", "locked"),
    [
        (shortens, {"extension", "shortening_refused", "weakening_refused", "removal_refused"}, False),
        (forgets_the_lock, {"lock_kept"}, False),
        (forgets_it_of_parts, {"parts_locked"}, False),
        (says_it_deleted, {"deletion_refused"}, False),
        (ignores_conditions, {"conditional_create"}, True),
    ],
)
def test_a_store_that_does_not_do_it_is_found_out(
    way: Callable[[Any], dict[str, Callable[..., Any]]], failed: set[str], locked: bool, locked_s3: str
) -> None:
    """moto accepts shortening; some stores forget the lock of parts; some ignore conditions on locked buckets."""
    store = S3Store(locked_s3)
    real = store._client()
    store._connection = Lenient(real, way(real))
    found = _Probe(store).found()
    assert found.locked is locked
    assert failed <= {name for name, did in held(found).items() if not did}
    if locked:
        assert not found.failed
