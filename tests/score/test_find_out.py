"""Whether a model can be asked as the spec says is found out by the preflight, before anything is paid for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from audit_lib.preflight import preflight
from audit_lib.score.asking import Asking
from audit_lib.score.shard_plan import read_shard
from audit_lib.spec import load_spec
from tests.score.audits import WINDOW, open_audit, up_to, write_audit
from tests.score.chat_shapes import VLLM, MistralChat, OSeries, ThinkingServer, serving
from tests.score.conftest import SECRET
from tests.score.loopback import GOOD, Loopback, completion, loopback

pytest.importorskip("openai", reason="openai is not installed")

SCREENING = {
    "template": "resume_screening.yaml",
    "labels": ["No", "Yes"],
    "relevance": [0, 1],
    "read": "labels",
}


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ThinkingServer]]:
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    with ExitStack() as servers:
        yield lambda kind: servers.enter_context(serving(kind()))


def audit(
    folder: Path,
    url: str,
    *,
    backend: str = "openai",
    prompt: Any = None,
    served: Any = "any",
    **options: Any,
) -> Path:
    given = {"base_url": url, "api_key_env": "TEST_API_KEY", "retries": 0, "timeout": 5.0} | options
    model = {"backend": backend, "name": "model-1", "served": served, "options": given, "valid_judge": False}
    return write_audit(
        folder, "pointwise", model=model, prompt=SCREENING | (prompt or {}), score={"shards": 1}
    )


def told(path: Path) -> list[str]:
    root = str(path.parent / "store")
    return [fault.what for fault in preflight(load_spec(path), root, window=WINDOW)]


def of_the_audit(server: Loopback) -> list[Any]:
    return [body for body in server.bodies if "resume" in json.dumps(body).lower()]


@pytest.mark.parametrize("shape", [OSeries, MistralChat, VLLM])
@pytest.mark.parametrize("backend", ["openai", "openai_batch"])
@pytest.mark.parametrize("options", [{"method": "sampled"}, {"method": "sampled", "probe": True}])
def test_a_model_that_thinks_without_a_budget(tmp_path, serve, shape, backend, options):
    server = serve(shape)
    (fault,) = told(audit(tmp_path, server.url, backend=backend, **options))
    assert "model.options.thinking_tokens: model-1 th" in fault and "give a number" in fault
    assert not of_the_audit(server) and not (tmp_path / "store" / "small").exists()


def test_log_probabilities_that_are_not_given(tmp_path, serve, monkeypatch):
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    with loopback(lambda word, asked: completion(None, "Yes")) as server:
        (fault,) = told(audit(tmp_path, server.url))
        assert "model.options.method: model-1 gives no log-probabilities" in fault
        assert "use method: sampled" in fault and not of_the_audit(server)


def test_labels_of_several_tokens_where_one_is_shown(tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    top = {"Strong": -0.1, "Weak": -3.0}
    labels = {"labels": ["Strongly", "Weakly"], "relevance": [1, 0]}
    with loopback(lambda word, asked: completion(top, "Strong")) as server:
        (fault,) = told(audit(tmp_path, server.url, prompt=labels))
        assert "labels Strongly, Weakly: an answer's first token is only the beginning of a label" in fault
        assert "Strongly, Weakly." in server.bodies[0]["messages"][-1]["content"] and not of_the_audit(server)


class OneWeak(Loopback):
    """A model that answers Weak, a token, unless it is asked for Strongly, which is two."""

    def __init__(self, begins: str = "Strong") -> None:
        self.begins = begins
        super().__init__(lambda word, asked: None)

    def reply(self, path: str, body: Any, word: str, time_asked: int) -> Any:
        if body["messages"][-1]["content"].endswith(": Strongly"):
            return completion({self.begins: -0.01, "Weak": -5.0}, self.begins, {"model": "model-1"})
        return completion({"Weak": -0.1, "I": -3.0}, "Weak", {"model": "model-1"})


@pytest.mark.parametrize("options", [{}, {"probe": True}, {"thinking_tokens": 100}])
@pytest.mark.parametrize("backend", ["openai", "openai_batch"])
def test_labels_of_several_tokens_of_which_none_is_shown_at_first(tmp_path, monkeypatch, backend, options):
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    labels = {"labels": ["Strongly", "Weak"], "relevance": [1, 0]}
    with serving(OneWeak()) as server:  # type: ignore[arg-type]
        (fault,) = told(audit(tmp_path, server.url, backend=backend, prompt=labels, **options))
    assert "labels Strongly, Weak: an answer's first token is only the beginning of a label" in fault
    assert not of_the_audit(server)


def test_a_label_that_is_shown_when_it_is_asked_for_is_no_fault_and_asked_for_once(tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    labels = {"labels": ["Strongly", "Weak"], "relevance": [1, 0]}
    with serving(OneWeak("Strongly")) as server:  # type: ignore[arg-type]
        path = audit(tmp_path, server.url, prompt=labels, probe=True)
        assert told(path) == []
        asked = len(server.bodies)
        assert sum("Strongly" in json.dumps(body["messages"][-1]) for body in server.bodies) == 2
        assert told(path) == [] and len(server.bodies) == asked, "what was found is kept"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ((200, {}, b'{"error": {"message": "no credit"}}'), "is refused: HTTP 200: no credit"),
        ((200, {}, b"{}"), "holds no choice"),
        (completion({"Yes": 0.5, "No": -1.0}), "the answer to a small question cannot be read"),
        ((200, {}, b"<html>Welcome</html>"), "is refused: the answer is not JSON"),
        ((404, {}, b'{"error": {"message": "unknown"}}'), "HTTP 404, no model 'model-1' there"),
        ((401, {}, b"{}"), "HTTP 401, the key in TEST_API_KEY is refused"),
        ((400, {}, b'{"error": {"message": "the deployment is paused"}}'), "the deployment is paused"),
    ],
)
def test_an_endpoint_that_answers_no_question(tmp_path, monkeypatch, reply, expected):
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    with loopback(lambda word, asked: reply) as server:
        (fault,) = told(audit(tmp_path, server.url))
        assert expected in fault and server.asked.total() == 1


@pytest.mark.parametrize("options", [{}, {"probe": True}])
def test_another_model_than_the_named_one(tmp_path, monkeypatch, options):
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    with loopback(lambda word, asked: completion(GOOD, more={"model": "another"})) as server:
        (fault,) = told(audit(tmp_path, server.url, served=None, **options))
        assert "model.name is 'model-1', and 'another' answered" in fault and not of_the_audit(server)


def test_a_deployment_of_batches_alone_is_told_what_to_say(tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    with loopback(lambda word, asked: (404, {}, b"{}")) as server:
        (fault,) = told(audit(tmp_path, server.url, backend="openai_batch"))
        assert fault.endswith("say model.options.probe: false")
        assert told(audit(tmp_path, server.url, backend="openai_batch", probe=False)) == []


def test_a_plain_model_is_asked_one_small_question_a_window(tmp_path, monkeypatch):
    """What shows nothing to adapt to changes no question, and is not asked again; the budget holds it."""
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    used = {"usage": {"prompt_tokens": 20, "completion_tokens": 1}}
    with loopback(lambda word, asked: completion(GOOD, more=used)) as server:
        path = audit(tmp_path, server.url)
        assert told(path) == told(path) == []
        (small,) = server.bodies
        assert small["top_logprobs"] == 20 and small["max_completion_tokens"] == 1
        server.bodies.clear()
        run = up_to(open_audit(tmp_path, "pointwise", **_sections(path)), "scores")
        assert (
            len(server.bodies) == 32 and "capabilities.json" not in run.stage("scores/0").success().artefacts
        )
        assert {json.dumps({**body, "messages": []}) for body in server.bodies} == {
            json.dumps({**small, "messages": []})
        }


def test_what_was_found_is_used_and_counted(tmp_path, serve):
    """The budget of the run holds what finding out took: with it, a cap just above the rows' tokens is too small."""
    server = serve(MistralChat)
    server.thinks = False
    options = {"method": "sampled", "samples": 1, "probe": True, "max_concurrency": 1}
    path = audit(tmp_path, server.url, max_tokens_total=4_000, **options)
    assert told(path) == []
    found = len(server.bodies)
    run = up_to(open_audit(tmp_path, "pointwise", **_sections(path)), "variants")
    assert server.asked.total() == found
    with Asking(run, 0, read_shard(run, 0).numbers) as asking:
        assert asking._limiter.budget._spent.total == 0
        with asking._backend.reach():
            spent = asking._limiter.budget._spent.total
        with asking._backend.reach():
            assert asking._limiter.budget._spent.total == spent > 50
    assert asking._backend.capabilities()["adapted"][0] == "the limit of tokens is sent as max_tokens"


