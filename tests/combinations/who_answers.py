"""The answering sides: servers on loopback, a log, and small local models, each with the judge's bias."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from tests.combinations.axes import ASKED, DECIDED, VARIED, Asked
from tests.combinations.biased_judge import NOISE_SD, Judge
from tests.score.batch_server import batch_server

if TYPE_CHECKING:
    from tests.combinations.planted import Combination

KEY: Final = "sk-loopback-combinations"
KEY_NAME: Final = "COMBINATIONS_API_KEY"


@dataclass(frozen=True, kw_only=True)
class Answering:
    """What a spec says of who answers, and how much two texts about one person differ."""

    backend: str
    how: str
    address: str
    noise_sd: float = NOISE_SD
    middle_of: float | None = None

    def model(self, asked: Asked, case: Combination) -> dict[str, Any]:
        """Return the section `model`."""
        options: dict[str, Any] = {}
        if self.backend == "http":
            options = {"url": self.address, "body": {"messages": "{{messages}}"}, "model_path": "model"}
            options |= {
                "http, its score": {"score_path": "score"},
                "http, its decision": {"decision_path": "hired"},
                "http, its text": {"text_path": "text"},
            }[self.how]
            options |= {"retries": 0}
        elif self.backend in ("openai", "openai_batch"):
            options = {"base_url": self.address, "api_key_env": KEY_NAME, "retries": 0}
            options |= {"poll": 0.01} if self.backend == "openai_batch" else {}
        elif self.backend == "pydantic_ai":  # one answer a question: the judge's are all the same
            options = {"provider": "anthropic", "base_url": self.address, "api_key_env": KEY_NAME}
            options |= {"retries": 0, "samples": 1, "probe": False}
        elif self.backend in ("transformers", "embedding"):
            options = {"threads": 1}
        name = self.address if self.backend in ("transformers", "embedding") else "judge-1"
        return {"backend": self.backend, "name": name, "options": options}

    def prompt(self, asked: Asked) -> dict[str, Any]:
        """Return keys of the section `prompt` that depend on who answers."""
        if self.backend == "transformers" and asked.task == "pairwise":
            return {"answer": "name"}  # who is meant by A is more than one layer can tell
        return {}

    def cannot(self, case: Combination) -> str | None:
        """Say why no model that is built by hand can answer this; None where it can."""
        if self.backend == "pydantic_ai" and not all(
            map(importlib.util.find_spec, ("pydantic_ai", "anthropic"))
        ):
            return "pydantic-ai is not installed"
        together = ASKED[case.asked].task in ("pairwise", "listwise")
        pool = (DECIDED[case.decided](ASKED[case.asked], VARIED[case.varied]) or {}).get("round")
        named = VARIED[case.varied].perturb is not None and "names" in (VARIED[case.varied].perturb or {})
        if self.backend == "transformers" and together and (not named or pool == "round_id"):
            return "a model of one layer tells two candidates apart by their names alone"
        return None

    def middle(self, asked: Asked) -> float:
        """Return the score in the middle between the groups."""
        return asked.middle if self.middle_of is None or asked.task != "pointwise" else self.middle_of

    def files(self) -> dict[str, str]:
        """Return further files."""
        return {}


class _JudgeServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    block_on_close = False

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A question about nobody is an answer of HTTP 500."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _JudgeServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.startswith("/v1/messages"):
            answer = message(self.server.judge.answer(plain_turns(body)), body)
        else:
            said = self.server.judge.answer(body["messages"])
            answer = completion(said, body) if self.path.startswith("/v1") else said | {"model": "judge-1"}
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: object) -> None:
        pass


def completion(said: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """Return a chat completion: a text, with log-probabilities of its first token where they are asked for."""
    logprobs = None
    if body.get("logprobs"):
        top = [{"token": f" {label}", "logprob": odds, "bytes": None} for label, odds in said["odds"].items()]
        logprobs = {"content": [{"token": said["text"], "logprob": -0.1, "bytes": None, "top_logprobs": top}]}
    choice = {
        "index": 0,
        "finish_reason": "length" if logprobs else "stop",
        "message": {"role": "assistant", "content": said["text"]},
        "logprobs": logprobs,
    }
    usage = {"prompt_tokens": 40, "completion_tokens": 1, "total_tokens": 41}
    about = {"id": "c", "object": "chat.completion", "created": 1, "model": "judge-1", "usage": usage}
    return about | {"choices": [choice]}


def plain_turns(body: dict[str, Any]) -> list[dict[str, str]]:
    """Return the turns of a body in the shape of Anthropic's, each with one text."""
    turns = [{"role": "system", "content": body["system"]}] * ("system" in body) + body["messages"]

    def text(content: Any) -> str:
        return content if isinstance(content, str) else "\n".join(part["text"] for part in content)

    return [{"role": turn["role"], "content": text(turn["content"])} for turn in turns]


def message(said: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """Return an answer in the shape of Anthropic's (https://platform.claude.com/docs/en/api/messages)."""
    about = {"id": "m", "type": "message", "role": "assistant", "model": body["model"], "stop_sequence": None}
    about |= {"stop_reason": "end_turn", "usage": {"input_tokens": 40, "output_tokens": 1}}
    return about | {"content": [{"type": "text", "text": said["text"]}]}


@contextmanager
def judging(judge: Judge, folder: Path | None = None) -> Iterator[dict[str, Answering]]:
    """Run the servers of a judge; who answers -> how a spec names them. With a folder, local models are made there."""
    with (
        _JudgeServer(judge) as server,
        batch_server(
            lambda body, asked: (200, completion(judge.answer(body["messages"]), body)), KEY
        ) as batches,
    ):
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        batches.looks = 0
        address = f"http://127.0.0.1:{server.server_port}"
        try:
            yield {
                "recorded": Answering(backend="recorded", how="recorded", address=""),
                **{
                    f"http, its {what}": Answering(
                        backend="http", how=f"http, its {what}", address=f"{address}/judge"
                    )
                    for what in ("score", "decision", "text")
                },
                "openai": Answering(backend="openai", how="openai", address=f"{address}/v1"),
                "openai_batch": Answering(backend="openai_batch", how="openai_batch", address=batches.url),
                "pydantic_ai": Answering(backend="pydantic_ai", how="pydantic_ai", address=address),
                **({} if folder is None else _local(folder, judge.gap)),
            }
        finally:
            server.shutdown()


def _local(folder: Path, gap: float) -> dict[str, Answering]:
    from tests.combinations.local_models import MIDDLE_COSINE, save_causal_model, save_encoder

    save_causal_model(folder / "causal", gap)
    save_encoder(folder / "encoder", gap)
    causal, encoder = str(folder / "causal"), str(folder / "encoder")
    return {
        "transformers": Answering(backend="transformers", how="transformers", address=causal, noise_sd=0.0),
        "embedding": Answering(
            backend="embedding", how="embedding", address=encoder, noise_sd=0.0, middle_of=MIDDLE_COSINE
        ),
    }
