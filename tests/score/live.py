"""Runs that ask a server on loopback by the backend ``openai``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from audit_lib.records import from_parquet
from audit_lib.run import Run
from audit_lib.score import score_shard
from tests.score.cases import messages, run_with, variant
from tests.score.loopback import GOOD, Loopback, Reply, completion

USAGE = {"usage": {"prompt_tokens": 40, "completion_tokens": 1, "total_tokens": 41}}


def good(word: str, asked: int) -> Reply:
    """Answer, and count 41 tokens."""
    return completion(GOOD, more=USAGE)


def run_of(folder: Path, server: Loopback, count: int, shards: int = 1, **options: Any) -> Run:
    """Return a run of so many requests, ``w000`` and on."""
    options = {"api_key_env": "TEST_API_KEY", "base_url": server.url, "retries": 0, "timeout": 5.0, **options}
    words = [f"w{i:03}" for i in range(count)]
    rows = [
        variant(word, prompt_id=f"p{i:03}", messages=messages(f"{word} asks")) for i, word in enumerate(words)
    ]
    model = {"backend": "openai", "name": "model-1", "served": ["served-1"], "options": options}
    return run_with(folder, rows, model=model, score={"shards": shards})


def table(run: Run, shard: int = 0) -> pd.DataFrame:
    """Score a shard and return its rows by variant."""
    return from_parquet(score_shard(run, shard).artefacts["scores.parquet"]).set_index("variant_id")
