"""The API backend against a misbehaving server and against a real one, both on loopback."""

from __future__ import annotations

import json
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from math import exp

import pytest

from audit_lib.errors import BackendError, SpecError
from audit_lib.records import from_parquet
from audit_lib.score import check_model, score_shard
from audit_lib.score.local.weights import resolve
from audit_lib.score.remote.chat_options import ChatOptions, chat_probe
from audit_lib.spec import Model
from tests.score.cases import messages, run_with, variant
from tests.score.conftest import SECRET
from tests.score.loopback import GOOD, Loopback, Reply, completion, loopback

pytest.importorskip("openai", reason="openai is not installed")


@pytest.fixture
def serve(monkeypatch) -> Iterator[Callable[..., Loopback]]:
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    with ExitStack() as servers:
        yield lambda behave: servers.enter_context(loopback(behave))


def remote(url: str, **options: object) -> dict[str, object]:
    options = {"api_key_env": "TEST_API_KEY", "base_url": url, "retries": 1, "timeout": 2.0, **options}
    return {"backend": "openai", "name": "model-1", "served": "any", "options": options}


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
    # vLLM closes the turn and begins another unless told so (0.32, chat_completion/protocol.py)
    assert (begun["continue_final_message"], begun["add_generation_prompt"]) == (True, False)
    assert not {"continue_final_message", "add_generation_prompt"} & set(plain)


PARTS = {"role": "assistant", "content": [{"type": "text", "text": "Y"}, {"type": "text", "text": "es"}]}


def test_azure_is_asked_with_the_version_of_its_api(tmp_path, serve):
    """As https://learn.microsoft.com/en-us/azure/ai-services/openai/reference says."""
    server = serve(lambda word, time: completion(GOOD))
    base_url = server.url.removesuffix("/v1") + "/openai/deployments/model-1"
    scores, _ = ask(tmp_path, base_url, ["a"], api_version="2024-10-21")
    assert scores.status["a"] == "ok"
    assert server.paths == ["/openai/deployments/model-1/chat/completions?api-version=2024-10-21"]
    assert server.headers[0]["api-key"] == SECRET
    probe = chat_probe(ChatOptions(base_url=base_url, api_version="2024-10-21", api_key_env="TEST_API_KEY"))
    assert probe.url.endswith("/openai/models?api-version=2024-10-21")


