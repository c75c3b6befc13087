"""Whole DAG runs, on recorded decisions: what a scheduler would see."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit_lib.run import Run
from audit_lib.store import open_store
from tests.dags.conftest import WINDOW
from tests.inputs import recorded_audit
from tests.servers import S3Server

Runs = Callable[..., list[dict[str, Any]]]
AUDIT = {"dag": "small", "conf": WINDOW}
COUNTS = re.compile(r"[a-z_]+")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("dags")
    (folder / "specs").mkdir()
    recorded_audit(folder / "specs")
    return folder / "specs", str(folder / "store")


@pytest.fixture(scope="module")
def outcomes(dag_runs: Runs, folders: tuple[Path, str]) -> dict[str, dict[str, Any]]:
    """Runs in one Airflow, one after another; most of them as an asset would start them, without a logical date."""
    steps: dict[str, dict[str, Any]] = {
        "dry": {"dag": "small", "conf": {**WINDOW, "dry_run": True}, "logical_date": None},
        "first": {"dag": "small", "conf": WINDOW, "logical_date": None},
        "again": {"dag": "small", "conf": WINDOW},
        "verify": {"dag": "verify_evidence"},
        "drift": {"dag": "drift_monitor", "conf": {"run_of": 1}, "logical_date": None},
        "drift of nothing": {"dag": "drift_monitor", "logical_date": None},
        "empty window": {"dag": "small", "conf": {**WINDOW, "window_end": WINDOW["window_start"]}},
        "half a window": {"dag": "small", "conf": {"window_start": WINDOW["window_start"]}},
        "no window": {"dag": "small", "logical_date": None},
    }
    return dict(zip(steps, dag_runs(*folders, *steps.values()), strict=True))


def uri_of(outcome: dict[str, Any]) -> str:
    uri: str = outcome["xcoms"]["plan.return_value"]
    return uri


def test_a_dry_run_asks_no_model(outcomes: dict[str, dict[str, Any]]) -> None:
    dry = outcomes["dry"]
    assert dry["state"] == "success"
    assert {dry["tasks"][name] for name in ("plan", "sample", "perturb")} == {"success"}
    assert {dry["tasks"][name] for name in ("shards", "validate", "report", "archive", "completed")} == {
        "skipped"
    }
    assert dry["events"] == []


def test_every_stage_works_without_a_logical_date(outcomes: dict[str, dict[str, Any]]) -> None:
    run = outcomes["first"]
    assert not run["has_data_interval"]
    assert run["state"] == "success", run["output"]
    assert set(run["tasks"].values()) == {"success"}
    parts = run["xcoms"]["shards.return_value"]
    assert len(parts) > 1
    assert all(first == last for first, last in parts)
    assert run["labels"] == {f"score[{index}]": f"shard {shard}" for index, (shard, _) in enumerate(parts)}


def test_the_run_is_whole_in_the_store(outcomes: dict[str, dict[str, Any]]) -> None:
    run = Run.load(uri_of(outcomes["first"]))
    scores = [f"scores/{shard}" for shard, _ in outcomes["first"]["xcoms"]["shards.return_value"]]
    for stage in ("plan", "sample", "variants", *scores, "validation", "metrics", "report", "evidence"):
        assert run.stage(stage).is_complete(), stage
    assert run.stage("metrics").read_json("metrics.json")["rows"]["total"] == 320


def test_a_second_run_finds_the_stages_complete(outcomes: dict[str, dict[str, Any]]) -> None:
    again = outcomes["again"]
    assert again["state"] == "success"
    assert uri_of(again) == uri_of(outcomes["first"])
    assert "report: complete, skipped" in again["output"]


def test_xcom_carries_uris_and_counts_only(outcomes: dict[str, dict[str, Any]]) -> None:
    for name, value in outcomes["first"]["xcoms"].items():
        assert len(json.dumps(value)) < 4096, name
        if name == "plan.return_value":
            assert value.startswith("/")
        elif name == "shards.return_value":
            assert all(isinstance(shard, int) for part in value for shard in part)
        elif name.endswith("return_value"):
            assert all(COUNTS.fullmatch(key) and isinstance(count, int) for key, count in value.items()), name


def test_the_asset_event_carries_the_manifest(
    outcomes: dict[str, dict[str, Any]], folders: tuple[Path, str]
) -> None:
    (event,) = outcomes["first"]["events"]
    assert event["asset"] == "audit_archived_small"
    assert event["uri"] == f"file://{folders[1]}/small"
    extra = event["extra"]
    assert json.loads(Path(extra["manifest"]).read_text(encoding="utf-8"))
    assert extra["run"] == uri_of(outcomes["first"])
    assert extra["reported"] is True
    assert (extra["window_start"], extra["window_end"]) == tuple(WINDOW.values())


def test_archived_evidence_is_verified(outcomes: dict[str, dict[str, Any]]) -> None:
    weekly = outcomes["verify"]
    assert weekly["state"] == "success", weekly["output"]
    # The run, and the journal of its audit.
    assert weekly["xcoms"]["verify[0].return_value"] == {"verified": 2, "in full": 2}


def test_drift_is_compared_with_the_run_before(outcomes: dict[str, dict[str, Any]]) -> None:
    assert outcomes["drift"]["state"] == "success", outcomes["drift"]["output"]
    assert outcomes["drift"]["xcoms"]["monitor.return_value"] == {"runs": 1, "written": 1, "alarms": 0}
    run = Run.load(uri_of(outcomes["first"]))
    name = run.key.prefix.removeprefix(f"{run.key.audit}/").replace("/", "_")
    folder = f"{run.key.audit}/monitor"
    document, sequences, sums = (
        f"{folder}/{name}.json",
        f"{folder}/sequences.json",
        f"{folder}/sums/{name}.json",
    )
    assert sorted(run.store.list(folder)) == sorted([document, sequences, sums])
    assert json.loads(run.store.get(document))["current"]["window"] == run.key.window.label
    assert "no baseline" in json.loads(run.store.get(sequences))["baseline"]["undefined"]
    assert outcomes["drift of nothing"]["state"] == "failed"
    assert "no run: start this DAG with the URI" in outcomes["drift of nothing"]["output"]


@pytest.mark.slow
def test_tampered_evidence_fails_the_weekly_verification(
    dag_runs: Runs, folders: tuple[Path, str], outcomes: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    assert outcomes["first"]["state"] == "success"
    copy = open_store(str(tmp_path / "copy"))
    for key in (original := open_store(folders[1])).list(""):
        content = original.get(key)
        copy.put(key, content.replace(b"320", b"321") if key.endswith("metrics.json") else content)
    (weekly,) = dag_runs(folders[0], copy.root, {"dag": "verify_evidence"})
    assert weekly["tasks"]["verify[0]"] == "failed"
    assert "archived evidence does not verify" in weekly["output"]


@pytest.mark.slow
def test_a_failed_validation_fails_the_run_and_is_archived(dag_runs: Runs, tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    recorded_audit(tmp_path / "specs", checks={"minimum_answered_share": 0.99, "maximum_answered_gap": 0.5})
    (run,) = dag_runs(tmp_path / "specs", str(tmp_path / "store"), AUDIT)
    assert run["state"] == "failed"
    assert run["tasks"]["measure"] == "failed"
    assert run["tasks"]["archive"] == "success", run["output"]
    assert run["tasks"]["completed"] == "upstream_failed"
    assert run["events"][0]["extra"]["reported"] is False
    assert Run.load(uri_of(run)).stage("evidence").is_complete()


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("empty window", "has no width"),
        ("half a window", "go together"),
        ("no window", "trigger it again with"),
    ],
)
def test_a_wrong_window_fails_the_run_and_says_so(
    outcomes: dict[str, dict[str, Any]], step: str, message: str
) -> None:
    run = outcomes[step]
    assert run["state"] == "failed"
    assert run["tasks"]["preflight"] == "failed"
    assert run["tasks"]["archive"] == "skipped"
    assert run["events"] == []
    assert message in run["output"]


@pytest.mark.slow
def test_nothing_to_score_is_an_error_and_no_skip(dag_runs: Runs, tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    spec = recorded_audit(tmp_path / "specs")
    (tmp_path / "sitecustomize.py").write_text(
        "import audit_lib.score\naudit_lib.score.shards = lambda run: []\n"
    )
    (run,) = dag_runs(
        spec.parent, str(tmp_path / "store"), AUDIT, PYTHONPATH=f"{tmp_path}:{Path(__file__).parents[2]}"
    )
    assert run["state"] == "failed"
    assert run["tasks"]["shards"] == "failed"
    assert run["tasks"]["validate"] == "upstream_failed"


@pytest.mark.slow
def test_the_same_dag_on_s3_with_an_airflow_connection(
    dag_runs: Runs,
    folders: tuple[Path, str],
    outcomes: dict[str, dict[str, Any]],
    locked_s3: str,
    s3_server: S3Server,
) -> None:
    connection = {
        "conn_type": "aws",
        "login": s3_server.access_key,
        "password": s3_server.secret_key,
        "extra": {"endpoint_url": s3_server.endpoint, "region_name": "us-east-1"},
    }
    (run,) = dag_runs(
        folders[0],
        f"{locked_s3}/runs",
        AUDIT,
        AUDIT_STORE_CONN_ID="store",
        AIRFLOW_CONN_STORE=json.dumps(connection),
    )
    assert run["state"] == "success", run["output"]
    assert uri_of(run).startswith(f"{locked_s3}/runs/small/")
    assert run["events"][0]["extra"]["manifest"].startswith("s3://")
    assert s3_server.secret_key not in run["output"]
    local, remote = Run.load(uri_of(outcomes["first"])), Run.load(uri_of(run))
    # The page shows when the stages ran; the numbers and tables hold no time.
    for stage, name in (("metrics", "metrics.json"), ("report", "tables.csv")):
        assert local.stage(stage).read(name) == remote.stage(stage).read(name), name
