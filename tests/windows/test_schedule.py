"""The windows of a schedule are those that Airflow's timetable makes, also where clocks change."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from pydantic import ValidationError

from audit_lib.spec import Schedule
from audit_lib.window import Window
from audit_lib.windows import is_window, latest_window, windows_between
from tests.dags.conftest import airflow_environment, in_process

CRONS = {
    "*/4 * * * *": 70, "0 * * * *": 12, "17 */2 * * *": 12, "0 6 * * 1": 3, "30 2 * * *": 3, "0 2 * * *": 3,
    "30 1 * * *": 3, "0 0 * * *": 3, "*/30 0-6 * * *": 20, "15,45 1-3 * * *": 12, "0 0 1 * *": 8, "0 12 29 2 *": 3,
    "0 6 1,15 * mon": 8, "5 4 * * sun": 30, "59 23 31 12 *": 3,
}  # fmt: skip
"""With how many windows of each are made."""
STARTS = [
    ("UTC", "2024-02-28T12:34:56+00:00"),
    ("Asia/Kolkata", "2026-03-28T22:59:59+00:00"),
    ("America/New_York", "2026-03-08T04:10:00+00:00"),  # two or three hours before clocks change
    ("America/New_York", "2026-11-01T03:00:00+00:00"),
    ("Europe/Berlin", "2026-03-28T22:30:01+00:00"),
    ("Europe/Berlin", "2026-10-24T22:00:00+00:00"),
    ("Australia/Lord_Howe", "2026-04-04T12:00:00+00:00"),  # by half an hour
    ("Australia/Lord_Howe", "2026-10-03T13:00:00+00:00"),
    ("America/Santiago", "2026-04-05T01:00:00+00:00"),  # at midnight
    ("America/Santiago", "2026-09-06T02:00:00+00:00"),
]


def test_a_switch_is_no_number_of_windows() -> None:
    """Airflow's own catchup is a switch: true would be read as one window."""
    with pytest.raises(ValidationError, match="catchup"):
        Schedule.model_validate({"cron": "0 6 * * 1", "catchup": True})


ORACLE = """
import json, sys
from pendulum import parse
from airflow.timetables.base import TimeRestriction
from airflow.timetables.interval import CronDataIntervalTimetable
found = []
for cron, zone, start, steps in json.loads({cases!r}):
    timetable, last, made = CronDataIntervalTimetable(cron, zone), None, []
    within = TimeRestriction(earliest=parse(start), latest=None, catchup=True)
    for _ in range(steps):
        try:
            info = timetable.next_dagrun_info(last_automated_data_interval=last, restriction=within)
        except ValueError:  # "did not advance"
            break
        last = info.data_interval
        made.append([last.start.int_timestamp, last.end.int_timestamp])
    found.append(made)
print(json.dumps(found))
"""
Case = tuple[Schedule, datetime, list[Window]]


def windows_of(schedule: Schedule, start: datetime, until: datetime) -> list[Window]:
    return list(windows_between(schedule, start, until))


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    """Schedules, starts, and the intervals that Airflow makes of them, one after another."""
    picked = random.Random(5)
    free = [
        [
            f"{picked.randrange(60)} {picked.randrange(24)} * * {picked.randrange(8)}",
            picked.choice(STARTS)[0],
            datetime.fromtimestamp(picked.randrange(1_700_000_000, 1_800_000_000), UTC).isoformat(),
            30,
        ]
        for _ in range(20)
    ]
    asked = [[cron, zone, start, steps] for cron, steps in CRONS.items() for zone, start in STARTS] + free
    environment = airflow_environment(tmp_path_factory.mktemp("airflow"))
    answered = json.loads(in_process(ORACLE.format(cases=json.dumps(asked)), environment))
    return [
        (
            Schedule(cron=cron, timezone=zone),
            datetime.fromisoformat(start),
            [Window(*(datetime.fromtimestamp(end, UTC) for end in pair)) for pair in made],
        )
        for (cron, zone, start, _), made in zip(asked, answered, strict=True)
    ]


def has_holes(windows: list[Window], schedule: Schedule) -> bool:
    """Whether Airflow leaves time out or takes it twice, or cannot go on: it does so at some changes of clocks."""
    short = len(windows) < CRONS.get(schedule.cron, 30)
    return short or any(one.end != after.start for one, after in pairwise(windows))


def test_the_windows_are_airflow_s(cases: list[Case]) -> None:
    compared = 0
    for schedule, start, made in cases:
        found = windows_of(schedule, start, made[-1].end)
        assert all(one.end == after.start for one, after in pairwise(found)), "no time is left out"
        if not has_holes(made, schedule):
            assert found == made, (schedule.cron, schedule.timezone, start)
            compared += 1
    assert compared >= len(cases) - 8  # what Airflow leaves out is owed all the same, and made up


def test_the_latest_window_and_whether_one_is_the_schedule_s(cases: list[Case]) -> None:
    for schedule, _, made in cases:
        if has_holes(made, schedule):
            continue
        window = made[-1]
        assert latest_window(schedule, window.end) == window
        assert latest_window(schedule, window.end + timedelta(seconds=1)) == window
        assert is_window(schedule, window)
        assert not is_window(schedule, Window(window.start, window.end + timedelta(seconds=1)))
        assert not is_window(schedule, Window(window.start + timedelta(seconds=1), window.end))


def test_an_hour_that_comes_twice_has_even_windows() -> None:
    """New York sets its clocks back at 06:00 UTC on 1 November 2026: counted by hand, without cron."""
    start, end = (datetime(2026, 11, 1, hour, tzinfo=UTC) for hour in (3, 9))
    windows = windows_of(Schedule(cron="*/20 * * * *", timezone="America/New_York"), start, end)
    assert [one.start for one in windows] == [start + timedelta(minutes=20 * n) for n in range(18)]


def test_a_day_without_its_hour_and_a_day_with_two() -> None:
    """Half past two in Berlin: an hour later on 29 March 2026, the second of the two on 25 October."""
    daily = Schedule(cron="30 2 * * *", timezone="Europe/Berlin")
    spring = windows_of(daily, datetime(2026, 3, 27, tzinfo=UTC), datetime(2026, 3, 31, tzinfo=UTC))
    assert [f"{one.end:%d %H:%M}" for one in spring] == ["28 01:30", "29 01:30", "30 00:30"]
    autumn = windows_of(daily, datetime(2026, 10, 23, tzinfo=UTC), datetime(2026, 10, 27, tzinfo=UTC))
    assert [f"{one.end:%d %H:%M}" for one in autumn] == ["24 00:30", "25 01:30", "26 01:30"]


@pytest.mark.parametrize("cron", ["0 0 30 2 *", "0 0 31 4,6,9,11 *"])
def test_a_day_that_no_year_has_is_refused(cron: str) -> None:
    with pytest.raises(ValueError, match="names a day that no year has"):
        Schedule(cron=cron)
    assert Schedule(cron="0 0 29 2 *").cron == "0 0 29 2 *"
