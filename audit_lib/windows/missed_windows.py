"""A note in the store of each window that was missed, so that people are told of it once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from audit_lib.canonical import pretty_json
from audit_lib.run import Window
from audit_lib.store import Store
from audit_lib.windows.window_states import OwedWindow

FOLDER: Final = "missed"
SCHEMA: Final = "audit-missed-windows/1"


def note_missed(store: Store, audit: str, owed: Sequence[OwedWindow], now: datetime) -> list[Window]:
    """Write down which windows are missed and were not noted before; return them, the oldest first.

    The note stays when somebody audits such a window by hand later: what became of a window is derived from the
    runs, never from these notes.
    """
    missed = [one.window for one in owed if one.state == "missed"]
    if not missed:
        return []
    folder = f"{audit}/{FOLDER}"
    known = {label for key in store.list(folder) for label in json.loads(store.get(key))["windows"]}
    new = [window for window in missed if window.label not in known]
    if new:
        stamp = f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
        note = {
            "schema": SCHEMA,
            "audit": audit,
            "noted_at": now.astimezone(UTC).isoformat(timespec="seconds"),
            "windows": [window.label for window in new],
        }
        if not store.put(f"{folder}/{stamp}.json", pretty_json(note)):
            return []  # another run was faster, and tells it
    return new
