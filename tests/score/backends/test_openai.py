"""The API backend against a misbehaving server and against a real one, both on loopback."""

from __future__ import annotations

import json
import logging
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import exp
from typing import Any

import pytest

from audit_lib.errors import BackendError
from audit_lib.records import from_parquet
from audit_lib.score import score_shard
from audit_lib.score.local.weights import resolve
from tests.score.cases import messages, run_with, variant
from tests.score.conftest import SECRET

pytest.importorskip("openai", reason="openai is not installed")

Reply = tuple[int, dict[str, str], bytes]


def completion(top: dict[str, float] | None, text: str = " Yes", **choice: Any) -> Reply:
    """Return a chat completion with log-probabilities of its first token."""
    logprobs = None
    if top is not None:
        tokens = [{"token": token, "logprob": value, "bytes": None} for token, value in top.items()]
        logprobs = {"content": [{"token": text, "logprob": -0.1, "bytes": None, "top_logprobs": tokens}]}
    first = {
        "index": 0,
        "finish_reason": "length",
        "message": {"role": "assistant", "content": text},
        "logprobs": logprobs,
        **choice,
    }
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "served-1", "choices": [first]}
    return 200, {}, json.dumps(body).encode()


GOOD = {" Yes": -1.0, "Yes": -3.0, " No": -2.0, " yes": -0.5, " perhaps": -4.0}


