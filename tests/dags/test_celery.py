"""One audit on several machines: PostgreSQL, Redis, Celery workers without a common disk, and an S3 store.

One worker is killed while it scores and another while it uploads. What comes out is, byte by byte, what one process
writes.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from audit_lib import pipeline
from audit_lib.archive.verify import verify
from audit_lib.run import Run
from audit_lib.window import Window
from tests.dags.cluster import Cluster, cluster
from tests.dags.conftest import WINDOW
from tests.inputs import recorded_audit
from tests.servers import S3Server
from tests.specs import REPOSITORY

pytest.importorskip("airflow.providers.celery", reason="the extra celery is not installed")
pytestmark = [
    pytest.mark.slow,  # five processes of Airflow and three servers
    pytest.mark.skipif(shutil.which("redis-server") is None, reason="no redis-server"),
]
SHARDS, TASKS, ROWS = 64, 16, 17_000
PLACEMENT = "scoring_tasks: 16\nrules:\n- {tasks: [score], queue: scoring}\n"
QUEUES = "default,scoring"
HOLDS = """
import os, time
from pathlib import Path
held = Path(os.environ["TEST_HELD"])
def hold(what):
    if not held.exists():
        held.write_text(what)
        time.sleep(3600)
if os.environ["TEST_MOMENT"] == "scoring":
    import audit_lib.score
    real = audit_lib.score.score_shard
    def score_shard(run, shard):
        made = real(run, shard)
        if shard % 4 == 2:
            hold(f"scores/{shard}")
        return made
    audit_lib.score.score_shard = score_shard
else:
    from audit_lib.store.s3 import S3Store
    put_stream = S3Store.put_stream
    def put(self, key, stream):
        if key.endswith("/scores.parquet"):
            hold(key)
        return put_stream(self, key, stream)
    S3Store.put_stream = put
"""
"""What makes a moment of one worker long enough to kill it there; the others run as they are."""
TIMED = {"report/report.html", "report/report.json", "evidence/manifest.json"}
"""What tells when the stages were done."""


def test_two_workers_without_a_common_disk_are_killed_and_nothing_is_lost(
    tmp_path: Path, locked_s3: str, s3_server: S3Server
) -> None:
    (specs := tmp_path / "specs").mkdir()
    # Nothing is due before 2028: the one run is the one that is started here.
    spec = recorded_audit(specs, n=ROWS, score={"shards": SHARDS}, schedule={"cron": "0 6 29 2 *"})
    (specs / "placement.yml.txt").write_text(PLACEMENT, encoding="utf-8")
    settings = {
        "AUDIT_STORE": f"{locked_s3}/runs",
        "AUDIT_PLACEMENT": str(specs / "placement.yml.txt"),
        **s3_server.environment,
    }
    (tmp_path / "holds").mkdir()
    (tmp_path / "holds" / "sitecustomize.py").write_text(HOLDS, encoding="utf-8")
    with cluster(tmp_path / "machines", specs, **settings) as airflow:
        _worker_that_is_held(airflow, "one", "scoring", tmp_path)
        _worker_that_is_held(airflow, "two", "upload", tmp_path)
        run_id = airflow.begin("small", WINDOW)
        for name, moment in (("one", "scoring"), ("two", "upload")):
            airflow.wait(f"the {moment} of a shard", (tmp_path / moment).exists)
            airflow.lose_worker(name)
        airflow.add_worker("three", QUEUES)
        airflow.add_worker("four", QUEUES)
        assert airflow.ended("small", run_id) == "success", airflow.told()
        tasks = airflow.tasks("small", run_id)
    scored = [task for task in tasks if task["task_id"] == "score"]
    assert len(scored) == TASKS and {task["state"] for task in scored} == {"success"}
    assert {task["queue"] for task in scored} == {"scoring"}
    assert {task["queue"] for task in tasks if task["task_id"] != "score"} == {"default"}
    # Once each, but for the two whose workers were killed.
    assert sorted(Counter(task["try_number"] for task in scored).items()) == [(1, TASKS - 2), (2, 2)]

    here = pipeline.open_run(spec, Window.parse(*WINDOW.values()), str(tmp_path / "store"))
    pipeline.run_all(here)
    there = Run.load(f"{locked_s3}/runs/{here.key.prefix}")
    one, many = _artefacts(here), _artefacts(there)
    assert one.keys() == many.keys()
    assert {name for name in one if one[name] != many[name]} <= TIMED
    assert len(pipeline.shards(there)) == SHARDS
    assert {f"scores/{shard}/scores.parquet" for shard in range(SHARDS)} <= many.keys()
    asked = there.stage("variants").read_table("variants.parquet")["variant_id"]
    answered = [
        variant
        for shard in pipeline.shards(there)
        for variant in there.stage(f"scores/{shard}").read_table("scores.parquet")["variant_id"]
    ]
    assert sorted(answered) == sorted(asked) and len(answered) == ROWS
    assert verify(there.uri).ok


def _worker_that_is_held(airflow: Cluster, name: str, moment: str, folder: Path) -> None:
    path = f"{folder / 'holds'}:{REPOSITORY}:{airflow.head.environment['PYTHONPATH']}"
    more = {"TEST_MOMENT": moment, "TEST_HELD": str(folder / moment), "PYTHONPATH": path}
    airflow.add_worker(name, QUEUES, **more)


def _artefacts(run: Run) -> dict[str, Any]:
    """Return the digest of each artefact of each stage, made from the bytes in the store."""
    found: dict[str, Any] = {}
    for path in run.list():
        if path.endswith("/_SUCCESS"):
            stage = path.removesuffix("/_SUCCESS")
            listed = json.loads(run.store.get(f"{run.key.prefix}/{path}"))["artefacts"]
            found |= {f"{stage}/{name}": run.stage(stage).read(name) for name in listed}
    return found