def test_the_version_in_the_url_is_refused_with_where_it_goes():
    options = {"base_url": "https://me.openai.azure.com/openai/deployments/d?api-version=2024-10-21"}
    with pytest.raises(SpecError, match=r"give it in model\.options\.api_version"):
        check_model(Model(backend="openai", name="m", options=options))


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
    "drip": (lambda t: (200, {"Drip": "0.02"}, completion(GOOD)[2]), "error", "timeout", 2),
    "duplicates": (lambda t: completion(GOOD, more={"id": "the-same"}), "ok", None, 1),
    "truncated": (lambda t: (200, {}, completion(GOOD)[2][:90]), "error", "cut short", 2),
    "oncecut": (lambda t: (200, {}, completion(GOOD)[2][: 90 if t == 1 else None]), "ok", None, 2),
    "empty": (lambda t: (200, {}, b""), "error", "cut short", 2),
    "html": (lambda t: (200, {}, b"<html>busy</html>"), "error", "the answer is not JSON", 1),
    "untyped": (lambda t: (200, {"Content-Type": ""}, completion(GOOD)[2]), "ok", None, 1),
    "plaintype": (lambda t: (200, {"Content-Type": "text/plain"}, completion(GOOD)[2]), "ok", None, 1),
    "oddusage": (lambda t: completion(GOOD, more={"usage": [1, 2]}), "ok", None, 1),
    "oddmark": (lambda t: completion(GOOD, more={"system_fingerprint": {"a": 1}}), "ok", None, 1),
    "parts": (lambda t: completion(GOOD, message=PARTS), "ok", None, 1),
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
        r"HTTP 400: key \[\.\.\.\]$",
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
    # it was used, so it could have leaked
    assert all(SECRET in headers["authorization"] for headers in server.headers)
    told = (
        caplog.text + "".join(capfd.readouterr()) + scores.to_csv() + output.artefacts["model.json"].decode()
    )
    kept = [path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert any(b"/ledger/" in str(p).encode() for p in (tmp_path / "store").rglob("*.jsonl"))
    assert SECRET.encode() not in b"".join(kept) and SECRET not in repr(output)
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


def test_a_ranking_that_is_cut_is_not_read(tmp_path, serve):
    server = serve(lambda word, time: completion(None, text="1. ann\n2. b", finish_reason="length"))
    scores, _ = ask(tmp_path, server.url, ["ann"], task="listwise")
    assert (scores.status["ann"], scores.detail["ann"]) == (
        "unparsed",
        "the answer was cut at its most tokens",
    )
    assert scores.score.isna()["ann"] and scores.text["ann"] == "1. ann\n2. b"


def test_only_as_many_sampled_answers_count_as_were_asked_for(tmp_path, serve):
    def behave(word: str, time: int) -> Reply:
        body = json.loads(completion(None)[2])
        choice = body["choices"][0]
        body["choices"] = [
            {**choice, "message": {"role": "assistant", "content": t}} for t in ("Yes", "No", "No")
        ]
        return 200, {}, json.dumps(body).encode()

    scores, _ = ask(tmp_path, serve(behave).url, ["a"], method="sampled", samples=2)
    assert (scores.score["a"], scores.label_mass["a"]) == (1.0, 1.0)


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


@pytest.mark.parametrize(
    ("top", "labels"),
    [
        ({"La": -0.02, "John": -4.5}, ["Lakisha", "John"]),
        ({" An": -0.1, " Both": -3.0}, ["Anna", "Both"]),
        ({"A": -0.1, "B": -3.0}, ["Ann", "A"]),
    ],
)
def test_a_label_of_several_tokens_is_never_read_from_the_first(tmp_path, serve, top, labels):
    server = serve(lambda word, time: completion(top))
    rows = [variant("a", messages=messages("a asks"))]
    prompt = {"template": "template.yaml", "labels": labels, "relevance": [0, 1]}
    run = run_with(tmp_path, rows, model=remote(server.url), score={"shards": 1}, prompt=prompt)
    row = from_parquet(score_shard(run, 0).artefacts["scores.parquet"]).iloc[0]
    assert row.status == "unparsed" and "labels of several tokens" in row.detail
    assert row.label_probabilities is None


def test_a_label_beyond_the_tokens_shown_is_no_zero_unless_it_hardly_can_be_more(tmp_path, serve):
    tops = {"sure": {"No": -0.01, "Maybe": -7.0}, "unsure": {"No": -1.0, "Maybe": -2.0, "x": -4.0}}
    scores, _ = ask(tmp_path, serve(lambda word, time: completion(tops[word])).url, list(tops))
    assert (scores.status["sure"], scores.score["sure"]) == ("ok", 0.0)
    assert (scores.status["unsure"], scores.label_mass["unsure"]) == ("unparsed", pytest.approx(exp(-1)))
    assert scores.detail["unsure"].startswith("label_below_top: 3 of 4 spellings")
    assert scores.score.isna()["unsure"] and scores.label_probabilities["unsure"] is None


@pytest.mark.parametrize("backend", ["openai", "openai_batch"])
def test_names_are_not_read_by_logprobs(tmp_path, backend):
    from types import SimpleNamespace

    from audit_lib.score import check_read

    def spec(answer: str, tie: str | None = None, **options: str) -> SimpleNamespace:
        model = SimpleNamespace(backend=backend, options=options)
        return SimpleNamespace(model=model, task="pairwise", prompt=SimpleNamespace(answer=answer, tie=tie))

    with pytest.raises(SpecError, match=r"prompt\.answer: name cannot be read .* use prompt\.answer: letter"):
        check_read(spec("name"))
    assert check_read(spec("letter")) is None
    assert check_read(spec("letter", tie="Equal")) is None
    with pytest.raises(SpecError, match=r"prompt\.tie: 'Both' begins with a letter of the candidates"):
        check_read(spec("letter", tie="Both"))
    assert check_read(spec("name", tie="Both", method="sampled")) is None


@pytest.mark.parametrize("top", [{" Yes": 0.5}, {" Yes": -0.01, "Yes": -0.01, " No": -0.5}])
def test_more_than_all_the_probability_is_an_error(tmp_path, serve, top):
    scores, _ = ask(tmp_path, serve(lambda word, time: completion(top)).url, ["a"])
    assert scores.status["a"] == "error"


def sampled(tmp_path, serve, choice: Callable[[int], Reply]):
    return ask(tmp_path, serve(lambda word, time: choice(time)).url, ["a"], method="sampled", samples=4)[0]


def test_refused_samples_are_counted_and_every_system_is_named(tmp_path, serve):
    def choice(time: int) -> Reply:
        reason = "content_filter" if time == 1 else "stop"
        return completion(None, text="Yes", finish_reason=reason, more={"model": f"m-{time % 2}"})

    scores = sampled(tmp_path, serve, choice)
    assert (scores.status["a"], scores.label_mass["a"], scores.model["a"]) == ("ok", 0.75, "m-0, m-1")


def test_mostly_refused_samples_are_a_refusal(tmp_path, serve):
    scores = sampled(
        tmp_path,
        serve,
        lambda t: completion(None, text="Yes", finish_reason="stop" if t == 1 else "content_filter"),
    )
    assert scores.status["a"] == "refused" and "3 of 4 sampled answers were refused" in scores.detail["a"]


def test_samples_that_did_not_come_are_an_error(tmp_path, serve):
    scores = sampled(
        tmp_path, serve, lambda t: (200, {}, b'{"choices": []}') if t == 1 else completion(None, text="Yes")
    )
    assert (scores.status["a"], scores.detail["a"]) == ("error", "3 of 4 sampled answers came")


HOSTILE = {
    "deep": (200, {}, b"[" * 200_000),
    "date": (429, {"Retry-After": "Mon, 05 Jan 2026 12:00:30 +99999999999999999999"}, b"{}"),
    "redirect": (307, {"Location": "http://127.0.0.1:9/x"}, b""),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_answer_is_one_error_row_and_the_others_stand(tmp_path, serve, kind):
    server = serve(lambda word, time: HOSTILE[kind] if word == "bad" else completion(GOOD))
    scores, _ = ask(tmp_path, server.url, ["good", "bad"])
    assert scores.status.to_dict() == {"good": "ok", "bad": "error"}


def test_a_text_in_parts_is_one_text_without_what_was_thought(tmp_path, serve):
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "No, no."}]},
        {"type": "text", "text": "1. a"},
        {"type": "text", "text": "nn"},
    ]
    server = serve(lambda word, time: completion(None, message={"role": "assistant", "content": parts}))
    scores, _ = ask(tmp_path, server.url, ["ann"], task="listwise")
    assert (scores.status["ann"], scores.text["ann"]) == ("ok", "1. ann")


