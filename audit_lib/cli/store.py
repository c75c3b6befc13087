"""``audit store``: whether a store locks evidence, longer locks, and legal holds."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime, time, timedelta

from audit_lib.cli.shared import AddCommand, counted, date_of, json_option, notify, store_option


def add_command(command: AddCommand) -> None:
    """Add the command to the parser."""
    store = command(
        "store",
        _help,
        "Try whether a store locks evidence, extend its locks, hold a run",
        "For buckets with S3 Object Lock; a folder locks nothing.",
    )
    store.set_defaults(parser=store)
    actions = store.add_subparsers(dest="what", title="actions", metavar="ACTION")

    probe = actions.add_parser(
        "probe",
        help="try what a store refuses",
        description="Tries on small objects of its own whether the store locks: deletion, overwriting, shorter and "
        "weaker locks, parts, legal holds. Exit code 1: it does not lock evidence.",
    )
    probe.set_defaults(action=_probe)
    json_option(probe)
    store_option(probe)

    extend = actions.add_parser(
        "extend",
        help="extend locks, never shorten them",
        description="Locks each file of a run, or of all runs, for as long as its spec and policy ask now, counted "
        "from when it was written. Exit code 1: a run could not be looked at.",
    )
    extend.set_defaults(action=_extend)
    extend.add_argument("run", nargs="?", help="URI of a run in its store (default: all runs of the store)")
    extend.add_argument("--until", type=date_of, help="last day on which the run stays locked at least")
    store_option(extend)

    for name, action, text in (
        ("hold", _hold, "keep every file of a run until the hold is taken off, whatever its lock says"),
        ("release", _release, "take a legal hold off every file of a run; its lock stays"),
    ):
        held = actions.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        held.set_defaults(action=action)
        held.add_argument("run", help="URI of a run in its store")
        held.add_argument("--by", required=True, help="who asks for it: a full name")
        held.add_argument("--reason", required=True, help="why: it is written down in the store")


def _help(options: argparse.Namespace) -> int:
    options.parser.print_help()
    return 2


def _probe(options: argparse.Namespace) -> int:
    from audit_lib.documents.store_lock import store_lock_bytes
    from audit_lib.store.probe import probe

    found = probe(options.store)
    if options.format == "json":
        print(store_lock_bytes(found).decode(), end="")
        return 0 if found.locked else 1
    what = "locks what is put into it" if found.locked else "DOES NOT LOCK what is put into it"
    print(f"{options.store}: {what} ({found.server or found.kind})")
    for one in found.behaviours:
        print(f"  {'held' if one.held else 'FAILED':7} {one.name:20} {one.said}")
    if found.kind == "folder":
        print("  a folder locks nothing: whoever may write there can change what is there")
    elif not found.locked and not found.failed:
        print("  the bucket has no Object Lock")
    if found.default_retention:
        print(f"  the bucket's own rule: {found.default_retention}")
    return 0 if found.locked else 1


def _extend(options: argparse.Namespace) -> int:
    from audit_lib.archive.retain import extend_all, extend_run
    from audit_lib.errors import InputError, SpecError

    if options.run is None and options.until is not None:
        raise SpecError("--until is for one run: name it")
    day = options.until
    if day is not None and day < datetime.now(UTC).date():
        raise InputError(
            f"--until {day}: is past, and a lock is only made longer; name a day that is to come"
        )
    until = None if day is None else datetime.combine(day + timedelta(days=1), time(), UTC)
    found = extend_all(options.store, notify) if options.run is None else extend_run(options.run, until)
    print(
        f"{counted(found.runs, 'run')}, {counted(found.files, 'file')}: {counted(found.extended, 'lock')} extended, "
        f"{found.unlocked:,} of them of files that had none"
    )
    return 1 if found.faults else 0


def _hold(options: argparse.Namespace) -> int:
    return _set_hold(options, on=True)


def _release(options: argparse.Namespace) -> int:
    return _set_hold(options, on=False)


def _set_hold(options: argparse.Namespace, *, on: bool) -> int:
    from audit_lib.archive.retain import hold_run

    made = hold_run(options.run, on=on, reason=options.reason, by=options.by)
    are = "is" if made.files == 1 else "are"
    print(
        f"{made.run}: {counted(made.files, 'file')} {are} {'held' if made.on else 'no longer held'}, since {made.at}"
    )
    return 0
