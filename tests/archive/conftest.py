"""A run whose first attempt failed, as it was then and as it was sealed: made once, for tests that work on copies."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from audit_lib import pipeline
from audit_lib.errors import BackendError
from audit_lib.run import Run
from tests.archive.cases import WEEK, do, new_run, with_old_monitor
from tests.inputs import recorded_audit


@pytest.fixture(scope="session")
def failed_and_sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``failed`` and ``sealed``."""
    folder = tmp_path_factory.mktemp("original")
    spec = recorded_audit(folder, n=64, score={"shards": 2})
    run = pipeline.open_run(spec, WEEK, str(folder / "store"))
    real = pipeline.run_stage

    def fails(run: Run, name: str, *, shard: int | None = None) -> dict[str, int]:
        if name == "validation":
            raise BackendError("no answer")
        return real(run, name, shard=shard)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "run_stage", fails)
        with pytest.raises(BackendError):
            pipeline.run_all(run)
    shutil.copytree(run.uri, folder / "failed")
    pipeline.run_all(run)
    shutil.copytree(run.uri, folder / "sealed")
    return folder


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete run, made once; tests work on copies."""
    folder = tmp_path_factory.mktemp("original")
    return Path(do(new_run(folder, str(folder / "store"))).uri)


@pytest.fixture
def bundle(original: Path, tmp_path: Path) -> Path:
    """What a stranger has: a copy of the run's folder under another name."""
    return Path(shutil.copytree(original, tmp_path / "downloaded evidence"))


@pytest.fixture
def format_1(bundle: Path) -> Path:
    """The same as earlier versions sealed it, with their folder ``monitor``."""
    return with_old_monitor(bundle)
