"""Notes of how archived runs verified: one where the outcome is not that of the note before, and none is removed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from audit_lib.canonical import pretty_json
from audit_lib.documents.events import VerificationNote
from audit_lib.store import Store
from audit_lib.typed_json import decode

FOLDER: Final = "verified"
_NOTE: Final = re.compile(r"[0-9]{4,}\.json")


def note_verification(store: Store, prefix: str, findings: Sequence[str], at: datetime) -> bool:
    """Write down how a run verified, where that is news; return whether it was.

    Parameters
    ----------
    store, prefix : Store, str
        Where the run is: ``audit/window/digest``.
    findings : sequence of str
        Kinds and places of what was found; empty where it verifies. No value of a file belongs there.
    at : datetime
        Now.
    """
    audit, rest = prefix.split("/", 1)
    folder = f"{audit}/{FOLDER}/{rest.replace('/', '_')}"
    keys = _notes(store, folder)
    outcome = "broken" if findings else "verified"
    if not keys and not findings:
        return False  # what verifies, and always has, needs no note
    if keys and decode(VerificationNote, store.get(keys[-1]), store.uri(keys[-1])).outcome == outcome:
        return False
    note = VerificationNote(
        run=prefix,
        outcome="broken" if findings else "verified",
        findings=tuple(findings[:20]),
        noted_at=at.astimezone(UTC).isoformat(timespec="seconds"),
    )
    return store.put(f"{folder}/{len(keys) + 1:04d}.json", pretty_json(note.as_dict()))


def broken_runs(store: Store, audit: str) -> list[VerificationNote]:
    """Return the last note of each run of an audit whose evidence did not verify when it was looked at last."""
    last: dict[str, str] = {}
    for key in _notes(store, f"{audit}/{FOLDER}"):
        last[key.rsplit("/", 1)[0]] = key
    notes = [decode(VerificationNote, store.get(key), store.uri(key)) for key in last.values()]
    return [note for note in notes if note.outcome == "broken"]


def _notes(store: Store, folder: str) -> list[str]:
    """Return the notes in a folder in order; a file that somebody else put there is none."""
    return [key for key in sorted(store.list(folder)) if _NOTE.fullmatch(key.rsplit("/", 1)[1])]
