"""What a mapped scoring task costs under Celery: the same decisions scored in few tasks and in many.

::

    python -m benchmarks.mapped_tasks                    # 4 and 32 tasks, 17,000 decisions
    python -m benchmarks.mapped_tasks --few 8 --many 64

CPU seconds of the worker, and of API server, scheduler and DAG processor together, over a whole run of the DAG; and
what one task more costs. PostgreSQL 15, Redis and the extra `celery` have to be there.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.dags.cluster import Cluster, cluster
from tests.dags.conftest import WINDOW
from tests.inputs import recorded_audit


def main() -> None:
    """Print CPU seconds of both runs, and of a task."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--few", type=int, default=4)
    parser.add_argument("--many", type=int, default=32)
    parser.add_argument("--rows", type=int, default=17_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for audit, tasks in (("few", options.few), ("many", options.many)):
            (folder / audit).mkdir()
            path = recorded_audit(
                folder / audit, n=options.rows, score={"shards": tasks}, schedule={"cron": "0 6 29 2 *"}
            )
            text = path.read_text(encoding="utf-8").replace("audit: small", f"audit: {audit}")
            (folder / audit / f"{audit}.yaml").write_text(text, encoding="utf-8")
            path.unlink()
        (specs := folder / "specs").mkdir()
        (specs / "prompts.jsonl").write_bytes((folder / "few" / "prompts.jsonl").read_bytes())
        for audit in ("few", "many"):
            (folder / audit / f"{audit}.yaml").rename(specs / f"{audit}.yaml")
        with cluster(folder / "machines", specs, AUDIT_STORE=str(folder / "store")) as airflow:
            airflow.add_worker("one", "default")
            cost = {audit: _cost(airflow, audit) for audit in ("few", "many")}
    more = options.many - options.few
    for place, part in enumerate(("worker", "API server, scheduler and DAG processor")):
        few, many = cost["few"][place], cost["many"][place]
        print(
            f"{part}: {options.few} tasks {few:.1f} s, {options.many} tasks {many:.1f} s, "
            f"a task more {(many - few) / more:.2f} s of CPU"
        )


def _cost(airflow: Cluster, audit: str) -> tuple[float, float]:
    """Return the CPU seconds of the worker and of the other parts for one run of an audit."""
    before = airflow.workers["one"].cpu_s(), airflow.head.cpu_s()
    state = airflow.ended(audit, airflow.begin(audit, WINDOW))
    if state != "success":
        raise SystemExit(f"{audit}: {state}\n{airflow.told()}")
    return airflow.workers["one"].cpu_s() - before[0], airflow.head.cpu_s() - before[1]


if __name__ == "__main__":
    main()
