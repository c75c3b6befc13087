"""What is read in blocks is what is read row by row: the same rows, the same bytes, the same refusals."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from audit_lib.beside import Behind, ahead
from audit_lib.canonical import canonical_json
from audit_lib.errors import AuditError, CorruptFileError
from audit_lib.sample import blocks, columns, read, tables
from audit_lib.sample.blocks import ABSENT
from audit_lib.sample.candidates import CandidateRows
from audit_lib.sample.json_lines import JsonLines
from audit_lib.sample.tables import Record, TableFile
from tests.sample import cases

FIXTURE = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
ODD = st.sampled_from(
    [b"", b" ", b"{", b"[1]", b"1", b'{"a":1e400}', b'{"a":NaN}', b'{"a":"\\ud800"}', b'{"a":1,"a":2}', b'{"a":-0}',
     b'{"a":"\xff"}', b"\xc2\xa0", b'{"a":1}\r', b'{"a":123456789012345678901234567890}', b'\xef\xbb\xbf{"a":1}']
)  # fmt: skip


def sized(monkeypatch: pytest.MonkeyPatch, chunk: int, rows: int) -> None:
    """Make blocks as long as that."""
    monkeypatch.setattr(tables, "_CHUNK_BYTES", chunk)
    for module in (tables, blocks, read):
        monkeypatch.setattr(module, "BLOCK_ROWS", rows)


def by_the_standard_library(path: Path) -> tuple[list[tuple[int, Any]], int | None]:
    """Return line and value of each record before the first fault, and the line of that one."""
    found: list[tuple[int, Any]] = []
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            if not text.strip():
                continue
            value = json.loads(text, parse_constant=lambda name: 1 / 0)
            json.dumps(value, ensure_ascii=False).encode()
        except (ValueError, ZeroDivisionError):
            return found, number
        if not isinstance(value, dict):
            return found, number
        found.append((number, value))
    return found, None


@FIXTURE
@given(
    st.lists(
        st.dictionaries(TEXTS, JSON, max_size=3).map(lambda one: json.dumps(one).encode()) | ODD, max_size=8
    ),
    st.integers(1, 200),
    st.booleans(),
)
@example([b'{"a":1}', b"", b'{"a":2}', b"{"], 1, True)
def test_lines_are_read_as_the_standard_library_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[bytes], chunk: int, ends: bool
) -> None:
    sized(monkeypatch, chunk, 3)
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b"\n".join(lines) + (b"\n" if ends else b""))
    wanted, fault = by_the_standard_library(path)
    found: list[Record] = []
    told = ""
    try:
        found.extend(TableFile(str(path)))
    except CorruptFileError as error:
        told = str(error)
    # As text, since -0 equals 0 and 1 equals True.
    assert [(one.where, repr(one.values)) for one in found] == [
        (f"{path}, line {number}", repr(value)) for number, value in wanted
    ]
    assert told.startswith(f"{path}, line {fault}: ") if fault else not told


@given(st.lists(TEXTS, max_size=3), st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=5))
def test_fields_are_written_as_canonical_json_writes_them(
    names: list[str], rows: list[tuple[str, ...]]
) -> None:
    names = [*dict.fromkeys(names)]
    objects = [dict(zip(names, row, strict=False)) for row in rows]
    found = columns.block_texts(blocks.ObjectBlock(objects, str), names, None)
    assert found is not None
    found.validate(full=True)
    assert [text.encode() for text in found.to_pylist()] == [*map(canonical_json, objects)]


@given(
    st.lists(st.tuples(st.none() | TEXTS, TEXTS), min_size=1, max_size=5),
    st.booleans(),
    st.sampled_from(["", " "]),
)
@example([("plain", "é"), ('"', "\\"), (None, "\u2028")], False, " ")
def test_texts_are_taken_from_lines_as_canonical_json_writes_them(
    rows: list[tuple[str | None, str]], escaped: bool, space: str
) -> None:
    objects = [{"id": place, "a": a, "é b": b, "c": [a]} for place, (a, b) in enumerate(rows)]
    separators = f",{space}", f":{space}"
    lines = [json.dumps(one, ensure_ascii=escaped, separators=separators).encode() for one in objects]
    block = JsonLines(lines, range(1, 1 + len(lines)), "f").select(["id"], ["a", "é b"])
    assert block is not None
    assert block.column("id") == [*range(len(rows))]
    found = columns.block_texts(block, ["a", "é b"], None)
    assert found is not None
    found.validate(full=True)
    assert [text.encode() for text in found.to_pylist()] == [
        canonical_json({"a": a or "", "é b": b}) for a, b in rows
    ]


@pytest.mark.parametrize("value", [b"7", b"[]", b'{"a":"b"}', b"true", b"1e400", b"[1"])
def test_a_text_that_is_none_is_looked_at_by_itself(value: bytes) -> None:
    block = JsonLines([b'{"a":"b"}', b'{"a":' + value + b"}"], [1, 2], "f").select([], ["a"])
    assert block is None or columns.block_texts(block, ["a"], None) is None


@pytest.mark.parametrize(
    "line", [b'{"x":"\xff"}', b'{"\xff":1}', b'{"x":"\\ud800"}', b'{"x":"\\uDC00 "}', b'{"x":1', b""]
)
def test_a_fault_in_what_is_not_read_is_a_fault(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b'{"id":1,"a":"b"}\n{"id":2,"a":"b",' + line[1:] + b"\n")
    (block,) = TableFile(str(path)).blocks()
    assert block.select(["id"], ["a"]) is None
    with pytest.raises(CorruptFileError, match="line 2"):
        [*block.records()]


NAMES = ["people.jsonl", "people.jsonl.gz", "people.csv", "people.csv.gz", "people.parquet"]


@pytest.mark.parametrize("name", NAMES)
@FIXTURE
@given(st.integers(1, 3000), st.integers(1, 15))
def test_the_sample_is_the_same_for_any_blocks_and_any_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, chunk: int, rows: int
) -> None:
    cases.write(tmp_path, "all.jsonl", cases.people())
    whole = cases.run(tmp_path, source={"paths": ["all.jsonl"]}).artefacts["prompts.parquet"]
    with monkeypatch.context() as patched:
        sized(patched, chunk, rows)
        cases.write(tmp_path, name, cases.people())
        made = cases.run(tmp_path, source={"paths": [name]})
    assert made.artefacts["prompts.parquet"] == whole
    (told,) = cases.document(made)["sources"]
    assert (told["rows_read"], told["rows_in_window"]) == (12, 7)


FAULTS = st.tuples(
    st.integers(0, 11),
    st.sampled_from(
        [
            {}, {"prompt_id": "p003"}, {"position": "Retail"}, {"position": None}, {"recorded_score": "high"},
            {"recorded_score": None}, {"application_id": ABSENT}, {"application_id": ""}, {"resume": ABSENT},
            {"resume": 7}, {"resume": [1]}, {"resume": None}, {"resume": " "}, {"race": "Martian"}, {"race": None},
            {"qualified": "perhaps"}, {"qualified": ABSENT}, {"occurred_at": "soon"},
            {"occurred_at": "2026-01-06T00:00:00"}, {"recorded_model": "a tool"}, {"recorded_model": "another"},
            {"recorded_selected": "hired"}, {"name": "Ana"}, {"sex": ABSENT}, {"prompt_id": 12}, {"order_shown": 2},
            {"outcome": 1}, {"round_id": "r"},
        ]
    ),
)  # fmt: skip


@FIXTURE
@given(st.lists(FAULTS, max_size=4), st.integers(1, 1500), st.booleans(), st.booleans(), st.booleans())
def test_blocks_give_and_refuse_what_rows_do(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    faults: list[tuple[int, dict[str, Any]]],
    chunk: int,
    declared: bool,
    rounds: bool,
    as_csv: bool,
) -> None:
    rows = cases.people()
    for place, fault in faults:
        rows[place] = {name: value for name, value in (rows[place] | fault).items() if value is not ABSENT}
    if as_csv:
        every = list(dict.fromkeys(name for row in rows for name in row))
        rows = [{name: row.get(name, "") for name in every} for row in rows]
    name = "people.csv" if as_csv else "people.jsonl"
    sections: dict[str, Any] = {"groups": {"unknown_values": ["Martian"]}} if declared else {}
    if rounds:
        sections["decision"] = {"round": "application_id"}
    cases.write(tmp_path, name, rows)

    def outcome() -> Any:
        try:
            return cases.run(tmp_path, source={"paths": [name]}, **sections)
        except AuditError as error:
            return type(error), str(error)

    with monkeypatch.context() as patched:
        sized(patched, chunk, 3)
        by_block = outcome()
        patched.setattr(CandidateRows, "block", lambda self, block: None)
        by_row = outcome()
    assert by_block == by_row


def test_plain_rows_are_taken_by_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        cases.write(tmp_path, name, cases.people(400))
    taken: list[int] = []
    by_row = read._Collected.take_records
    monkeypatch.setattr(
        read._Collected, "take_records", lambda self, block: (taken.append(len(block)), by_row(self, block))
    )
    sized(monkeypatch, 1 << 20, 16)
    rows = [{**row, "occurred_at": "2026-01-06T00:00:00Z"} for row in cases.people(400)]
    for name in NAMES:
        cases.write(tmp_path, name, rows)
        taken.clear()
        cases.run(tmp_path, source={"paths": [name]})
        assert sum(taken) <= 16 or "jsonl" in name, name  # the first, whose names of positions are new


def test_a_fault_on_the_way_comes_after_the_rows_before_it(tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(gzip.compress(cases.jsonl(cases.people(3000)))[:-400])
    read_before: list[Record] = []
    with pytest.raises(CorruptFileError, match=r"line \d+: the gzip stream ends early") as caught:
        read_before.extend(TableFile(str(path)))
    assert f"line {len(read_before) + 1}:" in str(caught.value)
    assert len(read_before) > 1000


def test_what_fails_beside_is_told() -> None:
    def failing() -> Any:
        yield 1
        raise ValueError("lost")

    values = ahead(failing())
    assert next(values) == 1
    with pytest.raises(ValueError, match="lost"):
        next(values)

    def fail() -> None:
        raise OSError("full")

    with pytest.raises(OSError, match="full"), Behind() as behind:
        behind.do(fail)
