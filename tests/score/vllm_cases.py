"""Audits of a vLLM server on loopback, with the scoring process in the process of the test."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pandas as pd

from audit_lib.records import from_parquet
from audit_lib.run import StageOutput
from audit_lib.score import score_shard
from audit_lib.score.backends.vllm_server import VllmServer
from audit_lib.score.requests import Candidate, Message, Request, Sampling
from audit_lib.spec import Model
from tests.score.cases import messages, run_with, variant
from tests.score.vllm_shape import TokenServer

FAST = {"floor": "none", "retries": 0, "timeout": 5.0}


class SameProcess:
    """The scoring process without a process: what is said goes through JSON all the same."""

    def __init__(self, name: str, threads: int, module: str) -> None:
        self._reader: Any = None

    @property
    def is_running(self) -> bool:
        return self._reader is not None

    def start(self, order: dict[str, Any]) -> dict[str, Any]:
        said = io.StringIO()
        from audit_lib.score.local import vllm_worker

        self._reader = vllm_worker._load(json.loads(json.dumps(order)), said)
        told: dict[str, Any] = json.loads(said.getvalue())["loaded"]
        return told

    def ask(self, content: dict[str, Any]) -> dict[str, Any]:
        from audit_lib.score.local import vllm_worker

        answer = vllm_worker._answered(self._reader, json.loads(json.dumps(content)))
        found: dict[str, Any] = json.loads(json.dumps(answer))
        return found

    def close(self) -> None:
        self._reader = None


def model_of(server: TokenServer, folder: Path, **options: Any) -> dict[str, Any]:
    asked = {"base_url": server.url, "tokenizer": str(folder)} | FAST | options
    return {"backend": "vllm_server", "name": "tiny", "options": asked}


def scored(
    place: Path, server: TokenServer, folder: Path, words: list[str], **options: Any
) -> tuple[pd.DataFrame, StageOutput]:
    rows = [variant(word, messages=messages(f"{word} asks")) for word in words]
    run = run_with(place, rows, model=model_of(server, folder, **options), score={"shards": 1})
    output = score_shard(run, 0)
    return from_parquet(output.artefacts["scores.parquet"]).set_index("variant_id"), output


def request(number: int, labels: tuple[str, ...] = (), sampling: Sampling | None = None) -> Request:
    return Request(
        request_id=f"r{number}", section="s", family="f", labels=labels, sampling=sampling,
        candidates=(Candidate(variant_id=f"r{number}"),),
        messages=(Message(role="user", content=f"applicant {number}"), Message(role="assistant", content="Answer:")),
    )  # fmt: skip


def asked_of(server: TokenServer, folder: Path, requests: list[Request], **options: Any) -> list[Any]:
    backend = VllmServer(Model(**model_of(server, folder, **options)))
    try:
        backend.describe()
        server.bodies.clear()
        return sorted(backend.score([tuple(requests)]), key=lambda response: response.request_id)
    finally:
        backend.close()
