"""`make serve`: it waits as long as Airflow lives, says how far it is, and shows nobody a traceback."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.dags.conftest import airflow_environment
from tests.servers import free_ports
from tests.specs import REPOSITORY

SERVE = REPOSITORY / "tools/serve.py"


@pytest.fixture
def serve() -> ModuleType:
    spec = importlib.util.spec_from_file_location("serve", SERVE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SERVE],
        env=os.environ | {"AIRFLOW_HOME": str(home)} | variables,
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def program(folder: Path, text: str) -> str:
    """Put a program named airflow into a folder; return a PATH that finds it first."""
    (folder / "airflow").write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    (folder / "airflow").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def test_a_slow_machine_has_all_the_time_it_needs(
    serve: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An hour goes by before Airflow answers."""
    clock = iter(range(0, 100_000, 60))
    answers = iter([False] * 60 + [True])
    monkeypatch.setattr(serve, "time", SimpleNamespace(monotonic=lambda: next(clock), sleep=lambda _: None))
    monkeypatch.setattr(serve, "healthy", lambda url: next(answers))
    (tmp_path / "log").write_text("Creating tables\n\n")
    serve.wait_until_healthy("http://localhost:1", SimpleNamespace(poll=lambda: None), tmp_path / "log")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 60 and lines[0].endswith("Creating tables")


def test_what_ends_at_once_is_told_with_its_log(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    done = run(tmp_path, PORT=str(port), PATH=program(tmp_path, "echo no such database; exit 3"))
    assert done.returncode == 1
    assert "did not start (exit code 3)" in done.stdout and "no such database" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize("port", ["abc", "0", "70000", "-1"])
def test_what_is_no_port(tmp_path: Path, port: str) -> None:
    done = run(tmp_path, PORT=port)
    assert done.returncode == 1 and "is no port" in done.stdout and not done.stderr


def test_a_port_that_something_else_has(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()  # it speaks no HTTP, and never answers
        done = run(tmp_path, PORT=str(other.getsockname()[1]))
    assert done.returncode == 1 and "choose another one" in done.stdout and not done.stderr


def test_no_airflow_at_all(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    done = run(tmp_path, PORT=str(port), PATH="/nonexistent")
    assert done.returncode == 1 and "make install" in done.stdout and not done.stderr


@pytest.mark.parametrize("content", [None, "", "{", "{}", "[]"])
def test_a_password_that_is_not_there(serve: ModuleType, tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "passwords.json"
    if content is not None:
        path.write_text(content)
    assert serve.password_of("admin", path) == f"see {path}"
    path.write_text(json.dumps({"admin": "word"}))
    assert serve.password_of("admin", path) == "word"


@pytest.mark.slow  # a whole Airflow
def test_a_real_airflow_starts_and_stops(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    environment: dict[str, Any] = airflow_environment(
        tmp_path,
        PORT=str(port),
        AUDIT_STORE=str(tmp_path / "store"),
        PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    )
    with subprocess.Popen(
        [sys.executable, SERVE], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if line.startswith("Ctrl-C"):
                break
        assert any(line.startswith("Password: ") for line in said), said
        with urllib.request.urlopen(f"http://localhost:{port}/api/v2/monitor/health", timeout=30) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGTERM)
        rest = process.stdout.read()
        assert process.wait() == 0
    assert "Traceback" not in rest and "finished stages are kept" in rest
