"""Decisions in the logs of others: a batch's output, and spans of OpenTelemetry."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from audit_lib.archive.records_check import check_counts, sampled_counts, sampled_too
from audit_lib.errors import CorruptFileError, DuplicateIdError, MissingColumnError, SpecError
from audit_lib.records import from_parquet
from audit_lib.run import Run
from audit_lib.sample import sample
from audit_lib.sample.tables import TableFile
from tests.sample.cases import WEEK
from tests.specs import load

PEOPLE = "id,sex,race\na1,female,White\na2,male,Black\na3,male,White\n"
JOINED = {"path": "people.csv", "id_column": "id", "columns": {"sex": "sex", "race": "race"}}
NOON = 1_767_700_800  # 2026-01-06T12:00:00Z


def batch_line(custom_id: str, text: str | None = "Yes", **changes: Any) -> dict[str, Any]:
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": NOON,
        "model": "model-2026-01",
        "metadata": {"position": "nurse"},
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
    }
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {
        "id": f"batch_req_{custom_id}",
        "custom_id": custom_id,
        "response": response,
        "error": None,
        **changes,
    }


def drawn(folder: Path, kind: str, lines: list[Any], **source: Any):
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "people.csv").write_text(PEOPLE)
    source = {"kind": kind, "paths": ["log.jsonl"], "fields": [], "windowed": True, **source}
    groups = {"provenance": "self_reported"}
    spec = load(folder, source=source, demographics=JOINED, groups=groups, model={"served": "any"})
    run = Run.open(spec, WEEK, str(folder / "store"))
    return from_parquet(sample(run).artefacts["prompts.parquet"]).set_index("prompt_id")


def test_a_batchs_output(tmp_path):
    rows = drawn(
        tmp_path,
        "openai_batch",
        [batch_line("a1"), batch_line("a2", "No")],
        columns={"position": "response.body.metadata.position"},
    )
    assert rows.recorded_response.to_dict() == {"a1": "Yes", "a2": "No"}
    assert rows.position.tolist() == ["nurse", "nurse"] and set(rows.recorded_model) == {"model-2026-01"}
    assert rows.sex.to_dict() == {"a1": "female", "a2": "male"}
    assert rows.occurred_at["a1"].isoformat() == "2026-01-06T12:00:00+00:00"


def test_failed_lines_are_prompts_without_an_answer(tmp_path):
    failed = [
        batch_line("a1"),
        batch_line("a2", response=None, error={"code": "batch_expired", "message": "x"}),
        batch_line("a3", response={"status_code": 400, "request_id": "r", "body": {"error": {}}}),
    ]
    rows = drawn(tmp_path, "openai_batch", failed, windowed=False)
    assert rows.recorded_response.isna().to_dict() == {"a1": False, "a2": True, "a3": True}
    assert set(rows.position) == {"all"}


def test_a_failed_line_of_a_windowed_source_is_told(tmp_path):
    with pytest.raises(MissingColumnError, match="line 1: column 'occurred_at' is missing"):
        drawn(tmp_path, "openai_batch", [batch_line("a1", response=None, error={"code": "x"})])


@pytest.mark.parametrize("line", [{"custom_id": "a"}, {"response": {}}, {"custom_id": 3, "response": None}])
def test_what_is_no_batch_output(tmp_path, line):
    with pytest.raises(CorruptFileError, match="line 1: not a line of a batch's output"):
        drawn(tmp_path, "openai_batch", [line])


def test_a_column_that_is_no_path_or_not_there(tmp_path):
    with pytest.raises(SpecError, match="'a..b' is not a path"):
        drawn(tmp_path, "openai_batch", [batch_line("a1")], columns={"position": "a..b"})
    with pytest.raises(MissingColumnError, match=r"'response\.body\.where' \(position\) is missing"):
        drawn(tmp_path, "openai_batch", [batch_line("a1")], columns={"position": "response.body.where"})


# As OpenAI's guide to the Batch API prints them: a line of the output, of the error file, and of the input.
DOCUMENTED_OUTPUT = {
    "id": "batch_req_123",
    "custom_id": "a2",
    "response": {
        "status_code": 200,
        "request_id": "req_123",
        "body": {
            "id": "chatcmpl-123", "object": "chat.completion", "created": NOON, "model": "gpt-3.5-turbo-0125",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes."}, "logprobs": None,
                         "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 22, "completion_tokens": 2, "total_tokens": 24},
            "system_fingerprint": "fp_123",
        },
    },
    "error": None,
}  # fmt: skip
DOCUMENTED_ERROR = {
    "id": "batch_req_124",
    "custom_id": "a3",
    "response": None,
    "error": {
        "code": "batch_expired",
        "message": "This request could not be executed before the completion window.",
    },
}


def documented_input(custom_id: str, position: str = "nurse", **body: Any) -> dict[str, Any]:
    messages = [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": f"resume of {custom_id}"},
    ]
    asked = {
        "model": "gpt-3.5-turbo",
        "messages": messages,
        "max_tokens": 1,
        "metadata": {"position": position},
    }
    return {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": asked | body}


def joined(folder: Path, inputs: list[Any], lines: list[Any] | None = None, **source: Any):
    (folder / "input.jsonl").write_text("".join(json.dumps(line) + "\n" for line in inputs))
    (folder / "error.jsonl").write_text(json.dumps(DOCUMENTED_ERROR) + "\n")
    given = {
        "paths": ["log.jsonl", "error.jsonl"],
        "batch_inputs": ["input.jsonl"],
        "columns": {"position": "body.metadata.position"},
        "fields": ["body.messages[1].content"],
        "windowed": False,
    }
    return drawn(folder, "openai_batch", [DOCUMENTED_OUTPUT] if lines is None else lines, **given | source)


def test_a_documented_batch_is_joined_with_its_input_and_its_errors(tmp_path):
    rows = joined(
        tmp_path, [documented_input("a3", "driver"), documented_input("a2"), documented_input("a1")]
    )
    assert rows.position.to_dict() == {"a2": "nurse", "a3": "driver"}
    assert rows.recorded_response.isna().to_dict() == {"a2": False, "a3": True}
    shown = {key: json.loads(fields)["body.messages[1].content"] for key, fields in rows.fields.items()}
    assert shown == {"a2": "resume of a2", "a3": "resume of a3"}
    assert rows.recorded_model["a2"] == "gpt-3.5-turbo-0125"


def test_requests_without_an_answer_or_an_error_are_told_and_counted(tmp_path):
    inputs = [documented_input(f"a{n}") for n in range(1, 6)]
    joined(tmp_path, inputs)
    spec = load(
        tmp_path,
        source={
            "kind": "openai_batch",
            "paths": ["log.jsonl", "error.jsonl"],
            "batch_inputs": ["input.jsonl"],
            "columns": {"position": "body.metadata.position"},
            "fields": [],
            "windowed": False,
        },
        demographics=JOINED,
        groups={"provenance": "self_reported"},
    )
    told: list[str] = []
    run = Run.open(spec, WEEK, str(tmp_path / "store"), notify=told.append)
    output = sample(run)
    assert output.counts["requests_without_a_line"] == 3
    assert json.loads(output.artefacts["sample.json"])["requests_without_a_line"] == 3
    assert any("3 requests of source.batch_inputs have no line in source.paths" in line for line in told)
    run.stage("sample").commit(output, datetime.now(UTC))
    found: list[str] = []
    check_counts(run, "sample", sampled_counts(run), lambda path, detail: found.append(detail), sampled_too)
    assert found == []


def test_an_answer_without_its_request_is_told(tmp_path):
    with pytest.raises(
        CorruptFileError, match=r"error\.jsonl, line 1: no line of source\.batch_inputs has its custom_id"
    ):
        joined(tmp_path, [documented_input("a2")])


def test_inputs_that_are_none_or_doubled_are_told(tmp_path):
    with pytest.raises(CorruptFileError, match=r"input\.jsonl, line 1: not a line of a batch's input"):
        joined(tmp_path, [DOCUMENTED_OUTPUT])
    with pytest.raises(DuplicateIdError, match=r"input\.jsonl, line 2: its custom_id was already used"):
        joined(tmp_path, [documented_input("a2"), documented_input("a2")])


@pytest.mark.parametrize(
    "response", [None, {"status_code": 500, "request_id": "r", "body": {"error": {"code": "x"}}}]
)
def test_a_failed_line_whose_position_was_in_its_answer_says_where_else_to_take_it(tmp_path, response):
    failed = batch_line("a1", response=response, error={"code": "x"})
    with pytest.raises(
        MissingColumnError, match=r"its request failed, so there is no response\.body\.metadata.*batch_inputs"
    ):
        drawn(
            tmp_path,
            "openai_batch",
            [failed],
            columns={"position": "response.body.metadata.position"},
            windowed=False,
        )
    rows = drawn(tmp_path, "openai_batch", [failed, batch_line("a2")], columns={"position": {"value": "nurse"}},
                 windowed=False)  # fmt: skip
    assert rows.position.tolist() == ["nurse", "nurse"] and rows.recorded_response.isna().to_dict()["a1"]


def test_a_failed_line_needs_no_column_that_only_an_answer_has(tmp_path):
    lines = [batch_line("a1", response=None, error={"code": "x"}), batch_line("a2")]
    mapped = {
        "recorded_model": "response.body.model",
        "recorded_response": "response.body.choices[0].message.content",
    }
    rows = drawn(tmp_path, "openai_batch", lines, columns=mapped, windowed=False)
    assert rows.recorded_response.isna().to_dict() == {"a1": True, "a2": False}


def test_a_constant_time_dates_failed_lines_too(tmp_path):
    lines = [batch_line("a1", response=None, error={"code": "x"}), batch_line("a2")]
    rows = drawn(tmp_path, "openai_batch", lines, columns={"occurred_at": {"value": "2026-01-07"}})
    assert len(rows) == 2 and {one.isoformat() for one in rows.occurred_at} == {"2026-01-07T00:00:00+00:00"}


def attributes(**values: Any) -> list[dict[str, Any]]:
    return [
        {
            "key": key.replace("__", "."),
            "value": {"intValue": str(v)} if isinstance(v, int) else {"stringValue": v},
        }
        for key, v in values.items()
    ]


def span(
    number: int, person: str, *, seconds: int = NOON, events: list[Any] = (), **values: Any
) -> dict[str, Any]:
    about = {
        "gen_ai__operation__name": "chat",
        "gen_ai__request__model": "asked",
        "app__applicant": person,
        **values,
    }
    return {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": f"eee19b7ec3c1b17{number}",
        "name": "chat",
        "startTimeUnixNano": str(seconds * 10**9),
        "attributes": attributes(**about),
        "events": list(events),
    }


def export(*spans: dict[str, Any]) -> dict[str, Any]:
    resource = {"attributes": attributes(app__job="nurse")}
    return {
        "resourceSpans": [
            {"resource": resource, "scopeSpans": [{"scope": {"name": "x"}, "spans": list(spans)}]}
        ]
    }


def output(text: str) -> str:
    return json.dumps(
        [{"role": "assistant", "parts": [{"type": "text", "content": text}], "finish_reason": "stop"}]
    )


COLUMNS = {"application_id": "app.applicant", "position": "app.job"}


def test_spans_of_calls_to_a_model(tmp_path):
    choice = {"name": "gen_ai.choice", "attributes": attributes(message=json.dumps({"content": "No"}))}
    lines = [
        export(
            span(1, "a1", gen_ai__output__messages=output("Yes"), gen_ai__response__model="served"),
            span(2, "a2", events=[choice]),
            span(3, "a3", gen_ai__operation__name="embeddings"),
        ),
        export(span(4, "a3"), span(5, "a1", seconds=NOON + 40 * 86_400)),
    ]
    rows = drawn(tmp_path, "otel_genai", lines, columns=COLUMNS)
    found = rows.set_index("application_id")
    assert found.recorded_response.fillna("none").to_dict() == {"a1": "Yes", "a2": "No", "a3": "none"}
    assert found.recorded_model.to_dict() == {"a1": "served", "a2": "asked", "a3": "asked"}
    assert set(found.position) == {"nurse"} and found.sex["a1"] == "female"
    assert rows.index[0].startswith("5b8efff798038103d269b633813fc60c/")


@pytest.mark.parametrize(
    "line",
    [
        {},
        {"resourceSpans": 3},
        export({"spanId": "x"}),
        export(span(1, "a1") | {"traceId": None}),
        export(span(1, "a1") | {"spanId": ""}),
        export(span(1, "a1") | {"startTimeUnixNano": "9" * 30}),
    ],
)
def test_what_is_no_export_of_spans(tmp_path, line):
    if line == export({"spanId": "x"}):
        line["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"] = attributes(
            gen_ai__operation__name="chat"
        )
    with pytest.raises(CorruptFileError, match="line 1: not an export of spans"):
        drawn(tmp_path, "otel_genai", [line], columns=COLUMNS)


@pytest.mark.parametrize(
    "said",
    [
        "{",
        "Yes",
        '[{"role": "assistant", "content": "Yes"}]',
        '[{"parts": [{"type": "text", "content": null}]}]',
        '[{"parts": [{"type": "text", "content": "Yes \\ud83d"}]}]',
        "[" * 100_000,
    ],
)
def test_an_answer_that_is_not_as_the_conventions_have_it_is_named_untold(tmp_path, said):
    with pytest.raises(CorruptFileError, match=r"line 1: gen_ai\.output\.messages .* is not as") as caught:
        drawn(tmp_path, "otel_genai", [export(span(1, "a1", gen_ai__output__messages=said))], columns=COLUMNS)
    assert "Yes" not in str(caught.value)


def test_an_attribute_without_a_value_is_not_set_and_a_scope_may_have_no_spans(tmp_path):
    line = export(span(1, "a1", gen_ai__output__messages=output("Yes")))
    about = line["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"]
    about += [
        {"key": "gen_ai.response.id"},
        {"key": "x", "value": {"kvlistValue": {"values": [{"key": "y"}]}}},
    ]
    line["resourceSpans"][0]["scopeSpans"].append({"scope": {"name": "idle"}})
    rows = drawn(tmp_path, "otel_genai", [line], columns=COLUMNS)
    assert rows.recorded_response.tolist() == ["Yes"] and rows.application_id.tolist() == ["a1"]


def test_a_completion_of_no_year_is_told(tmp_path):
    line = batch_line("a1")
    line["response"]["body"]["created"] = 10**30
    with pytest.raises(CorruptFileError, match="line 1: created is a time beyond the year 9999"):
        drawn(tmp_path, "openai_batch", [line])


def test_a_line_that_is_nested_too_deep_is_told(tmp_path):
    (tmp_path / "log.jsonl").write_text('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}\n")
    with pytest.raises(CorruptFileError, match="line 1: JSON nested too deep"):
        list(TableFile(str(tmp_path / "log.jsonl")))
