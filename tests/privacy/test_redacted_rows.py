"""Redacted tables are written some rows at a time, in the bytes that a table has that is written at once."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audit_lib.large_file import bytes_of
from audit_lib.privacy import redacted_tables as module
from audit_lib.privacy.redacted_tables import redacted_tables
from audit_lib.records import ROW_GROUP, parquet_source, write_table
from audit_lib.run import Run
from tests.archive.cases import do, new_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("redacted")
    return do(new_run(folder, str(folder / "store")))


def test_parts_give_the_bytes_of_the_whole(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {path: bytes_of(content) for path, content in redacted_tables(run, ()).items()}
    monkeypatch.setattr(module, "_READ", 5)
    parts = {path: bytes_of(content) for path, content in redacted_tables(run, ()).items()}
    assert whole.keys() == parts.keys()
    for path, content in whole.items():
        if path.endswith(".csv"):
            assert parts[path] == content
        else:
            table = pq.read_table(parquet_source(content))
            assert pq.read_table(parquet_source(parts[path])).equals(table)
            assert write_table(table.combine_chunks()) == content


def test_a_row_group_has_as_many_rows_as_arrow_puts_into_one(tmp_path: Path) -> None:
    table = pa.table({"yes": pa.nulls(ROW_GROUP + 5, pa.bool_())})
    metadata = pq.read_metadata(parquet_source(write_table(table)))
    assert [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)] == [ROW_GROUP, 5]
    assert ROW_GROUP % module._READ == ROW_GROUP % module._READ_TEXTS == 0
