"""Writes into a bucket with Object Lock, held by a real store: SeaweedFS refuses what a lock refuses."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import ClientError

from audit_lib.errors import ConflictError, StoreError
from audit_lib.store import LocalStore, open_store
from audit_lib.store.s3 import S3Store
from tests.servers import S3Server

PART = 5 << 20  # the least that S3 takes


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts as short as a store lets them be, so that tests send little."""
    for module in ("s3", "s3_parts"):
        monkeypatch.setattr(f"audit_lib.store.{module}.PART", PART)


def in_a_day(at: datetime) -> datetime:
    return at + timedelta(days=1)


def store_at(root: str) -> S3Store:
    store = open_store(root).locking(in_a_day)
    assert isinstance(store, S3Store)
    return store


def retention(server: S3Server, bucket: str, key: str) -> dict:
    return server.client().get_object_retention(Bucket=bucket, Key=key)["Retention"]


def refused(server: S3Server, bucket: str, key: str) -> None:
    """The version that is there can be neither deleted nor kept for less."""
    version = server.client().head_object(Bucket=bucket, Key=key)["VersionId"]
    with pytest.raises(ClientError, match="AccessDenied"):
        server.client().delete_object(
            Bucket=bucket, Key=key, VersionId=version, BypassGovernanceRetention=True
        )
    with pytest.raises(ClientError, match="AccessDenied"):
        server.client().put_object_retention(
            Bucket=bucket,
            Key=key,
            VersionId=version,
            BypassGovernanceRetention=True,
            Retention={
                "Mode": "COMPLIANCE",
                "RetainUntilDate": datetime.now(UTC) + timedelta(minutes=5),
            },
        )


def test_what_is_put_is_locked_until_the_day_that_is_asked(locked_s3: str, s3_server: S3Server) -> None:
    store, before = store_at(f"{locked_s3}/deep"), datetime.now(UTC)
    assert store.put("a/k", b"1")
    found = retention(s3_server, store.bucket, "deep/a/k")
    assert found["Mode"] == "COMPLIANCE"
    assert (
        timedelta(hours=23, minutes=59) < found["RetainUntilDate"] - before < timedelta(hours=24, minutes=1)
    )
    refused(s3_server, store.bucket, "deep/a/k")
    assert store.put("a/k", b"2") is False
    assert store.get("a/k") == b"1"


def test_a_bucket_without_lock_is_written_without(s3: str, s3_server: S3Server) -> None:
    store = store_at(s3)
    assert not store.has_lock()
    assert store.put("k", b"1")
    assert "ObjectLockMode" not in s3_server.client().head_object(Bucket=store.bucket, Key="k")


def test_without_a_date_nothing_is_locked(locked_s3: str, s3_server: S3Server) -> None:
    store = S3Store(locked_s3)
    store.put("k", b"1")
    assert "ObjectLockMode" not in s3_server.client().head_object(Bucket=store.bucket, Key="k")


def test_nothing_is_put_over_what_a_delete_marker_hides(locked_s3: str, s3_server: S3Server) -> None:
    """The condition alone would let it through: where a delete marker is, nothing is."""
    store = store_at(locked_s3)
    store.put("k", b"first")
    s3_server.client().delete_object(Bucket=store.bucket, Key="k")
    assert not store.exists("k")
    with pytest.raises(ConflictError, match=r"/k: was written on .* and deleted since; version \w+ is kept"):
        store.put("k", b"another")
    assert store.put("k2", b"its name begins alike")
    versions = s3_server.client().list_object_versions(Bucket=store.bucket, Prefix="k")["Versions"]
    assert [one["Key"] for one in versions] == ["k", "k2"]


@pytest.mark.parametrize("size", [0, 1, PART, PART + 1], ids=["empty", "byte", "part", "parts"])
def test_a_stream_is_kept_as_it_is(size: int, locked_s3: str, s3_server: S3Server) -> None:
    store, content = store_at(locked_s3), bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    assert store.put_stream("k", io.BytesIO(content))
    assert store.size("k") == size
    assert store.get("k") == content
    assert retention(s3_server, store.bucket, "k")["Mode"] == "COMPLIANCE"
    if size > PART:
        refused(s3_server, store.bucket, "k")
        assert s3_server.client().head_object(Bucket=store.bucket, Key="k")["ETag"].endswith('-2"')


def test_of_two_writers_of_parts_one_wins(locked_s3: str, s3_server: S3Server) -> None:
    """The one who looked before the other was done is refused when the parts are put together, and leaves none."""
    store = store_at(locked_s3)
    store.put("k", b"first")
    store.exists = lambda key: False  # type: ignore[method-assign]
    store._lock = lambda key: {}  # type: ignore[method-assign]
    assert store.put_stream("k", io.BytesIO(bytes(PART + 1))) is False
    assert store.get("k") == b"first"
    assert "Uploads" not in s3_server.client().list_multipart_uploads(Bucket=store.bucket)


def test_a_stream_that_breaks_leaves_nothing(locked_s3: str, s3_server: S3Server) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell() > PART:
                raise OSError("the disk is gone")
            return super().read(size)

    store = store_at(locked_s3)
    with pytest.raises(OSError, match="the disk is gone"):
        store.put_stream("k", Broken(bytes(PART + 2)))
    assert not store.exists("k")
    assert "Uploads" not in s3_server.client().list_multipart_uploads(Bucket=store.bucket)


def test_bytes_that_changed_on_the_way_are_refused(s3: str) -> None:
    store = S3Store(s3)
    store.put("k", b"abc")

    def spoil(parsed, model, **_):  # a botocore event handler
        if model.name == "GetObject":
            parsed["Body"]._raw_stream = io.BytesIO(b"abd")

    store._client().meta.events.register_first("after-call.s3.GetObject", spoil)
    with pytest.raises(StoreError, match="are not those whose SHA-256 the store keeps"):
        store.get("k")


def test_a_folder_takes_a_stream_too(tmp_path) -> None:
    store = LocalStore(str(tmp_path))
    assert store.put_stream("a/k", io.BytesIO(b"1" * (3 << 20)))
    assert not store.put_stream("a/k", io.BytesIO(b"2"))
    assert store.get("a/k") == b"1" * (3 << 20)
