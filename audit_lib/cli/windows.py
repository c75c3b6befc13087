"""The commands about an audit's windows: ``status``, which of them were audited, and ``changes`` between them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from audit_lib.cli.shared import AddCommand, json_option, positive, store_option
from audit_lib.errors import InputError, NotFoundError

if TYPE_CHECKING:
    from audit_lib.documents.run_index import AuditState
    from audit_lib.spec import Schedule
    from audit_lib.store import Store
    from audit_lib.windows import OwedWindow

FAULTS: Final = frozenset({"missed", "failed", "not verified"})


def add_commands(command: AddCommand) -> None:
    """Add the commands to the parser."""
    status = command(
        "status",
        _status,
        "List the windows that an audit owes and what became of each",
        "Audited, failed, not verified, unfinished, due, late or missed: from the schedule and the store. Exit code 1 "
        "if a window is missed, failed or not verified, or --verify finds a difference.",
    )
    status.add_argument(
        "audit",
        nargs="?",
        help="name of an audit in the store (with the schedule of its latest run), or a spec's YAML file; "
        "default: every audit in the store, a line each",
    )
    status.add_argument("--at", metavar="INSTANT", help="as of this ISO 8601 instant (default: now)")
    status.add_argument("--open", action="store_true", help="list the windows that were not audited, alone")
    json_option(status, "the state")
    status.add_argument(
        "--rebuild", action="store_true", help="make the index of the runs again, from nothing"
    )
    status.add_argument(
        "--verify",
        action="store_true",
        help="read every record again, and say where the kept index is not what follows from them",
    )
    store_option(status)

    changes = command(
        "changes",
        _changes,
        "Print what changed from window to window of an audit, in the order of the windows",
        "Each sealed run is compared with the window before it, whenever that was audited. Exit code 1 where something "
        "changed beyond what chance explains, windows were left out, or a run cannot be read.",
    )
    changes.add_argument("audit", help="name of an audit in the store")
    changes.add_argument(
        "--last", type=positive, metavar="N", help="the latest N runs alone (default: all of them)"
    )
    store_option(changes)


def _changes(options: argparse.Namespace) -> int:
    from audit_lib.errors import AuditError, StoreUnreachableError
    from audit_lib.monitor import alerts_of, measure_drift, read_history, summary_line
    from audit_lib.run import Run
    from audit_lib.store import open_store

    store = open_store(options.store)
    history = read_history(store, options.audit)
    if not history.complete:
        raise NotFoundError(f"{store.uri(options.audit)}: no complete run of this audit to compare")
    any_found = False
    for one in history.complete[-(options.last or len(history.complete)) :]:
        try:
            document = measure_drift(Run.load(store.uri(one.prefix)), history)
        except StoreUnreachableError:
            raise
        except AuditError as error:
            print(f"{one.prefix}: cannot be compared: {error}")
            any_found = True
        else:
            print(summary_line(document))
            any_found |= bool(alerts_of(document))
    return int(any_found)


def _status(options: argparse.Namespace) -> int:
    from audit_lib.store import open_store
    from audit_lib.windows import audit_folders, index_differences

    store, name = open_store(options.store), options.audit
    is_file = bool(name) and (name.endswith((".yaml", ".yml")) or "/" in name or "#" in name)
    differences: list[str] = []
    if options.verify:
        for audit in [name] if name else audit_folders(store):
            differences += index_differences(store, audit)
    for line in differences:
        print(f"DIFFERS {line}")
    now = _instant(options.at) if options.at else datetime.now(UTC)
    if is_file:
        return _status_of_spec(store, options, now)
    code = _status_of_one(store, options, now) if name else _status_of_all(store, options, now)
    return max(code, int(bool(differences)))


def _status_of_spec(store: Store, options: argparse.Namespace, now: datetime) -> int:
    """Tell the windows of a spec's file, with the runs that are in the store."""
    from audit_lib.spec import load_spec
    from audit_lib.windows import begun_runs, catchup_limit, owed_windows

    spec = load_spec(options.audit)
    owed = owed_windows(spec, begun_runs(store, spec.audit), now)
    return _tell(spec.audit, spec.schedule, catchup_limit(spec), owed, now, options)


