"""Entries of a journal as one file, a line each: a bag and the site carry it, and it shows that a head extends another.

The chain is its own proof: whoever has an older head reads the entries after it, each of which names the one before,
and finds the newer head at the end. That takes as many lines as there are entries between the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from audit_lib.documents.evidence import decode_exact
from audit_lib.documents.journal import JournalEntry, entry_bytes, entry_digest
from audit_lib.errors import EvidenceError
from audit_lib.journal import check_head

NAME: Final = "journal.jsonl"


def journal_lines(entries: Sequence[JournalEntry]) -> bytes:
    """Return entries as lines, each in the bytes whose digest is the entry's head."""
    return b"".join(entry_bytes(one) + b"\n" for one in entries)


def read_lines(content: bytes, where: str) -> list[JournalEntry]:
    """Read entries that `journal_lines` wrote; whether they are a chain `check_extends` says.

    Raises
    ------
    EvidenceError
        If a line is no entry, or not in the bytes that this library writes.
    """
    if content and not content.endswith(b"\n"):
        raise EvidenceError(f"{where}: its last line has no end: it was cut off")
    return [
        decode_exact(JournalEntry, line, f"{where}, line {number}", entry_bytes)
        for number, line in enumerate(content.split(b"\n")[:-1], start=1)
    ]


def check_extends(
    entries: Sequence[JournalEntry], older: str | None, newer: str | None = None, audit: str | None = None
) -> None:
    """Check that entries lead from an older head of a journal to a newer one.

    Parameters
    ----------
    entries : sequence of JournalEntry
        Those after the older head.
    older : str or None
        Digest of the entry before them; None where they begin with the journal's first.
    newer : str, optional
        Digest that the last of them must have.
    audit : str, optional
        Whose journal it must be; by default that of the first entry.

    Raises
    ------
    EvidenceError
        If they do not; the message names the first entry that does not follow.
    """
    before = older
    for place, entry in enumerate(entries):
        whose = audit or entries[0].audit
        if entry.audit != whose:
            raise EvidenceError(f"journal of {whose}: entry {entry.number} is of the audit {entry.audit}")
        expected = entries[place - 1].number + 1 if place else (1 if older is None else entry.number)
        if entry.number != expected:
            raise EvidenceError(f"journal of {whose}: entry {expected} is missing")
        if entry.previous != before or (older is not None and entry.number == 1):
            after = "the older head" if not place and older is not None else "the one before it"
            raise EvidenceError(f"journal of {whose}: entry {entry.number} does not follow from {after}")
        before = entry_digest(entry)
    if newer is not None and before != newer:
        raise EvidenceError(f"the entries lead to the head {before}, and not to {newer}")


def entries_after(
    entries: Sequence[JournalEntry], older: str, audit: str | None = None
) -> list[JournalEntry]:
    """Return the entries that extend an older head: those after it in a whole journal, or all of such a part of one.

    Raises
    ------
    EvidenceError
        If the head is not in it, and they do not follow from it.
    """
    if entries and entries[0].number > 1:
        check_extends(entries, older, audit=audit)
        return list(entries)
    check_extends(entries, None, audit=audit)
    return list(entries[check_head(entries, older) :])
