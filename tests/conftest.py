"""Fixtures shared by all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers import S3Server, seaweedfs


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
