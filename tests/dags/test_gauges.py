"""What Airflow's metrics are told of audits, as a real StatsD listener gets it."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path
from typing import get_args

import pytest

from audit_lib.archive.attempts import fault_of, start
from audit_lib.archive.seal_failures import seal_failure
from audit_lib.documents.events import EventKind
from audit_lib.errors import BackendError
from audit_lib.windows import STATES
from tests.archive.cases import do, new_run
from tests.dags.test_notify import done
from tests.specs import REPOSITORY

pytest.importorskip("airflow", reason="airflow is not installed")
pytest.importorskip("statsd", reason="statsd is not installed")

LOOK = """
from airflow.sdk.observability import stats
from airflow.sdk.observability.metrics import stats_utils
stats.initialize(factory=stats_utils.get_stats_factory(), export_legacy_names=False)  # as Airflow's task runner does
import tell_events
tell_events.refuse_unknown_conf = lambda: None  # asks the context of a task
print(tell_events.tell_what_happened.function())
"""
DASHBOARD = REPOSITORY / "docs/howto/grafana-audits.json"


def sent(listener: socket.socket) -> dict[str, str]:
    """Return all gauges that were sent, by name, the last of each."""
    listener.settimeout(0.5)
    found = {}
    while True:
        try:
            packet = listener.recv(65536).decode()
        except TimeoutError:
            return found
        for line in packet.splitlines():
            if match := re.fullmatch(r"airflow\.(audit\.[^:]+):([^|]+)\|g", line):
                found[match[1]] = match[2]


@pytest.mark.slow(reason="processes with Airflow")
def test_statsd_is_told_of_every_kind_of_event_and_of_its_end(tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    run = do(new_run(tmp_path, str(tmp_path / "store")), until="plan")
    seal_failure(run, start(run, "audit run"), [fault_of("scores/0", BackendError("no answer"))])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        settings = {
            "AUDIT_STORE": str(tmp_path / "store"),
            "AUDIT_SPECS": str(tmp_path / "specs"),
            "AIRFLOW__METRICS__STATSD_ON": "True",
            "AIRFLOW__METRICS__STATSD_HOST": "127.0.0.1",
            "AIRFLOW__METRICS__STATSD_PORT": str(listener.getsockname()[1]),
        }
        done(LOOK, tmp_path, **settings)
        first = sent(listener)
        wanted = {
            *(f"audit.small.events.{kind}" for kind in (*get_args(EventKind), "not_acknowledged")),
            *(f"audit.small.windows.{state.replace(' ', '_')}" for state in STATES),
        }
        assert first.keys() == wanted
        assert float(first["audit.small.events.failed"]) == 1
        assert float(first["audit.small.events.not_acknowledged"]) >= 1
        assert float(first["audit.small.events.alarm"]) == 0
        do(run)
        done(LOOK, tmp_path, **settings)
        assert float(sent(listener)["audit.small.events.failed"]) == 0


def test_the_dashboard_asks_for_gauges_that_are_sent() -> None:
    board = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    asked = [target["target"] for panel in board["panels"] for target in panel.get("targets", ())]
    names = re.findall(r"airflow\.audit\.\$audit\.(events|windows)\.(\w+|\*)", " ".join(asked))
    assert len(names) >= len(asked) > 0
    known = {
        "events": {*get_args(EventKind), "not_acknowledged"},
        "windows": {s.replace(" ", "_") for s in STATES},
    }
    assert all(name == "*" or name in known[part] for part, name in names)
    assert board["templating"]["list"][0]["query"] == "stats.gauges.airflow.audit.*"
