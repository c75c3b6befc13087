"""A real PostgreSQL on loopback, as a database to read from."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_PROGRAMS = Path("/usr/lib/postgresql/15/bin")


@contextmanager
def postgres_server() -> Iterator[str]:
    """Start a server with an empty database; yield its SQLAlchemy URL.

    PostgreSQL does not run as root, so then it runs as the user postgres.
    """
    if not (_PROGRAMS / "initdb").is_file():
        pytest.skip(f"no PostgreSQL 15 in {_PROGRAMS}")
    pytest.importorskip("psycopg2", reason="SQLAlchemy reaches PostgreSQL by psycopg2")
    as_user: dict[str, Any] = {"user": "postgres"} if os.geteuid() == 0 else {}
    # Not in pytest's own folder, which another user may not enter.
    with tempfile.TemporaryDirectory(prefix="audit-postgres-") as name:
        folder = Path(name)
        if as_user:
            shutil.chown(folder, "postgres")
        yield from _running(folder, as_user)


def _running(folder: Path, as_user: dict[str, Any]) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = folder / "data"

    def run(*command: str | Path) -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/", **as_user)

    run(_PROGRAMS / "initdb", "-D", data, "-U", "audit", "--auth=trust", "-E", "UTF8", "--no-sync")
    options = f"-c listen_addresses=127.0.0.1 -p {port} -k {folder} -c fsync=off"
    control = [_PROGRAMS / "pg_ctl", "-D", data, "-l", folder / "log", "-w"]
    run(*control, "-o", options, "start")
    try:
        yield f"postgresql+psycopg2://audit@127.0.0.1:{port}/postgres"
    finally:
        run(*control, "-m", "immediate", "stop")
