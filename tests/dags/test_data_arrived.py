"""A live Airflow watches a folder: what is written there begins the audit of the window, once."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from audit_lib.spec import load_spec
from audit_lib.windows import latest_window
from tests.archive.cases import applicants
from tests.dags.conftest import DAGS
from tests.dags.live import Server
from tests.specs import content

pytest.importorskip("airflow", reason="airflow is not installed")


def write_spec(folder: Path, quiet: float = 0) -> Path:
    """Write an audit whose data come into a folder."""
    arrival = {"prefix": "exports", "quiet_minutes": quiet, "poll_seconds": 1}
    spec = content(
        audit="arriving",
        source={"paths": ["exports/log.jsonl"], "windowed": True},
        groups={"provenance": "self_reported"},
        schedule={"cron": "0 0 * * *", "arrival": arrival},
    )
    (folder / "exports").mkdir(parents=True)
    path = folder / "arriving.yaml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    return path


def write_log(spec: Path) -> str:
    """Write the applicants of the latest window; return its label."""
    window = latest_window(load_spec(spec).schedule, datetime.now(UTC))
    rows = [row | {"occurred_at": window.start.isoformat()} for row in applicants()]
    target = spec.parent / "exports" / "log.jsonl"
    target.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return window.label


@pytest.fixture
def arrival(audit_tasks: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(DAGS / "plugins"))
    import data_arrived

    return data_arrived


def test_the_trigger_tells_of_a_window_once_and_goes_on_after_a_fault(
    arrival: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUDIT_STORE", str(tmp_path / "store"))
    spec = write_spec(tmp_path)
    trigger = arrival.DataArrived(str(spec))
    assert trigger.serialize() == ("data_arrived.DataArrived", {"spec_path": str(spec)})
    shutil.move(spec, tmp_path / "away")
    looks: list[float] = []

    async def told() -> list[dict[str, str]]:
        found = []
        events = trigger.run()
        with contextlib.suppress(TimeoutError):
            while True:
                found.append((await asyncio.wait_for(anext(events), 2)).payload)
        return found

    async def nap(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 1:  # the spec was not there: looked at again after the longest wait
            shutil.move(tmp_path / "away", spec)
            write_log(spec)
        await real(0.01)

    real = asyncio.sleep
    monkeypatch.setattr(arrival.asyncio, "sleep", nap)
    (payload,) = asyncio.run(told())
    window = latest_window(load_spec(spec).schedule, datetime.now(UTC))
    assert payload == {"window_start": window.start.isoformat(), "window_end": window.end.isoformat()}
    assert looks[0] == 60.0
    assert looks[1] == 1.0


@pytest.mark.slow(reason="starts a live Airflow")
def test_what_arrives_begins_the_audit_of_the_window(tmp_path: Path, airflow_database: Path) -> None:
    (tmp_path / "specs").mkdir()
    spec = write_spec(tmp_path / "specs")
    home = tmp_path / "airflow"
    home.mkdir()
    shutil.copy(airflow_database, home)
    store = tmp_path / "store"
    server = Server(
        home,
        AUDIT_SPECS=str(tmp_path / "specs"),
        AUDIT_STORE=str(store),
    )
    try:
        server.log_in()
        server.wait("the DAG", lambda: server.call("GET", "/api/v2/dags/arriving"))

        def runs() -> list[dict[str, str]]:
            return list(server.call("GET", "/api/v2/dags/arriving/dagRuns")["dag_runs"])

        time.sleep(5)
        assert runs() == []
        label = write_log(spec)
        server.wait("a run", runs)
        server.wait("its end", lambda: runs()[0]["state"] in ("success", "failed"))
        (run,) = runs()
        assert (run["state"], run["run_type"]) == ("success", "asset_triggered"), server.log.read_text()[
            -5000:
        ]
        (sealed,) = store.glob("arriving/*/*/evidence/_SUCCESS")
        assert sealed.parents[2].name == label
    finally:
        server.stop()
