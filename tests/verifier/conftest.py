"""The packed verifier, and ways to run it: as a stranger would, and in this process where many runs are needed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tools.build_verifier import packed

Told = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture(scope="session")
def pyz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file as it is published."""
    path = tmp_path_factory.mktemp("published") / "verify.pyz"
    path.write_bytes(packed())
    return path


def run_alone(pyz: Path, *arguments: object, python: str = sys.executable) -> tuple[int, str]:
    """Run it without site-packages, environment or working folder; return exit code and what it prints."""
    command = [python, "-I", "-S", str(pyz), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, timeout=300, cwd=pyz.parent, check=False)
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done.returncode, done.stdout.decode() + done.stderr.decode()


@pytest.fixture
def told(pyz: Path) -> Told:
    """Run it for its JSON."""

    def run(*arguments: object, python: str = sys.executable) -> tuple[int, dict[str, Any]]:
        code, said = run_alone(pyz, *arguments, "--format", "json", python=python)
        return code, json.loads(said)

    return run


def found_here(folder: Path, *arguments: object) -> list[str]:
    """Verify in this process, for tests that do so hundreds of times; return the findings."""
    from contextlib import redirect_stdout
    from io import BytesIO, TextIOWrapper

    from verifier.command import main

    out = TextIOWrapper(BytesIO(), encoding="utf-8")
    with redirect_stdout(out):
        code = main([str(folder), *map(str, arguments), "--format", "json"])
    document = json.loads(out.buffer.getvalue())  # type: ignore[attr-defined]
    findings = [f"{one['path']}: {one['detail']} [{one['kind']}]" for one in document["findings"]]
    assert (code == 1) == bool(findings)
    return findings or (["undecided"] if code else [])
