"""The state of every audit of a store, kept in one file so that a store of thousands is read at once.

``_index/audits.json`` has an entry for each audit. It is used only as long as the clock changes nothing in it, the
folders of the audit are the same, all of its runs are sealed, and nobody left a mark for it: whoever seals, signs or
follows a run leaves one (`note_change`). Else the audit is listed and read again. The file is replaced as a whole; two
readers who do it at once write what each has read, and what one has missed is found by the next listing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from secrets import token_hex
from typing import Final

from audit_lib.canonical import canonical_json, sha256
from audit_lib.documents.run_index import AuditState, KeptStates, RunIndex
from audit_lib.errors import AuditError, EvidenceError, NotFoundError, StoreError, StoreUnreachableError
from audit_lib.progress import ignore
from audit_lib.results import Undefined
from audit_lib.spec import Schedule
from audit_lib.store import Store
from audit_lib.typed_json import decode
from audit_lib.windows.run_index import begun, read_index, why
from audit_lib.windows.schedule import next_window
from audit_lib.windows.window_states import OwedWindow, audit_folders, late_at, windows_owed

FOLDER: Final = "_index"
"""No audit has such a name."""
KEPT: Final = f"{FOLDER}/audits.json"
CHANGED: Final = f"{FOLDER}/changed"
STRIP: Final = 20
"""Windows that the strip of an audit shows: as many as a phone shows next to its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditStates:
    """All audits of a store, and what could not be read.

    Parameters
    ----------
    states : list of AuditState
        By name.
    read : int
        Of how many the runs were listed and read; the others were as they were kept.
    not_read : list of str
        A line for each audit that cannot be read, and why.
    """

    states: list[AuditState]
    read: int = 0
    not_read: list[str] = field(default_factory=list)


def note_change(store: Store, audit: str) -> None:
    """Leave a mark that something of an audit changed, where states are kept."""
    if store.exists(KEPT):
        store.replace(f"{CHANGED}/{audit}", token_hex(8).encode())


def read_states(
    store: Store,
    now: datetime,
    *,
    rebuild: bool = False,
    keep: bool = True,
    notify: Callable[[str], None] = ignore,
) -> AuditStates:
    """Return the state of every audit at an instant, and keep it.

    Parameters
    ----------
    store : Store
        Where the runs are.
    now : datetime
        The clock.
    rebuild : bool
        Whether every record of every run is read again, as if nothing were kept.
    keep : bool
        Whether it is kept; not of another instant than now.
    notify : callable
        Told how far it is.
    """
    marks = {key: store.get(key) for key in store.list(CHANGED)}
    changed = {key.rsplit("/", 1)[1] for key in marks}
    kept = {} if rebuild else _kept(store)
    found = AuditStates(states=[])
    instant = _instant(now)
    reread = 0
    names = audit_folders(store)
    for place, audit in enumerate(names, start=1):
        folders = store.folders(audit)
        digest, state = _digest(folders), kept.get(audit)
        if (
            state is not None
            and state.folders == digest
            and state.settled
            and audit not in changed
            and state.as_of <= instant < state.until
        ):
            found.states.append(state)
            continue
        try:
            found.states.append(state_of(store, read_index(store, audit, rebuild=rebuild), digest, now))
            reread += 1
        except StoreUnreachableError:
            raise
        except NotFoundError:
            continue  # a folder without runs
        except AuditError as error:
            found.not_read.append(f"{audit}: cannot be read: {why(store, error)}")
        notify(f"audits: {place} of {len(names)}")
    if keep and (reread or len(kept) != len(found.states)):
        _keep(store, found.states, marks)
    return AuditStates(states=found.states, read=reread, not_read=found.not_read)


def state_of(store: Store, index: RunIndex, folders: str, now: datetime) -> AuditState:
    """Return the state of one audit at an instant."""
    owed, schedule = owed_of(index, now)
    changes = [late_at(one.window) for one in owed if one.state in ("due", "unfinished")]
    coming = None if schedule is None else next_window(schedule, now)
    if coming is not None:
        changes.append(coming.end)
    until = min((one for one in changes if one > now), default=datetime.max.replace(tzinfo=UTC))
    drift, alarms = _drift(store, index.audit)
    strip = owed[-STRIP:]
    return AuditState(
        audit=index.audit,
        title=index.title,
        folders=folders,
        settled=all(one.record_sha256 is not None for one in index.runs),
        as_of=_instant(now),
        until=_instant(until),
        cron="" if schedule is None else schedule.cron,
        timezone="" if schedule is None else schedule.timezone,
        states=dict(Counter(one.state for one in owed)),
        strip=tuple(one.state for one in strip),
        first=_instant(strip[0].window.start) if strip else None,
        next_window=None if coming is None else coming.label,
        latest=index.latest,
        drift=drift,
        alarms=alarms,
        notes=index.notes,
    )


def owed_of(index: RunIndex, now: datetime) -> tuple[list[OwedWindow], Schedule | None]:
    """Return the windows that an indexed audit owes, and its schedule; none where no plan of it can be read."""
    kept = index.schedule
    if kept is None:
        return [], None
    start = None if kept.start is None else datetime.fromisoformat(kept.start)
    schedule = Schedule(cron=kept.cron, timezone=kept.timezone, start=start)
    return windows_owed(schedule, kept.catchup, begun(index), now), schedule


def read_state(store: Store, audit: str, now: datetime) -> AuditState:
    """Return the state of one audit from the listing of all its runs."""
    return state_of(store, read_index(store, audit), _digest(store.folders(audit)), now)


def _digest(folders: Sequence[str]) -> str:
    """Return the digest of the sorted names that begin as those of windows do, before ":", which follows "9"."""
    return sha256("\n".join(folders[: bisect_left(folders, ":")]).encode())


def _drift(store: Store, audit: str) -> tuple[str, int]:
    """Say in a few words what is followed over all windows, and how many alarms stand."""
    from audit_lib.documents.sequences import Sequences

    key = f"{audit}/monitor/sequences.json"
    if not store.exists(key):
        return "not followed", 0
    try:
        document = decode(Sequences, store.get(key), store.uri(key))
    except EvidenceError:
        return "cannot be read", 0
    if isinstance(document.baseline, Undefined):
        return "no baseline", 0
    alarms = sum(alarm.stands for one in document.sequences for alarm in one.alarms)
    return (f"{alarms} alarm{'s' * (alarms != 1)}" if alarms else "no alarm"), alarms


def _kept(store: Store) -> dict[str, AuditState]:
    if not store.exists(KEPT):
        return {}
    try:
        found = decode(KeptStates, store.get(KEPT), store.uri(KEPT)).audits
    except EvidenceError:
        return {}  # of another version, or changed: made again
    return {one.audit: one for one in found}


def _keep(store: Store, states: Iterable[AuditState], marks: dict[str, bytes]) -> None:
    try:
        store.replace(KEPT, canonical_json(KeptStates(audits=tuple(states)).as_dict()))
        for key, content in marks.items():
            if store.exists(key) and store.get(key) == content:  # nobody left a later one meanwhile
                store.delete(key)
    except StoreUnreachableError:
        raise
    except StoreError:
        pass  # a reader without the right to write


def _instant(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")
