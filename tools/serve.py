"""`make serve`: Airflow on this machine only, its log in a file, its URL and login on the terminal.

Airflow gets a session of its own. Ctrl-C in its terminal would otherwise reach each of its processes
at once, and the scheduler then waits for ever for workers that are already gone.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from types import FrameType

STOP_S = 15
TELL_S = 15


def main() -> int:
    """Run Airflow until it ends or is asked to; return its exit code."""
    home, port = Path(os.environ["AIRFLOW_HOME"]), os.environ.get("PORT", "8080")
    if (fault := unusable(port)) is not None:
        print(fault)
        return 1
    url = f"http://localhost:{port}"
    passwords, log = home / "passwords.json", home / "standalone.log"
    settings = {
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": port,
        "AIRFLOW__API__BASE_URL": url,
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(passwords),
        "AIRFLOW__SCHEDULER__MP_START_METHOD": "forkserver",
        "AIRFLOW__SCHEDULER__MP_FORKSERVER_PRELOAD": "airflow,preloaded",  # dags/plugins/preloaded.py
        "AUDIT_DEADLINE_HOURS": os.environ.get("AUDIT_DEADLINE_HOURS", "24"),
    }
    signal.signal(signal.SIGTERM, interrupt)
    print(f"Starting Airflow; its log is {log}", flush=True)
    airflow = None
    try:
        with log.open("wb") as output:
            airflow = subprocess.Popen(
                ["airflow", "standalone"],
                env=os.environ | settings,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        wait_until_healthy(url, airflow, log)
        print(f"URL:      {url}\nLogin:    admin\nPassword: {password_of('admin', passwords)}")
        print(f"Store:    {os.environ.get('AUDIT_STORE', '')}\nCtrl-C stops it.", flush=True)
        return airflow.wait()
    except KeyboardInterrupt:
        print("\nStopping Airflow; finished stages are kept", flush=True)
        return 0
    except ChildProcessError as error:
        print(f"{error}; the end of its log:")
        print("\n".join(lines_of(log)[-20:]))
        return 1
    except OSError as error:
        print(f"{error.filename or 'airflow'}: {error.strerror}; `make install` installs Airflow")
        return 1
    finally:
        if airflow is not None:
            stop(airflow)


def interrupt(number: int, frame: FrameType | None) -> None:
    """End as Ctrl-C does."""
    raise KeyboardInterrupt


def unusable(port: str) -> str | None:
    """Return why Airflow cannot listen on a port, or None."""
    if not port.isdecimal() or not 0 < int(port) < 65536:
        return f"PORT={port} is no port; give a number from 1 to 65535"
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", int(port)))
        except OSError as error:
            return f"Port {port} cannot be used ({error.strerror}); choose another one: make serve PORT=8081"
    return None


def healthy(url: str) -> bool:
    """Return whether Airflow's API answers."""
    try:
        with urllib.request.urlopen(f"{url}/api/v2/monitor/health", timeout=5):
            return True
    except (OSError, http.client.HTTPException):
        return False


def wait_until_healthy(url: str, airflow: subprocess.Popen[bytes], log: Path) -> None:
    """Wait as long as Airflow lives, telling now and then what it does; raise if it ends."""
    started = told = time.monotonic()
    while not healthy(url):
        if airflow.poll() is not None:
            raise ChildProcessError(f"Airflow did not start (exit code {airflow.returncode})")
        now = time.monotonic()
        if now - told >= TELL_S:
            told = now
            last = next((line for line in reversed(lines_of(log)) if line.strip()), "nothing in its log yet")
            print(f"  still starting after {now - started:.0f} s: {last[:100]}", flush=True)
        time.sleep(1)


def lines_of(log: Path) -> list[str]:
    """Return the lines of a log; none where it cannot be read."""
    try:
        return log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def password_of(user: str, passwords: Path) -> str:
    """Return a user's password, or where to look for it."""
    try:
        return str(json.loads(passwords.read_text(encoding="utf-8"))[user])
    except (OSError, ValueError, KeyError, TypeError):
        return f"see {passwords}"


def stop(airflow: subprocess.Popen[bytes]) -> None:
    """Ask Airflow to end, then its whole session, and at last insist. A second Ctrl-C does not cut this short."""
    for impatient in (signal.SIGINT, signal.SIGTERM):
        signal.signal(impatient, signal.SIG_IGN)
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
