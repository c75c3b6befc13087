"""Providers through pydantic-ai: models that think, and whatever a server may do, on loopback."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from audit_lib.canonical import canonical_json, sha256
from audit_lib.errors import BackendError, SpecError
from audit_lib.preflight import preflight
from audit_lib.records import from_parquet
from audit_lib.score import check_model, score_shard
from audit_lib.score.remote.asker import FailedError
from audit_lib.score.remote.attachments import require_sent
from audit_lib.spec import Model, load_spec
from tests.score.audits import WINDOW, open_audit, up_to, write_audit
from tests.score.cases import messages, run_with, variant
from tests.score.chat_shapes import VLLM, MistralChat, OSeries, ThinkingServer, serving
from tests.score.conftest import SECRET
from tests.score.provider_shapes import Anthropic, Bedrock, Gemini

pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")

SHAPES: dict[str, tuple[type[ThinkingServer], str, dict[str, Any]]] = {
    "anthropic": (Anthropic, "claude-haiku-4-5", {"effort": "low", "thinking_tokens": 1200}),
    "google": (Gemini, "gemini-2.5-flash", {"thinking_tokens": 400}),
    "bedrock": (Bedrock, "us.amazon.nova-pro-v1:0", {"thinking_tokens": 400, "region": "us-east-1"}),
    "mistral": (MistralChat, "magistral-medium-latest", {"thinking_tokens": 400}),
    "openai": (OSeries, "o4-mini", {"thinking_tokens": 400}),
    "ollama": (VLLM, "qwen3", {"thinking_tokens": 400}),
}
NEEDS = {"anthropic": "anthropic", "google": "google.genai", "bedrock": "boto3", "mistral": "mistralai"}


def _installed(shape: str) -> bool:
    try:
        return shape not in NEEDS or importlib.util.find_spec(NEEDS[shape]) is not None
    except ModuleNotFoundError:
        return False


every_shape = pytest.mark.parametrize(
    "shape",
    [
        pytest.param(
            name, marks=pytest.mark.skipif(not _installed(name), reason=f"{name}'s library is not installed")
        )
        for name in SHAPES
    ],
)


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ThinkingServer]]:
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK", raising=False)
    # Bedrock takes a key over https alone; what it signs with is never sent.
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDLOOPBACK")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    with ExitStack() as servers:
        yield lambda shape: servers.enter_context(serving(SHAPES[shape][0]()))


def section(shape: str, server: ThinkingServer, **options: Any) -> dict[str, Any]:
    _, name, own = SHAPES[shape]
    # Their libraries add the version of the API themselves.
    root = server.url if shape in ("openai", "ollama") else server.url.removesuffix("/v1")
    given = {"provider": shape, "api_key_env": "TEST_API_KEY", "base_url": root, "retries": 1, "timeout": 5.0}
    if shape == "bedrock":
        del given["api_key_env"]
    return {"backend": "pydantic_ai", "name": name, "served": "any", "options": given | own | options}


def scored(
    folder: Path, shape: str, server: ThinkingServer, count: int = 8, **options: Any
) -> tuple[pd.DataFrame, Any]:
    rows = [variant(f"w{i:02}", messages=messages(f"w{i:02} asks")) for i in range(count)]
    run = run_with(folder, rows, model=section(shape, server, **options), score={"shards": 1})
    output = score_shard(run, 0)
    return from_parquet(output.artefacts["scores.parquet"]).set_index("variant_id"), output


def of_rows(server: ThinkingServer) -> list[Any]:
    return [body for body in server.bodies if "asks" in json.dumps(body)]


@every_shape
def test_labels_are_read_and_what_was_asked_is_what_the_spec_says(tmp_path, serve, shape):
    server = serve(shape)
    scores, output = scored(tmp_path, shape, server, samples=5)
    assert scores.detail.isna().all() and scores.status.eq("ok").all() and scores.label_mass.eq(1.0).all()
    assert scores.score.nunique() > 1 and scores.method.eq("sampled").all()
    found = json.loads(output.artefacts["capabilities.json"])["capabilities"]
    assert found["thinks"] is True and found["logprobs"] is False and found["several"] is False
    for body in of_rows(server):
        text = json.dumps(body)
        assert (
            "You screen applicants." in text
            and "Answer with exactly one of these and nothing else: No, Yes." in text
        )
    kept = [path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert SECRET.encode() not in b"".join(kept) and SECRET not in repr(output)


@pytest.mark.slow  # whole pools of pairs at each of six servers, twice
@every_shape
@pytest.mark.parametrize("structured", ["auto", "never"])
@pytest.mark.parametrize("task", ["pairwise", "listwise"])
def test_pairs_and_lists_are_readable(tmp_path, serve, shape, structured, task):
    server = serve(shape)
    model = section(shape, server, samples=1, structured=structured, max_tokens=100)
    run = open_audit(tmp_path, task, model=model, sample={"size": 1, "strata": []}, score={"shards": 1})
    up_to(run, "scores")
    name = "pairs.parquet" if task == "pairwise" else "scores.parquet"
    table = from_parquet(run.stage("scores/0").read(name))
    read = table["answer"].ne("unparsed") if task == "pairwise" else table["status"].eq("ok")
    assert len(table) >= 8 and read.mean() >= 0.99


@pytest.mark.slow  # asks until a budget of tens of thousands of tokens is used up
@every_shape
def test_spending_never_passes_the_cap(tmp_path, serve, shape):
    server = serve(shape)
    cap = 12 * (SHAPES[shape][2]["thinking_tokens"] + 100) + 40_000
    with pytest.raises(BackendError, match="the budget is used up"):
        scored(tmp_path, shape, server, count=400, samples=1, max_tokens_total=cap)
    assert server.generated <= cap and len(of_rows(server)) > 5


@every_shape
def test_tokens_are_counted_as_the_server_generated_them(tmp_path, serve, shape):
    server = serve(shape)
    _, output = scored(tmp_path, shape, server, samples=2)
    lines = [json.loads(line) for path in (tmp_path / "store").rglob("*.jsonl") for line in path.open()]
    kept = sum(line["record"]["response"]["completion_tokens"] for line in lines)
    probed = json.loads(output.artefacts["capabilities.json"])["capabilities"]["completion_tokens"]
    assert kept + probed == server.generated


@pytest.mark.parametrize("shape", ["google", "bedrock", "openai", "mistral"])
def test_a_model_that_thinks_without_a_budget_is_refused_before_a_row_is_paid(tmp_path, serve, shape):
    if not _installed(shape):
        pytest.skip(f"{shape}'s library is not installed")
    server = serve(shape)
    with pytest.raises(BackendError, match=r"model\.options\.thinking_tokens: .* thinks .* give a number"):
        scored(tmp_path, shape, server, thinking_tokens=None)
    assert not of_rows(server)


@every_shape
def test_log_probabilities_are_refused_before_a_row_is_paid(tmp_path, serve, shape):
    server = serve(shape)
    with pytest.raises((BackendError, SpecError), match=r"method: sampled"):
        scored(tmp_path, shape, server, method="logprobs")
    assert not of_rows(server)


FAULTS: dict[str, tuple[Callable[[int, bytes], Any], str, str | None, int]] = {
    "good": (lambda t, right: True, "ok", None, 1),
    "once429": (lambda t, right: (429, {"Retry-After": "0.05"}, b"{}") if t == 1 else True, "ok", None, 2),
    "once500": (lambda t, right: (500, {}, b"") if t == 1 else True, "ok", None, 2),
    "once503": (lambda t, right: (503, {}, b"<html>busy</html>") if t == 1 else True, "ok", None, 2),
    "oncereset": (lambda t, right: None if t == 1 else True, "ok", None, 2),
    "oncecut": (lambda t, right: (200, {}, right[:60]) if t == 1 else True, "ok", None, 2),
    "date": (
        lambda t, right: (429, {"Retry-After": "Mon, 05 Jan 2026 12:00:30 +99999999999999999999"}, b"{}"),
        "error",
        "HTTP 429",
        2,
    ),
    "busy529": (lambda t, right: (529, {}, b'{"type": "error"}') if t == 1 else True, "ok", None, 2),
    "always429": (lambda t, right: (429, {}, b"{}"), "error", "HTTP 429", 2),
    "resets": (lambda t, right: None, "error", "no connection", 2),
    "drip": (lambda t, right: (200, {"Drip": "0.05"}, right), "error", "timeout", 2),
    "truncated": (lambda t, right: (200, {}, right[:60]), "error", "cut short", 2),
    "empty": (lambda t, right: (200, {}, b""), "error", "cut short", 2),
    "html": (lambda t, right: (200, {}, b"<html>busy</html>"), "error", "not JSON", 1),
    "list": (lambda t, right: (200, {}, b"[1]"), "error", "", 1),
    "nothing": (lambda t, right: (200, {}, b"{}"), "error", "", 1),
    "deep": (lambda t, right: (200, {}, b"[" * 200_000), "error", "not JSON", 1),
    "large": (lambda t, right: (200, {}, b" " * 300_000 + right), "error", "larger than", 1),
    "untyped": (lambda t, right: (200, {"Content-Type": ""}, right), "ok", None, 1),
    "moved": (
        lambda t, right: (307, {"Location": "http://127.0.0.1:9/x"}, b""),
        "error",
        "redirect",
        1,
    ),
    "bad": (
        lambda t, right: (400, {}, json.dumps({"error": {"message": f"key {SECRET} of applicant"}}).encode()),
        "error",
        "HTTP 400",
        1,
    ),
}


@every_shape
def test_every_request_ends_as_one_row_and_no_secret_is_told(tmp_path, serve, shape, caplog, capfd):
    server = serve(shape)

    def breaks(word: str, time: int, right: bytes) -> Any:
        return FAULTS[word][0](time, right) if word in FAULTS else True

    server.breaks = breaks
    rows = [variant(word, messages=messages(f"{word} asks an applicant")) for word in FAULTS]
    options = {"samples": 1, "timeout": 1.5, "max_answer_bytes": 200_000, "max_concurrency": 4}
    run = run_with(tmp_path, rows, model=section(shape, server, **options), score={"shards": 1})
    output = score_shard(run, 0)
    scores = from_parquet(output.artefacts["scores.parquet"]).set_index("variant_id")
    assert sorted(scores.index) == sorted(FAULTS)
    for word, (_, status, detail, attempts) in FAULTS.items():
        assert scores.status[word] == status, (word, scores.detail[word])
        assert scores.attempts[word] == attempts == server.asked[word], (word, scores.detail[word])
        if detail is not None:
            assert detail in scores.detail[word] and scores.score.isna()[word], word
    told = caplog.text + "".join(capfd.readouterr()) + scores.to_csv() + repr(output)
    kept = [path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert SECRET.encode() not in b"".join(kept) and SECRET not in told
    assert "applicant" not in "".join(scores.detail.dropna()) and "applicant" not in caplog.text


@every_shape
def test_whatever_the_server_does_each_request_ends_as_one_row(tmp_path, serve, shape):
    server = serve(shape)

    def breaks(word: str, time: int, right: bytes) -> Any:
        if not word.startswith("w"):
            return True
        busy = (429, {"Retry-After": "0.01"}, b"{}")
        kinds = [busy, (500, {}, b"down"), None, (200, {}, right[:70]), (200, {}, b"{}")]
        kind = int(sha256(f"{word}/{time}".encode())[:4], 16) % 10
        return kinds[kind] if kind < len(kinds) else True

    server.breaks = breaks
    scores, _ = scored(tmp_path, shape, server, count=60, samples=1, retries=2, max_concurrency=8)
    assert len(scores) == 60 and scores.attempts.to_dict() == {
        word: server.asked[word] for word in scores.index
    }
    assert scores.score.notna().eq(scores.status.eq("ok")).all() and scores.status.nunique() == 2


def _refusing(shape: str, right: bytes) -> bytes:
    """Return an answer that the provider, or the model, refuses."""
    body = json.loads(right)
    if shape == "anthropic":
        body |= {"stop_reason": "refusal", "content": []}
    elif shape == "google":
        body["candidates"] = [{"finishReason": "SAFETY", "index": 0}]
    elif shape == "bedrock":
        body["stopReason"] = "content_filtered"
        body["output"]["message"]["content"] = [{"text": "It is blocked."}]
    else:
        body["choices"][0]["finish_reason"] = "content_filter" if shape != "mistral" else "error"
        body["choices"][0]["message"]["content"] = ""
    return json.dumps(body).encode()


@every_shape
def test_what_a_provider_refuses_is_refused_and_paid_once(tmp_path, serve, shape):
    server = serve(shape)
    server.breaks = lambda word, time, right: (200, {}, _refusing(shape, right)) if word == "w03" else True
    scores, _ = scored(tmp_path, shape, server, samples=1)
    assert scores.status["w03"] == ("error" if shape == "mistral" else "refused"), scores.detail["w03"]
    assert (
        server.asked["w03"] == (2 if shape == "mistral" else 1) and scores.drop("w03").status.eq("ok").all()
    )


@every_shape
@pytest.mark.parametrize(("status", "said"), [(401, "the key is refused"), (404, "no such model")])
def test_what_would_fail_for_every_row_stops_the_shard(tmp_path, serve, shape, status, said):
    server = serve(shape)
    server.breaks = lambda word, time, right: (status, {}, json.dumps({"message": f"no {SECRET}"}).encode())
    with pytest.raises(BackendError, match=said) as caught:
        scored(tmp_path, shape, server)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("shape", ["ollama", "google"])
def test_a_server_s_own_field_is_sent_or_refused(tmp_path, serve, shape):
    if not _installed(shape):
        pytest.skip(f"{shape}'s library is not installed")
    server, extra = serve(shape), {"keep_alive": "5m"}
    if shape == "ollama":
        assert scored(tmp_path, shape, server, samples=1, extra_body=extra)[0].status.eq("ok").all()
        assert all(body["keep_alive"] == "5m" for body in server.bodies)
        return
    with pytest.raises(BackendError, match=r"extra_body: keep_alive is not sent to this provider"):
        scored(tmp_path, shape, server, samples=1, extra_body=extra)
    assert not of_rows(server)


def test_a_provider_that_is_not_known_is_refused():
    with pytest.raises(SpecError, match=r"model\.options\.provider: nobody: Unknown provider"):
        check_model(Model(backend="pydantic_ai", name="m", options={"provider": "nobody"}))


def test_a_key_is_named_by_the_provider_where_the_spec_does_not(tmp_path, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    rows = [variant("w", messages=messages("w asks"))]
    model = {"backend": "pydantic_ai", "name": "claude-haiku-4-5", "options": {"provider": "anthropic"}}
    with pytest.raises(BackendError, match="ANTHROPIC_API_KEY .*is not set"):
        score_shard(run_with(tmp_path, rows, model=model, score={"shards": 1}), 0)


def test_a_secret_in_the_options_is_refused():
    options = {"provider": "anthropic", "base_url": f"https://me:{SECRET}@example.com"}
    with pytest.raises(SpecError, match="must not hold a user") as caught:
        check_model(Model(backend="pydantic_ai", name="m", options=options))
    assert SECRET not in str(caught.value)


PNG = "iVBORw0KGgo="
PDF = "JVBERi0xLjQ="
IMAGE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
FILE = {"type": "file", "file": {"filename": "resume.pdf", "file_data": f"data:application/pdf;base64,{PDF}"}}


def with_parts(folder: Path, shape: str, server: ThinkingServer, *parts: Any) -> Any:
    turns = json.loads(messages("w00 asks"))
    turns[1]["parts"] = list(parts)
    run = run_with(
        folder,
        [variant("w00", messages=canonical_json(turns).decode())],
        model=section(shape, server, samples=1, give_up_after=99),
        score={"shards": 1},
    )
    return from_parquet(score_shard(run, 0).artefacts["scores.parquet"]).iloc[0]


@every_shape
@pytest.mark.parametrize(("part", "content"), [(IMAGE, PNG), (FILE, PDF)])
def test_images_and_files_are_sent_once(tmp_path, serve, shape, part, content):
    server = serve(shape)
    row = with_parts(tmp_path, shape, server, part)
    sent = [json.dumps(body) for body in of_rows(server)]
    assert row.status == "ok" and len(sent) == 1 and sent[0].count(content) == 1


def test_a_part_that_a_library_leaves_out_is_told():
    turns = [{"role": "user", "content": [{"type": "text", "text": "Fit?"}, IMAGE]}]
    require_sent(turns, {"contents": [{"inlineData": {"data": PNG}}]})
    odd = [{"type": "text", "text": "Fit?"}, {**IMAGE, "image_url": {"url": "data:image/png;base64,+/+/"}}]
    require_sent([{"role": "user", "content": odd}], {"data": "-_-_"})  # as google-genai writes it
    with pytest.raises(
        FailedError, match=r"a part \(image/png\) is not sent to this provider by its library"
    ):
        require_sent(turns, {"contents": [{"text": "Fit?"}]})


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}, "holds no data URL"),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,%%"}}, "is not base64"),
        ({"type": "video", "video": {}}, "none that goes through pydantic-ai"),
    ],
)
def test_a_part_that_would_be_fetched_or_lost_fails_unasked(tmp_path, serve, part, said):
    server = serve("openai")
    row = with_parts(tmp_path, "openai", server, part)
    assert row.status == "error" and said in row.detail and not of_rows(server)


def early(folder: Path, shape: str, server: ThinkingServer, **options: Any) -> list[str]:
    """Return what the preflight finds."""
    prompt = {
        "template": "resume_screening.yaml",
        "labels": ["No", "Yes"],
        "relevance": [0, 1],
        "read": "labels",
    }
    model = section(shape, server, **options) | {"valid_judge": False}
    path = write_audit(folder, "pointwise", model=model, prompt=prompt)
    return [fault.what for fault in preflight(load_spec(path), str(folder / "store"), window=WINDOW)]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ((401, {}, b'{"error": {"message": "bad key"}}'), "HTTP 401, the key is refused"),
        ((404, {}, b"{}"), "HTTP 404, no such model, or a wrong base_url"),
    ],
)
def test_what_no_call_gets_past_is_told_by_the_preflight(tmp_path, serve, reply, said):
    server = serve("openai")
    server.reply = lambda path, body, word, time_asked: reply  # type: ignore[method-assign]
    (fault,) = early(tmp_path, "openai", server)
    assert said in fault and len(server.bodies) == 1


def test_an_error_stated_with_http_200_is_told(tmp_path, serve):
    server = serve("openai")
    stated = json.dumps({"error": {"message": "Insufficient credits", "code": 402}}).encode()
    server.breaks = lambda word, time, content: (200, {}, stated) if word.startswith("w") else True
    scores, _ = scored(tmp_path, "openai", server, count=2, samples=1)
    assert set(scores.detail) == {"HTTP 200 (402): Insufficient credits"}