@pytest.mark.parametrize("count", [float("inf"), -1_000_000, "many", True])
def test_usage_that_is_no_count_is_not_counted(tmp_path, serve, count):
    usage = {"usage": {"prompt_tokens": count, "completion_tokens": 1}}
    scores, _ = ask(tmp_path, serve(lambda w, t: completion(GOOD, text="\ud83d", more=usage)).url, ["a"])
    assert (scores.status["a"], scores.text["a"]) == ("ok", "?")


def test_an_echoed_key_is_masked(tmp_path, serve):
    server = serve(lambda word, time: completion(GOOD, text=f"key {SECRET}", more={"model": SECRET}))
    scores, _ = ask(tmp_path, server.url, ["a"])
    assert (scores.text["a"], scores.model["a"]) == ("key [key]", "[key]")


@pytest.mark.parametrize("key", ["sk-with-a-line\n", "sk with space", "sk-\u00e4bc"])
def test_a_key_that_no_header_can_carry_is_refused_untold(tmp_path, serve, monkeypatch, key):
    server = serve(lambda word, time: completion(GOOD))
    monkeypatch.setenv("TEST_API_KEY", key)
    with pytest.raises(BackendError, match="TEST_API_KEY .* no header can carry") as caught:
        ask(tmp_path, server.url, ["a"])
    assert key not in str(caught.value) and not server.bodies


@pytest.mark.parametrize("backend", ["openai", "openai_batch"])
@pytest.mark.parametrize(
    "field",
    [
        "model",
        "messages",
        "temperature",
        "seed",
        "n",
        "logprobs",
        "top_logprobs",
        "max_tokens",
        "max_completion_tokens",
        "stream",
    ],
)
def test_what_the_backend_writes_itself_is_not_replaced_by_extra_body(backend, field):
    model = Model(backend=backend, name="m", options={"extra_body": {"top_k": 1, field: 1}})
    with pytest.raises(SpecError, match=f"model.options.extra_body: {field} is written by the backend"):
        check_model(model)


def test_a_secret_in_extra_body_is_refused(tmp_path, serve):
    with pytest.raises(SpecError, match="api_key looks like a secret") as caught:
        ask(tmp_path, "http://127.0.0.1:9/v1", ["a"], extra_body={"inner": [{"api_key": SECRET}]})
    assert SECRET not in str(caught.value)


def test_failures_from_the_start_stop_the_shard(tmp_path, serve):
    server = serve(lambda word, time: (402, {}, b"{}"))
    with pytest.raises(BackendError, match=r"all of the first 5 answers were failures \(last: HTTP 402"):
        ask(tmp_path, server.url, [f"w{i:03}" for i in range(80)], give_up_after=5)
    assert len(server.bodies) < 40


def test_a_restart_with_only_a_failing_request_left_ends_with_its_row(tmp_path, serve):
    server = serve(lambda word, time: (503, {}, b"") if word == "bad" else completion(GOOD))
    for _ in range(2):
        scores, _ = ask(tmp_path, server.url, ["good", "bad"], retries=0)
        assert scores.status.to_dict() == {"bad": "error", "good": "ok"}
    assert server.asked == {"good": 1, "bad": 2}


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
        found = engine.passes.alone(tokens, [engine.tokenise(written) for written in (" No", " Yes")])
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
