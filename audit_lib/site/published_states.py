"""The states of the audits that are published: from runs whose evidence holds, as of their latest sealing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC

from audit_lib.documents.run_index import AuditState, IndexedRun, LatestReport
from audit_lib.documents.sequences import Sequences
from audit_lib.site.catalogue import Catalogue, CataloguedRun, hides_cells, latest
from audit_lib.site.monitor_page import state_of
from audit_lib.site.owed_windows import OwedWindows
from audit_lib.site.trend import points
from audit_lib.windows import next_window
from audit_lib.windows.audit_states import STRIP
from audit_lib.windows.window_faults import window_faults


def published_states(catalogue: Catalogue) -> list[AuditState]:
    """Return the state of every audit of a catalogue that has windows."""
    return [
        _state(audit, entries, windows, catalogue.sequences.get(audit))
        for audit, entries in catalogue.audits.items()
        if (windows := catalogue.windows.get(audit)) is not None
    ]


def run_notes(entries: Sequence[CataloguedRun]) -> list[str]:
    """Return what is wrong with the windows of an audit's runs."""
    rows = [
        IndexedRun(
            window=one.run.key.window.label,
            design=one.path.rsplit("/", 1)[1],
            outcome="failed" if one.document is None else "complete",
            sealed_at=one.sealed_at.isoformat(),
            record_sha256=None,
        )
        for one in reversed(entries)
    ]
    return window_faults([], rows)


def _state(
    audit: str, entries: Sequence[CataloguedRun], windows: OwedWindows, followed: Sequences | None
) -> AuditState:
    strip = windows.owed[-STRIP:]
    alarms = 0
    if followed is not None:
        alarms = sum(alarm.stands for one in followed.sequences for alarm in one.alarms)
    instant = windows.at.astimezone(UTC).isoformat(timespec="seconds")
    return AuditState(
        audit=audit,
        title=entries[0].run.spec.title,
        folders="",
        settled=True,
        as_of=instant,
        until=instant,
        cron=windows.schedule.cron,
        timezone=windows.schedule.timezone,
        states=dict(Counter(one.state for one in windows.owed)),
        strip=tuple(one.state for one in strip),
        first=strip[0].window.start.isoformat() if strip else None,
        next_window=next_window(windows.schedule, windows.at).label,
        latest=_latest(entries),
        drift=_drift(entries, followed),
        alarms=alarms,
        notes=tuple(run_notes(entries)),
    )


def _drift(entries: Sequence[CataloguedRun], followed: Sequences | None) -> str:
    if hides_cells(entries):
        return "not shown: small cells are hidden"
    return "not followed" if followed is None else state_of(followed)


def _latest(entries: Sequence[CataloguedRun]) -> LatestReport | None:
    last = latest(entries)
    if last is None:
        return None
    leading = [one for one in points([last]) if one.ratio is not None]
    worst = min(leading, key=lambda one: one.ratio or 0, default=None)
    finding = None
    if worst is not None and worst.ratio is not None:
        finding = f"{float(worst.ratio):.3f} for {worst.label} ({worst.selected} of {worst.n})"
    return LatestReport(
        run=last.path,
        sign_offs=len(last.sign_offs),
        signed_by=last.sign_offs[-1].predicate.auditor if last.sign_offs else None,
        rejected_by=None,
        audited=None if last.audited is None else last.audited.isoformat(),
        no_use_after=None if last.last_day is None else last.last_day.isoformat(),
        why_no_audit=last.why_no_audit,
        finding=finding,
        ratio=None if worst is None or worst.ratio is None else float(worst.ratio),
    )
