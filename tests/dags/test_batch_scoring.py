"""A whole DAG run whose model answers in batches: the scoring tasks defer until they are done."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.dags.conftest import WINDOW
from tests.inputs import recorded_audit
from tests.score.batch_server import batch_server
from tests.score.conftest import SECRET
from tests.score.loopback import completion

Runs = Callable[..., list[dict[str, Any]]]


def answer(body: dict[str, Any], asked: int) -> tuple[int, Any]:
    place = int(body["messages"][0]["content"].split("-")[-1])
    return 200, json.loads(completion({" Yes": -1.0 - place % 17 / 20, " No": -1.5, "x": -12.0})[2])


@pytest.mark.slow
def test_batches_are_waited_for_without_a_worker(dag_runs: Runs, tmp_path: Path) -> None:
    pytest.importorskip("openai", reason="openai is not installed")
    (specs := tmp_path / "specs").mkdir()
    (specs / "prompt.yaml").write_text(
        "messages:\n- role: user\n  content: 'Fit? {{prompt_id}} -{{number}}'\n"
    )
    with batch_server(answer, SECRET) as server:
        server.fates, server.looks = ["expired"], 1
        options = {"base_url": server.url, "api_key_env": "TEST_API_KEY", "poll": 1.0}
        recorded_audit(
            specs,
            n=96,
            model={"backend": "openai_batch", "name": "model-1", "served": "any", "options": options},
            prompt={"template": "prompt.yaml"},
            source={"fields": ["prompt_id", "number"], "windowed": False},
            score={"shards": 1},
        )
        path = specs / "prompts.jsonl"
        rows = [json.loads(line) | {"number": i} for i, line in enumerate(path.read_text().splitlines())]
        for row in rows:
            del row["recorded_score"]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        (outcome,) = dag_runs(
            specs, str(tmp_path / "store"), {"dag": "small", "conf": WINDOW}, TEST_API_KEY=SECRET
        )
        assert outcome["state"] == "success", outcome["output"]
        assert outcome["xcoms"]["score[0].return_value"]["ok"] == 96
        assert len(server.batches) == 2 and set(server.asked.values()) == {1}
        assert outcome["output"].count("batches are under way for") >= 3
        assert outcome["labels"]["score[0]"] == "shard 0"
        assert SECRET not in outcome["output"] + json.dumps(outcome)
