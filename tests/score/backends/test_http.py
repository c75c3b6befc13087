"""A user's own endpoint, on loopback: what is sent, what is read, and how it fails."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pandas as pd
import pytest

from audit_lib.errors import BackendError, SpecError
from audit_lib.records import from_parquet
from audit_lib.score import check_model, score_shard
from audit_lib.spec import Model
from tests.score.cases import JOB, messages, run_with, variant
from tests.score.conftest import SECRET
from tests.score.loopback import Loopback, Reply, loopback

pytest.importorskip("httpx2", reason="httpx2 is not installed")
BODY = {
    "text": "{{user}}",
    "job": {"about": ["{{system}}"]},
    "n": 3,
    "turns": "{{messages}}",
    "of": "{{ labels }}",
}


@pytest.fixture
def serve(monkeypatch) -> Iterator[Callable[..., Loopback]]:
    monkeypatch.setenv("TOOL_TOKEN", SECRET)
    with ExitStack() as servers:
        yield lambda behave: servers.enter_context(loopback(behave))


def answer(content: Any) -> Reply:
    return 200, {}, json.dumps(content).encode()


def ask(folder, server: Loopback, words: list[str], task: str = "pointwise", **options: Any):
    options = {
        "url": server.url,
        "body": BODY,
        "headers": {"Authorization": "Bearer ${TOOL_TOKEN}"},
        "retries": 1,
        "timeout": 1.0,
        **options,
    }
    rows = [
        variant(word, messages=messages(f"{word} applicant {{{{user}}}}"), candidate=word) for word in words
    ]
    model = {"backend": "http", "name": "tool-1", "served": "any", "options": options}
    output = score_shard(run_with(folder, rows, model=model, task=task, score={"shards": 1}), 0)
    return from_parquet(output.artefacts["scores.parquet"]).set_index("variant_id"), output


def test_the_template_is_filled_once_and_the_score_is_the_tools_own(tmp_path, serve):
    server = serve(lambda word, asked: answer({"result": [{"score": 87.5, "version": "v9"}]}))
    scores, output = ask(
        tmp_path, server, ["ann"], score_path="$.result[0].score", model_path="result[0].version"
    )
    assert (scores.score["ann"], scores.model["ann"], scores.method["ann"]) == (87.5, "v9", "endpoint")
    (body,) = server.bodies
    assert body["text"] == "ann applicant {{user}}", "braces of an applicant's are text"
    assert body["job"] == {"about": [JOB]} and body["n"] == 3 and body["of"] == ["No", "Yes"]
    assert [turn["role"] for turn in body["turns"]] == ["system", "user", "assistant"]
    assert server.headers[0]["authorization"] == f"Bearer {SECRET}"
    assert "${TOOL_TOKEN}" in output.artefacts["model.json"].decode()


@pytest.mark.parametrize(
    ("content", "selected"),
    [({"d": "hire"}, True), ({"d": "no"}, False), ({"d": 1}, True)],
)
def test_a_decision_alone_is_scored_1_and_0(tmp_path, serve, content, selected):
    server = serve(lambda word, asked: answer(content))
    scores, _ = ask(tmp_path, server, ["ann"], decision_path="d", selected_values=["hire", 1])
    assert bool(scores.selected["ann"]) is selected and scores.score["ann"] == float(selected)


@pytest.mark.parametrize(
    "content", [{"d": None}, {"d": {"a": 1}}, {"d": ["hire"]}, {"d": True}, {"d": "hier"}]
)
def test_what_is_no_decision_is_never_a_rejection(tmp_path, serve, content):
    server = serve(lambda word, asked: answer(content))
    scores, _ = ask(
        tmp_path, server, ["ann"], decision_path="d", selected_values=["hire"], rejected_values=["no"]
    )
    assert scores.status["ann"] == "unparsed" and pd.isna(scores.selected["ann"])


def test_a_text_that_begins_with_a_label_is_that_label(tmp_path, serve):
    server = serve(lambda word, asked: answer({"t": {"ann": "Yes, she fits", "bo": "no", "cy": "Hm"}[word]}))
    scores, _ = ask(tmp_path, server, ["ann", "bo", "cy"], text_path="t")
    assert scores.status.to_dict() == {"ann": "ok", "bo": "ok", "cy": "unparsed"}
    assert scores.score[["ann", "bo"]].tolist() == [1.0, 0.0]


def test_half_of_a_surrogate_pair_and_a_key_given_twice_end_as_rows(tmp_path, serve):
    contents = {
        "ann": b'{"t": "Yes, \\ud83d", "m": "v\\ude00"}',
        "bo": b'{"t": "Yes", "t": "No", "m": "v"}',
        "cy": b'{"t": "No", "m": "v", "more": [{"a": 1, "a": 1}]}',
    }
    server = serve(lambda word, asked: (200, {}, contents[word]))
    scores, _ = ask(tmp_path, server, list(contents), text_path="t", model_path="m")
    assert (scores.status["ann"], scores.text["ann"], scores.model["ann"]) == ("ok", "Yes, ?", "v?")
    for word in ("bo", "cy"):
        assert (scores.status[word], scores.attempts[word]) == ("unparsed", 1)
        assert "gives a key twice" in scores.detail[word] and pd.isna(scores.score[word])


def test_a_ranking_is_read_from_a_text(tmp_path, serve):
    server = serve(lambda word, asked: answer({"t": "1. ann"}))
    scores, _ = ask(tmp_path, server, ["ann"], task="listwise", text_path="t")
    assert (scores.status["ann"], scores.score["ann"]) == ("ok", 1.0)


FAULTS: dict[str, tuple[Callable[[int], Reply | None], str, str | None, int]] = {
    "good": (lambda t: answer({"s": 0.5}), "ok", None, 1),
    "once429": (lambda t: (429, {"Retry-After": "0.05"}, b"") if t == 1 else answer({"s": 1}), "ok", None, 2),
    "once500": (lambda t: (500, {}, b"") if t == 1 else answer({"s": 1}), "ok", None, 2),
    "oncereset": (lambda t: None if t == 1 else answer({"s": 1}), "ok", None, 2),
    "always429": (lambda t: (429, {}, b""), "error", "HTTP 429", 2),
    "resets": (lambda t: None, "error", "no connection", 2),
    "drip": (lambda t: (200, {"Drip": "0.3"}, answer({"s": 1})[2]), "error", "timeout", 2),
    "oncecut": (lambda t: (200, {}, b'{"s": 0.') if t == 1 else answer({"s": 1}), "ok", None, 2),
    "truncated": (lambda t: (200, {}, b'{"s": 0.'), "error", "cut short", 2),
    "empty": (lambda t: (200, {}, b""), "error", "cut short", 2),
    "html": (lambda t: (200, {}, b"<html>"), "error", "not JSON", 1),
    "absent": (lambda t: answer({"error": "overloaded"}), "error", "no score at s", 1),
    "list": (lambda t: answer([1]), "error", "no score at s", 1),
    "words": (lambda t: answer({"s": "high"}), "unparsed", "not a number", 1),
    "truth": (lambda t: answer({"s": True}), "unparsed", "not a number", 1),
    "nan": (lambda t: (200, {}, b'{"s": NaN}'), "unparsed", "not a number", 1),
    "bad": (lambda t: (422, {}, SECRET.encode()), "error", "HTTP 422", 1),
    "moved": (lambda t: (302, {"Location": "http://127.0.0.1:9/"}, b""), "error", "HTTP 302", 1),
}


def test_every_request_ends_as_one_row_and_no_secret_is_told(tmp_path, serve, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    server = serve(lambda word, asked: FAULTS[word][0](asked))
    scores, output = ask(tmp_path, server, list(FAULTS), score_path="s")
    assert sorted(scores.index) == sorted(FAULTS)
    for word, (_, status, detail, attempts) in FAULTS.items():
        assert scores.status[word] == status, word
        assert scores.attempts[word] == attempts == server.asked[word], word
        assert scores.score.isna()[word] == (status != "ok"), word
        assert (detail is None and scores.detail.isna()[word]) or detail in scores.detail[word], word
    kept = "".join(
        path.read_text(errors="replace") for path in (tmp_path / "store").rglob("*") if path.is_file()
    )
    told = caplog.text + "".join(capfd.readouterr()) + scores.to_csv() + repr(output) + kept
    assert SECRET not in told
    assert "applicant" not in caplog.text + "".join(scores.detail.dropna())


@pytest.mark.parametrize(("status", "message"), [(401, "secret .* is refused"), (404, "no such endpoint")])
def test_what_would_fail_for_every_row_stops_the_shard(tmp_path, serve, status, message):
    server = serve(lambda word, asked: (status, {}, SECRET.encode()))
    with pytest.raises(BackendError, match=message) as caught:
        ask(tmp_path, server, ["a", "b"], score_path="s")
    assert SECRET not in repr(caught.value)


def test_a_missing_secret_names_the_variable(tmp_path, serve, monkeypatch):
    monkeypatch.delenv("TOOL_TOKEN")
    server = serve(lambda word, asked: answer({}))
    with pytest.raises(BackendError, match="TOOL_TOKEN .*is not set"):
        ask(tmp_path, server, ["a"], score_path="s")
    assert not server.asked


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"headers": {"X-Api-Key": "sk-123"}}, "looks like a secret"),
        ({"headers": {"Authorization": "Bearer sk-123 ${X}"}}, "Authorization looks like a secret"),
        ({"body": {"api_key": "sk-123"}}, "api_key looks like a secret"),
        ({"body": {"auth": {"password": "sk-123"}}}, "password looks like a secret"),
        ({"body": {"a": "{{usr}}"}}, "did you mean 'user'"),
        ({"url": "https://u:p@host/x"}, "must not hold a user"),
        ({"url": "https://host/x?key=1"}, "must not hold"),
        ({"score_path": "a..b"}, "model.options: score_path: .* is not a path"),
        ({"score_path": None}, "needs score_path, decision_path or text_path"),
        ({"verb": "GET"}, "verb"),
        ({"body": {"t": "constant"}}, "model.options.body: holds no slot of the prompt"),
        ({"body": {"{{user}}": "{{model}} {{labels}}"}}, "holds no slot of the prompt"),
        ({"headers": {"A": "x\r\nEvil: y"}}, "model.options.headers: the value of A"),
        ({"timeout": float("inf")}, "model.options.timeout: Input should be a finite number"),
        ({"deadline": float("inf")}, "model.options.deadline: Input should be a finite number"),
        ({"score_path": None}, "^model.options: needs score_path"),
        (
            {"body": {"t": "{{user}}", "note": "Bearer ${KEY}"}},
            "model.options.body: note holds .*as the whole value",
        ),
        ({"selected_values": []}, "model.options.selected_values: names no value"),
        ({"selected_values": [None]}, "model.options.selected_values: holds null"),
        ({"rejected_values": [[1]]}, "model.options.rejected_values: holds null, a list"),
        (
            {"selected_values": ["y", 1], "rejected_values": ["n", 1]},
            "rejected_values: 1 is one of selected_values",
        ),
    ],
)
def test_wrong_options_are_refused(options, message):
    options = {"url": "https://host/x", "body": BODY, "score_path": "s", **options}
    with pytest.raises(SpecError, match=message) as caught:
        check_model(Model(backend="http", name="tool", options=options))
    assert "sk-123" not in str(caught.value)


def test_a_secret_in_the_body_is_named_and_masked_where_it_is_repeated(tmp_path, serve, monkeypatch):
    monkeypatch.setenv("BODY_KEY", other := "body-secret-0123")
    said = {"s": 0.5, "t": f"you sent {SECRET} and {other}", "v": f"v1 {other}"}
    server = serve(lambda word, asked: answer(said) if word == "ann" else (400, {}, other.encode()))
    body = {"text": "{{user}}", "auth": {"api_key": "${BODY_KEY}"}, "note": "costs $5 {a piece}"}
    scores, output = ask(
        tmp_path, server, ["ann", "bo"], score_path="s", text_path="t", model_path="v", body=body
    )
    assert server.bodies[0]["auth"] == {"api_key": other} and server.bodies[0]["note"] == body["note"]
    assert scores.text["ann"] == "you sent [key] and [key]" and scores.model["ann"] == "v1 [key]"
    kept = b"".join(path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file())
    for secret in (SECRET, other):
        assert secret.encode() not in kept and secret not in repr(output) + scores.to_csv()
    assert "${BODY_KEY}" in output.artefacts["model.json"].decode()


def test_an_applicant_s_text_never_stands_for_a_variable(tmp_path, serve):
    server = serve(lambda word, asked: answer({"s": 1}))
    rows = [variant("a", messages='[{"role":"user","content":"${TOOL_TOKEN}"}]')]
    options = {"url": server.url, "body": {"text": "{{user}}"}, "score_path": "s"}
    model = {"backend": "http", "name": "tool-1", "served": "any", "options": options}
    score_shard(run_with(tmp_path, rows, model=model, score={"shards": 1}), 0)
    assert server.bodies == [{"text": "${TOOL_TOKEN}"}]


@pytest.mark.parametrize("value", ["Bearer two-words-0123", "one-word-0123"])
def test_a_whole_header_may_be_a_variable(tmp_path, serve, monkeypatch, value):
    monkeypatch.setenv("TOOL_TOKEN", value)
    server = serve(lambda word, asked: answer({"s": 1, "t": value.split()[-1]}))
    headers = {"Authorization": "${TOOL_TOKEN}"}
    scores, _ = ask(tmp_path, server, ["a"], score_path="s", text_path="t", headers=headers)
    assert server.headers[0]["authorization"] == value and scores.text["a"] == "[key]"


@pytest.mark.parametrize("value", ["with-a-line\n", " led", "\u00e4bc"])
def test_a_secret_that_no_header_can_carry_is_refused_untold(tmp_path, serve, monkeypatch, value):
    monkeypatch.setenv("TOOL_TOKEN", value)
    server = serve(lambda word, asked: answer({"s": 1}))
    with pytest.raises(BackendError, match="TOOL_TOKEN .* no header can carry") as caught:
        ask(tmp_path, server, ["a"], score_path="s")
    assert value not in str(caught.value) and not server.bodies


def test_an_answer_that_is_too_large_or_compressed_is_a_row(tmp_path, serve):
    import gzip

    bomb = gzip.compress(b'{"s": 1, "x": "' + b"a" * 2_000_000 + b'"}')

    def behave(word: str, asked: int) -> Reply:
        if word == "ann":
            return answer({"s": 1})
        return (
            (200, {"Content-Encoding": "gzip"}, bomb) if word == "bo" else answer({"s": 1, "x": "a" * 2000})
        )

    scores, _ = ask(tmp_path, serve(behave), ["ann", "bo", "cy"], score_path="s", max_answer_bytes=1000)
    assert scores.status.to_dict() == {"ann": "ok", "bo": "error", "cy": "error"}
    assert "compressed" in scores.detail["bo"] and "max_answer_bytes (1,000)" in scores.detail["cy"]


def test_one_request_that_the_tool_turns_away_is_a_row(tmp_path, serve):
    server = serve(lambda word, asked: (403, {}, b"") if word == "bo" else answer({"s": 1}))
    scores, _ = ask(tmp_path, server, ["ann", "bo", "cy"], score_path="s")
    assert scores.status.to_dict() == {"ann": "ok", "bo": "error", "cy": "ok"}


def test_an_answer_without_anything_that_is_read_is_a_failure_and_asked_again(tmp_path, serve):
    """A tool that is overloaded may say so with HTTP 200; that must not be kept as its answer."""
    said = {
        "ann": [{"error": "overloaded"}, {"s": 1, "t": "a"}],
        "bo": [{"t": "b"}],
        "cy": [{"s": 2, "t": "c"}],
    }
    server = serve(lambda word, asked: answer(said[word][min(asked, len(said[word])) - 1]))
    rows = [variant(word, messages=messages(f"{word} applicant"), candidate=word) for word in said]
    options = {"url": server.url, "body": {"text": "{{user}}"}, "score_path": "s", "text_path": "t"}
    model = {"backend": "http", "name": "tool-1", "served": "any", "options": options}
    run = run_with(tmp_path, rows, model=model, score={"shards": 1})
    tables = [
        from_parquet(score_shard(run, 0).artefacts["scores.parquet"]).set_index("variant_id")
        for _ in range(2)
    ]
    assert tables[0].status.to_dict() == {"ann": "error", "bo": "unparsed", "cy": "ok"}
    assert tables[0].detail["ann"] == "the answer has no score at s, no text at t"
    assert tables[1].status.to_dict() == {"ann": "ok", "bo": "unparsed", "cy": "ok"}
    assert server.asked == {"ann": 2, "bo": 1, "cy": 1}


def test_one_and_true_are_two_values_of_a_decision(tmp_path, serve):
    server = serve(lambda word, asked: answer({"d": word == "ann" or 1}))
    scores, _ = ask(
        tmp_path, server, ["ann", "bo"], decision_path="d", selected_values=[True], rejected_values=[1]
    )
    assert scores.selected.to_dict() == {"ann": True, "bo": False}


def test_the_score_of_a_canary_is_kept(tmp_path, serve):
    server = serve(lambda word, asked: answer({"s": 0.25}))
    options = {"url": server.url, "body": {"text": "{{user}}"}, "score_path": "s"}
    model = {"backend": "http", "name": "tool-1", "served": "any", "options": options}
    rows = [variant("a", messages=messages("ann applicant"))]
    run = run_with(tmp_path, rows, model=model, score={"shards": 1, "canaries": ["canary text"]})
    (entry,) = json.loads(score_shard(run, 0).artefacts["canaries.json"])
    assert (entry["status"], entry["score"]) == ("ok", 0.25)
