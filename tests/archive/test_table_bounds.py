"""A table that unpacks to far more than its size is found before it is read whole."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.archive.table_bounds import why_not_read
from audit_lib.archive.verify import verify
from audit_lib.cli.main import main
from audit_lib.errors import EvidenceError
from audit_lib.parquet_pages import unpacked_columns
from audit_lib.privacy.applicant_keys import KEY, KEYS, make_key_of_keys
from audit_lib.privacy.vault import parts_of
from audit_lib.thrift_compact import CompactReader
from tests.archive.cases import applicants, do, new_run, reseal

MIB = 1 << 20


def written(table: pa.Table, **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def pages(content: bytes) -> list[Any]:
    return list(unpacked_columns(io.BytesIO(content), pq.ParquetFile(io.BytesIO(content)).metadata))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["zstd", "snappy", "none"])
@pytest.mark.parametrize("use_dictionary", [True, False])
@pytest.mark.parametrize("write_statistics", [True, False])
def test_pages_say_what_the_footer_of_an_honest_file_says(
    version: str, compression: str, use_dictionary: bool, write_statistics: bool
) -> None:
    """Arrow's footer counts the headers of pages too, which are a few dozen bytes each."""
    table = pa.table(
        {
            "text": [f"{number % 700} {'x' * (number % 90)}" for number in range(30_000)],
            "number": [None if number % 3 else number / 7 for number in range(30_000)],
            "list": [[1.0, 2.0]] * 30_000,
            "nothing": pa.nulls(30_000, pa.string()),
        }
    )
    content = written(
        table,
        compression=compression,
        use_dictionary=use_dictionary,
        write_statistics=write_statistics,
        data_page_version=version,
        row_group_size=9_000,
        data_page_size=4_000,
    )
    metadata = pq.ParquetFile(io.BytesIO(content)).metadata
    chunks = [
        metadata.row_group(group).column(column)
        for group in range(metadata.num_row_groups)
        for column in range(metadata.num_columns)
    ]
    found = pages(content)
    assert [one.values for one in found] == [chunk.num_values for chunk in chunks]
    for one, chunk in zip(found, chunks, strict=True):
        assert one.size <= chunk.total_uncompressed_size <= one.size * 1.2 + 2_000
    assert sum(one.most for one in found) >= table.nbytes


@given(st.lists(st.text(max_size=40) | st.none(), max_size=60), st.integers(1, 20))
def test_what_is_said_is_never_too_little(texts: list[str | None], times: int) -> None:
    table = pa.table({"text": pa.array(texts * times, pa.string())})
    content = written(table)
    assert sum(one.most for one in pages(content)) >= table.nbytes
    assert (why_not_read(content, table.nbytes + 1024) == "") or table.nbytes == 0
    if table.nbytes > 64:
        assert why_not_read(content, table.nbytes // 2).startswith("unpacks to more than")


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"x": pa.repeat("y" * 7_000, 30_000)}),
        pa.table({"x": pa.array(["y" * MIB] + ["z" * MIB] * 300)}),
        pa.table({"x": pa.nulls(30 * MIB, pa.float64())}),
        pa.table({"x": pa.array([["y" * 5_000] * 60_000])}),
    ],
    ids=["one_text_often", "long_texts", "nothing_often", "one_row"],
)
def test_little_that_holds_much_is_refused_and_never_held(table: pa.Table) -> None:
    for options in ({}, {"use_dictionary": False, "compression": "zstd"}):
        content = written(table, **options)
        assert len(content) < 3 * MIB
        before = pa.total_allocated_bytes()
        pool_peak = pa.default_memory_pool().max_memory()
        assert "unpacks to more than 134,217,728 bytes" in why_not_read(content, 128 * MIB)
        assert pa.total_allocated_bytes() <= before + MIB
        assert pa.default_memory_pool().max_memory() <= max(pool_peak, before + 700 * MIB)
        assert why_not_read(content, 1 << 40) == ""


