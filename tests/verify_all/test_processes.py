"""A verification that hangs, grows or crashes ends its own process, is named, and hides no other run."""

from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path
from threading import Thread

import pytest

from audit_lib import pipeline
from audit_lib.store import open_store
from audit_lib.verify_all import (
    CostBounds,
    KeptVerifications,
    StoreVerification,
    VerifyOptions,
    list_store,
    verify_store,
)
from audit_lib.verify_all.processes import VerifyingProcess
from audit_lib.window import Window
from tests.archive.cases import WEEK
from tests.inputs import recorded_audit

pytestmark = pytest.mark.slow  # each starts real processes, which import the library anew
LATER = Window.parse("2026-01-12", "2026-01-19").label


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sealed run, and a copy of it in another audit, which comes first."""
    folder = tmp_path_factory.mktemp("all")
    spec = recorded_audit(folder, n=64, score={"shards": 1}, measure={"metrics": ["impact_ratio"]})
    run = pipeline.open_run(spec, WEEK, str(folder / "store"))
    pipeline.run_all(run)
    shutil.copytree(run.uri, folder / "store/copied" / LATER / "copy")  # no place of a run
    return folder / "store"


@pytest.fixture
def store(original: Path, tmp_path: Path) -> Path:
    shutil.copytree(original, tmp_path / "store")
    return tmp_path / "store"


def swept(store: Path, bounds: CostBounds) -> StoreVerification:
    kept = KeptVerifications.of_environment(str(store))
    kept.read()
    return verify_store(str(store), list_store(open_store(str(store))), kept, VerifyOptions(), bounds=bounds)


def bad(store: Path) -> Path:
    return next((store / "copied").glob("2026*/*"))


def grow(path: Path, size: int) -> None:
    """Make a file of zeros that takes no room on the disk."""
    path.unlink()
    with path.open("wb") as file:
        file.truncate(size)


@pytest.mark.parametrize("processes", [1, 2])
def test_one_that_takes_too_long_is_stopped(store: Path, processes: int) -> None:
    grow(bad(store) / "sample/prompts.parquet", 1 << 43)  # days to hash
    found = swept(store, CostBounds(run_seconds=20.0, processes=processes))
    assert found.exit_code == 2 and [one.name for one in found.of(["stopped"])] == [
        str(bad(store).relative_to(store))
    ]
    assert "its verification took more than 20 s: there is no verdict" in found.summary()
    assert len(found.of(["verified"])) == 3


def test_one_that_takes_too_much_memory_is_stopped(store: Path) -> None:
    grow(bad(store) / "plan/plan.json", 3 << 30)
    found = swept(store, CostBounds(run_bytes=1 << 30))
    assert "its verification took more than 1,073,741,824 bytes of memory" in found.summary()
    assert found.exit_code == 2 and len(found.of(["verified"])) == 3


def test_one_that_ends_its_process_is_named(store: Path) -> None:
    grow(bad(store) / "sample/prompts.parquet", 1 << 43)
    process = VerifyingProcess(str(store), (), CostBounds())
    answers: list[dict[str, object]] = []
    asked = Thread(
        target=lambda: answers.append(process.ask({"do": "look", "name": str(bad(store).relative_to(store))}))
    )
    asked.start()
    while process._process is None:
        time.sleep(0.01)
    os.kill(process._process.pid, signal.SIGKILL)
    asked.join()
    assert answers == [{"stopped": "ended its process (SIGKILL)"}]
    other = next((store / "small").glob("2026*/*")).relative_to(store)
    assert "sha256" in process.ask({"do": "look", "name": str(other)}), "the next one has a process again"
    process.end()
