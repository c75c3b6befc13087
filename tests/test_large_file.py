"""Artefacts that are kept in files: the same bytes, digests and rows as those in memory."""

from __future__ import annotations

import gc
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib import large_file, records, run
from audit_lib.errors import ConflictError, EvidenceError
from audit_lib.large_file import LargeFile, Sink, bytes_of, sha256_of, size_of
from audit_lib.records import write_table
from audit_lib.run import StageFolder, StageOutput
from audit_lib.store import open_store


@given(st.lists(st.binary(max_size=20), max_size=8), st.integers(0, 40))
def test_what_is_written_comes_back_with_its_digest(parts: list[bytes], most: int) -> None:
    sink = Sink(most)
    for part in parts:
        sink.write(part)
    whole, content = b"".join(parts), sink.content()
    assert (bytes_of(content), sha256_of(content), size_of(content)) == (
        whole,
        sha256(whole).hexdigest(),
        len(whole),
    )
    assert isinstance(content, LargeFile) == (len(whole) > most or not most)


def test_a_file_goes_with_what_holds_it() -> None:
    sink = Sink(0)
    sink.write(b"abc")
    content = sink.content()
    assert isinstance(content, LargeFile)
    path = content.path
    assert path.exists()
    del content, sink
    gc.collect()
    assert not path.exists()
    given_up = Sink(0)
    path = given_up._path
    assert path is not None and path.exists()
    del given_up
    gc.collect()
    assert not path.exists()


@pytest.fixture
def all_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "Sink", lambda *_: Sink(0))
    monkeypatch.setattr(run, "LARGE", 0)


@pytest.mark.usefixtures("all_is_large")
def test_a_stage_reads_what_it_committed(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2, 3], "b": ["x", None, "z"]})
    content = write_table(table)
    folder = StageFolder(open_store(str(tmp_path)), "sample")
    record = folder.commit(StageOutput({"t.parquet": content}), datetime.now(UTC))
    assert isinstance(content, LargeFile)
    assert (
        record.artefacts["t.parquet"].sha256
        == sha256((tmp_path / "sample/t.parquet").read_bytes()).hexdigest()
    )
    assert pq.read_table(folder.parquet("t.parquet")).equals(table)
    assert folder.read_table("t.parquet")["a"].tolist() == [1, 2, 3]
    again = folder.commit(StageOutput({"t.parquet": content}), datetime.now(UTC))
    assert again == record
    with pytest.raises(ConflictError, match="an earlier attempt left other bytes"):
        folder.commit(StageOutput({"t.parquet": b"other"}), datetime.now(UTC))
    path = tmp_path / "sample/t.parquet"
    path.write_bytes(bytes([path.read_bytes()[0] ^ 1]) + path.read_bytes()[1:])
    for look in (folder.parquet, folder.check, folder.read):
        with pytest.raises(EvidenceError, match="SHA-256 differs"):
            look("t.parquet")


def test_a_copy_from_a_store_is_whole(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    store.put("x/y", b"content")
    found = large_file.fetched(store, "x/y")
    assert (bytes_of(found), found.sha256) == (b"content", sha256(b"content").hexdigest())
