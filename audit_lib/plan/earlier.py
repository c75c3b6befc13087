"""What the audit found before: the headline of each earlier report of the same audit, archived with the plan.

So that the report's trend follows from the run's own evidence, also where the store is not at hand.
"""

from __future__ import annotations

import json
from typing import Any, Final

from audit_lib.canonical import pretty_json
from audit_lib.run import SUCCESS, Run, StageFolder, Window

EARLIER: Final = "earlier.json"
_MOST: Final = 60
_KEPT: Final = ("window", "measured_at", "status", "tool_version", "spec_digest", "headline", "run")


def earlier_reports(run: Run) -> bytes:
    """Return the earlier reports' headlines as JSON, the oldest first; nothing at all for a first run.

    One for each window that ended before this one begins (the one sealed last), the latest 60. Numbers are the
    sealed report's; that an auditor signed it is taken from the store as it stands.
    """
    found: dict[tuple[Any, Any], tuple[str, dict[str, Any]]] = {}
    for key in run.store.list(run.key.audit):
        parts = key.split("/")
        if len(parts) != 5 or parts[3:] != ["evidence", SUCCESS]:
            continue
        window, prefix = Window.from_label(parts[1]), "/".join(parts[:3])
        document = _report(run, prefix) if window.end <= run.key.window.start else None
        if document is None:
            continue
        sealed = StageFolder(run.store, f"{prefix}/evidence").success()["finished_at"]
        place = (window.end, window.start)
        if place not in found or found[place][0] < sealed:
            found[place] = (sealed, {name: document[name] for name in _KEPT})
    latest = [found[place][1] for place in sorted(found)][-_MOST:]
    return pretty_json(latest) if latest else b""


def _report(run: Run, prefix: str) -> dict[str, Any] | None:
    folder = StageFolder(run.store, f"{prefix}/report")
    if not folder.is_complete():
        return None  # it failed its validation
    document: dict[str, Any] = json.loads(folder.read("report.json"))
    if any(name not in document for name in _KEPT):
        return None  # made by an earlier version
    signed = any(key.endswith(f"/{SUCCESS}") for key in run.store.list(f"{prefix}/signoff"))
    return document | {"status": "signed" if signed else document["status"]}
