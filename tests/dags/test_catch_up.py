"""Windows that nobody audited are made up by later runs, within the limit; older ones are named."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from audit_lib.run import SUCCESS
from audit_lib.spec import AuditSpec
from audit_lib.store import open_store
from audit_lib.window import Window
from audit_lib.windows import begun_runs, owed_windows
from tests.dags.conftest import DAGS, airflow_environment, in_process
from tests.dags.live import Server
from tests.inputs import recorded_audit, recorded_rows, write_jsonl

CODE = f"""
import json, sys
sys.path.insert(0, {str(DAGS)!r})
from types import SimpleNamespace
from airflow.providers.common.compat.sdk import DagRunTriggerException
from catch_up import CatchUp
answers = []
for asked in json.loads(sys.argv[1]):
    operator = CatchUp(task_id="catch_up", trigger_dag_id="small", spec_path=asked["spec"])
    context = {{
        "params": asked["params"],
        "dag_run": SimpleNamespace(run_id=asked["run_id"], run_type=asked["run_type"]),
    }}
    try:
        operator.execute(context)
        answers.append(None)
    except DagRunTriggerException as started:
        answers.append([started.trigger_dag_id, started.dag_run_id, started.conf])
print(json.dumps(answers))
"""


@pytest.fixture
def audit(tmp_path: Path) -> Path:
    """An audit of a day in each of the last nine days, of which the seventh day from now was audited."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    rows = recorded_rows(320)
    for number, row in enumerate(rows):
        row["occurred_at"] = (today - timedelta(days=9) + timedelta(hours=number % (9 * 24))).isoformat()
    start = (today - timedelta(days=9)).isoformat()
    spec = recorded_audit(
        tmp_path,
        source={"windowed": True},
        schedule={"cron": "0 0 * * *", "start": start, "catchup": 4},
        decision={"rule": "above_median"},
        score={"shards": 1},
    )
    write_jsonl(tmp_path / "prompts.jsonl", rows)
    return spec


def days(spec: Path) -> list[Window]:
    return [one.window for one in owed_windows(AuditSpec.load(spec), [], datetime.now(UTC))]


def caught_up(spec: Path, *runs: tuple[Window, str, str]) -> list[Any]:
    """What the task starts in runs, each with its window, id and type."""
    asked = [
        {
            "spec": str(spec),
            "params": {"window_start": own.start.isoformat(), "window_end": own.end.isoformat()},
            "run_id": run_id,
            "run_type": run_type,
        }
        for own, run_id, run_type in runs
    ]
    environment = airflow_environment(spec.parent / "airflow", AUDIT_STORE=str(spec.parent / "store"))
    answers: list[Any] = json.loads(
        in_process(CODE.replace("sys.argv[1]", repr(json.dumps(asked))), environment)
    )
    return answers


def test_a_scheduled_run_starts_the_chain_and_each_run_of_it_the_next(audit: Path) -> None:
    nine = days(audit)
    store = open_store(str(audit.parent / "store"))
    for stage in ("plan", "report", "evidence"):
        store.put(f"small/{nine[5].label}/{'0' * 16}/{stage}/{SUCCESS}", b"{}")
    first, second, last, by_hand = caught_up(
        audit,
        (nine[8], "scheduled__x", "scheduled"),
        (nine[4], f"catch_up__{nine[4].label}__by__scheduled__x", "manual"),
        (nine[7], f"catch_up__{nine[7].label}__by__scheduled__x", "manual"),
        (nine[8], "manual__x", "manual"),
    )
    assert first[:2] == ["small", f"catch_up__{nine[4].label}__by__scheduled__x"]
    assert Window.parse(first[2]["window_start"], first[2]["window_end"]) == nine[4]
    assert second[1] == f"catch_up__{nine[6].label}__by__scheduled__x"
    assert last is None and by_hand is None
    (note,) = (audit.parent / "store" / "small" / "missed").glob("*.json")
    noted = json.loads(note.read_text(encoding="utf-8"))["windows"]
    assert noted == [window.label for window in nine[:4]]


@pytest.mark.slow  # a live scheduler makes six runs
def test_a_live_scheduler_makes_up_what_is_owed(audit: Path, tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    for name in ("small.yaml", "prompts.jsonl"):
        (tmp_path / name).rename(tmp_path / "specs" / name)
    spec = tmp_path / "specs" / "small.yaml"
    server = Server(tmp_path, AUDIT_SPECS=str(spec.parent), AUDIT_STORE=str(tmp_path / "store"))
    store = open_store(str(tmp_path / "store"))

    def states() -> list[str]:
        owed = owed_windows(AuditSpec.load(spec), begun_runs(store, "small"), datetime.now(UTC))
        return [one.state for one in owed]

    try:
        server.log_in()
        server.wait("the catch-up", lambda: states() == ["missed"] * 4 + ["audited"] * 5)
    finally:
        server.stop()
    (note,) = (tmp_path / "store" / "small" / "missed").glob("*.json")
    assert len(json.loads(note.read_text(encoding="utf-8"))["windows"]) == 4
