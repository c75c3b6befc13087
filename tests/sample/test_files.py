from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from audit_lib.errors import (
    ColumnTypeError,
    CorruptFileError,
    DuplicateIdError,
    EmptyWindowError,
    InputError,
    MissingColumnError,
    NotFoundError,
    SpecError,
)
from audit_lib.store import open_store
from audit_lib.window import Window
from tests.sample.cases import document, jsonl, people, prompts, run, write

FORMATS = ["prompts.jsonl", "prompts.jsonl.gz", "prompts.csv", "prompts.csv.gz", "prompts.parquet"]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_prompts(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, name, people())
    table = prompts(run(tmp_path, source={"paths": [name]}))
    assert table["prompt_id"].tolist() == [f"p{index:03d}" for index in range(7)]
    assert table["position"].tolist() == ["finance", "retail", "retail"] * 2 + ["finance"]
    assert json.loads(table["fields"][3]) == {"resume": people()[3]["resume"]}
    assert table["qualified"].tolist() == [False, True] * 3 + [False]
    assert table["recorded_score"].tolist() == [index / 8 for index in range(7)]
    assert table["race"].tolist() == ["White", "White", "Black", "Black", "White", "White", "Black"]
    assert table["occurred_at"][0].isoformat() == "2026-01-05T12:00:00+00:00"
    assert table["round_id"].isna().all()
    source = document(run(tmp_path, source={"paths": [name]}))["sources"][0]
    assert source == {
        "path": name,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "rows_read": 12,
        "rows_in_window": 7,
    }


def test_files_from_object_storage(tmp_path: Path, s3: str) -> None:
    open_store(s3).put("in/prompts.jsonl.gz", gzip.compress(jsonl(people()), mtime=0))
    write(tmp_path, "prompts.parquet", people())
    open_store(s3).put("in/prompts.parquet", (tmp_path / "prompts.parquet").read_bytes())
    open_store(s3).put("prompts.jsonl", jsonl(people()))
    local = run(tmp_path, source={"paths": ["prompts.parquet"]})
    for name in (
        "in/prompts.jsonl.gz",
        "in/prompts.parquet",
        "prompts.jsonl",
    ):  # the last at the bucket's top
        remote = run(tmp_path, source={"paths": [f"{s3}/{name}"]})
        assert remote.artefacts["prompts.parquet"] == local.artefacts["prompts.parquet"]


def test_columns_of_another_name_and_unix_time(tmp_path: Path) -> None:
    rows = [
        {"id": 7, "job": "retail", "at": 1767614400.25, "resume": "x", "sex": "male", "race": "Black"},
    ]
    write(tmp_path, "prompts.jsonl", rows)
    source = {"columns": {"prompt_id": "id", "position": "job", "occurred_at": "at"}, "time_format": "unix_s"}
    table = prompts(run(tmp_path, source=source))
    assert table["prompt_id"].tolist() == ["7"]
    assert table["application_id"].tolist() == ["7"]
    assert table["occurred_at"][0].isoformat() == "2026-01-05T12:00:00.250000+00:00"


def test_the_window_is_half_open_and_in_utc(tmp_path: Path) -> None:
    instants = {
        "before": "2026-01-05T00:59:59.999999+01:00",
        "start": "2026-01-05T01:00:00+01:00",
        "naive is UTC": "2026-01-11T23:59:59.999999",
        "end": "2026-01-12T00:00:00Z",
    }
    rows = [{**people(1)[0], "prompt_id": name, "occurred_at": at} for name, at in instants.items()]
    write(tmp_path, "prompts.jsonl", rows)
    output = run(tmp_path)
    assert prompts(output)["prompt_id"].tolist() == ["naive is UTC", "start"]
    assert document(output)["sources"][0]["rows_read"] == 4


