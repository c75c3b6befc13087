"""What a mapped scoring task costs under Celery, beyond the little that it scores.

::

    python -m benchmarks.mapped_tasks                    # 16 tasks, 17,000 decisions
    python -m benchmarks.mapped_tasks --tasks 64 --runs 5

CPU seconds a task from when the shards are known until all are scored: of the worker, of the API server, and of
scheduler and DAG processor together. By a worker that imports what tasks need before it forks them, as it is shipped
(`dags/plugins/preloaded.py`), and by one that does not, in turn. Each has done the stages before by then, so that its
own start is not in it. Scheduler and DAG processor look again and again as long as a run takes, so that theirs tells of
the load of the machine too. PostgreSQL 15, Redis and the extra `celery` have to be there.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
from collections.abc import Iterable
from itertools import product
from pathlib import Path

from tests.dags.cluster import PRELOADED, PRELOADING, Cluster, cluster
from tests.dags.conftest import WINDOW
from tests.inputs import recorded_audit

WAYS = {"preloaded": PRELOADED, "plain": "{}"}
PARTS = ("worker", "API server", "scheduler and DAG processor")


def main() -> None:
    """Print what a task costs each part, run by run, and the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=16)
    parser.add_argument("--rows", type=int, default=17_000)
    parser.add_argument("--runs", type=int, default=3, help="runs by each kind of worker")
    options = parser.parse_args()
    costs: dict[str, list[tuple[float, ...]]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (specs := folder / "specs").mkdir()
        for way, run in product(WAYS, range(options.runs)):
            _write(specs, f"{way}_{run}", options.tasks, options.rows)
        # A queue for each run: what comes after its scores is not measured, and is left to nobody.
        rules = [{"audits": [path.stem], "queue": path.stem} for path in specs.glob("*.yaml")]
        (specs / "placement.json").write_text(json.dumps({"rules": rules}), encoding="utf-8")
        settings = {"AUDIT_STORE": str(folder / "store"), "AUDIT_PLACEMENT": str(specs / "placement.json")}
        with cluster(folder / "machines", specs, **settings) as airflow:
            for run, (way, setting) in product(range(options.runs), WAYS.items()):
                airflow.add_worker("one", f"default,{way}_{run}", **{PRELOADING: setting})
                spent = _spent_in_scoring(airflow, f"{way}_{run}")
                airflow.lose_worker("one")
                costs[way].append(tuple(one / options.tasks for one in spent))
                print(f"{way}: {_said(costs[way][-1])}; load {os.getloadavg()[0]:.0f}", flush=True)
    for way, found in costs.items():
        print(
            f"{way}, the median of {options.runs}: {_said(map(statistics.median, zip(*found, strict=True)))}"
        )


def _write(specs: Path, audit: str, shards: int, rows: int) -> None:
    path = recorded_audit(specs, n=rows, score={"shards": shards}, schedule={"cron": "0 6 29 2 *"})
    text = path.read_text(encoding="utf-8").replace("audit: small", f"audit: {audit}")
    path.rename(specs / f"{audit}.yaml").write_text(text, encoding="utf-8")


def _spent_in_scoring(airflow: Cluster, audit: str) -> tuple[float, ...]:
    """Return the CPU seconds of each part between the planning of the shards and the end of the last one."""
    run_id = airflow.begin(audit, WINDOW)

    def done(task_id: str) -> bool:
        states = {task["state"] for task in airflow.tasks(audit, run_id) if task["task_id"] == task_id}
        if "failed" in states:
            raise SystemExit(f"{audit}: {task_id} failed\n{airflow.told()}")
        return states == {"success"}

    airflow.wait("the shards", lambda: done("shards"))
    before = _spent(airflow)
    airflow.wait("the scores", lambda: done("score"))
    return tuple(b - a for a, b in zip(before, _spent(airflow), strict=True))


def _spent(airflow: Cluster) -> tuple[float, float, float]:
    head = airflow.head
    return airflow.workers["one"].cpu_s(), head.cpu_s("api-server"), head.cpu_s("scheduler", "dag-processor")


def _said(costs: Iterable[float]) -> str:
    each = ", ".join(f"{part} {cost:.2f}" for part, cost in zip(PARTS, costs, strict=True))
    return f"{each} s of CPU a task"


if __name__ == "__main__":
    main()
