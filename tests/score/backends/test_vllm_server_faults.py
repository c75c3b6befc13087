"""Whatever a vLLM server may do: refused before the first row, asked again, or one row with an error."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audit_lib.errors import BackendError
from audit_lib.score.requests import Message, Sampling
from tests.installed import needs_torch
from tests.score.vllm_cases import asked_of, request, scored
from tests.score.vllm_shape import TokenServer

pytestmark = needs_torch
pytest.importorskip("httpx2", reason="httpx2 is not installed")

SERVERS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "another tokenizer": ({"cuts": True}, {}, "cuts a text into other tokens .* model.options.tokenizer"),
    "masks": ({"masks": True}, {}, "after masks and biases; start it with --logprobs-mode raw_logprobs"),
    "old": ({"old": True}, {}, r"no log-probability of a token that was asked for \(logprob_token_ids\)"),
    "another model": ({"name": "other"}, {}, "no model 'tiny' there; it has other. Write that in model.name"),
    "wants a key": ({"key": "k" * 20}, {}, "HTTP 401, the key is refused"),
    "says no length": ({"longest": None}, {}, "how long a prompt may be"),
    "wrong address": ({}, {"base_url": "http://127.0.0.1:1/v1"}, "no answer .*; start the server"),
    "adds a token to each prompt": ({"adds": [1]}, {}, "read .* tokens where .* were sent, .* another prompt"),
    "cuts prompts": ({"keeps": 8}, {}, "read 8 tokens where .* it cuts prompts or adds tokens"),
    "logits": ({"shows": lambda log: log - 40.0}, {}, "below any share.*raw_logprobs"),
    "percent": ({"shows": lambda log: 100 * math.exp(log)}, {}, "above 0 or none at all"),
    "texts": ({"shows": str}, {}, "no log-probability of a token that was asked for"),
    "nothing": ({"shows": lambda log: None}, {}, "no log-probability of a token that was asked for"),
    "words for the template's tokens": ({"tokenizer": "plain"}, {}, "cuts a text into other tokens"),
    "an error in words": ({"states": {"error": {"code": 500, "message": "engine is dead"}}}, {}, "engine is dead"),
    "no vLLM": ({}, {"base_url": "{root}/other"}, r"HTTP 404.*is it a vLLM server\? Others are asked"),
}  # fmt: skip


@pytest.mark.parametrize("kind", SERVERS)
def test_a_server_that_cannot_be_scored_exactly_is_refused_before_the_first_row(
    tmp_path: Path, vllm: TokenServer, tiny_model: Path, kind: str
) -> None:
    changed, options, said = SERVERS[kind]
    for name, value in changed.items():
        setattr(vllm, name, _Words(vllm.tokenizer) if value == "plain" else value)
    root = vllm.url.removesuffix("/v1")
    options = {key: value.format(root=root) for key, value in options.items()}
    vllm.complete = _unbounded(vllm) if vllm.longest is None else vllm.complete  # type: ignore[method-assign]
    with pytest.raises(BackendError, match=said):
        scored(tmp_path, vllm, tiny_model, ["w1"], **options)
    assert len(vllm.bodies) <= 2, "no row was asked"


def _unbounded(vllm: TokenServer) -> Callable[[dict[str, Any]], tuple[int, Any]]:
    complete = vllm.complete

    def answer(body: dict[str, Any]) -> tuple[int, Any]:
        vllm.longest = 10**6
        try:
            return complete(body)
        finally:
            vllm.longest = None  # type: ignore[assignment]

    return answer


class _Words:
    """A tokenizer that takes the template's own tokens for words."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.decode = tokenizer.decode

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        found: list[int] = self._tokenizer.encode(
            text.replace("<|", "< |"), add_special_tokens=add_special_tokens
        )
        return found