class Server(ThreadingHTTPServer):
    """Answers each request by what `behave` returns for its word and how often it was asked."""

    daemon_threads = True
    behave: Callable[[str, int], Reply | None]

    def __init__(self, behave: Callable[[str, int], Reply | None]) -> None:
        self.behave, self.asked, self.bodies, self.keys = behave, Counter(), [], []
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        word = body["messages"][1]["content"].split()[0]
        self.server.asked[word] += 1
        self.server.bodies.append(body)
        self.server.keys.append(self.headers["Authorization"])
        reply = self.server.behave(word, self.server.asked[word])
        if reply is None:
            self.connection.close()
            self.close_connection = True
            return
        status, headers, content = reply
        self.send_response(status)
        for name, value in {
            "Content-Length": str(len(content)),
            "Content-Type": "application/json",
            **headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def serve(monkeypatch) -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []
    monkeypatch.setenv("TEST_API_KEY", SECRET)

    def start(behave: Callable[[str, int], Reply | None]) -> Server:
        servers.append(Server(behave))
        threading.Thread(
            target=servers[-1].serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        return servers[-1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def remote(url: str, **options: object) -> dict[str, object]:
    options = {"api_key_env": "TEST_API_KEY", "base_url": url, "retries": 1, "timeout": 2.0, **options}
    return {"backend": "openai", "name": "model-1", "options": options}


def ask(folder, url: str, words: list[str], task: str = "pointwise", **options: object):
    rows = [variant(word, messages=messages(f"{word} applicant"), candidate=word) for word in words]
    run = run_with(folder, rows, task=task, model=remote(url, **options), score={"shards": 1})
    output = score_shard(run, 0)
    return from_parquet(output.artefacts["scores.parquet"]).set_index("variant_id"), output


def test_labels_as_written_and_after_a_space_are_merged(tmp_path, serve):
    server = serve(lambda word, time: completion(GOOD))
    scores, _ = ask(tmp_path, server.url, ["a"])
    yes, no = exp(-1) + exp(-3), exp(-2)
    assert scores.label_mass["a"] == pytest.approx(yes + no)
    assert scores.score["a"] == pytest.approx(yes / (yes + no))
    assert (scores.model["a"], scores.method["a"], scores.attempts["a"]) == ("served-1", "logprobs", 1)
    body = server.bodies[0]
    assert (body["logprobs"], body["top_logprobs"], body["max_completion_tokens"]) == (True, 20, 1)


def test_the_prefilled_turn_becomes_an_instruction_unless_the_server_goes_on_from_it(tmp_path, serve):
    server = serve(lambda word, time: completion(GOOD))
    for prefill in (False, True):
        (tmp_path / str(prefill)).mkdir()
        ask(tmp_path / str(prefill), server.url, ["a"], prefill=prefill, extra_body={"cache_prompt": False})
    plain, begun = server.bodies
    assert [m["role"] for m in plain["messages"]] == ["system", "user"]
    assert plain["messages"][1]["content"].endswith(
        "Answer with exactly one of these and nothing else: No, Yes."
    )
    assert [m["role"] for m in begun["messages"]] == ["system", "user", "assistant"]
    assert plain["cache_prompt"] is False


FAULTS: dict[str, tuple[Callable[[int], Reply | None], str, str | None, int]] = {
    "good": (lambda time: completion(GOOD), "ok", None, 1),
    "once429": (
        lambda t: (429, {"Retry-After": "0.05"}, b"{}") if t == 1 else completion(GOOD),
        "ok",
        None,
        2,
    ),
    "once500": (lambda t: (500, {}, b"") if t == 1 else completion(GOOD), "ok", None, 2),
    "oncereset": (lambda t: None if t == 1 else completion(GOOD), "ok", None, 2),
    "always429": (lambda t: (429, {}, b"{}"), "error", r"HTTP 429", 2),
    "always503": (lambda t: (503, {}, b"down"), "error", r"HTTP 503", 2),
    "resets": (lambda t: None, "error", "no connection", 2),
    "slow": (lambda t: time.sleep(1.2) or completion(GOOD), "error", "timeout", 2),
    "truncated": (lambda t: (200, {}, completion(GOOD)[2][:90]), "error", "not a chat completion", 1),
    "list": (lambda t: (200, {}, b"[1]"), "error", "not a chat completion", 1),
    "nochoices": (lambda t: (200, {}, b'{"choices": []}'), "error", "no choice", 1),
    "nologprobs": (lambda t: completion(None), "error", "no log-probabilities", 1),
    "emptytop": (lambda t: completion({}), "error", "no log-probabilities", 1),
    "nan": (lambda t: completion({" Yes": float("nan")}), "error", "not a chat completion", 1),
    "wronglabel": (lambda t: completion({" Maybe": -0.1}), "unparsed", "on any label", 1),
    "filtered": (lambda t: completion(GOOD, finish_reason="content_filter"), "refused", "refused", 1),
    "filtered400": (
        lambda t: (400, {}, b'{"error": {"code": "content_filter", "message": "x"}}'),
        "refused",
        "content_filter",
        1,
    ),
    "badrequest": (
        lambda t: (
            400,
            {},
            json.dumps({"error": {"message": f"key {SECRET}", "code": SECRET}}).encode(),
        ),
        "error",
        r"HTTP 400 \(no code\)",
        1,
    ),
}


def test_every_request_ends_as_one_row_and_no_secret_is_told(tmp_path, serve, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    server = serve(lambda word, time: FAULTS[word][0](time))
    scores, output = ask(tmp_path, server.url, list(FAULTS), timeout=0.6)
    assert sorted(scores.index) == sorted(FAULTS)
    for word, (_, status, detail, attempts) in FAULTS.items():
        assert scores.status[word] == status, word
        assert scores.attempts[word] == attempts == server.asked[word], word
        if detail is None:
            assert scores.score[word] > 0 and scores.detail.isna()[word], word
        else:
            assert re.search(detail, scores.detail[word]), word
            assert scores.score.isna()[word], word
    assert all(SECRET in key for key in server.keys)  # it was used, so it could have leaked
    told = (
        caplog.text + "".join(capfd.readouterr()) + scores.to_csv() + output.artefacts["model.json"].decode()
    )
    assert SECRET not in told
    assert "applicant" not in "".join(scores.detail.dropna())


@pytest.mark.parametrize(
    ("status", "message"),
    [(401, "the key in TEST_API_KEY is refused"), (403, "is refused"), (404, "no model 'model-1'")],
)
def test_what_would_fail_for_every_row_stops_the_shard(tmp_path, serve, status, message):
    body = json.dumps(
        {"error": {"message": f"Incorrect API key: {SECRET}", "code": "invalid_api_key"}}
    ).encode()
    server = serve(lambda word, time: (status, {}, body))
    with pytest.raises(BackendError, match=message) as caught:
        ask(tmp_path, server.url, ["a", "b"])
    assert SECRET not in repr(caught.value) and caught.value.__cause__ is None


def test_a_server_that_never_answers_stops_the_shard(tmp_path, serve):
    server = serve(lambda word, time: (503, {}, b""))
    with pytest.raises(BackendError, match="no answer to any of the first 20 requests, each tried 1 times"):
        ask(tmp_path, server.url, [f"w{i:02}" for i in range(60)], retries=0)
    assert len(server.asked) < 60  # and early


def test_no_server_at_all(tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    with pytest.raises(BackendError, match="no connection"):
        ask(tmp_path, "http://127.0.0.1:9/v1", ["a"], retries=0)


def test_a_missing_key_names_the_variable(tmp_path, monkeypatch):
    monkeypatch.delenv("TEST_API_KEY", raising=False)
    with pytest.raises(BackendError, match="TEST_API_KEY .*is not set"):
        ask(tmp_path, "http://127.0.0.1:9/v1", ["a"])


def test_sampled_labels_are_shares_of_the_answers(tmp_path, serve):
    def behave(word: str, time: int) -> Reply:
        body = json.loads(completion(None)[2])
        answers = ["Yes", "yes.", "No", "Well, yes"]
        body["choices"] = [
            {**body["choices"][0], "index": i, "message": {"role": "assistant", "content": answer}}
            for i, answer in enumerate(answers)
        ]
        return 200, {}, json.dumps(body).encode()

    server = serve(behave)
    scores, _ = ask(tmp_path, server.url, ["a"], method="sampled", samples=8, samples_per_call=4, seed=3)
    assert scores.label_mass["a"] == 0.75
    assert scores.score["a"] == pytest.approx(2 / 3)
    assert scores.method["a"] == "sampled"
    assert [(b["n"], b["temperature"], b["seed"]) for b in server.bodies] == [(4, 1.0, 3), (4, 1.0, 4)]


def test_a_ranking_is_asked_for_as_text(tmp_path, serve):
    server = serve(lambda word, time: completion(None, text="1. ann"))
    scores, _ = ask(tmp_path, server.url, ["ann"], task="listwise")
    assert (scores.status["ann"], scores.score["ann"], scores.method["ann"]) == ("ok", 1.0, "generated")
    assert "logprobs" not in server.bodies[0]


def test_no_more_requests_under_way_than_allowed(tmp_path, serve):
    now, most, lock = [0], [0], threading.Lock()

    def behave(word: str, asked: int) -> Reply:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.02)
        with lock:
            now[0] -= 1
        return completion(GOOD)

    scores, _ = ask(tmp_path, serve(behave).url, [f"w{i:02}" for i in range(30)], max_concurrency=3)
    assert most[0] == 3 and scores.status.eq("ok").all() and len(scores) == 30


@pytest.mark.slow
def test_a_real_server_agrees_with_the_local_backend(tmp_path, llama_server, monkeypatch):
    from audit_lib.score.local.engine import Engine

    monkeypatch.setenv("TEST_API_KEY", SECRET)
    words = ["careful", "hopeless", "experienced", "late", "honest"]
    rows = [
        variant(word, messages=messages(f"A {word} applicant with two years in a shop.")) for word in words
    ]
    tables = []
    for name, model in (
        (
            "api",
            remote(llama_server, prefill=True, extra_body={"cache_prompt": False}, timeout=60)
            | {"name": "smollm2"},
        ),
        ("local", {"backend": "transformers", "name": "smollm2-135m-instruct"}),
    ):
        (tmp_path / name).mkdir()
        run = run_with(tmp_path / name, rows, model=model, score={"shards": 1})
        tables.append(from_parquet(score_shard(run, 0).artefacts["scores.parquet"]).set_index("variant_id"))
    api, local = tables
    assert api.status.eq("ok").all() and set(api.model) == {"smollm2"}
    engine = Engine(resolve("smollm2-135m-instruct", None).folder, device="cpu", threads=1)
    differences = []
    for row in rows:
        tokens = engine.tokenise(engine.render(json.loads(row["messages"])))
        found = engine.alone(tokens, [engine.tokenise(written) for written in (" No", " Yes")])
        raw = api.label_mass[row["variant_id"]] * api.label_probabilities[row["variant_id"]]
        differences += [abs(a - b) for a, b in zip(raw, found.values(), strict=True)]
    print(f"largest difference in a label's probability: {max(differences):.1e}")
    assert max(differences) < 2e-4
    # "Yes" and "No" without a space are beyond the 20 tokens that the API shows
    hidden = local.label_mass - api.label_mass
    assert hidden.between(0, 0.005).all()
    assert (api.score - local.score).abs().max() < 0.005
    assert api.score.max() - api.score.min() > 0.01  # the prompts tell the answers apart


@pytest.mark.slow
def test_a_real_server_answers_the_same_twice_and_samples_labels(tmp_path, llama_server, monkeypatch):
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    served = remote(llama_server, prefill=True, extra_body={"cache_prompt": False}, timeout=60)
    outputs = []
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        _, output = ask(
            tmp_path / folder,
            llama_server,
            ["careful", "late"],
            **served["options"] | {"base_url": llama_server},
        )
        outputs.append(output.artefacts["scores.parquet"])
    assert outputs[0] == outputs[1]
    sampled, _ = ask(
        tmp_path, llama_server, ["careful"], method="sampled", samples=8, prefill=True, timeout=60, seed=1
    )
    assert sampled.method["careful"] == "sampled"
    assert sampled.label_mass["careful"] * 8 % 1 == 0


@pytest.mark.slow
def test_a_real_server_ranks_in_words(tmp_path, llama_server, monkeypatch):
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    asked = "Repeat this list exactly:\n1. Ann Lee\n2. Bo Chi"
    rows = [
        variant(
            name, request_id="r1", order_shown=i, candidate=name, messages=messages(asked, "You copy lists.")
        )
        for i, name in enumerate(["Bo Chi", "Ann Lee"])
    ]
    model = remote(llama_server, prefill=False, max_tokens=40, timeout=60)
    run = run_with(
        tmp_path,
        rows,
        task="listwise",
        model=model,
        score={"shards": 1},
        prompt={"template": "template.yaml"},
    )
    scores = from_parquet(score_shard(run, 0).artefacts["scores.parquet"]).set_index("variant_id")
    assert scores.method.eq("generated").all() and scores.text.str.len().gt(0).all()
    assert set(scores.status) <= {"ok", "unranked", "unparsed"}
    assert scores.status.eq("unparsed").all() or sorted(scores.score) == [1.0, 2.0]
