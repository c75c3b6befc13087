"""The log of an audit's events in its store: when each was seen, told, acknowledged and over. Nothing in it changes.

::

    <audit>/events/<kind>.<key>/<number>/{opened.json, closed.json, acknowledged/0001.json}
    <audit>/events/<kind>.<key>/<number>/told/<stage>/<channel>/{0001.claim.json, 0001.failed.json, sent.json}

Each file is written once, by whoever comes first. The number counts how often the same thing has come back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from audit_lib.canonical import pretty_json
from audit_lib.documents.events import (
    Acknowledgement,
    ClosedEvent,
    Event,
    OpenedEvent,
    SendingClaim,
    SendingOutcome,
)
from audit_lib.documents.run_statement import JournalHead
from audit_lib.errors import ConflictError, EvidenceError, InputError, NotFoundError
from audit_lib.events.derive import AuditFacts, how_it_ended, is_unclear, open_events
from audit_lib.journal import newest_head
from audit_lib.store import Store
from audit_lib.typed_json import Typed, decode

FOLDER: Final = "events"
LEASE: Final = timedelta(minutes=10)
"""After so long without an outcome a sender is taken for dead, and somebody else sends."""

EventStage = Literal["opened", "escalated", "recovered"]
_ID: Final = re.compile(r"([a-z][a-z0-9_]*)\.([a-z_]+\.[0-9a-f]{16})\.([1-9][0-9]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedEvent:
    """An event in the log.

    Parameters
    ----------
    opened : OpenedEvent
        As it was first seen.
    closed : ClosedEvent or None
        None as long as it is so.
    acknowledged : tuple of Acknowledgement
        By whom.
    sent, failed : tuple of str
        ``stage/channel`` of each message that was sent, and of each that failed and was not sent since.
    """

    opened: OpenedEvent
    closed: ClosedEvent | None
    acknowledged: tuple[Acknowledgement, ...]
    sent: tuple[str, ...]
    failed: tuple[str, ...]

    @property
    def folder(self) -> str:
        """Where it is in the store."""
        event = self.opened.event
        return f"{event.audit}/{FOLDER}/{event.kind}.{event.key}/{self.opened.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DueMessage:
    """What is to be told of an event now."""

    logged: LoggedEvent
    stage: EventStage
    head: JournalHead | None = None
    """Of the audit's journal of attempts now; None where it has none, or none that can be read."""


def read_log(store: Store, audit: str) -> list[LoggedEvent]:
    """Return every event that was ever seen, in a fixed order.

    Raises
    ------
    EvidenceError
        If a file is not as it was written.
    """
    keys: dict[str, list[str]] = {}
    for key in store.list(f"{audit}/{FOLDER}"):
        parts = key.split("/")
        if len(parts) > 4:
            keys.setdefault("/".join(parts[:4]), []).append("/".join(parts[4:]))
    return [_read(store, folder, paths) for folder, paths in sorted(keys.items()) if "opened.json" in paths]


def _read(store: Store, folder: str, paths: Sequence[str]) -> LoggedEvent:
    def read(kind: type[Typed], path: str) -> Typed:
        return decode(kind, store.get(f"{folder}/{path}"), store.uri(f"{folder}/{path}"))

    opened, closed = read(OpenedEvent, "opened.json"), None
    if "closed.json" in paths:
        closed = read(ClosedEvent, "closed.json")
    told = [path.removeprefix("told/").rsplit("/", 1) for path in paths if path.startswith("told/")]
    sent = {where for where, name in told if name == "sent.json"}
    assert isinstance(opened, OpenedEvent) and isinstance(closed, ClosedEvent | None)
    return LoggedEvent(
        opened=opened,
        closed=closed,
        acknowledged=tuple(
            one
            for path in sorted(paths)
            if path.startswith("acknowledged/")
            and isinstance(one := read(Acknowledgement, path), Acknowledgement)
        ),
        sent=tuple(sorted(sent)),
        failed=tuple(sorted({where for where, name in told if name.endswith(".failed.json")} - sent)),
    )


def look(facts: AuditFacts, channels: Sequence[str] = ()) -> list[DueMessage]:
    """Bring the log up to date with the store, and return what is to be told now, whether it was or not.

    Parameters
    ----------
    facts : AuditFacts
        Of the audit, now.
    channels : sequence of str
        Names of those who are told; an event that is over before it could be told is still told to them.
    """
    store, now = facts.store, _iso(facts.at)
    found = {f"{one.kind}.{one.key}": one for one in open_events(facts)}
    logged = read_log(store, facts.audit)
    last = {f"{one.opened.event.kind}.{one.opened.event.key}": one for one in _by_number(logged)}
    for name, event in found.items():
        before = last.get(name)
        if before is None or before.closed is not None:
            number = 1 if before is None else before.opened.number + 1
            opened = OpenedEvent(event=event, number=number, opened_at=now, channels=tuple(channels))
            store.put(f"{facts.audit}/{FOLDER}/{name}/{number}/opened.json", pretty_json(opened.as_dict()))
    for name, one in last.items():
        if one.closed is None and name not in found and not is_unclear(one.opened.event, facts):
            recovered, how = how_it_ended(one.opened.event, facts)
            closed = ClosedEvent(closed_at=now, recovered=recovered, how=how)
            store.put(f"{one.folder}/closed.json", pretty_json(closed.as_dict()))
    due: list[DueMessage] = []
    head = _head(store, facts.audit)
    patience = timedelta(hours=facts.policy.escalate_hours)
    for one in read_log(store, facts.audit):
        due.append(DueMessage(logged=one, stage="opened", head=head))
        if one.closed is not None:
            due += [DueMessage(logged=one, stage="recovered", head=head)] if one.closed.recovered else []
        elif not one.acknowledged and facts.at - datetime.fromisoformat(one.opened.opened_at) >= patience:
            due.append(DueMessage(logged=one, stage="escalated", head=head))
    return due


