"""What became of each window that an audit owes: audited, failed, unfinished, due, late or missed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final, Literal

from audit_lib.canonical import strict_json
from audit_lib.documents.run_index import WindowOutcome
from audit_lib.errors import NotFoundError
from audit_lib.run import SUCCESS
from audit_lib.spec import AuditSpec, Schedule
from audit_lib.store import Store
from audit_lib.window import Window
from audit_lib.windows.schedule import is_window, latest_window, windows_between

OwedWindowState = Literal["audited", "failed", "not verified", "unfinished", "due", "late", "missed"]

STATES: Final[dict[OwedWindowState, str]] = {
    "audited": "a complete run is sealed",
    "failed": "its runs failed, and are sealed with their errors",
    "not verified": "what is sealed does not verify",
    "unfinished": "begun and not sealed: it is running, or it was stopped",
    "due": "ended and not begun: the scheduler will make it",
    "late": "ended a day or its own length ago, and not sealed: it will be made up, or goes on",
    "missed": "not begun, and too old for the catch-up: only a run by hand makes it",
}
CATCHUP: Final = 30
"""Windows before the latest that are made up by default: a month of days, half a year of weeks, a day of hours.

What a long outage costs stays bounded: each window is a whole audit, and a provider may be paid for it.
"""
IN_TIME: Final = timedelta(days=1)
"""A window that is not sealed this long after its end, or after its own length if that is shorter, is late."""


@dataclass(frozen=True, slots=True)
class BegunRun:
    """One run of an audit, as far as it came."""

    window: Window
    prefix: str
    outcome: WindowOutcome
    signed: bool = False
    """Whether a sign-off of it is complete, where the listing was asked."""
    rejected: bool = False
    """Whether an auditor rejected it, likewise."""


@dataclass(frozen=True, slots=True)
class OwedWindow:
    """A window that the schedule owes, what became of it, and the runs that say so (their folders)."""

    window: Window
    state: OwedWindowState
    runs: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Say it on one line."""
        about = f"  {', '.join(self.runs)}" if self.runs else ""
        return f"{_minute(self.window.start)} to {_minute(self.window.end)}  {self.state}{about}"


def audit_folders(store: Store) -> list[str]:
    """Return the names of the folders of a store that may be audits: one listing of names, whatever is in them."""
    return [name for name in store.folders("") if not name.startswith(("_", ".")) and name != "site"]


def begun_runs(store: Store, audit: str) -> list[BegunRun]:
    """Return every run of an audit that was begun, by window and folder.

    Names in the store say almost all; of a run that is not sealed the record of its last attempt is read.
    """
    done: dict[str, set[str]] = {}
    tries: dict[str, dict[int, bool]] = {}
    signed: set[str] = set()
    rejected: set[str] = set()
    for key in store.list(audit):
        parts = key.split("/")
        prefix = "/".join(parts[:3])
        if len(parts) == 5 and parts[3:] == ["rejection", SUCCESS]:
            rejected.add(prefix)
        elif len(parts) == 5 and parts[4] == SUCCESS:
            done.setdefault(prefix, set()).add(parts[3])
        elif len(parts) == 6 and parts[3] == "signoff" and parts[5] == SUCCESS:
            signed.add(prefix)
        elif len(parts) == 6 and parts[3] == "attempts" and parts[4].isdecimal():
            ended = tries.setdefault(prefix, {})
            ended[int(parts[4])] = ended.get(int(parts[4]), False) or parts[5] == SUCCESS
    found = []
    for prefix in done.keys() | tries.keys():
        try:
            window = Window.from_label(prefix.split("/")[1])
        except ValueError:
            continue  # a folder that is no run's
        stages = done.get(prefix, set())
        outcome: WindowOutcome = "complete" if "report" in stages else "failed"
        if "evidence" not in stages:
            outcome = _last_try(store, prefix, tries.get(prefix, {}))
        found.append(BegunRun(window, prefix, outcome, prefix in signed, prefix in rejected))
    return sorted(found, key=lambda one: (one.window.start, one.window.end, one.prefix))


def _last_try(store: Store, prefix: str, tries: Mapping[int, bool]) -> WindowOutcome:
    """Return what became of the last attempt at a run that is not sealed; one that was stopped can go on."""
    last = max(tries, default=0)
    if not tries.get(last):
        return "unfinished"
    try:
        record = strict_json(store.get(f"{prefix}/attempts/{last}/manifest.json"))
        return "unfinished" if record["outcome"] == "stopped" else "failed"
    except (ValueError, TypeError, KeyError, NotFoundError):
        return "failed"  # its record cannot be read


def catchup_limit(spec: AuditSpec) -> int:
    """Return how many windows before the latest are made up.

    None where every window reads the same prompts: to ask a model about them a second time today tells nothing
    about the window that was missed.
    """
    if spec.schedule.catchup is not None:
        return spec.schedule.catchup
    return CATCHUP if spec.source.windowed else 0


