"""The DAG of a panel: a group of tasks a model, nobody asked before all could be, one comparison at the end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit_lib.archive.verify import verify
from audit_lib.store import open_store
from tests.compare.cases import versions
from tests.dags.conftest import WINDOW, airflow_environment, in_process
from tests.dags.test_parse import PARSE
from tests.inputs import recorded_audit, write_jsonl
from tests.panel.cases import recorded_panel

Runs = Callable[..., list[dict[str, Any]]]

LAYOUT = """
dag = bag.dags["screeners"]
print(json.dumps({
    "errors": bag.import_errors,
    "upstream": {one.task_id: sorted(one.upstream_task_ids) for one in dag.tasks},
    "tags": sorted(dag.tags),
    "page": dag.doc_md,
    "site": [asset.name for asset in bag.dags["publish_site"].timetable.asset_condition.objects],
}))
"""


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("panel") / "specs"
    recorded_panel(folder, ["fair-1", "kind-1"])
    recorded_audit(folder)
    return folder


@pytest.fixture(scope="module")
def parsed(specs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    home = tmp_path_factory.mktemp("home")
    said = in_process(PARSE + LAYOUT, airflow_environment(home, AUDIT_SPECS=str(specs)))
    return dict(json.loads(said))


def test_each_model_has_the_tasks_of_an_audit(parsed: dict[str, Any]) -> None:
    assert parsed["errors"] == {}
    own = {name.split(".")[1] for name in parsed["upstream"] if name.startswith("kind_1.")}
    assert own == {
        "plan", "sample", "perturb", "shards", "score", "validate", "measure", "report", "archive", "completed",
    }  # fmt: skip
    alone = {name for name in parsed["upstream"] if "." not in name}
    assert alone == {"catch_up", "preflight", "same_applicants", "compare"}
    assert parsed["tags"] == ["audit", "panel", "pointwise", "recorded"]
    assert "fair-1 (recorded)" in parsed["page"] and "kind-1 (recorded)" in parsed["page"]


def test_nobody_is_asked_before_all_models_are_prepared(parsed: dict[str, Any]) -> None:
    upstream = parsed["upstream"]
    assert upstream["same_applicants"] == ["fair_1.perturb", "kind_1.perturb"]
    for name in ("fair_1", "kind_1"):
        assert "same_applicants" in upstream[f"{name}.shards"]
        assert upstream[f"{name}.plan"] == ["preflight"]
    assert upstream["compare"] == ["fair_1.archive", "kind_1.archive"]


def test_the_site_follows_the_models_and_the_comparison(parsed: dict[str, Any]) -> None:
    assert {
        "audit_archived_screeners_fair_1",
        "audit_archived_screeners_kind_1",
        "panel_compared_screeners",
        "audit_archived_small",
    } <= set(parsed["site"])
    assert "audit_archived_screeners" not in parsed["site"]


@pytest.fixture(scope="module")
def outcomes(
    dag_runs: Runs, specs: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, list[dict[str, Any]]]:
    store = str(tmp_path_factory.mktemp("store"))
    step = {"dag": "screeners", "conf": WINDOW, "logical_date": None}
    return store, dag_runs(specs, store, {**step, "conf": {**WINDOW, "dry_run": True}}, step, step)


def record_in(store: str) -> list[dict[str, Any]]:
    opened = open_store(store)
    keys = [key for key in opened.list("screeners") if key.endswith("/panel.json")]
    return [json.loads(opened.get(key)) for key in sorted(keys)]


@pytest.mark.slow  # a real Airflow: three DAG runs of two dozen tasks
def test_a_panel_runs_and_is_compared_once(outcomes: tuple[str, list[dict[str, Any]]]) -> None:
    store, (dry, first, again) = outcomes
    assert dry["state"] == "success", dry["output"]
    assert dry["tasks"]["compare"] == "skipped"
    for run in (first, again):
        assert run["state"] == "success", run["output"]
        assert set(run["tasks"].values()) == {"success"}
    (record,) = record_in(store)
    assert [one["state"] for one in record["members"]] == ["sealed", "sealed"]
    assert record["comparison_sha256"] is not None
    for one in record["members"]:
        assert verify(open_store(store).uri(one["run"])).ok


@pytest.mark.slow  # a real Airflow: two DAG runs
def test_a_model_that_fails_fails_the_run_and_is_a_row(dag_runs: Runs, tmp_path: Path) -> None:
    specs = tmp_path / "specs"
    recorded_panel(specs, ["fair-1", "kind-1", "harsh-1"])
    write_jsonl(specs / "kind-1.jsonl", [{**row, "recorded_score": None} for row in versions("kind-1")])
    store = str(tmp_path / "store")
    (run,) = dag_runs(specs, store, {"dag": "screeners", "conf": WINDOW, "logical_date": None})
    assert run["state"] == "failed"
    assert run["tasks"]["kind_1.validate"] == "success" and run["tasks"]["kind_1.measure"] == "failed"
    assert run["tasks"]["compare"] == "success" and run["tasks"]["harsh_1.completed"] == "success"
    (record,) = record_in(store)
    assert [one["state"] for one in record["members"]] == ["sealed", "failed validation", "sealed"]
    assert record["comparison_sha256"] is not None


@pytest.mark.slow  # a real Airflow
def test_other_applicants_stop_the_panel_before_anybody_is_asked(dag_runs: Runs, tmp_path: Path) -> None:
    specs = tmp_path / "specs"
    recorded_panel(specs, ["fair-1", "kind-1"])
    write_jsonl(specs / "kind-1.jsonl", versions("kind-1", 59))
    store = str(tmp_path / "store")
    (run,) = dag_runs(specs, store, {"dag": "screeners", "conf": WINDOW, "logical_date": None})
    assert run["state"] == "failed" and run["tasks"]["same_applicants"] == "failed"
    assert run["tasks"]["fair_1.shards"] == "upstream_failed"
    assert not [key for key in open_store(store).list("") if "/scores/" in key]
    (record,) = record_in(store)
    assert [one["state"] for one in record["members"]] == ["failed", "failed"]
    assert "not the applications" in record["members"][0]["faults"][0]["message"]
