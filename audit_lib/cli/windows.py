"""The commands about an audit's windows: ``status``, which of them were audited, and ``changes`` between them."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from audit_lib.cli.shared import AddCommand, positive, store_option
from audit_lib.errors import InputError, NotFoundError

if TYPE_CHECKING:
    from audit_lib.spec import AuditSpec
    from audit_lib.store import Store
    from audit_lib.windows import BegunRun


def add_commands(command: AddCommand) -> None:
    """Add the commands to the parser."""
    status = command(
        "status",
        _status,
        "List the windows that an audit owes and what became of each",
        "Audited, failed, not verified, unfinished, due, late or missed: from the schedule and the store. Exit code 1 "
        "if a window is missed, failed or not verified.",
    )
    status.add_argument(
        "audit",
        nargs="?",
        help="name of an audit in the store (with the schedule of its latest run), or a spec's YAML file; "
        "default: every audit in the store",
    )
    status.add_argument("--at", metavar="INSTANT", help="as of this ISO 8601 instant (default: now)")
    status.add_argument("--open", action="store_true", help="leave out the windows that were audited")
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
    from audit_lib.windows import begun_runs, catchup_limit, owed_windows, summary

    now = _instant(options.at) if options.at else datetime.now(UTC)
    store = open_store(options.store)
    names = [options.audit] if options.audit else _audits(store)
    if not names:
        raise NotFoundError(f"{store.root}: no audit is in this store")
    found_faults = False
    for name in names:
        spec, begun = _read(store, name)
        owed = owed_windows(spec, begun or begun_runs(store, spec.audit), now)
        schedule = spec.schedule
        print(f"{spec.audit}: {len(owed)} windows of `{schedule.cron}` ({schedule.timezone}) are owed at "
              f"{now.astimezone(UTC):%Y-%m-%d %H:%M} UTC: {summary(owed) or 'none has ended yet'}; "
              f"{catchup_limit(spec)} before the latest are made up")  # fmt: skip
        for one in owed:
            if not options.open or one.state != "audited":
                print(f"  {one}")
        found_faults |= any(one.state in ("missed", "failed", "not verified") for one in owed)
    return int(found_faults)


def _read(store: Store, name: str) -> tuple[AuditSpec, list[BegunRun]]:
    """Return the spec of a file, or of an audit's latest run with all its runs."""
    from audit_lib.run import SUCCESS, Run
    from audit_lib.spec import load_spec
    from audit_lib.windows import begun_runs

    if name.endswith((".yaml", ".yml")) or "/" in name or "#" in name:
        return load_spec(name), []
    begun = begun_runs(store, name)
    if not begun:
        raise NotFoundError(f"{store.uri(name)}: no run of this audit; name its spec's YAML file instead")
    planned = [one for one in begun if store.exists(f"{one.prefix}/plan/{SUCCESS}")]
    if not planned:
        raise NotFoundError(
            f"{store.uri(name)}: no run of this audit has a plan; name its spec's YAML file instead"
        )
    return Run.load(store.uri(planned[-1].prefix)).spec, begun


def _audits(store: Store) -> list[str]:
    """Return the names of all audits that have a run."""
    return sorted({key.split("/")[0] for key in store.list("") if key.endswith("/plan/_SUCCESS")})


def _instant(text: str) -> datetime:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"--at: {text!r} is not an ISO 8601 instant") from None
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)
