"""``audit verify --all STORE``: every run of a store, what did not change by its digests alone."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import timedelta
from typing import TYPE_CHECKING

from audit_lib.cli.shared import json_option, notify, positive
from audit_lib.errors import InputError, SpecError
from audit_lib.worker_processes import processors

if TYPE_CHECKING:
    from audit_lib.verify_all import RunVerification

_OF_ALL = (
    "full",
    "contents",
    "forget",
    "kept",
    "interval_days",
    "max_minutes",
    "max_gb",
    "run_minutes",
    "run_gb",
)
_INTERVAL_DAYS, _RUN_MINUTES, _RUN_GB = 30, 15, 4


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options to those of ``audit verify``."""
    group = parser.add_argument_group(
        "all runs of a store",
        "A run is verified in full when it is new or changed, and again within the interval. Of the others every byte "
        "is hashed; in a bucket that is left to the store's own listing, unless --contents is given. The result says "
        "how many were looked at in which way. Each is verified in a process of its own: one that hangs, grows or "
        "crashes has no verdict, and hides no other.",
    )
    group.add_argument("--all", action="store_true", help="verify every run of the store that is named")
    group.add_argument("--full", action="store_true", help="verify every run in full now")
    group.add_argument("--contents", action="store_true", help="read every byte, also in a bucket")
    group.add_argument(
        "--interval-days",
        type=positive,
        metavar="N",
        help=f"all in full within (default: {_INTERVAL_DAYS})",
    )
    group.add_argument(
        "--kept",
        default="",
        metavar="PLACE",
        help="folder or s3://bucket/prefix where what was found is kept (default: AUDIT_VERIFIED, else _verified in "
        "the store); AUDIT_VERIFIED_KEY is a secret of the verifier's under which it is believed",
    )
    group.add_argument(
        "--forget",
        nargs="+",
        default=[],
        metavar="RUN",
        help="audit/window/design of runs that are gone rightly",
    )
    group.add_argument(
        "--max-minutes", type=positive, metavar="N", help="begin nothing after it (default: no bound)"
    )
    group.add_argument(
        "--max-gb", type=positive, metavar="N", help="read no more than this (default: no bound)"
    )
    group.add_argument(
        "--run-minutes",
        type=positive,
        metavar="N",
        help=f"stop the verification of one run (default: {_RUN_MINUTES})",
    )
    group.add_argument(
        "--run-gb",
        type=positive,
        metavar="N",
        help=f"memory of one verification, on Linux (default: {_RUN_GB})",
    )
    json_option(group, "the verdict, of every run with --all,")


def refuse_without_all(options: argparse.Namespace) -> None:
    """Refuse options that are about all runs where one is named: they would do nothing."""
    given = [f"--{name.replace('_', '-')}" for name in _OF_ALL if getattr(options, name)]
    if given:
        raise SpecError(
            f"{', '.join(given)}: for --all; `audit verify --all STORE` verifies every run of a store"
        )


def verify(options: argparse.Namespace) -> int:
    """Verify all runs of a store, and return the exit code."""
    from audit_lib.store.versions import as_first_written
    from audit_lib.verify_all import CostBounds, KeptVerifications, VerifyOptions, list_store, verify_store

    if options.head or options.as_of is not None:
        raise SpecError(
            "--head and --as-of are for a run; heads that you knew belong into a trust file with --all"
        )
    if options.table_gb:
        raise SpecError("--table-gb: for a run; with --all the memory of each is bounded (--run-gb)")
    if options.no_recompute:
        raise SpecError("--no-recompute: for a run; --all leaves what did not change at its digests")
    _check_trust(options.trust)
    root = options.bundle.rstrip("/") or "/"
    store, blind = as_first_written(root)
    notify(f"verify: the store: {blind}" if blind else "verify: listing the store")
    listing = list_store(store)
    kept = KeptVerifications.of_environment(root, options.kept)
    kept.read()
    for run in options.forget:
        if kept.runs.pop(run.strip("/"), None) is None:
            raise InputError(f"--forget {run}: nothing is kept of a run of this name")
    if not listing.runs and not kept.runs:
        raise InputError(f"{store.uri('')}: no run is in this store")
    found = verify_store(
        root,
        listing,
        kept,
        VerifyOptions(
            trust=tuple(options.trust),
            interval=timedelta(days=options.interval_days or _INTERVAL_DAYS),
            full=options.full,
            by_listing=not options.contents,
        ),
        bounds=CostBounds(
            run_seconds=(options.run_minutes or _RUN_MINUTES) * 60.0,
            run_bytes=(options.run_gb or _RUN_GB) << 30,
            seconds=None if options.max_minutes is None else options.max_minutes * 60.0,
            bytes=None if options.max_gb is None else options.max_gb << 30,
            processes=options.processes or processors(),
        ),
        told=_tell,
        notify=notify,
    )
    if blind:
        found.notes.append(f"store: {blind}")
    print(json.dumps(found.as_dict(), indent=2) if options.format == "json" else found.summary())
    return found.exit_code


def _check_trust(paths: list[str]) -> None:
    """Read what is trusted once here, where a fault of it is one of the command."""
    from datetime import UTC, datetime
    from pathlib import Path

    from audit_lib.signing.trust import read_trusted

    read_trusted([Path(one) for one in paths], datetime.now(UTC))


def _tell(outcome: RunVerification) -> None:
    """Tell what does not hold at once: the others may take hours."""
    if outcome.verdict not in ("verified", "put off", "unfinished"):
        print("\n".join(outcome.lines()), file=sys.stderr, flush=True)
