"""The windows of a schedule: the intervals between two ticks of its cron expression, in its time zone.

Where clocks change it does what Airflow's ``CronDataIntervalTimetable`` does: a schedule with an hour in it
follows the clock on the wall (a tick in the hour that is left out comes that much later, one in the hour that
comes twice is the second), and one that ticks in every hour goes on in even steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from croniter import croniter

from audit_lib.spec import Schedule
from audit_lib.window import Window


def windows_between(schedule: Schedule, start: datetime, until: datetime) -> Iterator[Window]:
    """Yield the windows that begin at `start` or later and have ended by `until`, the oldest first.

    Examples
    --------
    >>> weekly = Schedule(cron="0 6 * * 1", timezone="Europe/Berlin")
    >>> first, last = datetime(2026, 3, 20, tzinfo=UTC), datetime(2026, 4, 8, tzinfo=UTC)
    >>> [window.label for window in windows_between(weekly, first, last)]
    ['20260323T050000Z_20260330T040000Z', '20260330T040000Z_20260406T040000Z']
    """
    ticks = _ticks(schedule, _at_or_after(schedule, start))
    begin = next(ticks)
    for end in ticks:
        if end > until:
            return
        yield Window(begin, end)
        begin = end


def latest_window(schedule: Schedule, now: datetime) -> Window:
    """Return the window that ended last.

    Examples
    --------
    >>> latest_window(Schedule(cron="*/4 * * * *"), datetime(2026, 1, 5, 12, 7, tzinfo=UTC)).label
    '20260105T120000Z_20260105T120400Z'
    """
    end = _at_or_before(schedule, now)
    return Window(_step(schedule, end, forward=False), end)


def next_window(schedule: Schedule, now: datetime) -> Window:
    """Return the window that ends next: it is not due yet.

    Examples
    --------
    >>> next_window(Schedule(cron="*/4 * * * *"), datetime(2026, 1, 5, 12, 7, tzinfo=UTC)).label
    '20260105T120400Z_20260105T120800Z'
    """
    start = latest_window(schedule, now).end
    return Window(start, _step(schedule, start, forward=True))


def is_window(schedule: Schedule, window: Window) -> bool:
    """Return whether a window is one of the schedule's, not one that somebody chose."""
    start = window.start.astimezone(UTC)
    return (
        _at_or_after(schedule, start) == start
        and _step(schedule, start, forward=True) == window.end.astimezone(UTC)
    )  # fmt: skip


def _ticks(schedule: Schedule, first: datetime) -> Iterator[datetime]:
    """Yield `first`, which is a tick, and all ticks after it, in UTC."""
    instant, zone = first, ZoneInfo(schedule.timezone)
    local = _local(instant, zone)
    cron = croniter(schedule.cron, local)
    while True:
        yield instant
        scheduled = cron.get_next(datetime)
        instant = _instant(cron, scheduled, local, instant, zone)
        local = _local(instant, zone)
        if local != scheduled:  # the clock was changed in between
            cron = croniter(schedule.cron, local)


def _step(schedule: Schedule, current: datetime, *, forward: bool) -> datetime:
    """Return the first tick after `current`, or the last one before it."""
    zone = ZoneInfo(schedule.timezone)
    local = _local(current, zone)
    cron = croniter(schedule.cron, local)
    scheduled = cron.get_next(datetime) if forward else cron.get_prev(datetime)
    return _instant(cron, scheduled, local, current, zone)


def _at_or_after(schedule: Schedule, current: datetime) -> datetime:
    following = _step(schedule, current, forward=True)
    there = _step(schedule, following, forward=False) == current.astimezone(UTC)
    return current.astimezone(UTC) if there else following


def _at_or_before(schedule: Schedule, current: datetime) -> datetime:
    before = _step(schedule, current, forward=False)
    there = _step(schedule, before, forward=True) == current.astimezone(UTC)
    return current.astimezone(UTC) if there else before


def _instant(cron: Any, scheduled: datetime, local: datetime, current: datetime, zone: ZoneInfo) -> datetime:
    if cron.expanded[1] == ["*"]:  # every hour: even steps, also through the hour that comes twice
        return current.astimezone(UTC) + (scheduled - local)
    offsets = [zone.utcoffset(scheduled.replace(fold=fold)) or timedelta() for fold in (0, 1)]
    return (scheduled - min(offsets)).replace(tzinfo=UTC)


def _local(instant: datetime, zone: ZoneInfo) -> datetime:
    return instant.astimezone(zone).replace(tzinfo=None, fold=0)
