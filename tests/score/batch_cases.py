"""Runs over a Batch API on loopback, and what is read of them."""

from __future__ import annotations

import json
from typing import Any

from audit_lib.records import from_parquet
from audit_lib.score import score_shard
from tests.score.batch_server import BatchServer
from tests.score.cases import messages, run_with, variant
from tests.score.loopback import completion


def good(body: dict[str, Any], asked: int) -> tuple[int, Any]:
    word = body["messages"][1]["content"].split()[0]
    top = {" Yes": -1.0 - int(word[1:]) / 100, " No": -2.0, "x": -12.0}
    return 200, json.loads(completion(top, more={"system_fingerprint": "fp"})[2])


def run_of(folder, server: BatchServer, count: int, score: dict[str, Any] | None = None, **options: Any):
    folder.mkdir(exist_ok=True)
    options = {"api_key_env": "TEST_API_KEY", "base_url": server.url, "poll": 0.01, "retries": 2, **options}
    rows = [variant(f"w{i:02}", messages=messages(f"w{i:02} asks")) for i in range(count)]
    model = {"backend": "openai_batch", "name": "model-1", "served": "any", "options": options}
    return run_with(folder, rows, model=model, score={"shards": 1, **(score or {})})


def table(run):
    return from_parquet(score_shard(run, 0).artefacts["scores.parquet"]).set_index("variant_id")
