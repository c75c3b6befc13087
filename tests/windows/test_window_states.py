"""What became of each window: from the schedule and the names in the store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from audit_lib.run import SUCCESS
from audit_lib.store import Store, open_store
from audit_lib.window import Window
from audit_lib.windows import (
    BegunRun,
    OwedWindow,
    begun_runs,
    catchup_limit,
    next_to_make_up,
    note_missed,
    owed_windows,
    summary,
)
from tests.specs import load

DAY = timedelta(days=1)
START = datetime(2026, 3, 2, tzinfo=UTC)
STAGES = {
    "complete": ("plan", "sample", "variants", "validation", "metrics", "report", "evidence"),
    "failed": ("plan", "sample", "validation", "evidence"),
    "unfinished": ("plan", "sample"),
}


def daily(**schedule: Any) -> Any:
    return load(source={"windowed": True}, schedule={"cron": "0 0 * * *"} | schedule)


def day(number: int, days: int = 1) -> Window:
    return Window(START + number * DAY, START + (number + days) * DAY)


def put(store: Store, window: Window, outcome: str, digest: str = "0" * 16) -> None:
    for stage in STAGES[outcome]:
        store.put(f"small/{window.label}/{digest}/{stage}/{SUCCESS}", b"{}")


def states(owed: list[OwedWindow]) -> list[str]:
    return [one.state for one in owed]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(str(tmp_path / "store"))


def owed(store: Store, now: datetime, **schedule: Any) -> list[OwedWindow]:
    return owed_windows(daily(**schedule), begun_runs(store, "small"), now)


def test_each_state(store: Store) -> None:
    put(store, day(0), "complete")
    put(store, day(2), "failed")
    put(store, day(4), "unfinished")
    put(store, day(6), "failed", "1" * 16)
    put(store, day(6), "complete", "2" * 16)
    store.put("small/missed/note.json", b"{}")  # no run
    found = owed(store, START + 9 * DAY, catchup=3)
    assert states(found) == [
        "audited", "missed", "failed", "missed", "late", "late", "audited", "late", "due",
    ]  # fmt: skip
    assert [one.window for one in found] == [day(number) for number in range(9)]
    assert found[6].runs == (f"small/{day(6).label}/{'2' * 16}",)
    assert summary(found) == "2 audited, 1 failed, 1 due, 3 late, 2 missed"


def test_a_window_is_late_a_day_or_its_own_length_after_its_end(store: Store) -> None:
    put(store, day(0), "complete")
    put(store, day(1), "unfinished")
    second = timedelta(seconds=1)
    assert states(owed(store, day(1).end + DAY - second))[-1] == "unfinished"
    assert states(owed(store, day(1).end + DAY))[1:] == ["late", "due"]
    assert owed(store, day(1).end + DAY)[1].runs == (f"small/{day(1).label}/{'0' * 16}",)
    weekly = {"cron": "0 0 * * 1", "start": START.isoformat()}
    ended = START + 7 * DAY
    empty = open_store(f"{store.root}/empty")
    assert states(owed(empty, ended + DAY - second, **weekly)) == ["due"]
    assert states(owed(empty, ended + DAY, **weekly)) == ["late"]
    hourly = {"cron": "0 * * * *", "start": START.isoformat()}
    assert states(owed(empty, START + timedelta(hours=2), **hourly)) == ["late", "due"]
    assert next_to_make_up(owed(empty, ended + DAY * 8, **weekly), day(7, 7), after=False) == day(0, 7)


def test_a_window_is_owed_once_it_has_ended(store: Store) -> None:
    put(store, day(0), "complete")
    assert len(owed(store, START + 2 * DAY - timedelta(seconds=1))) == 1
    assert len(owed(store, START + 2 * DAY)) == 2


def test_without_a_start_windows_are_owed_from_the_first_one_of_the_schedule(store: Store) -> None:
    assert states(owed(store, START + 5 * DAY)) == ["due"]  # never run: the latest, and no past is made up
    put(store, Window(START, START + timedelta(hours=5)), "complete")  # one that somebody chose
    assert len(owed(store, START + 5 * DAY)) == 1
    put(store, day(2), "failed")
    assert [one.window for one in owed(store, START + 5 * DAY)] == [day(2), day(3), day(4)]


def test_with_a_start_they_are_owed_from_it(store: Store) -> None:
    put(store, day(4), "complete")
    found = owed(store, START + 5 * DAY, start="2026-03-02T07:00:00+00:00", catchup=2)
    assert [one.window for one in found] == [day(number) for number in range(1, 5)]
    assert states(found) == ["missed", "late", "late", "audited"]


def test_longer_windows_that_somebody_chose_cover_those_within(store: Store) -> None:
    put(store, day(0), "complete")
    put(store, day(1, 2), "complete")
    put(store, Window(day(3).start, day(3).start + timedelta(hours=12)), "complete")
    put(store, Window(day(3).start + timedelta(hours=12), day(4).end - timedelta(hours=1)), "complete")
    put(store, day(5, 3), "failed")
    found = owed(store, START + 7 * DAY, catchup=1)
    assert states(found) == ["audited", "audited", "audited", "audited", "missed", "late", "due"]
    assert found[2].runs == (f"small/{day(1, 2).label}/{'0' * 16}",)
    assert len(found[3].runs) == 2


def test_what_is_made_up(store: Store) -> None:
    put(store, day(0), "complete")
    put(store, day(2), "unfinished")
    found = owed(store, START + 6 * DAY, catchup=4)
    assert states(found) == ["audited", "late", "late", "late", "late", "due"]
    # A scheduled run begins with the oldest, also where Airflow made it for an older window than the latest.
    assert next_to_make_up(found, day(5), after=False) == day(1)
    assert next_to_make_up(found, day(1), after=False) == day(2)
    # One that makes a window up goes on with the next later one, so that a window that fails stops no other.
    assert next_to_make_up(found, day(1), after=True) == day(2)
    assert next_to_make_up(found, day(3), after=True) == day(4)
    assert next_to_make_up(found, day(4), after=True) is None  # the latest is the schedule's
    assert next_to_make_up([], day(4), after=False) is None


def test_how_much_is_made_up_by_default() -> None:
    assert catchup_limit(daily()) == 30
    assert catchup_limit(daily(catchup=3)) == 3
    # Every window reads the same prompts: asking again tells nothing about the window that was missed.
    assert catchup_limit(load(source={"windowed": False})) == 0


def test_a_missed_window_is_told_once(store: Store) -> None:
    put(store, day(0), "complete")
    now = START + 5 * DAY
    first = note_missed(store, "small", owed(store, now, catchup=1), now)
    assert first == [day(1), day(2)]
    assert note_missed(store, "small", owed(store, now, catchup=1), now + DAY) == []
    later = now + DAY
    assert note_missed(store, "small", owed(store, later, catchup=1), later) == [day(3)]
    put(store, day(1), "complete")  # made by hand after all
    assert states(owed(store, later, catchup=1))[:3] == ["audited", "audited", "missed"]


def test_a_run_that_failed_before_it_could_be_sealed(store: Store) -> None:
    """What the stages leave when they fail early: records of attempts, with or without a plan."""
    begun = f"small/{day(0).label}/{'0' * 16}"
    store.put(f"{begun}/attempts/1/_STARTED", b"{}")
    assert states(owed(store, START + DAY)) == ["unfinished"]
    store.put(f"{begun}/attempts/1/manifest.json", b'{"outcome": "failed"}')
    store.put(f"{begun}/attempts/1/{SUCCESS}", b"{}")
    assert states(owed(store, START + DAY)) == ["failed"]
    store.put(f"{begun}/attempts/2/_STARTED", b"{}")
    assert states(owed(store, START + DAY)) == ["unfinished"]
    store.put(f"{begun}/attempts/2/manifest.json", b'{"outcome": "stopped"}')
    store.put(f"{begun}/attempts/2/{SUCCESS}", b"{}")
    assert states(owed(store, START + DAY)) == ["unfinished"]
    put(store, day(0), "complete")
    assert states(owed(store, START + DAY)) == ["audited"]


def test_a_run_that_does_not_verify_is_no_audit() -> None:
    window = day(0)
    one = BegunRun(window, "small/a/b", "not verified")
    assert states(owed_windows(daily(), [one], START + DAY)) == ["not verified"]


def test_another_time_zone_names_the_same_window(store: Store) -> None:
    put(store, Window.parse("2026-03-02T05:00:00", "2026-03-03T05:00:00"), "complete")
    found = owed(store, START + 3 * DAY, timezone="America/New_York")
    assert states(found) == ["audited", "due"]
