"""The commands about the journal of an audit's attempts: ``journal | verify-journal``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from audit_lib.cli.shared import AddCommand, check_audit, counted, sha256_of, store_option

if TYPE_CHECKING:
    from audit_lib.documents.journal import JournalEntry


def add_commands(command: AddCommand) -> None:
    """Add the commands to the parser."""
    journal = command(
        "journal",
        _journal,
        "List all attempts of an audit, and check that none was dropped",
        "The chain of entries, and that everything that was sealed is there as it was. With --from it shows that the "
        "newest head extends an older one. Exit code 1: it is not so.",
    )
    journal.add_argument("audit", help="name of the audit")
    journal.add_argument(
        "--head",
        nargs="+",
        type=sha256_of,
        default=[],
        metavar="SHA256",
        help="heads that you knew earlier",
    )
    journal.add_argument("--window", metavar="LABEL", help="list the entries about this window alone")
    journal.add_argument(
        "--from",
        dest="older",
        type=sha256_of,
        metavar="SHA256",
        help="an older head: list the entries that were made after it alone",
    )
    journal.add_argument(
        "--out",
        metavar="FILE",
        help="also write the entries as lines, for `audit verify-journal`: those after --from, or all",
    )
    store_option(journal)

    verify = command(
        "verify-journal",
        _verify,
        "Check that a newer head of a journal extends an older one, from a file and without the store",
        "The file is that of `audit journal --out`, the journal.jsonl of a published site, or that in a bag. Exit code "
        "1: the entries are no chain, or do not lead from the one head to the other.",
    )
    verify.add_argument("file", help="entries of a journal as lines")
    verify.add_argument("--audit", metavar="NAME", help="whose journal it must be")
    verify.add_argument(
        "--from", dest="older", type=sha256_of, metavar="SHA256", help="an older head, which you knew"
    )
    verify.add_argument(
        "--to", dest="newer", type=sha256_of, metavar="SHA256", help="the newer head that it must lead to"
    )


def _journal(options: argparse.Namespace) -> int:
    from audit_lib.documents.journal import entry_digest
    from audit_lib.journal_lines import entries_after, journal_lines
    from audit_lib.signing.check_journal import check_all
    from audit_lib.signing.journal_gone import find_gone
    from audit_lib.store.versions import as_first_written

    heads = [*options.head, *([options.older] if options.older else [])]
    store, blind = as_first_written(options.store)
    if blind:
        print(f"note: {blind}")
    if not heads:
        check_audit(store, options.audit)  # with a head its absence is a finding
    entries, found = check_all(store, options.audit, heads)
    if not entries and not found.findings:
        find_gone(store, options.audit, found)
    chosen = entries
    if options.older and not found.findings:
        chosen = entries_after(entries, options.older)
    listed = [one for one in chosen if options.window in (None, one.window)]
    _print(listed)
    if options.window and not listed:
        print(f"nothing is entered about the window {options.window}")
    for finding in found.findings:
        print(f"finding: {finding}")
    if entries:
        print(f"head {entry_digest(entries[-1])}")
    elif not found.findings:
        print(f"{options.audit}: nothing is entered, and nothing in the store names an entry")
    if found.findings:
        return 1
    if options.older:
        print(f"extends {options.older} by {counted(len(chosen), 'entry', 'entries')}")
    if options.out:
        Path(options.out).write_bytes(journal_lines(chosen))
        print(f"wrote {options.out}: {counted(len(chosen), 'entry', 'entries')}")
    return 0


def _verify(options: argparse.Namespace) -> int:
    from audit_lib.documents.journal import entry_digest
    from audit_lib.errors import EvidenceError, InputError
    from audit_lib.journal_lines import check_extends, entries_after, read_lines

    try:
        content = Path(options.file).read_bytes()
    except OSError as error:
        raise InputError(f"{options.file}: cannot be read ({error.strerror})") from None
    try:
        entries = read_lines(content, options.file)
        if not entries and options.older is None:
            raise EvidenceError("it has no entries")
        if options.older:
            after = entries_after(entries, options.older, options.audit)
            said = f"extends {options.older} by {counted(len(after), 'entry', 'entries')}"
        else:
            check_extends(entries, None, audit=options.audit)
            said = "whole from the first entry on; give --from with a head that you knew to see that it is the same"
        head = entry_digest(entries[-1]) if entries else options.older
        if options.newer not in (None, head):
            raise EvidenceError(f"the entries lead to the head {head}, and not to {options.newer}")
    except EvidenceError as error:
        print(f"{options.file}: NOT VERIFIED: {error}")
        return 1
    print(f"{options.file}: {counted(len(entries), 'entry', 'entries')}, {said}")
    print(f"head {head}")
    return 0


def _print(entries: Sequence[JournalEntry]) -> None:
    for one in entries:
        outcome = f" ({one.outcome})" if one.outcome else ""
        print(
            f"{one.number:>6}  {one.at}  {one.window}/{one.run}  attempt {one.attempt}  {one.event}{outcome}"
        )
