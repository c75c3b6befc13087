"""An audit that waits for its data begins when they are there, and once."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from audit_lib.errors import SpecError
from audit_lib.spec import AuditSpec
from audit_lib.store import open_store
from audit_lib.window import Window
from audit_lib.windows import arrived_window
from tests.specs import load

MONDAY = datetime(2026, 1, 12, 6, tzinfo=UTC)
WINDOW = Window(MONDAY - timedelta(weeks=1), MONDAY)


def waiting(folder: Path, **schedule: Any) -> AuditSpec:
    return load(folder, schedule={"arrival": {"prefix": "exports", "quiet_minutes": 10}, **schedule})


def written(folder: Path, name: str, at: datetime) -> None:
    path = folder / "exports" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    os.utime(path, (at.timestamp(), at.timestamp()))


def minutes(count: float) -> timedelta:
    return timedelta(minutes=count)


def test_it_waits_for_the_data_and_for_quiet(tmp_path: Path) -> None:
    spec, store = waiting(tmp_path), open_store(str(tmp_path / "store"))

    def found(after: float) -> Window | None:
        return arrived_window(spec, store, MONDAY + minutes(after))

    assert found(30) is None
    written(tmp_path, "last week.jsonl", MONDAY - minutes(1))
    assert found(30) is None  # of the window before
    written(tmp_path, "part-1.jsonl", MONDAY + minutes(31))
    assert found(40) is None
    written(tmp_path, "deep/part-2.jsonl", MONDAY + minutes(38))
    assert found(47) is None
    assert found(48) == WINDOW


def test_a_window_that_was_begun_is_not_told_again(tmp_path: Path) -> None:
    spec, store = waiting(tmp_path), open_store(str(tmp_path / "store"))
    written(tmp_path, "a.jsonl", MONDAY)
    assert arrived_window(spec, store, MONDAY + minutes(10)) == WINDOW
    store.put(f"{spec.audit}/{WINDOW.label}/{'0' * 16}/attempts/1/_STARTED", b"{}")
    assert arrived_window(spec, store, MONDAY + minutes(10)) is None
    # the next one waits for data of its own
    assert arrived_window(spec, store, MONDAY + timedelta(weeks=1, hours=1)) is None
    written(tmp_path, "b.jsonl", MONDAY + timedelta(weeks=1))
    after = arrived_window(spec, store, MONDAY + timedelta(weeks=1, hours=1))
    assert after == Window(MONDAY, MONDAY + timedelta(weeks=1))


def test_none_is_begun_before_the_schedule_starts(tmp_path: Path) -> None:
    spec = waiting(tmp_path, start=(MONDAY - timedelta(days=1)).isoformat())
    written(tmp_path, "a.jsonl", MONDAY)
    assert arrived_window(spec, open_store(str(tmp_path / "store")), MONDAY + minutes(10)) is None


def test_a_spec_that_does_not_wait_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="schedule.arrival"):
        arrived_window(load(tmp_path), open_store(str(tmp_path / "store")), MONDAY)
