"""Runs DAGs in a process of its own and writes down what became of them, as JSON.

Airflow takes over logging and warnings of the process that imports it, and reads its settings once.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

_WAIT_S = 0.02


def run(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Test-run one DAG after another.

    A step's `logical_date` may be null, as in a run that an asset starts; `run_of` in its conf stands for
    the URI of the run that an earlier step (by number) made.
    """
    from airflow import settings
    from airflow.dag_processing.dagbag import BundleDagBag
    from airflow.sdk.definitions import dag as definitions

    # Where no task can run yet Airflow waits for a second; here nothing else is at work that it could wait for.
    definitions.time = SimpleNamespace(sleep=lambda seconds: time.sleep(min(seconds, _WAIT_S)))
    folder = Path(settings.DAGS_FOLDER)
    results = []
    for step in steps:
        # Parsed anew for each: a run leaves its conf in the params of the DAG object.
        bag = BundleDagBag(str(folder), bundle_path=folder, bundle_name="dags-folder")
        arguments = {"logical_date": None} if "logical_date" in step else {}
        conf = step.get("conf")
        if conf and "run_of" in conf:
            conf = {"run": results[conf["run_of"]]["xcoms"]["plan.return_value"]}
        dag_run = bag.dags[step["dag"]].test(run_conf=conf, **arguments)
        results.append({**outcome(dag_run), "import_errors": bag.import_errors, "dags": sorted(bag.dags)})
    return results


def outcome(dag_run: Any) -> dict[str, Any]:
    """Return the states of a run and its tasks, what went to XCom, and the asset events."""
    from airflow import settings
    from airflow.models.asset import AssetEvent
    from airflow.models.taskinstance import TaskInstance
    from airflow.models.xcom import XComModel
    from sqlalchemy import select

    with settings.Session() as session:
        of_run = {"dag_id": dag_run.dag_id, "run_id": dag_run.run_id}
        tasks = session.scalars(select(TaskInstance).filter_by(**of_run)).all()
        xcoms = session.scalars(select(XComModel).filter_by(**of_run)).all()
        events = session.scalars(
            select(AssetEvent).filter_by(source_dag_id=dag_run.dag_id, source_run_id=dag_run.run_id)
        ).all()
        return {
            "state": str(dag_run.state),
            "has_data_interval": dag_run.data_interval_start is not None,
            "tasks": {_name(each): str(each.state) for each in tasks},
            "labels": {_name(each): each.rendered_map_index for each in tasks if each.map_index >= 0},
            "xcoms": {f"{_name(each)}.{each.key}": each.value for each in xcoms},
            "events": [{"asset": each.name, "uri": each.uri, "extra": each.extra} for each in events],
        }


def _name(row: Any) -> str:
    return row.task_id if row.map_index < 0 else f"{row.task_id}[{row.map_index}]"


if __name__ == "__main__":
    target, request = sys.argv[1:]
    Path(target).write_text(json.dumps(run(json.loads(request)), default=str), encoding="utf-8")
