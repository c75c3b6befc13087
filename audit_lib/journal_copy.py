"""A journal from a copy of its lines, which its newest entries prove: each plan asks an old journal, and it is long.

``<audit>/index/journal.jsonl`` follows from the journal. Each line has its digest in the next one and the last in the
first entry after it, so that the copy holds what the newest entry stands for, or is not used. What is changed in an
older entry itself is not seen here: `audit journal` and `audit verify` read them all.
"""

from __future__ import annotations

import json

from audit_lib.canonical import sha256
from audit_lib.documents.evidence import decode_exact
from audit_lib.documents.journal import JournalEntry, entry_bytes
from audit_lib.errors import NotFoundError, StoreError, StoreUnreachableError
from audit_lib.journal import check_chain, entry_keys
from audit_lib.journal_lines import NAME
from audit_lib.store import Store


def copy_key(audit: str) -> str:
    """Return where the copy is."""
    return f"{audit}/index/{NAME}"


def entries_about(store: Store, audit: str, window: str) -> tuple[JournalEntry | None, list[JournalEntry]]:
    """Return the newest entry of an audit's journal, None where it has none, and all about a window.

    Entries that the copy has are not read again; where it lacks some, it is written anew.

    Raises
    ------
    EvidenceError
        If an entry is missing, or those that were read are no chain.
    """
    keys = entry_keys(store, audit)
    copied = _copied(store, audit, keys)
    lines = [*copied, *(store.get(key) for key in keys[len(copied) :])]
    if not lines:
        return None, []
    if not _is_chain(lines, audit):
        # Which entry does not follow, the whole journal says: the copy may be at fault.
        lines = [store.get(key) for key in keys]
        copied = []
        check_chain([_entry(line, store.uri(key)) for line, key in zip(lines, keys, strict=True)], audit)
    about = [
        _entry(line, store.uri(key)) for line, key in zip(lines, keys, strict=True) if window.encode() in line
    ]
    newest = _entry(lines[-1], store.uri(keys[-1]))
    if len(copied) < len(lines):
        _keep(store, audit, lines)
    return newest, [one for one in about if one.window == window]


def _copied(store: Store, audit: str, keys: list[str]) -> list[bytes]:
    """Return the lines of the copy that the entry after them names, or that end with the newest entry itself."""
    try:
        content = store.get(copy_key(audit))
    except NotFoundError:
        return []
    lines = content.split(b"\n")[:-1]
    if len(lines) > len(keys):
        return []
    if len(lines) == len(keys) and lines and lines[-1] != store.get(keys[-1]):
        return []
    return lines


def _is_chain(lines: list[bytes], audit: str) -> bool:
    previous = None
    for number, line in enumerate(lines, start=1):
        try:
            said = json.loads(line)
            follows = (said["number"], said["previous"], said["audit"]) == (number, previous, audit)
        except (ValueError, KeyError, TypeError, RecursionError):
            return False
        if not follows:
            return False
        previous = sha256(line)
    return True


def _entry(line: bytes, where: str) -> JournalEntry:
    return decode_exact(JournalEntry, line, where, entry_bytes)


def _keep(store: Store, audit: str, lines: list[bytes]) -> None:
    try:
        store.replace(copy_key(audit), b"".join(line + b"\n" for line in lines))
    except StoreUnreachableError:
        raise
    except StoreError:
        pass  # a writer without the right to replace: the entries are read again each time
