"""How far something is, without flooding a log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from audit_lib import progress
from audit_lib.archive.verify import verify
from audit_lib.pipeline import run_stage
from audit_lib.site import publish
from tests.archive.cases import do, new_run


def tell(monkeypatch: pytest.MonkeyPatch, seconds_each: float, total: int) -> list[str]:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock.now)
    told: list[str] = []
    one = progress.Progress("files", total, told.append)
    for _ in range(total):
        clock.now += seconds_each
        one.one_more()
    return told


def test_what_is_soon_done_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tell(monkeypatch, 0.001, 1000) == []


def test_what_takes_long_says_so_every_few_seconds_and_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    told = tell(monkeypatch, 0.5, 25)
    assert told == ["files: 10 of 25", "files: 20 of 25", "files: 25 of 25"]


def test_slow_steps_are_told_each(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tell(monkeypatch, 60, 3) == ["files: 1 of 3", "files: 2 of 3", "files: 3 of 3"]


def test_verify_validate_and_publish_tell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(progress, "_EVERY_S", 0.0)
    told: list[str] = []
    run = replace(do(new_run(tmp_path, str(tmp_path / "store")), until="scores"), notify=told.append)
    for stage in ("validation", "metrics", "report", "evidence"):
        run_stage(run, stage)
    rows = [line for line in told if line.startswith("validation: scores checked: ")]
    done, _, total = rows[-1].removeprefix("validation: scores checked: ").partition(" of ")
    assert done == total and any(line.startswith("validation: prompts checked: ") for line in told)
    told.clear()
    verify(run.uri, recompute={}, notify=told.append)
    assert any("files hashed: 1 of " in line for line in told)
    told.clear()
    publish(str(tmp_path / "store"), notify=told.append)
    assert "publish: runs checked: 1 of 1" in told
    assert any(line.startswith("publish: files of the site: ") for line in told)