def test_a_fixed_set_of_prompts_needs_no_time(tmp_path: Path) -> None:
    rows = [{key: value for key, value in row.items() if key != "occurred_at"} for row in people(3)]
    write(tmp_path, "prompts.jsonl", rows)
    assert len(prompts(run(tmp_path, source={"windowed": False}))) == 3
    with pytest.raises(MissingColumnError, match=r"prompts\.jsonl, line 1: column 'occurred_at' is missing"):
        run(tmp_path)


def test_no_prompt_in_the_window(tmp_path: Path) -> None:
    write(tmp_path, "prompts.jsonl", people(3))
    with pytest.raises(EmptyWindowError, match=r"no prompt occurred in .* from 2026-01-05T12:00:00"):
        run(tmp_path, Window.parse("2025-01-05", "2025-01-12"))


def test_an_empty_source(tmp_path: Path) -> None:
    (tmp_path / "prompts.jsonl").write_bytes(b"\n\n")
    with pytest.raises(EmptyWindowError, match="the source is empty"):
        run(tmp_path, source={"windowed": False})


def test_a_window_without_width() -> None:
    with pytest.raises(EmptyWindowError, match="has no width"):
        Window.parse("2026-01-05", "2026-01-05")


@pytest.mark.parametrize(("name", "place"), [("prompts.jsonl", "line 5"), ("prompts.parquet", "row 5")])
def test_a_duplicated_id_names_both_lines_and_not_the_id(tmp_path: Path, name: str, place: str) -> None:
    rows = people(7)
    rows[4]["prompt_id"] = rows[1]["prompt_id"]
    write(tmp_path, name, rows)
    with pytest.raises(DuplicateIdError) as caught:
        run(tmp_path, source={"paths": [name]})
    assert f"{name}, {place}: its prompt_id was already used at" in str(caught.value)
    assert place.replace("5", "2") in str(caught.value)
    assert "p001" not in str(caught.value)


def test_a_duplicated_id_in_another_file(tmp_path: Path) -> None:
    write(tmp_path, "one.jsonl", people(3))
    write(tmp_path, "two.jsonl", people(3))
    with pytest.raises(DuplicateIdError, match=r"two\.jsonl, line 1: .* used at .*one\.jsonl, line 1"):
        run(tmp_path, source={"paths": ["one.jsonl", "two.jsonl"]})


def test_a_missing_column_names_the_nearest(tmp_path: Path) -> None:
    rows = [{("postion" if key == "position" else key): value for key, value in r.items()} for r in people(3)]
    write(tmp_path, "prompts.csv", rows)
    with pytest.raises(
        MissingColumnError, match=r"line 2: column 'position' is missing; did you mean 'postion'"
    ):
        run(tmp_path, source={"paths": ["prompts.csv"]})


def test_a_missing_text_column(tmp_path: Path) -> None:
    write(tmp_path, "prompts.jsonl", people(3))
    with pytest.raises(MissingColumnError, match="line 1: column 'resum' is missing; did you mean 'resume'"):
        run(tmp_path, source={"fields": ["resum"]})


