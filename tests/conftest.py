"""Fixtures shared by all tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from audit_lib.run import Run
from tests.archive.cases import do, new_run
from tests.servers import S3Server, seaweedfs


@pytest.fixture(scope="session")
def sealed_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inputs and the store of a sealed run, made once: for tests that work on a copy."""
    folder = tmp_path_factory.mktemp("sealed")
    do(new_run(folder, str(folder / "store")))
    return folder


@pytest.fixture
def sealed_run(sealed_folder: Path, tmp_path: Path) -> Run:
    """A copy of the sealed run, in the test's own folder."""
    shutil.copytree(sealed_folder, tmp_path, dirs_exist_ok=True)
    return new_run(tmp_path, str(tmp_path / "store"))


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    """A real S3 store on loopback, started once."""
    with seaweedfs() as server:
        yield server


@pytest.fixture
def s3(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """Root of an empty bucket, with the environment set up to reach it."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    return f"s3://{s3_server.new_bucket()}"