class Prefilled(Loopback):
    """A server that counts what it reads as a chat template of five marks a turn would."""

    def __init__(self, how: str) -> None:
        self.how = how
        super().__init__(lambda word, asked: None)

    def reply(self, path: str, body: Any, word: str, time_asked: int) -> Any:
        turns = body["messages"]
        read = sum(5 + len(turn["content"].split()) for turn in turns) + 3
        begun = turns[-1]["role"] == "assistant"
        goes_on = {
            "heeds": body.get("continue_final_message") is True,
            "ignores": False,
            "always": True,  # llama.cpp, before it knew the field
        }[self.how]
        if begun:
            read -= 8 if goes_on else 0  # neither closed nor begun anew
            read += 3 if goes_on else 0
        return completion(GOOD, more={"usage": {"prompt_tokens": read, "completion_tokens": 1}})


@pytest.mark.parametrize(("how", "works"), [("heeds", True), ("always", True), ("ignores", False)])
def test_a_server_that_does_not_go_on_from_a_begun_answer(tmp_path, monkeypatch, how, works):
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    with serving(Prefilled(how)) as server:  # type: ignore[arg-type]
        faults = told(audit(tmp_path, server.url, prefill=True))
    if works:
        assert faults == []
        (kept,) = (tmp_path / "store").rglob("*.capabilities.json")
        assert json.loads(kept.read_bytes())["capabilities"]["prefill"] is True
    else:
        (fault,) = faults
        assert "model.options.prefill: model-1 does not go on from an answer that is begun" in fault
        assert "closes the begun turn and opens another" in fault and "use prefill: false" in fault


def _sections(path: Path) -> dict[str, Any]:
    spec = yaml.safe_load(path.read_text())
    return {key: spec[key] for key in ("model", "prompt", "score")}
