"""Whole audits of tools with scores of their own: validated, measured, reported, verified, compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audit_lib.archive.verify import verify
from audit_lib.documents.drift import Drift
from audit_lib.monitor import measure_drift, read_history
from audit_lib.pipeline import open_run, run_all
from audit_lib.window import Window
from tests.inputs import recorded_audit
from tests.score.conftest import SECRET
from tests.score.loopback import loopback

pytest.importorskip("httpx2", reason="httpx2 is not installed")


def audit(folder: Path, url: str, **score: Any) -> Path:
    (folder / "prompt.yaml").write_text(
        "messages:\n- {role: system, content: Cook}\n- {role: user, content: 'n{{number}} {{resume}}'}\n"
    )
    path = recorded_audit(
        folder,
        n=224,
        model={
            "backend": "http",
            "name": "tool-1",
            "options": {
                "url": url,
                "headers": {"Authorization": "Bearer ${TOOL_TOKEN}"},
                "body": {"text": "{{user}}", "job": "{{system}}"},
                "score_path": "score",
                "model_path": "version",
            },
        },
        prompt={"template": "prompt.yaml"},
        source={"fields": ["number", "resume"], "windowed": False},
        decision={"rule": "above_median", "k": None, "round": None},
        score={"shards": 2, **score},
    )
    rows = [json.loads(line) for line in (folder / "prompts.jsonl").read_text().splitlines()]
    for i, row in enumerate(rows):
        row["number"] = i
        row.pop("recorded_score")
    (folder / "prompts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_tool_behind_an_endpoint_is_audited_end_to_end(tmp_path, monkeypatch):
    monkeypatch.setenv("TOOL_TOKEN", SECRET)
    version = {"now": "v1"}

    def behave(word: str, asked: int):
        number = int(word[1:]) if word[1:].isdecimal() else 50
        moved = 1.5 if version["now"] == "v2" else 0.0
        return 200, {}, json.dumps({"score": number * 37 % 101 + moved, "version": version["now"]}).encode()

    with loopback(behave) as server:
        path = audit(tmp_path, server.url, canaries=["canary one", "canary two"])
        runs = []
        for window, now in ((("2026-01-05", "2026-01-12"), "v1"), (("2026-01-12", "2026-01-19"), "v2")):
            version["now"] = now
            runs.append(open_run(path, Window.parse(*window), str(tmp_path / "store")))
            run_all(runs[-1])
        assert sum(server.asked.values()) == 2 * (224 + 2), "each window asks anew"
    first, second = runs
    for run in runs:
        verification = verify(run.uri)
        assert verification.ok, verification.summary()
    assert first.stage("scores/0").read_json("served.json")[0]["model"] == "v1"
    drift = measure_drift(second, read_history(second.store, second.key.audit))
    assert isinstance(drift, Drift)
    assert (drift.canaries.compared, drift.canaries.served_changed) == (2, 2)
    report = second.stage("report").read("report.html").decode()
    assert "scores or decisions of the tool itself" in report
    files = [file for file in (tmp_path / "store").rglob("*") if file.is_file()]
    assert len(files) > 40 and not any(SECRET.encode() in file.read_bytes() for file in files)
