"""What several commands share: options, progress, and how a run is found."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from audit_lib.errors import ConflictError, NotFoundError, ValidationFailedError
from audit_lib.registry import did_you_mean

if TYPE_CHECKING:
    from audit_lib.run import Run
    from audit_lib.store import Store

DEFAULT_STORE = ".audit/store"

Action = Callable[[argparse.Namespace], int]


class AddCommand(Protocol):
    """Makes the parser of one command."""

    def __call__(self, name: str, action: Action, text: str, more: str = "") -> argparse.ArgumentParser:
        """Return the parser of the command ``name``, which runs ``action``."""
        ...


def store_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that says where all runs are."""
    parser.add_argument(
        "--store",
        default=os.environ.get("AUDIT_STORE", DEFAULT_STORE),
        help=f"folder or s3://bucket/prefix of all runs (default: AUDIT_STORE, else {DEFAULT_STORE})",
    )


def json_option(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup, what: str = "what is found"
) -> None:
    """Add the option that prints JSON, ``--format json``; ``--json`` says the same in what people wrote before."""
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help=f"how {what} is printed (default: text)"
    )
    parser.add_argument(
        "--json",
        dest="format",
        action="store_const",
        const="json",
        default=argparse.SUPPRESS,
        help=argparse.SUPPRESS,
    )


def counted(number: int, one: str, several: str | None = None) -> str:
    """Say how many there are.

    Examples
    --------
    >>> counted(1, "record"), counted(2000, "record"), counted(0, "entry", "entries")
    ('1 record', '2,000 records', '0 entries')
    """
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def positive(text: str) -> int:
    """Read a positive whole number."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive whole number")
    return int(text)


def sha256_of(text: str) -> str:
    """Read a SHA-256 in hexadecimal, in either case."""
    if not re.fullmatch("[0-9a-fA-F]{64}", text):
        raise argparse.ArgumentTypeError(f"{text!a} is no SHA-256: 64 digits from 0 to 9 and a to f")
    return text.lower()


def date_of(text: str) -> date:
    """Read a day such as 2026-01-31."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a date such as 2026-01-31") from None


def notify(message: str) -> None:
    """Tell people how far it is."""
    print(message, file=sys.stderr, flush=True)


def check_audit(store: Store, audit: str) -> None:
    """Refuse the name of an audit that is not in a store: nothing is told of it, and that would read as all is well.

    Raises
    ------
    NotFoundError
        If it is not there; names the nearest.
    """
    if not store.folders(audit):
        near = did_you_mean(audit, store.folders(""))
        raise NotFoundError(f"{store.root}: no audit {audit!r} is in this store{near}")


def write_new(out: Path, made: Mapping[str, bytes]) -> None:
    """Write files into a folder, and say which.

    Raises
    ------
    ConflictError
        If one is there and says something else; nothing is written then.
    """
    for name, content in made.items():
        if (out / name).exists() and (out / name).read_bytes() != content:
            raise ConflictError(
                f"{out / name}: is there already, and says something else; name another folder"
            )
    out.mkdir(parents=True, exist_ok=True)
    for name, content in made.items():
        (out / name).write_bytes(content)
        print(f"wrote {out / name}")


def write_private(out: Path, content: bytes) -> None:
    """Write a new file that only its owner can read.

    Raises
    ------
    ConflictError
        If a file of that name is there.
    """
    try:
        with open(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
    except FileExistsError:
        raise ConflictError(f"{out}: is there already; name another file") from None


def run_at(uri: str) -> Run:
    """Return the run in a folder or at a URI, which may be a copy.

    Raises
    ------
    NotFoundError
        If there is none.
    """
    from audit_lib.run import SUCCESS, Run
    from audit_lib.store import open_store

    where = uri.rstrip("/") or "/"
    if not open_store(where).exists(f"plan/{SUCCESS}"):
        raise NotFoundError(f"{uri}: no run is here (no plan/{SUCCESS}); give a run's folder or URI")
    return Run.from_bundle(where)


def find_run(uri: str, store: str, notify: Callable[[str], None] = lambda message: None) -> Run:
    """Return a run by its URI, or an audit's latest one by its name.

    Raises
    ------
    NotFoundError
        If there is none.
    ValidationFailedError
        If the audit failed its validation.
    """
    from audit_lib.run import SUCCESS, Run
    from audit_lib.store import open_store
    from audit_lib.validate import require_valid

    if "/" not in uri:
        from audit_lib.pipeline import latest_run

        run = replace(latest_run(uri, store), notify=notify)
    elif open_store(uri).exists(f"plan/{SUCCESS}"):
        run = Run.from_bundle(uri, notify)  # also a copy, wherever it lies
    else:
        raise NotFoundError(
            f"{uri}: no run is here (no plan/{SUCCESS}); name its folder, or an audit in the store without '/'"
        )
    if run.stage("validation").is_complete():
        try:
            require_valid(run)
        except ValidationFailedError as error:
            raise ValidationFailedError(f"{run.uri}: the audit failed its validation: {error}") from None
    return run
