"""A note in the store of each window that was missed, so that people are told of it once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from audit_lib.canonical import pretty_json
from audit_lib.documents.missed_windows import MissedWindows
from audit_lib.store import Store
from audit_lib.typed_json import decode
from audit_lib.window import Window
from audit_lib.windows.window_states import OwedWindow

FOLDER: Final = "missed"
_NOTE: Final = re.compile(r"[0-9]{8}T[0-9]{6}Z\.json")


def missed_notes(store: Store, audit: str) -> list[MissedWindows]:
    """Return the notes of an audit in order; a file of another name in their folder is none.

    Raises
    ------
    EvidenceError
        If a note is not as it was written.
    """
    keys = [key for key in store.list(f"{audit}/{FOLDER}") if _NOTE.fullmatch(key.rsplit("/", 1)[1])]
    return [decode(MissedWindows, store.get(key), store.uri(key)) for key in sorted(keys)]


def note_missed(store: Store, audit: str, owed: Sequence[OwedWindow], now: datetime) -> list[Window]:
    """Write down which windows are missed and were not noted before; return them, the oldest first.

    The note stays when somebody audits such a window by hand later: what became of a window is derived from the
    runs, never from these notes.

    Raises
    ------
    EvidenceError
        If an earlier note is not as it was written; the message names the file and the keys.
    """
    missed = [one.window for one in owed if one.state == "missed"]
    if not missed:
        return []
    known = {label for note in missed_notes(store, audit) for label in note.windows}
    new = [window for window in missed if window.label not in known]
    if new:
        stamp = f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
        note = MissedWindows(
            audit=audit,
            noted_at=now.astimezone(UTC).isoformat(timespec="seconds"),
            windows=tuple(window.label for window in new),
        )
        if not store.put(f"{audit}/{FOLDER}/{stamp}.json", pretty_json(note.as_dict())):
            return []  # another run was faster, and tells it
    return new