def owed_windows(spec: AuditSpec, begun: Iterable[BegunRun], now: datetime) -> list[OwedWindow]:
    """Return the windows that an audit owes at an instant with the state of each, the oldest first.

    Parameters
    ----------
    spec : AuditSpec
        Its schedule says which windows there are. They are owed from ``schedule.start``; without one, from the first
        of them that was begun, and where none was, the latest alone.
    begun : iterable of Attempt
        The runs there are. A window counts as audited also where longer ones that somebody chose cover it.
    now : datetime
        Windows that end later are not owed yet.
    """
    return windows_owed(spec.schedule, catchup_limit(spec), begun, now)


def windows_owed(
    schedule: Schedule, limit: int, begun: Iterable[BegunRun], now: datetime
) -> list[OwedWindow]:
    """Return the windows of a schedule with the state of each, where so many before the latest are made up."""
    runs = list(begun)
    since = _owed_since(schedule, runs, now)
    windows = _ended(schedule.cron, schedule.timezone, since, now)
    complete = [one for one in runs if one.outcome == "complete"]
    covered = _merged(complete)
    by_window: dict[Window, list[BegunRun]] = {}
    for one in runs:
        by_window.setdefault(_in_utc(one.window), []).append(one)
    owed, place = [], 0
    for behind, window in zip(range(len(windows) - 1, -1, -1), windows, strict=True):
        while place < len(covered) and covered[place].end < window.end:
            place += 1
        own = by_window.get(window, [])
        if place < len(covered) and covered[place].start <= window.start:
            by = [one for one in own if one.outcome == "complete"] or _overlapping(complete, window)
            owed.append(OwedWindow(window, "audited", tuple(one.prefix for one in by)))
        else:
            owed.append(_not_audited(window, own, now, made_up=behind <= limit))
    return owed


def _not_audited(window: Window, own: Sequence[BegunRun], now: datetime, *, made_up: bool) -> OwedWindow:
    outcomes = {one.outcome for one in own}
    prefixes = tuple(one.prefix for one in own)
    if "not verified" in outcomes:
        return OwedWindow(window, "not verified", prefixes)
    if "failed" in outcomes:
        return OwedWindow(window, "failed", prefixes)
    if not own and not made_up:
        return OwedWindow(window, "missed")
    if now >= late_at(window):
        return OwedWindow(window, "late", prefixes)
    return OwedWindow(window, "unfinished" if own else "due", prefixes)


def late_at(window: Window) -> datetime:
    """Return from when on a window that is not sealed is late.

    Examples
    --------
    >>> late_at(Window.parse("2026-01-05", "2026-01-12")).isoformat()
    '2026-01-13T00:00:00+00:00'
    >>> late_at(Window.parse("2026-01-05T06:00", "2026-01-05T07:00")).isoformat()
    '2026-01-05T08:00:00+00:00'
    """
    return window.end + min(IN_TIME, window.end - window.start)


@lru_cache(maxsize=256)
def _ended(cron: str, timezone: str, since: datetime, now: datetime) -> tuple[Window, ...]:
    """Return the windows of a schedule; many audits have the same one."""
    return tuple(windows_between(Schedule(cron=cron, timezone=timezone), since, now))


def _owed_since(schedule: Schedule, runs: Sequence[BegunRun], now: datetime) -> datetime:
    if schedule.start is not None:
        return schedule.start
    on_schedule = (one.window.start for one in runs if is_window(schedule, one.window))
    return next(on_schedule, None) or latest_window(schedule, now).start


def _merged(runs: Sequence[BegunRun]) -> list[Window]:
    """Join the windows of runs where they touch or overlap."""
    joined: list[Window] = []
    for window in sorted((_in_utc(one.window) for one in runs), key=lambda one: (one.start, one.end)):
        if joined and window.start <= joined[-1].end:
            joined[-1] = Window(joined[-1].start, max(joined[-1].end, window.end))
        else:
            joined.append(window)
    return joined


def _overlapping(runs: Sequence[BegunRun], window: Window) -> list[BegunRun]:
    return [one for one in runs if one.window.start < window.end and window.start < one.window.end]


def next_to_make_up(owed: Sequence[OwedWindow], own: Window, *, after: bool) -> Window | None:
    """Return the oldest window that is to be made up, or None.

    The latest window is the scheduler's own business. One run makes one window up and then asks again, so that a
    long catch-up sees what came due meanwhile.

    Parameters
    ----------
    owed : sequence of OwedWindow
        The windows, the oldest first.
    own : Window
        The window of the run that asks.
    after : bool
        Whether only later windows count: the run is itself a catch-up, and what was before it had its turn.
    """
    own = _in_utc(own)
    for one in owed[:-1]:
        waits = one.state in ("due", "unfinished", "late") and one.window != own
        if waits and (not after or one.window.start > own.start):
            return one.window
    return None


def summary(owed: Sequence[OwedWindow]) -> str:
    """Say how many windows there are in each state.

    Examples
    --------
    >>> week = Window.parse("2026-01-05", "2026-01-12")
    >>> summary([OwedWindow(week, "missed"), OwedWindow(week, "audited"), OwedWindow(week, "audited")])
    '2 audited, 1 missed'
    """
    counted = Counter(one.state for one in owed)
    return ", ".join(f"{counted[state]} {state}" for state in STATES if counted[state])


def _in_utc(window: Window) -> Window:
    return Window(window.start.astimezone(UTC), window.end.astimezone(UTC))


def _minute(instant: datetime) -> str:
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M}"
