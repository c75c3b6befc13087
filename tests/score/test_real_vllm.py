"""Whole audits on a real vLLM: its engine in a scoring process, and its server, with SmolLM2 in float32.

They need an environment of its own, whose Python ``AUDIT_VLLM_PYTHON`` names (docs/howto/backends.md says how to make
one); a build for CPUs will do.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from audit_lib import pipeline
from audit_lib.archive.verify import verify
from audit_lib.records import from_parquet
from audit_lib.run import Run
from audit_lib.score.backends.vllm import INTERPRETER
from tests.installed import needs_torch
from tests.score.audits import open_audit, up_to
from tests.score.conftest import SECRET
from tests.score.test_real_server import SCREENING, SEX

pytestmark = [
    pytest.mark.slow,  # each asks a real model of 135 million weights some tens of times
    needs_torch,
    pytest.mark.skipif(
        INTERPRETER not in os.environ, reason=f"no vLLM: {INTERPRETER} names no Python that has it"
    ),
]
pytest.importorskip("httpx2", reason="httpx2 is not installed")

NAME = "smollm2-135m-instruct"
WAYS = ("vllm", "vllm_server")
Audited = Callable[..., tuple[Run, pd.DataFrame]]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of vLLM's own server; its key is ``SECRET``."""
    from audit_lib.score.local.weights import resolve

    folder = resolve(NAME, None).folder
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("vllm") / "log"
    command = [
        os.environ[INTERPRETER], "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder),
        "--served-model-name", "smollm2", "--dtype", "float32", "--max-model-len", "4096", "--enforce-eager",
        "--host", "127.0.0.1", "--port", str(port), "--api-key", SECRET,
    ]  # fmt: skip
    quiet = {"VLLM_CPU_KVCACHE_SPACE": "2", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
    with (
        log.open("w") as said,
        subprocess.Popen(command, stdout=said, stderr=said, env=os.environ | quiet) as server,
    ):
        try:
            while not _is_up(f"http://127.0.0.1:{port}/health"):
                assert server.poll() is None, log.read_text()[-2000:]
                time.sleep(1)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()


def _is_up(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=2):
            return True
    except (urllib.error.URLError, OSError):
        return False


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def audited(
    way: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Audited:
    """Do all stages of an audit of a few short resumes; return its run and its scores."""
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    if way == "vllm":
        model: dict[str, Any] = {
            "backend": "vllm",
            "name": NAME,
            "options": {"cpu_cache_gib": 2, "max_model_len": 4096},
        }
    else:
        server = {
            "base_url": request.getfixturevalue("url"),
            "api_key_env": "TEST_API_KEY",
            "tokenizer": NAME,
        }
        model = {"backend": "vllm_server", "name": "smollm2", "options": server | {"timeout": 120}}
    rows = "".join(
        f'{{"prompt_id": "r{n}", "application_id": "r{n}", "position": "shop", "job_title": "Shop Assistant", '
        f'"job_description": "The job needs care and patience.", '
        f'"resume": "{{{{name}}}}\\n{{{{pronoun.subject}}}} worked {n} years in a shop."}}\n'
        for n in (1, 4)
    )
    (tmp_path / "resumes.jsonl").write_text(rows)

    def do(task: str, prompt: dict[str, Any], last: str = "", **sections: Any) -> tuple[Run, pd.DataFrame]:
        given = {
            "model": model | {"valid_judge": False},
            "prompt": prompt,
            "groups": SEX,
            "source": {"paths": [str(tmp_path / "resumes.jsonl")]},
            "sample": {"size": 2},
            "score": {"shards": 1},
            "decision": {"k": 1},
            "measure": {"metrics": ["rabbi", "score_gap"], "quotas": [1], "strata": [[]]},
        }
        run = open_audit(tmp_path, task, **given | sections)
        if last:
            up_to(run, last)
        else:
            pipeline.run_all(run)
            assert verify(run.uri).ok
        return run, from_parquet(run.stage("scores/0").read("scores.parquet"))

    return do


def test_pointwise(audited: Audited, way: str) -> None:
    run, scores = audited("pointwise", SCREENING)
    assert scores.status.eq("ok").all() and scores.method.eq("logits").all() and len(scores) == 4
    assert scores.label_mass.gt(0.2).all() and scores.score.nunique() == 4
    plan, model = (run.stage("scores/0").read_json(name) for name in ("plan.json", "model.json"))
    floor = plan["noise_floor"]
    print(f"{way}: floor against transformers {floor['largest_difference']:.1e} in a probability")
    assert floor["requests"] >= 2 and floor["largest_difference"] < 1e-5, "the gate of validation passed"
    assert model["backend"] == way and model["template"]["thinking"] == "none"


def test_labels_of_several_tokens(audited: Audited, way: str) -> None:
    labels = [str(number) for number in range(1, 11)]
    run, scores = audited("pointwise", {**SCREENING, "labels": labels, "relevance": list(range(1, 11))})
    assert scores.status.eq("ok").all()
    assert run.stage("scores/0").read_json("plan.json")["noise_floor"]["largest_difference"] < 1e-5
    shares = scores.label_probabilities.map(list)
    assert all(len(found) == 10 and min(found) > 0 and abs(sum(found) - 1) < 1e-9 for found in shares)
    assert scores.label_mass.lt(1).all()


def test_pairwise(audited: Audited, tmp_path: Path) -> None:
    template = tmp_path / "letters.yaml"
    template.write_text(
        "messages:\n- {role: system, content: 'Who fits {{job_title}} better? Reply A or B.'}\n"
        '- {role: user, content: "A: {{first.resume}}\\nB: {{second.resume}}"}\n'
        "- {role: assistant, content: 'Answer:'}\n"
    )
    _, scores = audited("pairwise", {"template": str(template), "answer": "letter", "tie": None})
    assert scores.status.eq("ok").all() and scores.method.eq("logits").all()


def test_listwise(audited: Audited) -> None:
    # This small model writes no list of the names where nothing holds it to one: rows say so, nothing is measured.
    _, scores = audited("listwise", {"max_tokens": 60}, "scores")
    assert (
        set(scores.status) <= {"ok", "unranked", "unparsed", "refused"}
        and scores.method.eq("generated").all()
    )


def test_text(audited: Audited) -> None:
    _, scores = audited("pointwise", {**SCREENING, "read": "phrase", "max_tokens": 4})
    assert scores.method.eq("generated").all() and scores.status.isin(["ok", "unparsed"]).all()


def test_sampled_texts(audited: Audited) -> None:
    prompt = {**SCREENING, "read": "phrase", "max_tokens": 4, "temperature": 0.8}
    lenient = {"minimum_answered_share": 0.5, "maximum_answered_gap": 1.0}  # some draws are no label
    run, scores = audited(
        "pointwise", prompt, score={"shards": 1, "repeats": 3, "ledger": "off"}, checks=lenient
    )
    assert len(scores) == 12 and scores.method.eq("generated").all()
    assert not scores.status.eq("error").any()
    (told,) = {row["prompt_tokens"] > 0 for row in run.stage("scores/0").read_json("served.json")}
    assert told
