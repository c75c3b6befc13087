"""Airflow on several machines for tests: its parts, a broker, and Celery workers that share no folder."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from tests.dags.conftest import DAGS, airflow_environment
from tests.postgres import postgres_server
from tests.servers import free_ports
from tests.specs import REPOSITORY

WAIT_S = 1800.0
"""A bound for a machine that does much else; nothing waits so long when it is quiet."""
PRELOADING, PRELOADED = "AIRFLOW__CELERY__EXTRA_CELERY_CONFIG", '{"imports": ["preloaded"]}'
"""What the image says of Celery's workers."""


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """Start a broker; give its URL."""
    (port,) = free_ports(1)
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.kill()
        process.wait()


class Machine:
    """Processes of Airflow with a disk of their own: DAG files, specs and temporary files are copies on it."""

    def __init__(self, folder: Path, specs: Path, **settings: str) -> None:
        self.folder, self._processes = folder, dict[str, subprocess.Popen[bytes]]()
        for name in ("airflow", "tmp"):
            (folder / name).mkdir(parents=True)
        shutil.copytree(DAGS, folder / "dags")
        shutil.copytree(specs, folder / "specs")
        path = [str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])]
        self.environment = airflow_environment(
            folder / "airflow",
            AIRFLOW__CORE__DAGS_FOLDER=str(folder / "dags"),
            AIRFLOW__CORE__PLUGINS_FOLDER=str(folder / "dags" / "plugins"),
            AUDIT_SPECS=str(folder / "specs"),
            TMPDIR=str(folder / "tmp"),
            PYTHONPATH=os.pathsep.join(path),
            **settings,
        )

    def start(self, *command: str, **more: str) -> None:
        """Start a part of Airflow."""
        with (self.folder / f"{command[0]}.log").open("ab") as log:
            self._processes[command[0]] = subprocess.Popen(
                [sys.executable, "-m", "airflow", *command],
                env={**self.environment, **more},
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def run(self, *command: str) -> None:
        """Run a command to its end."""
        done = subprocess.run(
            [sys.executable, "-m", "airflow", *command],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]

    def kill(self) -> None:
        """End all of its processes at once, with those that they started (``kill -9``)."""
        everyone = [one for process in self._processes.values() for one in family(process.pid)]
        for one in everyone:
            one.suspend() if one.is_running() else None
        for one in everyone:
            one.send_signal(signal.SIGKILL)
        for process in self._processes.values():
            process.wait()
        self._processes.clear()

    def cpu_s(self, *parts: str) -> float:
        """Processor time of its processes, or of some of them, and of all that they started and that ended."""
        used = 0.0
        for part in parts or self._processes:
            for one in family(self._processes[part].pid):
                times = one.cpu_times()
                used += times.user + times.system + times.children_user + times.children_system
        return used

    def check(self) -> None:
        """Fail if one of its processes ended."""
        for name, process in self._processes.items():
            assert process.poll() is None, f"{name} ended\n{self.told()}"

    def told(self) -> str:
        """The end of each of its logs."""
        logs = sorted(self.folder.glob("*.log"))
        return "\n".join(f"{log}\n{log.read_text(errors='replace')[-3000:]}" for log in logs)


def family(pid: int) -> list[psutil.Process]:
    """A process and all its descendants that live."""
    try:
        parent = psutil.Process(pid)
        return [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


class Cluster:
    """Airflow's API server, scheduler and DAG processor on one machine, and workers on others."""

    def __init__(self, folder: Path, specs: Path, database: str, broker: str, **settings: str) -> None:
        self.folder, self.specs, self.workers = folder, specs, dict[str, Machine]()
        api, logs = free_ports(2)
        self.url = f"http://127.0.0.1:{api}"
        self._logs, self._token = logs, ""
        self.shared = {
            "AIRFLOW__API__BASE_URL": self.url,
            "AIRFLOW__API_AUTH__JWT_SECRET": "tests only, " * 8,
            "AIRFLOW__API__SECRET_KEY": "another secret of tests",
            "AIRFLOW__CELERY__BROKER_URL": broker,
            "AIRFLOW__CELERY__RESULT_BACKEND": broker,
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{self.url}/execution/",
            "AIRFLOW__CORE__EXECUTOR": "CeleryExecutor",
            "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "60",
            "AUDIT_RETRIES": "2",
            **settings,
        }
        self.head = Machine(
            folder / "head",
            specs,
            AIRFLOW__API__HOST="127.0.0.1",
            AIRFLOW__API__PORT=str(api),
            AIRFLOW__API__WORKERS="1",
            AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION="True",  # only what a test begins runs
            AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE=str(folder / "passwords.json"),
            AIRFLOW__DATABASE__SQL_ALCHEMY_CONN=database,
            **self.shared,
        )

    def start(self) -> None:
        """Make the database and start the parts; workers come later."""
        self.head.run("db", "migrate")
        for part in ("api-server", "scheduler", "dag-processor"):
            self.head.start(part)
        self.wait("the API", lambda: self.call("GET", "/api/v2/monitor/health"))
        password = json.loads((self.folder / "passwords.json").read_text(encoding="utf-8"))["admin"]
        answer = self.call("POST", "/auth/token", {"username": "admin", "password": password})
        self._token = answer["access_token"]

    def add_worker(self, name: str, queues: str, **more: str) -> Machine:
        """Start a worker on a new, empty machine, which knows neither the database nor another machine's folder.

        It has imported what tasks need before it forks them, unless `more` says otherwise.
        """
        machine = self.workers[name] = Machine(self.folder / name, self.specs, **self.shared)
        options = ["--queues", queues, "--concurrency", "1", "--celery-hostname", name, "--skip-serve-logs"]
        machine.start("celery", "worker", *options, **({PRELOADING: PRELOADED} | more))
        return machine

    def lose_worker(self, name: str) -> None:
        """Kill a worker and take its disk away."""
        machine = self.workers.pop(name)
        machine.kill()
        shutil.rmtree(machine.folder)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Call Airflow's API."""
        headers = {"Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or b"null")

    def wait(self, what: str, ready: Callable[[], Any]) -> Any:
        """Wait until something is there and return it."""
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            for machine in (self.head, *self.workers.values()):
                machine.check()
            try:
                if found := ready():
                    return found
            except (urllib.error.URLError, OSError, json.JSONDecodeError):
                pass
            time.sleep(1)
        raise AssertionError(f"{what}: not within {WAIT_S} s\n{self.told()}")

    def begin(self, dag: str, conf: dict[str, Any]) -> str:
        """Start a DAG run once the DAG is there; return its id."""
        self.wait(dag, lambda: self.call("PATCH", f"/api/v2/dags/{dag}", {"is_paused": False}))
        body = {"logical_date": None, "conf": conf}
        made = self.wait(dag, lambda: self.call("POST", f"/api/v2/dags/{dag}/dagRuns", body))
        return str(made["dag_run_id"])

    def ended(self, dag: str, run_id: str) -> str:
        """Wait until a DAG run ends; return its state."""

        def state() -> str | None:
            found = str(self.call("GET", f"/api/v2/dags/{dag}/dagRuns/{run_id}")["state"])
            return found if found in ("success", "failed") else None

        return str(self.wait(f"the end of {run_id}", state))

    def tasks(self, dag: str, run_id: str) -> list[dict[str, Any]]:
        """Return the tasks of a DAG run."""
        found = self.call("GET", f"/api/v2/dags/{dag}/dagRuns/{run_id}/taskInstances?limit=1000")
        tasks: list[dict[str, Any]] = found["task_instances"]
        return tasks

    def told(self) -> str:
        """The end of every log."""
        return "\n".join(machine.told() for machine in (self.head, *self.workers.values()))

    def stop(self) -> None:
        """Kill everything."""
        for machine in (*self.workers.values(), self.head):
            machine.kill()


@contextmanager
def cluster(folder: Path, specs: Path, **settings: str) -> Iterator[Cluster]:
    """Start PostgreSQL, Redis and Airflow's parts."""
    folder.mkdir(parents=True, exist_ok=True)
    with postgres_server() as database, redis_server(folder) as broker:
        made = Cluster(folder, specs, database, broker, **settings)
        try:
            made.start()
            yield made
        finally:
            made.stop()
