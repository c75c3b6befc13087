"""The index of runs and of audits saves reading, and hides nothing."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from audit_lib.canonical import canonical_json, sha256
from audit_lib.cli.main import main
from audit_lib.documents.evidence import StageRecord, record_bytes
from audit_lib.errors import NotFoundError
from audit_lib.run import SUCCESS
from audit_lib.spec import AuditSpec
from audit_lib.store import LocalStore, Store, open_store
from audit_lib.window import Window
from audit_lib.windows import index_differences, note_change, owed_of, owed_windows, read_index, read_states
from audit_lib.windows.audit_states import CHANGED, KEPT
from audit_lib.windows.run_index import index_key
from audit_lib.windows.window_states import begun_runs
from tests.specs import load

START = datetime(2026, 3, 2, tzinfo=UTC)
WEEK = timedelta(weeks=1)
DESIGN = "0" * 16


def week(number: int, weeks: int = 1) -> Window:
    return Window(START + number * WEEK, START + (number + weeks) * WEEK)


def spec(**schedule: Any) -> AuditSpec:
    return load(source={"windowed": True}, schedule={"cron": "0 0 * * 1", "catchup": 2} | schedule)


def commit(store: Store, folder: str, **files: bytes) -> None:
    store.put(f"{folder}/{SUCCESS}", record(files, START))
    for name, content in files.items():
        store.put(f"{folder}/{name.replace('__', '.')}", content)


def record(files: dict[str, bytes], at: datetime) -> bytes:
    instant = at.isoformat()
    return record_bytes(
        StageRecord(
            artefacts={
                name.replace("__", "."): {"sha256": sha256(content), "bytes": len(content)}
                for name, content in files.items()
            },
            counts={},
            started_at=instant,
            finished_at=instant,
        )
    )


def put(store: Store, audit: str, window: Window, outcome: str = "complete", design: str = DESIGN) -> None:
    """A run with as much as its state needs, and a plan."""
    run = f"{audit}/{window.label}/{design}"
    content = spec().canonical()
    commit(store, f"{run}/plan", spec__json=content, plan__json=canonical_json({"spec_digest": design * 4}))
    if outcome != "unfinished":
        commit(store, f"{run}/evidence", manifest__json=f"{run}".encode())
    if outcome == "complete":
        commit(store, f"{run}/report")


class Counted(LocalStore):
    """Counts what is read of runs."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.got: list[str] = []

    def get(self, key: str) -> bytes:
        self.got.append(key)
        return super().get(key)


@pytest.fixture
def store(tmp_path: Path) -> Counted:
    return Counted(str(tmp_path / "store"))


def states_at(store: Store, now: datetime) -> dict[str, dict[str, int]]:
    return {one.audit: dict(one.states) for one in read_states(store, now).states}


def noted(notes: tuple[str, ...]) -> list[str]:
    """What is noted of windows; the runs here have no report."""
    return [one for one in notes if "its report cannot be read" not in one]


def test_the_index_is_the_same_in_any_order_and_from_nothing(tmp_path: Path) -> None:
    made = []
    for order in ((0, 1, 2, 3), (3, 1, 0, 2)):
        store = open_store(str(tmp_path / str(order)))
        for number in order:
            put(store, "hiring", week(number), "failed" if number == 2 else "complete")
            read_index(store, "hiring")
        live = store.get(index_key("hiring"))
        read_index(store, "hiring", rebuild=True)
        assert store.get(index_key("hiring")) == live
        (tmp_path / str(order) / index_key("hiring")).unlink()
        read_index(store, "hiring")
        assert store.get(index_key("hiring")) == live
        made.append(live)
    assert made[0] == made[1]


def test_what_was_read_once_is_not_read_again(store: Counted) -> None:
    for number in range(4):
        put(store, "hiring", week(number))
    first = read_index(store, "hiring")
    assert [one.outcome for one in first.runs] == ["complete"] * 4
    store.got.clear()
    put(store, "hiring", week(4))
    again = read_index(store, "hiring")
    assert len(again.runs) == 5
    records = [key for key in store.got if key.endswith(f"evidence/{SUCCESS}")]
    assert records == [f"hiring/{week(4).label}/{DESIGN}/evidence/{SUCCESS}"]


def test_states_are_those_of_the_spec(store: Counted) -> None:
    put(store, "hiring", week(0))
    put(store, "hiring", week(3), "failed")
    put(store, "hiring", week(4), "unfinished")
    now = START + 7 * WEEK
    by_index = owed_of(read_index(store, "hiring"), now)[0]
    assert by_index == owed_windows(spec(), begun_runs(store, "hiring"), now)
    assert [one.state for one in by_index] == [
        "audited", "missed", "missed", "failed", "late", "late", "due",
    ]  # fmt: skip


def test_a_run_that_is_added_or_removed_is_never_hidden(store: Counted, tmp_path: Path) -> None:
    now = START + 3 * WEEK
    for audit in ("hiring", "lending"):
        put(store, audit, week(0))
    assert states_at(store, now)["hiring"] == {"audited": 1, "late": 1, "due": 1}
    store.got.clear()
    assert states_at(store, now)["hiring"] == {"audited": 1, "late": 1, "due": 1}
    assert store.got == [KEPT]  # nothing changed: nothing else was read
    put(store, "hiring", week(1))
    assert states_at(store, now) == {
        "hiring": {"audited": 2, "due": 1},
        "lending": {"audited": 1, "late": 1, "due": 1},
    }
    removed = tmp_path / "store/hiring" / week(1).label
    removed.rename(tmp_path / "elsewhere")
    assert states_at(store, now)["hiring"] == {"audited": 1, "late": 1, "due": 1}
    (tmp_path / "store/lending").rename(tmp_path / "gone")
    assert set(states_at(store, now)) == {"hiring"}


