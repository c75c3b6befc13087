"""The weekly DAG extends the locks of a real bucket, names what it could not look at, and skips a folder."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from audit_lib.run import Run
from audit_lib.store import open_store
from tests.archive.test_retain import bucket, locks, run
from tests.servers import S3Server

pytest.importorskip("airflow", reason="airflow is not installed")
pytestmark = pytest.mark.slow
__all__ = ["bucket", "run"]
STEP = {"dag": "extend_retention"}


def test_it_extends_what_the_policy_asks_and_fails_with_what_it_could_not_read(
    dag_runs: Callable[..., list[dict[str, Any]]],
    run: Run,
    bucket: str,
    s3_server: S3Server,
    tmp_path: Path,
) -> None:
    before = locks(s3_server, bucket, run)
    first, again = dag_runs(tmp_path, run.store.root, STEP, STEP, **s3_server.environment)
    assert (first["state"], again["state"]) == ("success", "success")
    counts = {"runs": 1, "files": len(before), "unlocked": 0}
    assert first["xcoms"]["extend.return_value"] == {**counts, "extended": len(before)}
    assert again["xcoms"]["extend.return_value"] == {**counts, "extended": 0}
    after = locks(s3_server, bucket, run)
    assert all(after[key] - before[key] > timedelta(days=300) for key in before)
    odd = f"{run.key.audit}/{run.key.window.label}/0000000000000000/plan/_SUCCESS"
    open_store(run.store.root).put(odd, b"nothing")
    (failed,) = dag_runs(tmp_path, run.store.root, STEP, **s3_server.environment)
    assert failed["state"] == "failed"
    assert "locks could not be extended: " in failed["output"] and "0000000000000000" in failed["output"]
    (folder,) = dag_runs(tmp_path, str(tmp_path / "store"), STEP)
    assert folder["tasks"]["extend"] == "skipped"
