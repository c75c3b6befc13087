"""What the audit found before: the headline of each earlier report of the same audit, archived with the plan.

So that the report's trend follows from the run's own evidence, also where the store is not at hand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final

from audit_lib.canonical import pretty_json
from audit_lib.documents.earlier import EarlierAudit
from audit_lib.errors import AuditError, EvidenceError, StoreUnreachableError
from audit_lib.run import SUCCESS, Run, StageFolder
from audit_lib.window import Window

EARLIER: Final = "earlier.json"
_MOST: Final = 60
_KEPT: Final = ("window", "measured_at", "status", "tool_version", "spec_digest", "headline", "run")


def earlier_reports(run: Run) -> bytes:
    """Return the earlier reports' headlines as JSON, the oldest first; nothing at all for a first run.

    One for each window that ended before this one begins (the one sealed last), the latest 60. Numbers are the
    sealed report's; that an auditor signed it is taken from the store as it stands. The store is listed once, and
    only the reports that are kept are read, so that the cost does not grow with the age of the audit.
    """
    keys = list(run.store.list(run.key.audit))
    signed = {
        "/".join(key.split("/")[:3]) for key in keys if "/signoff/" in key and key.endswith(f"/{SUCCESS}")
    }
    sealed: dict[tuple[Any, Any], list[str]] = defaultdict(list)
    for key in keys:
        parts = key.split("/")
        if len(parts) == 5 and parts[3:] == ["evidence", SUCCESS]:
            window = Window.from_label(parts[1])
            if window.end <= run.key.window.start:
                sealed[window.end, window.start].append("/".join(parts[:3]))
    latest: list[dict[str, Any]] = []
    for place in sorted(sealed, reverse=True):
        if (document := _newest(run, sealed[place], signed)) is not None:
            latest.append(document)
        if len(latest) == _MOST:
            break
    return pretty_json(latest[::-1]) if latest else b""


def _newest(run: Run, prefixes: Iterable[str], signed: Iterable[str]) -> dict[str, Any] | None:
    """Return the headline of the run of a window that was sealed last and has a report that can be read."""
    for prefix in sorted(prefixes, key=lambda prefix: _sealed_at(run, prefix), reverse=True):
        folder = StageFolder(run.store, f"{prefix}/report")
        if not folder.is_complete():
            continue  # it failed before its report
        try:
            kept = _headline(folder, signed=prefix in signed)
        except StoreUnreachableError:
            raise
        except AuditError as error:
            run.notify(f"WARNING: the report of {prefix} is left out of the trend: {error}")
            continue
        return kept
    return None


def _sealed_at(run: Run, prefix: str) -> str:
    """Return when a run was sealed; the earliest of all where its record does not say."""
    try:
        return StageFolder(run.store, f"{prefix}/evidence").success().finished_at
    except EvidenceError:
        return ""


def _headline(folder: StageFolder, *, signed: bool) -> dict[str, Any]:
    """Return what is kept of a report, as the report of this run reads it after all is paid."""
    document = folder.read_json("report.json")
    kept = {name: document[name] for name in _KEPT if name in document}
    kept |= {"status": "signed"} if signed else {}
    EarlierAudit.of(kept)
    return kept
