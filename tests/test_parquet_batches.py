"""Rows of a Parquet table some at a time: the same as all at once, and memory that does not grow with row groups."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.parquet_batches import batches_of


def _file(table: pa.Table, rows: int, **options: object) -> pq.ParquetFile:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, row_group_size=rows)
    return pq.ParquetFile(sink.getvalue(), **options)


@given(size=st.integers(0, 40), group=st.integers(1, 15), rows=st.integers(1, 20))
def test_batches_have_all_rows_in_their_order_and_the_size_that_was_asked(
    size: int, group: int, rows: int
) -> None:
    table = pa.table({"n": range(size), "word": [None if n % 3 == 0 else f"w{n % 4}" for n in range(size)]})
    found = [*batches_of(_file(table, group, read_dictionary=["word"]), rows)]
    assert [one.num_rows for one in found] == [rows] * (size // rows) + [size % rows] * (size % rows > 0)
    assert [row for one in found for row in one.to_pylist()] == table.to_pylist()


def test_some_columns_are_read_alone() -> None:
    table = pa.table({"n": range(5), "word": list("abcde")})
    (found,) = batches_of(_file(table, 2), 8, ["word"], use_threads=False)
    assert found.to_pydict() == {"word": list("abcde")}


@pytest.mark.parametrize("rows", [500, 2_000])
def test_what_was_read_is_let_go_of(rows: int, tmp_path: Path) -> None:
    letters = np.random.default_rng(0).integers(97, 123, (40_000, 1_000), dtype=np.uint8)
    with pq.ParquetWriter(tmp_path / "texts.parquet", pa.schema([("text", pa.string())])) as writer:
        for part in np.split(letters, 40):
            writer.write_table(pa.table({"text": [bytes(row).decode() for row in part]}))
    file = pq.ParquetFile(tmp_path / "texts.parquet", buffer_size=1 << 16)
    before = pa.total_allocated_bytes()
    most, count = 0, 0
    for batch in batches_of(file, rows):
        most = max(most, pa.total_allocated_bytes() - before)
        count += batch.num_rows
    assert count == 40_000
    assert most < 12_000_000, "40 MB of texts, 1 MB in a row group"
