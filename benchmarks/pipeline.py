"""What the machinery costs around the model: importing metrics, DAG parse, `audit run` against its stages, Airflow.

    python benchmarks/pipeline.py [--runs 5] [--airflow-run]

Prints a Markdown table. Wall-clock seconds, median of the runs; the machine is described in the first line.
The demo's model is loaded and asked for real.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
DEMO = HERE / "include" / "audits" / "resume_screening_demo.yaml"
WINDOW = ("2026-01-05", "2026-01-12")

_PARSE = """
import sys, time
sys.path.insert(0, sys.argv[1])  # as the DAG processor does
from airflow.dag_processing.dagbag import DagBag
start = time.perf_counter()
bag = DagBag(sys.argv[1])
print(time.perf_counter() - start)
assert not bag.import_errors, bag.import_errors
"""


def parse_seconds(folder: Path, environment: dict[str, str]) -> float:
    """Seconds that a fresh process needs to parse the DAG files of a folder, Airflow's own start left out."""
    done = subprocess.run(
        [sys.executable, "-c", _PARSE, str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[-1])


def stage_seconds(store: Path) -> dict[str, float]:
    """Seconds of each stage (shards of scoring together) from the records of the one run in a store."""
    seconds: dict[str, float] = {}
    for record in sorted(store.rglob("_SUCCESS")):
        content = json.loads(record.read_text(encoding="utf-8"))
        stage = record.relative_to(store).parts[3]
        spent = datetime.fromisoformat(content["finished_at"]) - datetime.fromisoformat(content["started_at"])
        seconds[stage] = seconds.get(stage, 0.0) + spent.total_seconds()
    return seconds


def import_seconds(module: str, runs: int) -> float:
    """Median wall time of a process that imports a module, less one that imports nothing."""
    taken: dict[str, list[float]] = {"pass": [], f"import {module}": []}
    for _ in range(runs):
        for code, seconds in taken.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            seconds.append(time.perf_counter() - start)
    nothing, ours = (statistics.median(seconds) for seconds in taken.values())
    return ours - nothing


def airflow_environment(home: Path) -> dict[str, str]:
    """Environment of an Airflow of its own, so that the user's is left alone."""
    return os.environ | {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_FOLDER": str(HERE / "dags"),
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "ERROR",
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--runs", type=int, default=5, help="runs of the DAG parse, interleaved with an empty DAG file"
    )
    parser.add_argument(
        "--airflow-run", action="store_true", help="also run the demo's DAG with `airflow dags test`"
    )
    options = parser.parse_args()
    print(
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n"
    )
    print("| what | seconds | bound |\n|---|---|---|")
    print(f"| `import audit_lib.metrics` | {import_seconds('audit_lib.metrics', options.runs):.2f} | 0.5 |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        empty = folder / "empty"
        empty.mkdir()
        (empty / "nothing.py").write_text("from airflow.sdk import DAG\nDAG('nothing', schedule=None)\n")
        environment = airflow_environment(folder / "airflow")
        subprocess.run(["airflow", "db", "migrate"], env=environment, check=True, capture_output=True)
        ours, base = [], []
        for _ in range(options.runs):
            ours.append(parse_seconds(HERE / "dags", environment))
            base.append(parse_seconds(empty, environment))
        beyond = statistics.median(ours) - statistics.median(base)
        print(
            f"| DAG parse beyond an empty DAG file's ({statistics.median(base):.2f} s) | {beyond:.2f} | 0.5 |"
        )

        store = folder / "cli"
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "audit_lib.cli", "run", str(DEMO), "--window", *WINDOW, "--store", str(store)],
            check=True, capture_output=True,
        )  # fmt: skip
        wall = time.perf_counter() - start
        stages = stage_seconds(store)
        total, scoring = sum(stages.values()), stages["scores"]
        print(f"| `audit run` of the demo, whole process | {wall:.1f} | |")
        print(f"| its stages together | {total:.1f} | |")
        print(f"| whole process over its stages | {wall / total:.3f} | 1.10 |")
        print(f"| outside scoring, `audit run` | {wall - scoring:.1f} | 60 |")
        if options.airflow_run:
            store = folder / "airflow_store"
            conf = json.dumps(
                {"window_start": f"{WINDOW[0]}T00:00:00+00:00", "window_end": f"{WINDOW[1]}T00:00:00+00:00"}
            )
            start = time.perf_counter()
            subprocess.run(
                ["airflow", "dags", "test", "resume_screening_demo", "--conf", conf],
                env=environment | {"AUDIT_STORE": str(store)}, check=True, capture_output=True,
            )  # fmt: skip
            wall = time.perf_counter() - start
            scoring = stage_seconds(store)["scores"]
            print(f"| the demo's DAG, `airflow dags test` | {wall:.1f} | |")
            print(f"| outside scoring, Airflow | {wall - scoring:.1f} | 60 |")


if __name__ == "__main__":
    main()
