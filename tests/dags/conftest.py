"""Airflow for tests: processes of their own, with a home of their own."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.specs import REPOSITORY

DAGS = REPOSITORY / "dags"
WINDOW = {"window_start": "2026-01-05T00:00:00+00:00", "window_end": "2026-01-12T00:00:00+00:00"}


def airflow_environment(home: Path, **variables: str) -> dict[str, str]:
    """Return the environment of an Airflow process: this one's, without its Airflow, audit and AWS settings."""
    kept = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("AIRFLOW", "AUDIT_", "AWS_", "PYTHONHASHSEED"))
    }
    return kept | {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(DAGS),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "ERROR",
        "AUDIT_RETRIES": "0",
        "PYTHONPATH": str(REPOSITORY),
        **variables,
    }


def in_process(code: str, environment: dict[str, str]) -> str:
    """Run Python code in a process; return what it printed last."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


@pytest.fixture(scope="session")
def airflow_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database as a new Airflow has it, prepared once: a home gets a copy, under the same name.

    The processes of a parallel run, whose folders are next to each other, share one.
    """
    shared = "PYTEST_XDIST_WORKER" in os.environ
    home = (tmp_path_factory.getbasetemp().parent if shared else tmp_path_factory.mktemp("one")) / "prepared"
    home.mkdir(exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "done").exists():
            in_process("from airflow.utils.db import initdb; initdb(); print(0)", airflow_environment(home))
            (home / "done").touch()
    return home / "airflow.db"


@pytest.fixture(scope="session")
def dag_runs(
    tmp_path_factory: pytest.TempPathFactory, airflow_database: Path
) -> Callable[..., list[dict[str, Any]]]:
    """Run steps ({dag, conf, logical_date}) with specs and a store; return what became of each."""

    def run(specs: Path, store: str, *steps: dict[str, Any], **variables: str) -> list[dict[str, Any]]:
        home = tmp_path_factory.mktemp("airflow")
        shutil.copy(airflow_database, home)
        environment = airflow_environment(home, AUDIT_SPECS=str(specs), AUDIT_STORE=store, **variables)
        done = subprocess.run(
            [sys.executable, "-m", "tests.dags.driver", str(home / "outcome.json"), json.dumps(steps)],
            env=environment,
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        outcomes: list[dict[str, Any]] = json.loads((home / "outcome.json").read_text(encoding="utf-8"))
        for each in outcomes:
            each["output"] = done.stdout
        return outcomes

    return run


@pytest.fixture(scope="session")
def audit_tasks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The helpers of the DAG files, imported here, with logging and warnings left as they were."""
    root = logging.getLogger()
    before = root.handlers[:], root.level, warnings.showwarning
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIRFLOW_HOME", str(tmp_path_factory.mktemp("airflow")))
        patch.syspath_prepend(str(DAGS))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Airflow's own, at import
            import audit_tasks

        root.handlers[:], root.level, warnings.showwarning = before
        yield audit_tasks