def _status_of_one(store: Store, options: argparse.Namespace, now: datetime) -> int:
    """Tell the windows of an audit in the store, by the schedule of its latest run."""
    from audit_lib.windows import owed_of, read_index

    index = read_index(store, options.audit, rebuild=options.rebuild)
    owed, schedule = owed_of(index, now)
    if schedule is None or index.schedule is None:
        raise NotFoundError(
            f"{store.uri(options.audit)}: no run of this audit has a plan that can be read; name its spec's YAML file "
            "instead"
        )
    return _tell(index.audit, schedule, index.schedule.catchup, owed, now, options, index.notes)


def _tell(
    audit: str,
    schedule: Schedule,
    catchup: int,
    owed: Sequence[OwedWindow],
    now: datetime,
    options: argparse.Namespace,
    notes: Sequence[str] = (),
) -> int:
    """Print the windows of one audit, as text or JSON."""
    from audit_lib.windows import next_window, summary

    coming = next_window(schedule, now)
    faults = any(one.state in FAULTS for one in owed)
    if options.format == "json":
        windows = [{"window": one.window.label, "state": one.state, "runs": list(one.runs)} for one in owed]
        windows.append({"window": coming.label, "state": "not due", "runs": []})
        print(json.dumps({"audit": audit, "windows": windows, "notes": list(notes)}, indent=2))
        return int(faults)
    print(f"{audit}: {len(owed)} windows of `{schedule.cron}` ({schedule.timezone}) are owed at "
          f"{now.astimezone(UTC):%Y-%m-%d %H:%M} UTC: {summary(owed) or 'none has ended yet'}; "
          f"{catchup} before the latest are made up")  # fmt: skip
    for one in owed:
        if not options.open or one.state != "audited":
            print(f"  {one}")
    if not options.open:
        print(f"  {coming.start:%Y-%m-%d %H:%M} to {coming.end:%Y-%m-%d %H:%M}  not due")
    for note in notes:
        print(f"  NOTE {note}")
    return int(faults)


def _status_of_all(store: Store, options: argparse.Namespace, now: datetime) -> int:
    """Tell every audit on a line; with --open its windows that were not audited, too."""
    from audit_lib.cli.shared import notify
    from audit_lib.windows import owed_of, read_index, read_states

    found = read_states(store, now, rebuild=options.rebuild, keep=not options.at, notify=notify)
    if not found.states and not found.not_read:
        raise NotFoundError(f"{store.root}: no audit is in this store")
    if options.format == "json":
        print(json.dumps([one.as_dict() for one in found.states], indent=2, ensure_ascii=False))
    for one in found.states if options.format != "json" else []:
        states = ", ".join(f"{number} {state}" for state, number in one.states.items())
        print(f"{one.audit}: {states or 'no window has ended yet'}; {one.drift}" + _named(one))
        if options.open and set(one.states) - {"audited"}:
            for window in owed_of(read_index(store, one.audit), now)[0]:
                if window.state != "audited":
                    print(f"  {window}")
        for note in one.notes:
            print(f"  NOTE {note}")
    for line in found.not_read:
        print(f"NOT READ {line}")
    return int(bool(found.not_read) or any(set(one.states) & FAULTS for one in found.states))


def _named(one: AuditState) -> str:
    coming = "" if one.next_window is None else f"; next {one.next_window.split('_')[1]}"
    return coming + ("" if one.latest is None or one.latest.no_use_after is None
                     else f"; valid until {one.latest.no_use_after}")  # fmt: skip


def _instant(text: str) -> datetime:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"--at: {text!r} is not an ISO 8601 instant") from None
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)
