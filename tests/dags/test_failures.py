"""Audits that fail under Airflow: one red task, sealed evidence, and an event that says so."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit_lib.archive.attempts import read_attempts
from audit_lib.archive.verify import verify
from audit_lib.store import open_store
from tests.dags.conftest import WINDOW
from tests.dags.live import Server
from tests.inputs import recorded_audit
from tests.specs import REPOSITORY

pytestmark = pytest.mark.slow  # a whole Airflow, and six runs in it
Runs = Callable[..., list[dict[str, Any]]]
BREAKS = """
import audit_lib.score
from audit_lib.errors import BackendError
real = audit_lib.score.score_shard
def score_shard(run, shard):
    if run.key.audit == "down" and shard == 2:
        raise BackendError("http://127.0.0.1:1: does not answer, key sk-proj-abcdefghijklmnop1")
    return real(run, shard)
audit_lib.score.score_shard = score_shard
"""


@pytest.fixture(scope="module")
def outcomes(dag_runs: Runs, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("failures")
    specs, store = folder / "specs", folder / "store"
    specs.mkdir()
    path = recorded_audit(specs)
    text = path.read_text(encoding="utf-8")
    (specs / "down.yaml").write_text(text.replace("audit: small", "audit: down"), encoding="utf-8")
    gone = text.replace("audit: small", "audit: gone").replace("prompts.jsonl", "nowhere.jsonl")
    (specs / "gone.yaml").write_text(gone, encoding="utf-8")
    (folder / "sitecustomize.py").write_text(BREAKS, encoding="utf-8")
    steps: dict[str, dict[str, Any]] = {
        "a shard fails": {"dag": "down", "conf": WINDOW, "logical_date": None},
        "and again": {"dag": "down", "conf": WINDOW, "logical_date": None},
        "no source": {"dag": "gone", "conf": WINDOW, "logical_date": None},
        "misspelt": {"dag": "small", "conf": {**WINDOW, "sampel_size": 8}, "logical_date": None},
        "misspelt monitor": {"dag": "drift_monitor", "conf": {"rnu": "x"}, "logical_date": None},
        "verify": {"dag": "verify_evidence"},
    }
    made = dag_runs(specs, str(store), *steps.values(), PYTHONPATH=f"{folder}:{REPOSITORY}")
    return {**dict(zip(steps, made, strict=True)), "store": store}


def failed_tasks(outcome: dict[str, Any]) -> list[str]:
    return sorted(name for name, state in outcome["tasks"].items() if state == "failed")


def test_a_shard_that_fails_is_the_one_red_task(outcomes: dict[str, Any]) -> None:
    run = outcomes["a shard fails"]
    assert run["state"] == "failed"
    (failed,) = failed_tasks(run)
    assert failed.startswith("score["), run["output"]
    assert run["tasks"]["archive"] == "success"
    assert run["tasks"]["validate"] == "upstream_failed"


def test_its_attempt_is_sealed_and_announced(outcomes: dict[str, Any]) -> None:
    run = outcomes["a shard fails"]
    (event,) = run["events"]
    extra = event["extra"]
    assert event["asset"] == "audit_archived_down"
    assert (extra["reported"], extra["outcome"], extra["stage"]) == (False, "failed", "scores/2")
    assert json.loads(Path(extra["manifest"]).read_bytes())["number"] == 1
    one, two = read_attempts(open_store(extra["run"]), "")
    assert one.by.startswith("airflow down ") and one.by != two.by
    (fault,) = one.faults
    assert (fault.stage, fault.type) == ("scores/2", "BackendError")
    assert fault.message == "http://127.0.0.1:1: does not answer, key [key]"
    verification = verify(extra["run"])
    assert verification.ok and verification.failed, verification.summary()


def test_what_has_no_source_fails_in_the_preflight_and_is_sealed(outcomes: dict[str, Any]) -> None:
    run = outcomes["no source"]
    assert failed_tasks(run) == ["preflight"]
    assert run["tasks"]["archive"] == "success", run["output"]
    extra = run["events"][0]["extra"]
    assert extra["stage"] == "preflight"
    (one,) = read_attempts(open_store(extra["run"]), "")
    assert "nowhere.jsonl is not a file" in one.faults[0].message


def test_a_misspelt_parameter_is_refused(outcomes: dict[str, Any]) -> None:
    run = outcomes["misspelt"]
    assert failed_tasks(run) == ["preflight"]
    assert "'sampel_size' is not a parameter of small; did you mean 'sample_size'?" in run["output"]
    assert failed_tasks(outcomes["misspelt monitor"]) == ["monitor"]


def test_failed_attempts_are_verified_every_week(outcomes: dict[str, Any]) -> None:
    weekly = outcomes["verify"]
    assert weekly["state"] == "success", weekly["output"]
    counts = [
        v["verified"] for name, v in weekly["xcoms"].items() if re.match(r"verify.*\.return_value", name)
    ]
    assert sum(counts) == 6  # what is there of three audits, and the journal of each


RETRIES = """
import os
import audit_lib.score
from pathlib import Path
from audit_lib.errors import BackendError, InputError
real = audit_lib.score.score_shard
def score_shard(run, shard):
    if shard == 0:
        raise InputError("this shard fails for good")
    seen = Path(os.environ["SEEN"])
    if shard == 2 and not seen.exists():
        seen.touch()
        raise BackendError("no answer yet")
    return real(run, shard)
audit_lib.score.score_shard = score_shard
"""


def test_nothing_is_sealed_while_a_shard_is_still_to_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under a real scheduler: one shard fails for good at once, another answers when it is asked again."""
    monkeypatch.setattr("tests.dags.live.WAIT_S", 540)  # a second try waits half a minute and more
    specs = tmp_path / "specs"
    specs.mkdir()
    recorded_audit(specs, schedule={"cron": "0 0 29 2 *"})  # no scheduled run gets in the way
    (tmp_path / "airflow").mkdir()
    (tmp_path / "sitecustomize.py").write_text(RETRIES, encoding="utf-8")
    server = Server(
        tmp_path / "airflow",
        AUDIT_SPECS=str(specs),
        AUDIT_STORE=str(tmp_path / "store"),
        AUDIT_RETRIES="1",
        SEEN=str(tmp_path / "seen"),
        PYTHONPATH=f"{tmp_path}:{REPOSITORY}",
    )
    try:
        server.log_in()
        run = "/api/v2/dags/small/dagRuns"
        server.wait("the DAG", lambda: server.call("GET", "/api/v2/dags/small"))
        server.call("POST", run, {"dag_run_id": "one", "logical_date": None, "conf": WINDOW})
        server.wait(
            "the run's end", lambda: server.call("GET", f"{run}/one")["state"] in ("failed", "success")
        )
        tasks = server.call("GET", f"{run}/one/taskInstances?limit=100")["task_instances"]
    finally:
        server.stop()
    states = {(task["task_id"], task["map_index"]): task["state"] for task in tasks}
    assert [key for key, state in states.items() if state == "failed"] == [("score", 0)], states
    assert states["score", 1] == "success" and states["archive", -1] == "success"
    (key,) = [path.parents[2] for path in (tmp_path / "store").rglob("attempts/1/manifest.json")]
    record = json.loads((key / "attempts/1/manifest.json").read_bytes())
    assert "scores/2" in record["stages"], "sealed before the second try of shard 2"
    assert not (key / "attempts/2").exists()
