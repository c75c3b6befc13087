"""Commands about what happened to audits: ``audit events`` and ``audit acknowledge``."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from audit_lib.cli.shared import AddCommand, check_audit, json_option, notify, store_option

if TYPE_CHECKING:
    from audit_lib.documents.events import Event
    from audit_lib.events import LoggedEvent


def add_commands(command: AddCommand) -> None:
    """Add the commands to the parser."""
    events = command(
        "events",
        _events,
        "List what happened to audits that somebody should know: alarms, failures, missed windows and more",
        "From the store, with who was told and who took note; nothing is sent or written. Exit code 1 where an event "
        "is open and nobody has acknowledged it.",
    )
    events.add_argument("audit", nargs="?", help="name of an audit in the store; default: every audit")
    events.add_argument("--open", action="store_true", help="leave out what is over")
    json_option(events, "an event")
    store_option(events)

    acknowledge = command(
        "acknowledge",
        _acknowledge,
        "Record that somebody took note of an event, so that it is not escalated",
        "The decision is kept in the store with the name and the reason, and is never changed.",
    )
    acknowledge.add_argument("event", help="its id, as messages and `audit events` print it")
    acknowledge.add_argument("--by", required=True, help="who took note: a full name")
    acknowledge.add_argument("--note", required=True, help="what is done about it, or why nothing")
    store_option(acknowledge)


def _events(options: argparse.Namespace) -> int:
    from audit_lib.errors import AuditError, StoreUnreachableError
    from audit_lib.events import policy_from_environment, read_facts, read_log, seen_now
    from audit_lib.store import open_store
    from audit_lib.windows import audit_folders

    store, policy, now = open_store(options.store), policy_from_environment(), datetime.now(UTC)
    listed: list[dict[str, Any]] = []
    unclear = 0
    if options.audit:
        check_audit(store, options.audit)
    for audit in [options.audit] if options.audit else audit_folders(store):
        try:
            facts = read_facts(store, audit, now, policy)
            found = [_logged(one) for one in read_log(store, audit) if not (options.open and one.closed)]
            found += [_new(one) for one in seen_now(facts)]
        except StoreUnreachableError:
            raise
        except AuditError as error:
            notify(f"WARNING: {audit}: {error}")
            unclear += 1
            continue
        listed += found
    if options.format == "json":
        print(json.dumps(listed, indent=2, ensure_ascii=False))
    else:
        for one in listed:
            print("\n".join(_lines(one)))
        if not listed and not unclear:
            print("no events")
    waits = any(one["closed"] is None and not one["acknowledged"] for one in listed)
    return int(waits or unclear > 0)


def _logged(one: LoggedEvent) -> dict[str, Any]:
    return {
        "id": one.opened.id,
        "opened_at": one.opened.opened_at,
        "event": one.opened.event.as_dict(),
        "closed": None if one.closed is None else one.closed.as_dict(),
        "acknowledged": [each.as_dict() for each in one.acknowledged],
        "sent": list(one.sent),
        "not_sent": list(one.failed),
    }


def _new(event: Event) -> dict[str, Any]:
    return {
        "id": None,
        "opened_at": None,
        "event": event.as_dict(),
        "closed": None,
        "acknowledged": [],
        "sent": [],
        "not_sent": [],
    }


def _lines(one: dict[str, Any]) -> list[str]:
    event, closed = one["event"], one["closed"]
    state = "open" if closed is None else ("recovered" if closed["recovered"] else "over")
    said = [
        f"{event['audit']}  {event['kind']}  {event['severity']}  {state}  since {event['since']}  {event['subject']}",
        f"  {event['moved']}",
        f"  how sure: {event['sure']}",
    ]
    said += [f"  over since {closed['closed_at']}: {closed['how']}"] if closed else []
    said += [
        f"  acknowledged by {each['by']} at {each['acknowledged_at']}: {each['note']}"
        for each in one["acknowledged"]
    ]
    said += [f"  NOT SENT, tried again: {', '.join(one['not_sent'])}"] if one["not_sent"] else []
    said.append(
        f"  {one['id']}; told: {', '.join(one['sent']) or 'nobody yet'}"
        if one["id"]
        else "  nobody has looked yet: the DAG tell_events does"
    )
    return said


def _acknowledge(options: argparse.Namespace) -> int:
    from audit_lib.events import acknowledge
    from audit_lib.store import open_store

    made = acknowledge(
        open_store(options.store), options.event, by=options.by, note=options.note, at=datetime.now(UTC)
    )
    print(f"{options.event}: acknowledged by {made.by} at {made.acknowledged_at}")
    return 0
