"""A live Airflow for tests: its API, scheduler and all, on a port and in a home of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tests.dags.conftest import DAGS, airflow_environment

WAIT_S = 180


class Server:
    """Airflow standalone, on a port and in a home of its own."""

    def __init__(self, home: Path, **variables: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.url = f"http://localhost:{free.getsockname()[1]}"
        self.passwords = home / "passwords.json"
        environment = airflow_environment(
            home,
            AIRFLOW__API__HOST="127.0.0.1",
            AIRFLOW__API__PORT=self.url.rpartition(":")[2],
            AIRFLOW__API__BASE_URL=self.url,
            AIRFLOW__CORE__EXECUTION_API_SERVER_URL=f"{self.url}/execution/",
            AIRFLOW__CORE__PLUGINS_FOLDER=str(DAGS / "plugins"),
            AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE=str(self.passwords),
            AIRFLOW__SCHEDULER__MP_START_METHOD="forkserver",  # as `make serve` and the image have it
            AIRFLOW__SCHEDULER__MP_FORKSERVER_PRELOAD="airflow,preloaded",
            PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            **({"AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False"} | variables),
        )
        self.log = home / "standalone.log"
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                ["airflow", "standalone"],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.token = ""

    def wait(self, what: str, ready: Any) -> Any:
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            assert self.process.poll() is None, self.log.read_text(errors="replace")[-3000:]
            try:
                if found := ready():
                    return found
            except (urllib.error.URLError, OSError, json.JSONDecodeError):
                pass
            time.sleep(1)
        raise AssertionError(f"{what}: not within {WAIT_S} s\n{self.log.read_text(errors='replace')[-3000:]}")

    def call(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        request = urllib.request.Request(
            f"{self.url}{path}",
            json.dumps(body).encode() if body is not None else None,
            headers,
            method=method,
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.loads(answer.read() or b"null")

    def password(self, name: str) -> str:
        return str(json.loads(self.passwords.read_text(encoding="utf-8"))[name])

    def log_in(self, name: str = "admin") -> None:
        self.token = ""
        self.wait("health", lambda: self.call("GET", "/api/v2/monitor/health"))
        answer = self.call("POST", "/auth/token", {"username": name, "password": self.password(name)})
        self.token = answer["access_token"]

    def stop(self) -> None:
        os.killpg(self.process.pid, signal.SIGINT)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