def test_a_footer_that_lies_is_not_believed() -> None:
    """The sizes of the footer are made small; those of the pages are what Arrow unpacks."""
    content = bytearray(
        written(pa.table({"x": pa.repeat("y" * 7_000, 30_000)}), use_dictionary=False, compression="zstd")
    )
    metadata = pq.ParquetFile(io.BytesIO(bytes(content))).metadata
    size = metadata.row_group(0).column(0).total_uncompressed_size
    assert size > 200 * MIB

    def varint(number: int) -> bytes:
        number, found = number << 1, b""
        while number > 127:
            found, number = found + bytes([number & 127 | 128]), number >> 7
        return found + bytes([number])

    assert content.count(varint(size)) >= 1
    small = varint(size)[:-1]
    forged = bytes(content).replace(varint(size), bytes([0x80] * len(small)) + b"\x00")
    assert pq.ParquetFile(io.BytesIO(forged)).metadata.row_group(0).column(0).total_uncompressed_size == 0
    assert "unpacks to more than" in why_not_read(forged, 128 * MIB)


def test_a_footer_that_would_end_the_process_is_refused() -> None:
    """A column is said to have all values, and its count of those that it lacks is left: Arrow aborts at that."""
    content = written(pa.table({"x": ["a", None] * 50}))
    optional = b"\x25\x02\x18\x01x"
    assert content.count(optional) == 1
    assert "counts other levels than it has" in why_not_read(
        content.replace(optional, b"\x25\x00\x18\x01x"), 1 << 30
    )


@pytest.mark.parametrize(
    "said", [b"\x15\x02\x05\x02\x04\x00", b"\x15", b"\x1d\x00", b"\x19\xf5\xff\xff\xff\xff\x7f\x00"]
)
def test_a_structure_that_says_a_thing_twice_or_has_no_end_is_refused(said: bytes) -> None:
    with pytest.raises(EvidenceError):
        CompactReader(said, lists=True).structure()


@given(st.data())
def test_other_bytes_end_in_a_word_or_an_open_reader(data: st.DataObject) -> None:
    content = bytearray(written(pa.table({"x": ["a", "b"] * 50, "y": [1.5, None] * 50})))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    assert isinstance(why_not_read(bytes(content), 1 << 30), str)


@pytest.fixture
def bomb(sealed_folder: Path, tmp_path: Path) -> Path:
    (run,) = (sealed_folder / "store/small").glob("2026*/*")
    folder = Path(shutil.copytree(run, tmp_path / "run"))
    path = folder / "scores/0/scores.parquet"
    table = pq.read_table(path)
    often = pa.repeat("y" * 7_000, 300_000)
    first = table.slice(0, 1).take(pa.array([0] * 300_000))
    pq.write_table(first.set_column(first.schema.get_field_index("text"), "text", often), path)
    reseal(folder)
    assert path.stat().st_size < MIB
    return folder


