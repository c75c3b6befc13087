from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audit_lib.errors import ColumnTypeError, DuplicateIdError, MissingColumnError
from tests.sample.cases import document, prompts, run, write

COLUMNS = {
    "round_id": "run",
    "recorded_model": "llm",
    "position": "job",
    "occurred_at": "created",
    "recorded_response": "answer",
    "candidates": "shown",
    "order_shown": "place",
    "name": "full_name",
}
SOURCE = {
    "kind": "ranking_log",
    "paths": ["log.jsonl"],
    "columns": COLUMNS,
    "fields": [],
    "time_format": "unix_s",
}
LISTWISE: dict[str, Any] = {
    "task": "listwise",
    "source": SOURCE,
    "decision": {"rule": "top_k", "k": 1, "round": "round_id"},
    "model": {"served": "any"},
}


def rankings() -> list[dict[str, Any]]:
    names = [("Ann Lee", "female", "White"), ("Bo Chi", "male", "Black"), ("Cy Wood", "male", "Martian")]
    return [
        {
            "run": run_id,
            "llm": model,
            "job": job,
            "created": 1767614400 + run_id,
            "shown": [
                {"place": place, "full_name": name, "sex": sex, "race": race, "city": "Ur"}
                for place, (name, sex, race) in enumerate(names, start=1)
            ],
            "answer": "1. Bo Chi",
            "prompt_version": "v1",
        }
        for model in ("m1", "m2")
        for job in ("retail", "finance")
        for run_id in (0, 1)
    ]


def test_a_candidate_a_row(tmp_path: Path) -> None:
    write(tmp_path, "log.jsonl", rankings())
    output = run(tmp_path, **(LISTWISE | {"source": SOURCE | {"fields": ["city", "prompt_version"]}}))
    table = prompts(output)
    assert output.counts == {"prompts": 24, "applications": 24, "rounds": 8, "unknown_race": 8}
    first = table.iloc[0]
    assert first["prompt_id"] == "m1/finance/0/1"
    assert first["application_id"] == "m1/finance/0/1"
    assert first["round_id"] == "m1/finance/0"
    assert (first["recorded_model"], first["recorded_response"]) == ("m1", "1. Bo Chi")
    assert json.loads(first["fields"]) == {"name": "Ann Lee", "city": "Ur", "prompt_version": "v1"}
    assert table["order_shown"].tolist() == [1, 2, 3] * 8
    assert document(output)["demographics"] == {
        "people": 24,
        "matched": 24,
        "unmatched": 0,
        "unknown": {"sex": 0, "race": 8},
        "unknown_values": {"sex": {}, "race": {"Martian": 8}},
        "provenance": "assigned",
    }
    assert table["race"].isna().sum() == 8


def test_whole_rounds_are_drawn(tmp_path: Path) -> None:
    write(tmp_path, "log.jsonl", rankings())
    sections = LISTWISE | {"sample": {"size": 4, "strata": ["recorded_model", "position"]}}
    table = prompts(run(tmp_path, **sections))
    assert table.groupby("round_id").size().tolist() == [3, 3, 3, 3]
    assert table.groupby(["recorded_model", "position"])["round_id"].nunique().tolist() == [1, 1, 1, 1]


def test_an_application_id_of_the_log(tmp_path: Path) -> None:
    rows = rankings()[:1]
    for candidate in rows[0]["shown"]:
        candidate["person"] = 40 + candidate["place"]
    write(tmp_path, "log.jsonl", rows)
    columns = COLUMNS | {"application_id": "person"}
    table = prompts(run(tmp_path, **(LISTWISE | {"source": SOURCE | {"columns": columns}})))
    assert table["application_id"].tolist() == ["41", "42", "43"]


def test_a_model_that_did_not_answer_is_kept(tmp_path: Path) -> None:
    rows = rankings()
    rows[0]["answer"] = None
    write(tmp_path, "log.jsonl", rows)
    assert prompts(run(tmp_path, **LISTWISE))["recorded_response"].isna().sum() == 3


def test_one_run_twice(tmp_path: Path) -> None:
    rows = rankings()
    rows[5]["run"] = rows[4]["run"]
    write(tmp_path, "log.jsonl", rows)
    with pytest.raises(DuplicateIdError, match=r"log\.jsonl, line 6: .* used at .*log\.jsonl, line 5"):
        run(tmp_path, **LISTWISE)


def test_one_place_twice(tmp_path: Path) -> None:
    rows = rankings()
    rows[3]["shown"][1]["place"] = 1
    write(tmp_path, "log.jsonl", rows)
    with pytest.raises(DuplicateIdError, match=r"log\.jsonl, line 4"):
        run(tmp_path, **LISTWISE)


@pytest.mark.parametrize(
    ("damage", "error", "expected"),
    [
        (lambda row: row.pop("shown"), MissingColumnError, "line 2: column 'shown' (candidates) is missing"),
        (
            lambda row: row.update(shown=[]),
            ColumnTypeError,
            "line 2: column 'shown' (candidates) should be a list",
        ),
        (
            lambda row: row.update(shown="Ann Lee"),
            ColumnTypeError,
            "line 2: column 'shown' (candidates) should be",
        ),
        (
            lambda row: row.update(shown=["Ann Lee"]),
            ColumnTypeError,
            "should be a list of one or more objects",
        ),
        (lambda row: row.pop("answer"), MissingColumnError, "line 2: column 'answer' (recorded_response)"),
        (lambda row: row.update(llm=None), ColumnTypeError, "line 2: column 'llm' (recorded_model) is empty"),
        (
            lambda row: row["shown"][2].pop("full_name"),
            MissingColumnError,
            "line 2, candidate 3: column 'full_name' (name) is missing",
        ),
        (
            lambda row: row["shown"][1].update(place="two"),
            ColumnTypeError,
            "line 2, candidate 2: column 'place' (order_shown) should be a whole number, is text",
        ),
        (
            lambda row: row["shown"][0].pop("race"),
            MissingColumnError,
            "candidate 1: column 'race' is missing",
        ),
    ],
)
def test_a_damaged_record(tmp_path: Path, damage: Any, error: type[Exception], expected: str) -> None:
    rows = rankings()
    damage(rows[1])
    write(tmp_path, "log.jsonl", rows)
    with pytest.raises(error) as caught:
        run(tmp_path, **LISTWISE)
    assert expected in str(caught.value)
    assert "Ann" not in str(caught.value)
