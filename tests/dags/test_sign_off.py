"""Sign-off under a real Airflow: a person is asked, answers through the API, and the run is signed."""

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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audit_lib.run import Run
from audit_lib.signoff import attestations, generate_key, load_public_key, read_sign_offs, verify_sign_offs
from tests.archive.cases import do, new_run
from tests.dags.conftest import airflow_environment

pytestmark = pytest.mark.slow
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
            AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE=str(self.passwords),
            AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION="False",
            PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            **variables,
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

    def log_in(self) -> None:
        self.wait("health", lambda: self.call("GET", "/api/v2/monitor/health"))
        password = json.loads(self.passwords.read_text(encoding="utf-8"))["admin"]
        answer = self.call("POST", "/auth/token", {"username": "admin", "password": password})
        self.token = answer["access_token"]

    def stop(self) -> None:
        os.killpg(self.process.pid, signal.SIGINT)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@pytest.fixture
def sealed(tmp_path: Path) -> Run:
    return do(new_run(tmp_path, str(tmp_path / "store")), until="evidence")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    generate_key(tmp_path / "service.key")
    (tmp_path / "specs").mkdir()
    started = Server(
        tmp_path,
        AUDIT_SPECS=str(tmp_path / "specs"),
        AUDIT_STORE=str(tmp_path / "store"),
        AUDIT_SIGNING_KEY=str(tmp_path / "service.key"),
    )
    try:
        started.log_in()
        started.wait("the DAG", lambda: started.call("GET", "/api/v2/dags/sign_off"))
        yield started
    finally:
        started.stop()


def asked(server: Server, run: Run, run_id: str) -> str:
    """Start a sign-off; return the path of the question once it is put."""
    body = {"dag_run_id": run_id, "logical_date": None, "conf": {"run": run.uri}}
    server.call("POST", "/api/v2/dags/sign_off/dagRuns", body)
    task = f"/api/v2/dags/sign_off/dagRuns/{run_id}/taskInstances/ask"
    server.wait("the question", lambda: server.call("GET", task)["state"] == "awaiting_input")
    return f"{task}/-1/hitlDetails"


def ended(server: Server, run_id: str) -> str:
    path = f"/api/v2/dags/sign_off/dagRuns/{run_id}"
    return str(
        server.wait(
            "the end", lambda: (s := server.call("GET", path)["state"]) in ("success", "failed") and s
        )
    )


def test_an_auditor_answers_and_the_run_is_signed(server: Server, sealed: Run, tmp_path: Path) -> None:
    # Airflow wants every field of the form, as its own page sends them.
    names = dict.fromkeys(attestations(sealed), False)
    incomplete = {"auditor": "Ada Auditor", "organisation": "Independent LLP", "remarks": "", **names}
    incomplete["no_employment"] = True
    complete = incomplete | dict.fromkeys(names, True)

    question = asked(server, sealed, "first")
    detail = server.call("GET", question)
    assert sealed.uri in detail["body"] and "no_part_in_tool" in detail["params"]
    server.call("PATCH", question, {"chosen_options": ["Approve"], "params_input": incomplete})
    assert ended(server, "first") == "failed"
    assert read_sign_offs(sealed) == []

    question = asked(server, sealed, "second")
    server.call("PATCH", question, {"chosen_options": ["Reject"], "params_input": complete})
    assert ended(server, "second") == "success"
    assert read_sign_offs(sealed) == []

    question = asked(server, sealed, "third")
    server.call("PATCH", question, {"chosen_options": ["Approve"], "params_input": complete})
    assert ended(server, "third") == "success"
    (made,) = read_sign_offs(sealed)
    assert made.predicate["signer"] == "service" and made.predicate["account"] == "admin"
    key = load_public_key(tmp_path / "service.key.pub")
    assert verify_sign_offs(sealed, [key]).ok
    assert "under the account admin" in made.folder.read("report.html").decode()
    published = tmp_path / "store" / "site" / sealed.key.prefix / "report.html"
    server.wait("the site", lambda: published.exists() and "Ada Auditor" in published.read_text("utf-8"))