def test_a_mapped_column_must_be_in_every_line(tmp_path: Path) -> None:
    rows = people(3)
    rows[0]["outcome"] = 0.5
    write(tmp_path, "prompts.jsonl", rows)
    assert prompts(run(tmp_path))["outcome"].isna().tolist() == [False, True, True]
    with pytest.raises(MissingColumnError, match="line 2: column 'outcome' is missing"):
        run(tmp_path, source={"columns": {"outcome": "outcome"}})


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("prompt_id", 1.5, "should be text, is float"),
        ("prompt_id", True, "should be text, is bool"),
        ("prompt_id", None, "is empty; every row needs it"),
        ("position", "", "is empty; every row needs it"),
        ("application_id", None, "is empty; every row needs it"),
        ("qualified", "yes", "should be true or false, is text; write true or false; in CSV also yes and no"),
        ("qualified", 1, "should be true or false, is int"),
        ("recorded_score", "0.5", "should be a finite number, is text"),
        ("recorded_score", True, "should be a finite number, is bool"),
        ("order_shown", 1.5, "should be a whole number, is float"),
        ("order_shown", 2**40, "should be a whole number, is int"),
        ("occurred_at", "yesterday", "should be an ISO 8601 date or instant, is text"),
        ("occurred_at", 1767614400, "unix_s reads seconds"),
        ("resume", ["a"], "should be text, is list"),
        ("sex", {"a": 1}, "should be text, is dict"),
    ],
)
def test_a_wrong_type_names_line_and_column(tmp_path: Path, column: str, value: Any, expected: str) -> None:
    rows = people(4)
    rows[2][column] = value
    write(tmp_path, "prompts.jsonl", rows)
    with pytest.raises(ColumnTypeError) as caught:
        run(tmp_path)
    assert f"prompts.jsonl, line 3: column '{column}'" in str(caught.value)
    assert expected in str(caught.value)
    assert "yesterday" not in str(caught.value)


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("recorded_score", "high", "should be a number"),
        ("recorded_score", "nan", "should be a finite number"),
        (
            "qualified",
            "perhaps",
            "should be true or false, is text; write true or false; in CSV also yes and no",
        ),
        ("order_shown", "2.0", "should be a whole number"),
    ],
)
def test_a_wrong_type_in_csv(tmp_path: Path, column: str, value: str, expected: str) -> None:
    rows: list[dict[str, Any]] = [{**row, "order_shown": 1} for row in people(3)]
    rows[1][column] = value
    write(tmp_path, "prompts.csv", rows)
    # Each record of the file takes two lines: the resume holds a line break.
    with pytest.raises(ColumnTypeError, match=rf"line 4: column '{column}' .* {expected}"):
        run(tmp_path, source={"paths": ["prompts.csv"]})


def test_milliseconds_are_not_seconds(tmp_path: Path) -> None:
    write(tmp_path, "prompts.jsonl", [{**people(1)[0], "occurred_at": 1767614400000}])
    with pytest.raises(ColumnTypeError, match="not milliseconds"):
        run(tmp_path, source={"time_format": "unix_s"})


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.95])
def test_a_truncated_gzip_names_file_and_line(tmp_path: Path, kept: float) -> None:
    rows = [
        {**row, "resume": hashlib.sha512(row["prompt_id"].encode()).hexdigest() * 20}
        for row in people(300 // 12)
    ]
    for index, row in enumerate(rows):
        row["occurred_at"] = "2026-01-06"
        row["resume"] = "".join(hashlib.sha512(f"{index}/{part}".encode()).hexdigest() for part in range(40))
    content = gzip.compress(jsonl(rows), mtime=0)
    cut = content[: int(len(content) * kept)]
    (tmp_path / "prompts.jsonl.gz").write_bytes(cut)
    import zlib

    whole_lines = zlib.decompressobj(31).decompress(cut).count(b"\n")
    assert 0 < whole_lines < len(rows)
    with pytest.raises(CorruptFileError) as caught:
        run(tmp_path, source={"paths": ["prompts.jsonl.gz"]})
    assert f"prompts.jsonl.gz, line {whole_lines + 1}: the gzip stream ends early" in str(caught.value)


def test_a_gzip_that_lacks_only_its_checksum_is_refused(tmp_path: Path) -> None:
    content = gzip.compress(jsonl(people(5)), mtime=0)
    (tmp_path / "prompts.jsonl.gz").write_bytes(content[:-8])
    with pytest.raises(CorruptFileError, match=r"prompts\.jsonl\.gz, line 6"):
        run(tmp_path, source={"paths": ["prompts.jsonl.gz"]})


def test_a_gzip_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "prompts.jsonl.gz").write_bytes(jsonl(people(5)))
    with pytest.raises(CorruptFileError, match=r"prompts\.jsonl\.gz, line 1"):
        run(tmp_path, source={"paths": ["prompts.jsonl.gz"]})


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"prompt_id": "Ann Lee", "resu', "not JSON"),
        (b'["Ann Lee"]', "a JSON list; each line is one object"),
        (b'{"recorded_score": NaN}', "NaN is not a JSON number"),
        (
            b'{"resume": "\xff Ann Lee"}',
            '(byte 13 of the line); save the file as UTF-8, which spreadsheets call "CSV UTF-8"',
        ),
        (b'{"resume": "Ann Lee \\ud83d"}', "half of a surrogate pair"),
        (b'{"resume": ["\\uDE00 Ann Lee"]}', "half of a surrogate pair"),
    ],
)
def test_a_bad_line_is_named_and_not_quoted(tmp_path: Path, line: bytes, expected: str) -> None:
    (tmp_path / "prompts.jsonl").write_bytes(jsonl(people(2)) + b"\n" + line + b"\n" + jsonl(people(3)[2:]))
    with pytest.raises(CorruptFileError) as caught:
        run(tmp_path)
    assert "prompts.jsonl, line 4: " in str(caught.value)
    assert expected in str(caught.value)
    assert "Ann" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"prompt_id,position\na,b,c\n", "line 2: 3 cells, but the header has 2"),
        (b'prompt_id,position\na,"b\n', "line 2: not CSV"),
        (b"prompt_id,prompt_id\n", "line 1: two columns of the header"),
    ],
)
def test_bad_csv(tmp_path: Path, content: bytes, expected: str) -> None:
    (tmp_path / "prompts.csv").write_bytes(content)
    with pytest.raises(CorruptFileError, match=expected):
        run(tmp_path, source={"paths": ["prompts.csv"], "windowed": False})