def _head(store: Store, audit: str) -> JournalHead | None:
    try:
        return newest_head(store, audit)
    except EvidenceError:
        return None  # told with the evidence that does not verify: no event may be held back for it


def _by_number(logged: Sequence[LoggedEvent]) -> list[LoggedEvent]:
    return sorted(logged, key=lambda one: one.opened.number)


def tell_once(
    store: Store,
    due: Sequence[DueMessage],
    channel: str,
    at: datetime,
    send: Callable[[Sequence[DueMessage]], None],
) -> str | None:
    """Send events as one message, those of them that were not sent and that nobody else is sending; return why not.

    At least once, with ids that stay the same: a claim is written before sending, by one sender alone, and the
    outcome after it. A sender that dies between the server's acceptance and its record is taken for dead after
    `LEASE`, and the message is sent again under the same ids. What fails stays due.

    Parameters
    ----------
    store : Store
        Where the log is.
    due : sequence of DueMessage
        What is told.
    channel : str
        To whom, as it is named in the log.
    at : datetime
        Now.
    send : callable
        Sends those that it is given, or raises.
    """
    mine = {folder: one for one in due if (folder := _claimed(store, one, channel, at)) is not None}
    if not mine:
        return None
    try:
        send([*mine.values()])
    except Exception as error:  # noqa: BLE001 - whatever it is, the message stays due
        why = str(error) if isinstance(error, ValueError) else type(error).__name__
        failed = pretty_json(SendingOutcome(at=_iso(at), why=why[:200]).as_dict())
        for claim in mine:
            store.put(f"{claim}.failed.json", failed)
        return why
    for claim in mine:
        store.put(f"{claim.rpartition('/')[0]}/sent.json", pretty_json(SendingOutcome(at=_iso(at)).as_dict()))
    return None


def _claimed(store: Store, due: DueMessage, channel: str, at: datetime) -> str | None:
    """Claim the sending of a message; None where it is sent, not for this channel, or somebody else is about to."""
    place = f"{due.stage}/{slug(channel)}"
    logged = due.logged
    if place in logged.sent or not _is_for(due, channel, place):
        return None
    folder = f"{logged.folder}/told/{place}"
    names = [key.rsplit("/", 1)[1] for key in store.list(folder)]
    if "sent.json" in names:
        return None
    last = max((int(name[:4]) for name in names if name.endswith(".claim.json")), default=0)
    if last and f"{last:04d}.failed.json" not in names:
        claim = decode(SendingClaim, store.get(f"{folder}/{last:04d}.claim.json"), folder)
        if at - datetime.fromisoformat(claim.claimed_at) < LEASE:
            return None
    mine = f"{folder}/{last + 1:04d}"
    claimed = store.put(f"{mine}.claim.json", pretty_json(SendingClaim(claimed_at=_iso(at)).as_dict()))
    return mine if claimed else None


def _is_for(due: DueMessage, channel: str, place: str) -> bool:
    """Whether a channel is told: of what is over, only those who were to be told when it began."""
    logged = due.logged
    if logged.closed is None:
        return True
    if due.stage == "recovered":
        return f"opened/{slug(channel)}" in logged.sent
    return channel in logged.opened.channels or place in logged.failed


def acknowledge(store: Store, event_id: str, *, by: str, note: str, at: datetime) -> Acknowledgement:
    """Record that somebody took note of an event: it is not escalated any more.

    Raises
    ------
    InputError
        If nobody is named, or the id is none.
    NotFoundError
        If there is no such event.
    ConflictError
        If somebody else recorded something at the same moment.
    """
    if not by.strip() or not note.strip():
        raise InputError("an acknowledgement is a decision that somebody answers for: give --by and --note")
    found = _ID.fullmatch(event_id)
    if found is None:
        raise InputError(f"{event_id!a} is no event's id; `audit events` lists them")
    folder = f"{found[1]}/{FOLDER}/{found[2]}/{found[3]}"
    if not store.exists(f"{folder}/opened.json"):
        raise NotFoundError(f"{event_id}: no such event in this store; `audit events` lists them")
    made = Acknowledgement(by=by.strip(), note=note.strip(), acknowledged_at=_iso(at))
    number = len(store.list(f"{folder}/acknowledged")) + 1
    if not store.put(f"{folder}/acknowledged/{number:04d}.json", pretty_json(made.as_dict())):
        raise ConflictError(f"{event_id}: somebody acknowledged it at the same time; look at it first")
    return made


def slug(channel: str) -> str:
    """Return a channel as a part of a key.

    Examples
    --------
    >>> slug("smtp:mail")
    'smtp-mail'
    """
    return re.sub(r"[^A-Za-z0-9_-]", "-", channel) or "-"


def seen_now(facts: AuditFacts) -> list[Event]:
    """Return the events that are so now and in no log yet: nobody has looked since."""
    known = {
        (one.opened.event.kind, one.opened.event.key)
        for one in read_log(facts.store, facts.audit)
        if one.closed is None
    }
    return [one for one in open_events(facts) if (one.kind, one.key) not in known]


def _iso(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat(timespec="milliseconds")