HOSTILE: dict[str, Any] = {
    "nothing": {},
    "a list": [],
    "a text": "Yes",
    "no choices": {"choices": []},
    "choices of null": {"choices": None},
    "no log-probabilities": {"choices": [{"text": "", "logprobs": None}]},
    "another token": {"choices": [{"logprobs": {"top_logprobs": [{"token_id:0": -1.0}]}}]},
    "words for tokens": {"choices": [{"logprobs": {"top_logprobs": [{" Yes": -1.0}]}}]},
    "log-probabilities of null": {"choices": [{"logprobs": {"top_logprobs": [None]}}]},
    "log-probabilities of nothing": {"choices": [{"logprobs": {"top_logprobs": []}}]},
    "log-probabilities of a text": {"choices": [{"logprobs": {"top_logprobs": "-1.0"}}]},
    "of the prompt alone": {
        "choices": [{"logprobs": None, "prompt_logprobs": [None, {"5": {"logprob": -1.0}}]}]
    },
    "a choice of null": {"choices": [None]},
    "an error": {"error": {"code": 400, "message": "no room"}},
    "an error for a while": {"error": {"code": 503, "message": "engine is dead"}},
    "an error in words": {"object": "error", "error": "no room"},
    "a key twice": (200, {}, b'{"choices": [], "choices": []}'),
    "broken off": {"choices": [{"text": "", "finish_reason": "abort", "logprobs": None}]},
    "not JSON": (200, {}, b"<html>busy</html>"),
    "not UTF-8": (200, {}, b"\xff\xfe\x00"),
    "compressed": (200, {"Content-Encoding": "gzip"}, b"\x1f\x8b"),
    "a redirect": (302, {"Location": "http://127.0.0.1:1/"}, b""),
    "bad request": (400, {}, b'{"error": {"message": "no such field"}}'),
    "a deep one": (200, {}, b"[" * 5000),
    "cut off": None,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_answer_is_one_error_row_and_the_others_stand(
    tmp_path: Path, vllm: TokenServer, tiny_model: Path, kind: str
) -> None:
    bad = vllm.tokenizer.encode("bad", add_special_tokens=False)

    def breaks(body: dict[str, Any], asked: int, answer: Any) -> Any:
        prompt = body["prompt"]
        hit = any(prompt[at : at + len(bad)] == bad for at in range(len(prompt)))
        return HOSTILE[kind] if hit else answer

    vllm.breaks = breaks
    scores, _ = scored(tmp_path, vllm, tiny_model, ["w1", "bad", "w2"])
    assert scores.status.to_dict() == {"bad": "error", "w1": "ok", "w2": "ok"}
    assert scores.detail["bad"] and "asks" not in scores.detail["bad"]


@pytest.mark.parametrize("value", [math.nan, 0.5, True, "x", None])
def test_a_value_that_is_no_log_probability_is_an_error(
    tmp_path: Path, vllm: TokenServer, tiny_model: Path, value: Any
) -> None:
    count = 0

    def breaks(body: dict[str, Any], asked: int, answer: Any) -> Any:
        nonlocal count
        count += 1
        if count > 2:  # the first two are the check of the server
            top = answer["choices"][0]["logprobs"]["top_logprobs"][0]
            top.update(dict.fromkeys(top, value))
        return answer

    vllm.breaks = breaks
    with pytest.raises(BackendError, match="all of the first .* answers were failures"):
        scored(tmp_path, vllm, tiny_model, [f"w{i}" for i in range(25)])


def _hit(vllm: TokenServer, body: dict[str, Any], word: str) -> bool:
    """Whether a word was asked about."""
    text: str = vllm.tokenizer.decode(body["prompt"])
    return f"{word} asks" in text


CHANGED: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "another count of the prompt": (lambda answer: answer["usage"].update(prompt_tokens=3), "the server read 3 tokens"),
    "a count in words": (lambda answer: answer["usage"].update(prompt_tokens="9"), "does not count the prompt"),
    "no usage": (lambda answer: answer.update(usage=None), "does not count the prompt"),
    "more than certain": (
        lambda answer: answer["choices"][0]["logprobs"]["top_logprobs"][0].update(
            dict.fromkeys(answer["choices"][0]["logprobs"]["top_logprobs"][0], -0.1)
        ),
        "sum to more than 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", CHANGED)
def test_an_answer_to_another_question_is_an_error_row(
    tmp_path: Path, vllm: TokenServer, tiny_model: Path, kind: str
) -> None:
    change, said = CHANGED[kind]

    def breaks(body: dict[str, Any], asked: int, answer: Any) -> Any:
        if _hit(vllm, body, "bad"):
            change(answer)
        return answer

    vllm.breaks = breaks
    scores, _ = scored(tmp_path, vllm, tiny_model, ["w1", "bad", "w2"])
    assert scores.status.to_dict() == {"bad": "error", "w1": "ok", "w2": "ok"}
    assert said in scores.detail["bad"]


@pytest.mark.parametrize(
    "first",
    [
        {"error": {"code": 503, "message": "engine is dead"}},
        {"choices": [{"text": "Ye", "finish_reason": "abort", "logprobs": None}]},
        (200, {}, b'{"choices": [{"text": "'),
        (500, {"Retry-After-Ms": "5"}, b"{}"),
    ],
)
def test_what_a_server_breaks_off_is_asked_again(
    tmp_path: Path, vllm: TokenServer, tiny_model: Path, first: Any
) -> None:
    def breaks(body: dict[str, Any], asked: int, answer: Any) -> Any:
        return first if _hit(vllm, body, "w2") and asked == 1 else answer

    vllm.breaks = breaks
    scores, _ = scored(tmp_path, vllm, tiny_model, ["w1", "w2"], retries=1)
    assert scores.status.eq("ok").all() and scores.attempts.to_dict() == {"w1": 1, "w2": 2}


def test_a_text_that_is_broken_off_is_no_answer(vllm: TokenServer, tiny_model: Path) -> None:
    def breaks(body: dict[str, Any], asked: int, answer: Any) -> Any:
        if _hit(vllm, body, "bad"):
            answer["choices"][0].update(finish_reason="abort", text="The better appl")
        return answer

    vllm.breaks = breaks
    how = Sampling(max_tokens=5, temperature=0.5, seed=3)
    asked = [
        replace(request(n, sampling=how), messages=(Message(role="user", content=f"{word} asks"),))
        for n, word in enumerate(("bad", "good", "fine"))
    ]
    found, *others = asked_of(vllm, tiny_model, asked, retries=0, max_concurrency=1)
    assert {one.method for one in others} == {"generated"} and not any(
        "broke" in (o.detail or "") for o in others
    )
    assert found.status == "error" and found.text is None and "broke the answer off" in (found.detail or "")


def test_a_server_that_serves_another_model_half_way_ends_the_shard(
    tmp_path: Path, vllm: TokenServer, tiny_model: Path
) -> None:
    def breaks(body: dict[str, Any], asked: int, answer: Any) -> Any:
        if len(vllm.bodies) > 6:
            answer["model"] = "other"
        return answer

    vllm.breaks = breaks
    words = [f"w{i}" for i in range(12)]
    with pytest.raises(BackendError, match="model.name is 'tiny', and 'other' answered"):
        scored(tmp_path, vllm, tiny_model, words, max_concurrency=1)
    assert len(vllm.bodies) < 2 + len(words)
    vllm.breaks = None
    vllm.bodies.clear()
    scores, output = scored(tmp_path, vllm, tiny_model, words, max_concurrency=1)
    assert scores.status.eq("ok").all() and output.counts["from_ledger"] >= 2, (
        "what was answered before is kept"
    )


def test_answers_of_two_models_to_one_request_are_an_error_row(vllm: TokenServer, tiny_model: Path) -> None:
    def breaks(body: dict[str, Any], asked: int, answer: Any) -> Any:
        if len(vllm.bodies) == 2:
            answer["model"] = "other"
        return answer

    vllm.breaks = breaks
    (found,) = asked_of(vllm, tiny_model, [request(1, ("Maybe not", "Yes"))])
    assert found.status == "error" and "several models" in (found.detail or "")