def test_a_second_run_of_an_audited_window_is_seen_by_its_mark_and_by_the_audits_listing(
    store: Counted,
) -> None:
    now = START + 2 * WEEK
    put(store, "hiring", week(0))
    put(store, "hiring", week(1))
    read_states(store, now)
    put(store, "hiring", week(1), design="1" * 16)
    assert len(read_index(store, "hiring").runs) == 3  # the audit's own listing goes down to the runs
    assert noted(read_states(store, now).states[0].notes) == []
    note_change(store, "hiring")
    (state,) = read_states(store, now).states
    assert noted(state.notes) == [
        f"{week(1).label}: audited 2 times, by designs {DESIGN}, {'1' * 16}; their numbers are not averaged"
    ]
    assert store.list(CHANGED) == []


def test_the_clock_and_open_runs_are_looked_at_again(store: Counted) -> None:
    put(store, "hiring", week(0), "unfinished")
    end = week(0).end
    assert states_at(store, end) == {"hiring": {"unfinished": 1}}
    assert states_at(store, end + timedelta(hours=23)) == {"hiring": {"unfinished": 1}}
    assert states_at(store, end + timedelta(hours=24)) == {"hiring": {"late": 1}}
    run = f"hiring/{week(0).label}/{DESIGN}"
    for stage in ("report", "evidence"):
        commit(store, f"{run}/{stage}")
    assert states_at(store, end + timedelta(hours=24)) == {"hiring": {"audited": 1}}
    assert states_at(store, end + WEEK) == {"hiring": {"audited": 1, "due": 1}}
    assert states_at(store, end + WEEK + timedelta(days=1)) == {"hiring": {"audited": 1, "late": 1}}
    assert states_at(store, end) == {
        "hiring": {"audited": 1}
    }  # an earlier instant is not answered by a later one


def test_a_rewritten_index_is_found(store: Counted, capsys: pytest.CaptureFixture[str]) -> None:
    put(store, "hiring", week(0))
    put(store, "hiring", week(1))
    read_index(store, "hiring")
    assert index_differences(store, "hiring") == []
    kept = json.loads(store.get(index_key("hiring")))
    kept["runs"][0]["sealed_at"] = "2020-01-01T00:00:00+00:00"
    kept["title"] = "Another"
    store.replace(index_key("hiring"), json.dumps(kept).encode())
    found = index_differences(store, "hiring")
    assert len(found) == 2 and "sealed 2020-01-01" in found[0] and "title differs" in found[1]
    arguments = ["status", "--store", store.root, "--at", "2026-03-16"]
    assert main([*arguments, "--verify"]) == 1
    assert "DIFFERS" in capsys.readouterr().out
    assert main([*arguments, "--rebuild"]) == 0
    assert main([*arguments, "--verify"]) == 0
    assert "DIFFERS" not in capsys.readouterr().out


@pytest.mark.parametrize("content", [b"", b"[]", b'{"schema": "audit-states/0"}', b"\xff"])
def test_an_index_that_cannot_be_read_is_made_again(store: Counted, content: bytes) -> None:
    put(store, "hiring", week(0))
    now = START + WEEK
    said = states_at(store, now)
    for key in (KEPT, index_key("hiring")):
        right = store.get(key)
        store.replace(key, content)
        assert states_at(store, now) == said
        assert store.get(key) == right or key == index_key("hiring")


def test_windows_that_overlap_run_backwards_or_are_empty_are_stated(
    store: Counted, capsys: pytest.CaptureFixture[str]
) -> None:
    put(store, "hiring", week(0))
    put(store, "hiring", week(0, 2))
    first = "20260302T000000Z"
    for name in (f"20260309T000000Z_{first}", f"{first}_{first}", "20261399T000000Z_20261499T000000Z"):
        commit(store, f"hiring/{name}/{DESIGN}/evidence", manifest__json=b"")
    notes = noted(read_index(store, "hiring").notes)
    assert len(notes) == 4
    assert sum("ends before it begins, or is no time: no run in it is counted" in one for one in notes) == 3
    assert notes[3].startswith(f"{week(0).label} and {week(0, 2).label}: overlap;")
    assert main(["status", "hiring", "--store", store.root, "--at", "2026-03-09"]) == 0
    said = capsys.readouterr().out
    assert said.count("NOTE 2026") == 4 and "not due" in said


def test_three_weeks_without_a_scheduler_each_window_is_audited_or_named(store: Counted) -> None:
    put(store, "hiring", week(0))
    now = week(3).end + timedelta(days=2)
    owed, _ = owed_of(read_index(store, "hiring"), now)
    assert [(one.window, one.state) for one in owed] == [
        (week(0), "audited"), (week(1), "late"), (week(2), "late"), (week(3), "late"),
    ]  # fmt: skip
    for number in (3, 1, 2):  # made up in any order
        put(store, "hiring", week(number))
    assert states_at(store, now) == {"hiring": {"audited": 4}}


def test_an_audit_that_cannot_be_read_stops_no_other(store: Counted, tmp_path: Path) -> None:
    put(store, "hiring", week(0))
    put(store, "lending", week(0))
    (tmp_path / "store/lending" / week(0).label / DESIGN / "plan/spec.json").write_bytes(b"{}")
    found = read_states(store, START + WEEK)
    assert [one.audit for one in found.states] == ["hiring", "lending"]
    assert "its plan cannot be read" in found.states[1].notes[0]
    with pytest.raises(NotFoundError):
        read_index(store, "none")
