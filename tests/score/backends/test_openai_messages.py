"""What is paid for is read, and what a provider says is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from audit_lib.errors import BackendError
from audit_lib.score.remote.chat import Chat
from audit_lib.score.remote.chat_options import ChatOptions
from audit_lib.score.remote.structured import chosen_label
from audit_lib.score.requests import Candidate, Message, Request
from audit_lib.spec import Model
from tests.score.backends.test_openai import ask
from tests.score.conftest import SECRET
from tests.score.loopback import Loopback, completion, loopback

pytest.importorskip("openai", reason="openai is not installed")


@pytest.fixture
def serve(monkeypatch) -> Iterator[Callable[..., Loopback]]:
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    with ExitStack() as servers:
        yield lambda behave: servers.enter_context(loopback(behave))


def thinking(tokens_before: int):
    """Return a model that thinks before it says a label: it is cut where it is given fewer tokens."""

    def behave(word: str, time: int):
        asked = server_bodies[-1]["max_completion_tokens"]
        if asked < tokens_before:
            return completion(None, text="", finish_reason="length")
        return completion(None, text="Yes")

    server_bodies: list[dict] = []
    return behave, server_bodies


@pytest.mark.parametrize(("given", "sent"), [(None, 16), (300, 300), (4, 4), (1024, 1024)])
def test_sampled_labels_have_the_tokens_that_the_spec_gives(tmp_path, serve, given, sent):
    behave, bodies = thinking(200)
    server = serve(behave)
    server.bodies = bodies
    options = {} if given is None else {"max_tokens": given}
    scores, _ = ask(tmp_path, server.url, ["a"], method="sampled", samples=2, **options)
    assert {body["max_completion_tokens"] for body in bodies} == {sent}
    if sent >= 200:
        assert (scores.status["a"], scores.score["a"]) == ("ok", 1.0)
    else:
        assert scores.status["a"] == "unparsed"
        assert (
            f"2 were cut at {sent} tokens without a label: raise model.options.max_tokens"
            in scores.detail["a"]
        )


def test_an_answer_of_16_tokens_is_none_to_a_question_with_more():
    def described(**options: object):
        model = Model(backend="openai", name="m", options=options)
        return Chat(model, ChatOptions(**options)).describe("openai")["options"]

    plain = described(method="sampled")
    assert plain["max_tokens"] == 1024 and "longest_sampled_label" not in plain, "as in earlier versions"
    assert (
        len(
            {
                json.dumps(described(method="sampled", **o))
                for o in ({}, {"max_tokens": 1024}, {"max_tokens": 99})
            }
        )
        == 3
    )


def test_the_estimate_counts_the_tokens_that_are_asked_for():
    request = Request(
        request_id="r", section="s", family="f", labels=("No", "Yes"), candidates=(Candidate(variant_id="r"),),
        messages=(Message(role="user", content="Hi"),),
    )  # fmt: skip
    for given, most in ((None, 16), (300, 300)):
        options = ChatOptions(method="sampled", samples=5, **({} if given is None else {"max_tokens": given}))
        calls, usage = Chat(Model(backend="openai", name="m"), options).estimate(request)
        assert (calls, usage.completion) == (5, 5 * most)


SAID = {
    "openai": (
        400,
        {"error": {"message": "'n' must be 1", "code": "invalid_value"}},
        "HTTP 400 (invalid_value): 'n' must be 1",
    ),
    "vllm": (
        400,
        {"object": "error", "message": "max_tokens is too large", "code": 400},
        "HTTP 400: max_tokens is too large",
    ),
    "azure": (
        400,
        {"error": {"code": "content_filter", "message": "The response was filtered"}},
        "HTTP 400 (content_filter): The response was filtered",
    ),
    "text": (422, "no such template", "HTTP 422: no such template"),
    "html": (413, "<html><title>413 Request Entity Too Large</title></html>", "HTTP 413: 413 Request Entity Too Large"),
    "list": (400, [{"error": {"message": "Unknown name"}}], "HTTP 400: Unknown name"),
    "echo": (400, {"error": {"message": "bad prompt: echo applicant"}}, "HTTP 400: bad prompt: [...]"),
    "key": (400, {"error": {"message": f"key {SECRET} has no credit"}}, "HTTP 400: key [...] has no credit"),
    "empty": (400, {}, "HTTP 400 (no code)"),
}  # fmt: skip


def test_a_row_tells_what_the_provider_said(tmp_path, serve):
    def behave(word: str, time: int):
        if word == "good":
            return completion(None, text="Yes")
        status, body, _ = SAID[word]
        return status, {}, (body if isinstance(body, str) else json.dumps(body)).encode()

    server = serve(behave)
    scores, output = ask(tmp_path, server.url, ["good", *SAID], method="sampled", samples=1)
    for word, (_, _, told) in SAID.items():
        assert scores.detail[word] == told, word
    assert scores.status["azure"] == "refused" and scores.status["good"] == "ok"
    assert SECRET not in repr(output)


@pytest.mark.parametrize(
    ("status", "before"), [(401, "is refused"), (403, "is refused"), (404, "a wrong base_url")]
)
def test_what_stops_a_shard_tells_what_the_provider_said(tmp_path, serve, status, before):
    said = {"error": {"message": f"Your organization must be verified, not {SECRET}, to judge a applicant"}}
    server = serve(lambda word, time: (status, {}, json.dumps(said).encode()))
    with pytest.raises(BackendError) as caught:
        ask(tmp_path, server.url, ["a"])
    told = str(caught.value)
    assert re.search(rf"HTTP {status}, .*{before}: Your organization must be", told)
    assert SECRET not in told and "applicant" not in told


CREDIT = {"error": {"message": "Insufficient credits", "code": 402}}
UPSTREAM = {"error": {"message": "Provider returned error", "code": 502}}


def test_an_error_in_an_answer_of_http_200_is_told(tmp_path, serve):
    """As OpenRouter states those of its providers: https://openrouter.ai/docs/api-reference/errors."""
    server = serve(
        lambda word, time: completion(None, "Yes") if word == "a" else (200, {}, json.dumps(CREDIT).encode())
    )
    scores, _ = ask(tmp_path, server.url, ["a", "b"], method="sampled", samples=1)
    assert scores.status.to_dict() == {"a": "ok", "b": "error"}
    assert scores.detail["b"] == "HTTP 200 (402): Insufficient credits" and server.asked["b"] == 1


