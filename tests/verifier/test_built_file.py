"""The packed file: the same bytes each time, the standard library alone, on every Python from 3.8 to 3.13."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.archive.test_mutations import unpacked
from tests.verifier.conftest import Told, run_alone
from tools.build_verifier import SOURCES, packed

VERSIONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13")
FILES = sorted(SOURCES.glob("*.py"))


def interpreter(version: str) -> str | None:
    """Return a Python of this version, of the machine's or of pyenv's."""
    if version == ".".join(map(str, sys.version_info[:2])):
        return sys.executable
    places = [shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")]
    for place in filter(None, places):
        said = subprocess.run(
            [str(place), "-c", "import sys; print(*sys.version_info[:2], sep='.')"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if said.stdout.strip() == version:
            return str(place)
    return None


def test_it_is_the_same_each_time() -> None:
    assert packed() == packed()
    assert packed().startswith(b"#!/usr/bin/env python3\n")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_needs_the_standard_library_alone(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            top = name.split(".")[0]
            assert top == "verifier" or top in sys.stdlib_module_names, f"{path.name} imports {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_are_small(path: Path) -> None:
    assert path.read_text(encoding="utf-8").count("\n") <= 400


@pytest.mark.parametrize("version", VERSIONS)
def test_every_python_says_the_same(version: str, pyz: Path, tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version} on this machine")
    folder = unpacked("format-1.zip", tmp_path)
    here = run_alone(pyz, folder / "sealed")
    assert here[0] == 0
    assert run_alone(pyz, folder / "sealed", python=python) == here
    (folder / "sealed/report/report.html").write_bytes(b"")
    code, said = run_alone(pyz, folder / "sealed", python=python)
    assert code == 1 and "report/report.html: SHA-256 is" in said


def test_exit_codes(pyz: Path, told: Told, tmp_path: Path) -> None:
    folder = unpacked("format-1.zip", tmp_path)
    assert told(folder / "sealed")[0] == 0
    assert told(folder / "failed")[1]["failed_attempt"].startswith("attempt 1 failed in validation")
    assert told(tmp_path / "none")[0] == 2
    assert run_alone(pyz)[0] == 2
    code, said = told(folder)
    assert code == 2 and "2 runs (failed, sealed); name one with --run" in said["undecided"][0]
    assert told(folder, "--run", "sealed")[0] == 0
    manifest = told(folder / "sealed")[1]["manifest_sha256"]
    assert told(folder / "sealed", "--manifest", manifest)[0] == 0
    assert told(folder / "sealed", "--manifest", "0" * 64)[0] == 1


def test_it_says_what_it_does_not_check(pyz: Path, tmp_path: Path) -> None:
    said = run_alone(pyz, unpacked("format-1.zip", tmp_path) / "sealed")[1]
    for words in ("the Parquet tables", "intervals, p-values", "time stamping authority", "really answered"):
        assert f"not checked here: {words}" in said or words in said


def test_a_later_format_is_not_decided(told: Told, tmp_path: Path) -> None:
    path = unpacked("format-1.zip", tmp_path) / "sealed/evidence/manifest.json"
    path.write_bytes(path.read_bytes().replace(b"audit-manifest/1", b"audit-manifest/9"))
    code, said = told(path.parent.parent)
    assert code == 2 and "audit-manifest/9" in said["undecided"][0]