def test_a_run_with_such_a_table_is_not_verified(bomb: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = verify(str(bomb))
    (one,) = [one for one in found.findings if "unpacks" in one.detail]
    assert (one.kind, one.path) == ("record", "scores/0/scores.parquet")
    assert one.detail.startswith("unpacks to more than 1,073,741,824 bytes, so nothing was computed again")
    assert found.recomputed == ()
    assert main(["verify", str(bomb)]) == 1
    assert "(`--table-gb`)" in capsys.readouterr().out


def test_the_bound_can_be_raised_and_lowered(sealed_folder: Path) -> None:
    (run,) = (sealed_folder / "store/small").glob("2026*/*")
    assert {one.kind for one in verify(str(run), table_bytes=100).findings} == {"record"}
    assert verify(str(run), table_bytes=MIB).ok


def test_lists_of_names_are_counted_and_not_guessed() -> None:
    """As the names of keys in an encrypted table: each is in the dictionary, and none is as long as all of it."""
    names = pa.array([[f"{number:064x}"] for number in range(20_000)], pa.list_(pa.string()))
    content = written(pa.table({"keys": names}))
    assert why_not_read(content, 4 * MIB) == ""
    assert "unpacks to more than" in why_not_read(content, MIB)
    once = pa.DictionaryArray.from_arrays(np.zeros(20_000, np.int8), ["x" * LONG])  # 2 GB, held once
    lists = pa.ListArray.from_arrays(np.arange(20_001, dtype=np.int32), once)
    often = written(pa.table({"keys": lists}), store_schema=False)
    assert len(often) < 10_000
    assert "unpacks to more than" in why_not_read(often, 1_900 * MIB)
    assert why_not_read(often, 2_000 * MIB) == ""


@pytest.mark.parametrize("name", ["scores/0/scores.parquet", "sample/prompts.parquet"])
@pytest.mark.parametrize("keys_are_here", [True, False])
def test_an_encrypted_table_is_bounded_with_and_without_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys_are_here: bool, name: str
) -> None:
    pytest.importorskip("cryptography", reason="of the extra sign")
    make_key_of_keys(tmp_path / "key")
    monkeypatch.setenv(KEY, f"file:{tmp_path / 'key'}")
    monkeypatch.setenv(KEYS, str(tmp_path / "keys"))
    store = str(tmp_path / "store")
    run = do(new_run(tmp_path, store, privacy={"keys": "applicant"}, rows=applicants(48)))
    path = Path(run.uri) / name
    content = path.read_bytes()
    head = content[: len(content) - len(parts_of(content)[1])]
    one = pa.DictionaryArray.from_arrays(np.zeros(20_000, np.int8), [b"y" * LONG])  # 2 GB, held once
    path.write_bytes(head + written(pa.table({"keys": [["x"]] * 20_000, "sealed": one}), store_schema=False))
    reseal(Path(run.uri))
    if not keys_are_here:
        monkeypatch.delenv(KEY)
        monkeypatch.delenv(KEYS)
    found = verify(run.uri)
    assert [one.path for one in found.findings if "unpacks to more than" in one.detail] == [name]
    assert found.recomputed == ()


LONG = 100_000
OF_ONE_LENGTH = pa.binary(LONG)


@pytest.mark.parametrize(
    ("table", "options"),
    [
        (
            pa.table({"a": ["x" * LONG] * 1000}),
            {
                "use_dictionary": False,
                "column_encoding": {"a": "DELTA_BYTE_ARRAY"},
                "write_statistics": False,
            },
        ),
        (pa.table({"a": pa.nulls(1000, OF_ONE_LENGTH)}), {}),
        (pa.table({"a": pa.array([None] * 1000, pa.struct([("b", OF_ONE_LENGTH)]))}), {}),
        (pa.table({"a": pa.array([None] * 1000, pa.list_(pa.float64(), LONG // 8))}), {}),
        (pa.table({"a": pa.array([None] * 1000, pa.struct([("b", pa.list_(pa.int8(), LONG))]))}), {}),
    ],
    ids=["each_like_the_one_before", "none_of_a_length", "none_inside", "no_list", "no_list_inside"],
)
def test_what_no_page_holds_counts_too(table: pa.Table, options: dict[str, Any]) -> None:
    content = written(table, compression="zstd", **options)
    assert len(content) < 1000
    assert table.nbytes > 99 * MIB * 0.95
    assert why_not_read(content, 10 * MIB)


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"a": pa.array([b"x" * 100] * 1000, pa.binary(100))}),
        pa.table({"a": pa.array([None, b"x" * 100] * 500, pa.binary(100))}),
        pa.table({"a": ["x" * 100] * 1000}),
    ],
)
def test_values_of_one_length_within_the_bound_are_read(table: pa.Table) -> None:
    content = written(table, use_dictionary=False)
    assert why_not_read(content, 2 * table.nbytes) == ""
    if pa.types.is_string(table["a"].type):
        content = written(table, use_dictionary=False, column_encoding={"a": "DELTA_BYTE_ARRAY"})
        assert why_not_read(content, 2 * table.nbytes) == ""