def test_one_that_may_pass_is_tried_again(tmp_path, serve):
    def behave(word: str, time: int):
        return completion(None, "Yes") if time > 2 else (200, {}, json.dumps(UPSTREAM).encode())

    scores, _ = ask(tmp_path, serve(behave).url, ["a"], method="sampled", samples=1, retries=2)
    assert (scores.status["a"], scores.attempts["a"]) == ("ok", 3)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ('```json\n{"answer": "Yes"}\n```', 1),
        ('```\n{"answer": "No"}```', 0),
        ('{"answer": "Yes", "answer": "No"}', None),
        ('{"answer": true}', None),
        ('{"answer": "Yes"} {"answer": "No"}', None),
        ('{"answer": ["Yes"]}', None),
    ],
)
def test_a_label_is_read_of_an_object_that_gives_it_once(text, label):
    assert chosen_label(text, ["No", "Yes"]) == label


def test_a_whole_number_is_a_label_too():
    assert (chosen_label('{"answer": 3}', ["1", "2", "3"]), chosen_label('{"answer": 3.5}', ["1", "3"])) == (
        2,
        None,
    )


def test_texts_in_a_list_of_content_are_read(tmp_path, serve):
    server = serve(
        lambda word, time: completion(None, ["Ye", {"type": "text", "text": "s"}, {"type": "odd"}])
    )  # type: ignore[arg-type]
    scores, _ = ask(tmp_path, server.url, ["a"], method="sampled", samples=1)
    assert (scores.status["a"], scores.score["a"]) == ("ok", 1.0)
