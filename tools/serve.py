"""`make serve`: Airflow on this machine only, its log in a file, its URL and login on the terminal.

Airflow gets a session of its own. Ctrl-C in its terminal would otherwise reach each of its processes
at once, and the scheduler then waits for ever for workers that are already gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import FrameType

START_S, STOP_S = 180, 15


def main() -> int:
    """Run Airflow until it ends or is asked to; return its exit code."""
    home, port = Path(os.environ["AIRFLOW_HOME"]), os.environ.get("PORT", "8080")
    url = f"http://localhost:{port}"
    if healthy(url):
        print(f"Something answers on port {port} already; choose another one: make serve PORT=8081")
        return 1
    passwords, log = home / "passwords.json", home / "standalone.log"
    settings = {
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": port,
        "AIRFLOW__API__BASE_URL": url,
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(passwords),
        "AUDIT_DEADLINE_HOURS": os.environ.get("AUDIT_DEADLINE_HOURS", "24"),
    }
    signal.signal(signal.SIGTERM, interrupt)
    print(f"Starting Airflow; its log is {log}", flush=True)
    with log.open("wb") as output:
        airflow = subprocess.Popen(
            ["airflow", "standalone"],
            env=os.environ | settings,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_until_healthy(url, airflow)
        password = json.loads(passwords.read_text(encoding="utf-8"))["admin"]
        print(f"URL:      {url}\nLogin:    admin\nPassword: {password}")
        print(f"Store:    {os.environ['AUDIT_STORE']}\nCtrl-C stops it.", flush=True)
        return airflow.wait()
    except KeyboardInterrupt:
        print("\nStopping Airflow; finished stages are kept", flush=True)
        return 0
    except (ChildProcessError, TimeoutError) as error:
        print(f"{error}; the end of its log:")
        print("\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]))
        return 1
    finally:
        stop(airflow)


def interrupt(number: int, frame: FrameType | None) -> None:
    """End as Ctrl-C does."""
    raise KeyboardInterrupt


def healthy(url: str) -> bool:
    """Return whether Airflow's API answers."""
    try:
        with urllib.request.urlopen(f"{url}/api/v2/monitor/health", timeout=2):
            return True
    except (urllib.error.URLError, OSError):
        return False


def wait_until_healthy(url: str, airflow: subprocess.Popen[bytes]) -> None:
    """Wait until the API answers, or raise if Airflow ended or took too long."""
    deadline = time.monotonic() + START_S
    while not healthy(url):
        if airflow.poll() is not None:
            raise ChildProcessError("Airflow did not start")
        if time.monotonic() > deadline:
            raise TimeoutError(f"Airflow did not answer within {START_S} s")
        time.sleep(1)


def stop(airflow: subprocess.Popen[bytes]) -> None:
    """Ask Airflow to end, then its whole session, and at last insist."""
    if airflow.poll() is None:
        airflow.send_signal(signal.SIGINT)
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(subprocess.TimeoutExpired):
            airflow.wait(STOP_S)
        try:
            os.killpg(airflow.pid, number)
        except ProcessLookupError:
            return  # nobody is left
        time.sleep(1)


if __name__ == "__main__":
    sys.exit(main())
