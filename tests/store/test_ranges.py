"""Long objects come in ranges of one write; what was changed meanwhile is refused. On SeaweedFS, also with locks."""

from __future__ import annotations

import io
import json
import random
from datetime import timedelta
from typing import Any

import pytest

from audit_lib.errors import ConflictError, StoreError
from audit_lib.sample.tables import TableFile
from audit_lib.store import open_store, s3_ranges
from tests.servers import S3Server

pytestmark = pytest.mark.usefixtures("in_s3_environment")

SIZE = 5 << 20


@pytest.fixture
def short_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3_ranges, "RANGE", 1 << 20)


def asked(store: Any) -> list[str]:
    """Note the ranges that a store is asked for."""
    found: list[str] = []
    store._client().meta.events.register(
        "before-parameter-build.s3.GetObject",
        lambda params, **_: found.append(params.get("Range", "all")),
    )
    return found


def content() -> bytes:
    return random.Random(3).randbytes(SIZE + 7)


@pytest.mark.usefixtures("short_ranges")
@pytest.mark.parametrize("locked", [False, True])
def test_an_object_comes_whole_in_ranges(s3_server: S3Server, locked: bool) -> None:
    store = open_store(f"s3://{s3_server.new_bucket(locked=locked)}/a")
    if locked:
        store = store.locking(lambda at: at + timedelta(days=1))
    store.put("long", content())
    ranges = asked(store)
    with store.open("long") as stream:
        assert b"".join(iter(lambda: stream.read(300_001), b"")) == content()
    assert ranges[0] == "all"
    assert ranges[1:] == [f"bytes={n << 20}-{min((n + 1 << 20) - 1, SIZE + 6)}" for n in range(1, 6)]


@pytest.mark.usefixtures("short_ranges")
@pytest.mark.parametrize("what", ["changed", "taken away"])
def test_what_changes_while_it_is_read_is_refused(s3_server: S3Server, what: str) -> None:
    bucket = s3_server.new_bucket()
    row = json.dumps({"id": "x" * 1000}).encode() + b"\n"
    s3_server.client().put_object(Bucket=bucket, Key="log.jsonl", Body=row * (SIZE // len(row)))
    blocks = TableFile(f"s3://{bucket}/log.jsonl").blocks()
    assert len(next(blocks)) > 0
    if what == "changed":
        s3_server.client().put_object(
            Bucket=bucket, Key="log.jsonl", Body=row * (SIZE // len(row) - 1) + b" " * len(row)
        )
    else:
        s3_server.client().delete_object(Bucket=bucket, Key="log.jsonl")
    with pytest.raises(
        ConflictError, match=r"log\.jsonl: was changed while it was read \(after [\d,]+ of 5,"
    ):
        list(blocks)


@pytest.mark.usefixtures("short_ranges")
def test_a_broken_connection_is_taken_up_where_it_broke(
    s3_server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    from botocore.exceptions import ResponseStreamingError

    store = open_store(f"s3://{s3_server.new_bucket()}")
    store.put("long", content())
    breaks = iter([False, True, False, False, True])

    class Breaking(s3_ranges.Body):
        def _next_range(self) -> None:
            super()._next_range()
            if next(breaks, False):
                whole, self._body = self._body, io.BytesIO(self._body.read(1000))
                whole.close()
                read = self._body.read
                self._body.read = _then(read, ResponseStreamingError(error="reset"))  # type: ignore[method-assign]

    monkeypatch.setattr("audit_lib.store.s3.Body", Breaking)
    with store.open("long") as stream:
        assert stream.read() == content()


@pytest.mark.usefixtures("short_ranges")
def test_an_answer_of_another_range_is_refused(s3_server: S3Server) -> None:
    """A store, or a proxy before it, may leave a range out of account and give the whole object again."""
    store: Any = open_store(f"s3://{s3_server.new_bucket()}")
    store.put("long", content())
    store._client().meta.events.register(
        "before-parameter-build.s3.GetObject", lambda params, **_: params.pop("Range", None)
    )
    with store.open("long") as stream, pytest.raises(StoreError, match="and the whole object came"):
        stream.read()


def _then(read: Any, error: Exception) -> Any:
    def reading(size: int) -> bytes:
        if found := read(size):
            return bytes(found)
        raise error

    return reading
