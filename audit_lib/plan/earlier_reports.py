"""What the audit found before: the headline of each earlier report of the same audit, archived with the plan.

So that the report's trend follows from the run's own evidence, also where the store is not at hand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from audit_lib.canonical import pretty_json
from audit_lib.documents.earlier import EarlierAudit
from audit_lib.errors import AuditError, EvidenceError, StoreUnreachableError
from audit_lib.run import SUCCESS, Run, StageFolder
from audit_lib.window import Window

EARLIER: Final = "earlier.json"
_MOST: Final = 60
_KEPT: Final = ("window", "measured_at", "status", "tool_version", "spec_digest", "headline", "run")
_SIGNED: Final = "signed"


def earlier_reports(run: Run) -> bytes:
    """Return the earlier reports' headlines as JSON, the oldest first; nothing at all for a first run.

    One for each window that ended before this one begins (the one sealed last), the latest 60. Numbers are the
    sealed report's; that an auditor signed it is taken from the store as it stands. The latest windows alone are
    listed, and of reports only those read that the plan of the run before this one does not hold already: reports are
    written once. So the cost does not grow with the age of the audit.
    """
    latest: list[dict[str, Any]] = []
    known: Mapping[str, dict[str, Any]] | None = None
    for names in _in_parts(_windows_before(run)):
        keys = run.store.list_between(run.key.audit, min(names), max(names))
        there = set(keys)
        signed = {
            "/".join(key.split("/")[:3]) for key in keys if "/signoff/" in key and key.endswith(f"/{SUCCESS}")
        }
        sealed: dict[str, list[str]] = defaultdict(list)
        for key in keys:
            parts = key.split("/")
            if len(parts) == 5 and parts[3:] == ["evidence", SUCCESS]:
                sealed[parts[1]].append("/".join(parts[:3]))
        for name in names:
            if known is None and sealed[name]:
                known = _known(run, sealed[name], there)
            if (document := _newest(run, sealed[name], there, signed, known or {})) is not None:
                latest.append(document)
            if len(latest) == _MOST:
                return pretty_json(latest[::-1])
    return pretty_json(latest[::-1]) if latest else b""


def _windows_before(run: Run) -> list[str]:
    """Return the folders of the windows that ended before this one begins, the latest first."""
    windows = []
    for name in run.store.folders(run.key.audit):
        try:
            windows.append(Window.from_label(name))
        except ValueError:
            continue  # a folder that is no window's
    windows = [one for one in windows if one.end <= run.key.window.start]
    return [one.label for one in sorted(windows, key=lambda one: (one.end, one.start), reverse=True)]


def _in_parts(names: list[str]) -> Iterator[list[str]]:
    yield from (names[first : first + _MOST] for first in range(0, len(names), _MOST))


def _known(run: Run, prefixes: Iterable[str], there: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return the headlines that a plan of these runs holds, by run: what earlier reports said when it was made."""
    found: dict[str, dict[str, Any]] = {}
    for prefix in prefixes:
        if f"{prefix}/plan/{EARLIER}" in there:
            try:
                for one in StageFolder(run.store, f"{prefix}/plan").read_json(EARLIER):
                    EarlierAudit.of(one)
                    found[one["run"]] = one
            except StoreUnreachableError:
                raise
            except (AuditError, TypeError, KeyError) as error:
                run.notify(f"WARNING: {prefix}/plan/{EARLIER} is not used, the reports are read: {error}")
    return found


def _newest(
    run: Run,
    prefixes: Collection[str],
    there: Collection[str],
    signed: Collection[str],
    known: Mapping[str, dict[str, Any]],
) -> dict[str, Any] | None:
    """Return the headline of the run of a window that was sealed last and has a report that can be read."""
    if len(prefixes) > 1:
        prefixes = sorted(prefixes, key=lambda prefix: _sealed_at(run, prefix), reverse=True)
    for prefix in prefixes:
        if f"{prefix}/report/{SUCCESS}" not in there:
            continue  # it failed before its report
        kept = known.get(prefix)
        if kept is not None and (kept["status"] != _SIGNED or prefix in signed):
            return kept | ({"status": _SIGNED} if prefix in signed else {})
        try:
            return _headline(StageFolder(run.store, f"{prefix}/report"), signed=prefix in signed)
        except StoreUnreachableError:
            raise
        except AuditError as error:
            run.notify(f"WARNING: the report of {prefix} is left out of the trend: {error}")
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
    kept |= {"status": _SIGNED} if signed else {}
    EarlierAudit.of(kept)
    return kept
