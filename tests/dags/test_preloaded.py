"""What workers import before they fork tasks: all that a scoring task imports, and nothing that a fork breaks."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from audit_lib import pipeline
from audit_lib.window import Window
from tests.dags.cluster import PRELOADED, PRELOADING
from tests.dags.conftest import DAGS, WINDOW, airflow_environment, in_process
from tests.dags.test_parse import HEAVY
from tests.inputs import recorded_audit
from tests.specs import REPOSITORY

TASK = """
import json, os, sys, threading
import airflow, preloaded
opened = [os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if int(name) > 2
          and os.path.exists(f"/proc/self/fd/{name}")] if os.path.isdir("/proc/self/fd") else []
before, heavy = set(sys.modules), HEAVY & {name.partition(".")[0] for name in sys.modules}
reading, writing = os.pipe()
if os.fork() == 0:
    from airflow.dag_processing.dagbag import BundleDagBag
    from airflow.sdk.definitions._internal.dag_parsing_context import _airflow_parsing_context_manager
    folder = os.environ["AIRFLOW__CORE__DAGS_FOLDER"]
    with _airflow_parsing_context_manager(dag_id="small", task_id="score"):
        bag = BundleDagBag(f"{folder}/bias_audit.py", safe_mode=False, bundle_path=folder, bundle_name="dags-folder")
    task = bag.dags["small"].task_dict["score"]
    from audit_lib.pipeline import ShardScorer, load_run
    counts = ShardScorer(load_run(RUN, spec_path=SPEC)).score(0)
    new = sorted(name for name in set(sys.modules) - before
                 if not str(getattr(sys.modules[name], "__file__", "")).startswith(folder))
    with os.fdopen(writing, "w") as answer:
        json.dump({"new": new, "rows": counts["rows"], "task": task.task_id}, answer)
    os._exit(0)
os.close(writing)
with os.fdopen(reading) as answer:
    told = json.load(answer)
print(json.dumps(told | {"opened": opened, "heavy": sorted(heavy),
                         "threads": [one.name for one in threading.enumerate()]}))
"""


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """A process that imported `preloaded` and forked one that parses the DAG and scores a shard."""
    folder = tmp_path_factory.mktemp("preloaded")
    (specs := folder / "specs").mkdir()
    spec = recorded_audit(specs, n=400, score={"shards": 2})
    run = pipeline.open_run(spec, Window.parse(*WINDOW.values()), str(folder / "store"))
    for stage in ("plan", "sample", "variants"):
        pipeline.run_stage(run, stage)
    environment = airflow_environment(
        folder,
        AIRFLOW__CORE__PLUGINS_FOLDER=str(DAGS / "plugins"),
        AUDIT_SPECS=str(specs),
        AUDIT_STORE=str(folder / "store"),
    )
    names = {"RUN": run.uri, "SPEC": str(spec)}
    head = "".join(f"{name} = {value!r}\n" for name, value in names.items()) + f"HEAVY = {HEAVY!r}\n"
    return json.loads(in_process(head + TASK, environment))


def test_a_scoring_task_imports_nothing_but_dag_files(scored: dict) -> None:
    assert scored["task"] == "score" and scored["rows"] > 0
    assert scored["new"] == []


def test_nothing_is_opened_or_started_that_a_fork_breaks(scored: dict) -> None:
    assert scored["threads"] == ["MainThread"]
    assert [name for name in scored["opened"] if "socket" in name] == []
    assert set(scored["heavy"]) <= {"numpy", "pandas", "pyarrow", "scipy"}, (
        "torch and clients stay with the tasks"
    )


def test_it_is_no_plugin(tmp_path: Path) -> None:
    """The API server, the triggerer and each task load plugins, and would import all of it."""
    code = """
import json, sys
from airflow.sdk import plugins_manager
plugins_manager.integrate_macros_plugins()
print(json.dumps(sorted({"preloaded", "audits_page", "data_arrived"} & sys.modules.keys())))
"""
    environment = airflow_environment(tmp_path, AIRFLOW__CORE__PLUGINS_FOLDER=str(DAGS / "plugins"))
    assert json.loads(in_process(code, environment)) == ["audits_page", "data_arrived"]


def test_what_ships_imports_it() -> None:
    image = (REPOSITORY / "Dockerfile").read_text(encoding="utf-8")
    forked = "AIRFLOW__SCHEDULER__MP_START_METHOD", "AIRFLOW__SCHEDULER__MP_FORKSERVER_PRELOAD"
    told = dict(re.findall(r"(AIRFLOW__(?:CELERY|SCHEDULER)__\w+)=('[^']*'|\S+)", image))
    assert told == {PRELOADING: f"'{PRELOADED}'", forked[0]: "forkserver", forked[1]: "airflow,preloaded"}
    served = (REPOSITORY / "tools" / "serve.py").read_text(encoding="utf-8")
    assert all(f'"{name}": "{told[name]}"' in served for name in forked)
