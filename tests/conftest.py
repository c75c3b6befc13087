"""Fixtures shared by all tests."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

from audit_lib.run import Run
from tests.archive.cases import do, new_run
from tests.installed import TORCH
from tests.servers import S3Server, seaweedfs

collect_ignore = ["plugin"]
"""A package of somebody else's, which is not installed here: `tests/test_plugin.py` builds it."""

# One thread for linear algebra, here and in the processes that tests start: on matrices as small as these the threads
# of two workers cost up to twenty times what they compute.
os.environ |= {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
threadpool_limits(1)  # of numpy, which a plugin has loaded by now

# A property test has a budget in examples, and none in seconds: machines are slow and busy.
settings.register_profile(
    "tests", max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tests")


def pytest_configure(config: pytest.Config) -> None:
    """Skip the examples of modules that import torch where it is absent; where it is there, no import may fail."""
    config.option.doctest_ignore_import_errors |= not TORCH


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep what is imported from the collector of cycles, since it lives as long as the process; collect seldom."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)
        gc.enable()


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


_S3 = pytest.StashKey[tuple[ExitStack, Callable[[], S3Server]]]()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start the S3 store if a test will want it: it takes some seconds, in which it computes next to nothing."""
    wanted = any("s3_server" in getattr(item, "fixturenames", ()) for item in session.items)
    if wanted and not session.config.option.collectonly:
        _start_s3(session.config)


def _start_s3(config: pytest.Config) -> Callable[[], S3Server]:
    """Start the S3 store once; return what waits for it."""
    if _S3 not in config.stash:
        stack = ExitStack()
        config.stash[_S3] = stack, stack.enter_context(seaweedfs())
    return config.stash[_S3][1]


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the S3 store."""
    if _S3 in config.stash:
        config.stash[_S3][0].close()


@pytest.fixture(scope="session")
def s3_server(pytestconfig: pytest.Config) -> S3Server:
    """A real S3 store on loopback, started once."""
    return _start_s3(pytestconfig)()


@pytest.fixture
def s3(s3_server: S3Server, in_s3_environment: None) -> str:
    """Root of an empty bucket without Object Lock, with the environment set up to reach it."""
    return f"s3://{s3_server.new_bucket()}"


@pytest.fixture
def locked_s3(s3_server: S3Server, in_s3_environment: None) -> str:
    """Root of an empty bucket with Object Lock and no default retention."""
    return f"s3://{s3_server.new_bucket(locked=True)}"


@pytest.fixture
def in_s3_environment(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """What boto3 needs in its environment to reach the store."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def run_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    """Runs by their names in `tests.translation.page_runs`: between them they have every section. Each is made once."""

    @cache
    def made(name: str) -> Run:
        from tests.translation.page_runs import RUNS  # its modules have tests of their own

        return RUNS[name](tmp_path_factory.mktemp(name))

    return made