def test_a_csv_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = write(tmp_path, "prompts.csv", people(3))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(prompts(run(tmp_path, source={"paths": ["prompts.csv"]}))) == 3


def test_a_truncated_parquet(tmp_path: Path) -> None:
    path = write(tmp_path, "prompts.parquet", people())
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(CorruptFileError, match=r"prompts\.parquet, row 1: not Parquet"):
        run(tmp_path, source={"paths": ["prompts.parquet"]})


@pytest.mark.parametrize("name", ["prompts.xlsx", "prompts.xls", "PROMPTS.XLSM"])
def test_a_workbook_is_told_how_it_can_be_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot tell the format of an Excel workbook; save it as CSV UTF-8"):
        run(tmp_path, source={"paths": [name]})


@pytest.mark.parametrize("name", ["prompts.xlsx", "prompts", "prompts.parquet.gz"])
def test_an_unknown_format(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot tell the format"):
        run(tmp_path, source={"paths": [name]})


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"prompts\.jsonl"):
        run(tmp_path)


def test_a_mapping_of_no_column_of_ours(tmp_path: Path) -> None:
    write(tmp_path, "prompts.jsonl", people(3))
    with pytest.raises(
        SpecError, match=r"source\.columns\.promt_id: not a column of ours; did you mean 'prompt_id'"
    ):
        run(tmp_path, source={"columns": {"promt_id": "id"}})
    with pytest.raises(SpecError, match=r"source\.columns\.fields: not a column of ours"):
        run(tmp_path, source={"columns": {"fields": "resume"}})


def test_an_unknown_source(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no source is named 'file'; did you mean 'files'"):
        run(tmp_path, source={"kind": "file"})


def test_a_round_that_the_window_cuts(tmp_path: Path) -> None:
    rows = [{**row, "round_id": f"r{index // 4}"} for index, row in enumerate(people(12))]
    write(tmp_path, "prompts.jsonl", rows)
    decision = {"rule": "top_k", "k": 1, "round": "round_id"}
    with pytest.raises(InputError, match="line 5: the window cuts this candidate's round"):
        run(tmp_path, decision=decision, sample={"strata": []})
    whole = run(tmp_path, Window.parse("2026-01-05", "2026-01-13"), decision=decision, sample={"strata": []})
    assert prompts(whole)["round_id"].tolist() == ["r0"] * 4 + ["r1"] * 4
