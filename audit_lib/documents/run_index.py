"""What is kept of an audit's runs, and of all audits, so that not every run is read each time; derived, and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from audit_lib.typed_json import Count, Typed

SCHEMA: Final = "audit-run-index/1"
STATES_SCHEMA: Final = "audit-states/1"

WindowOutcome = Literal["complete", "failed", "unfinished", "not verified"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedRun(Typed):
    """A run that was begun."""

    window: str
    design: str
    """Name of its folder: the first 16 digits of its spec's digest."""
    outcome: WindowOutcome
    sealed_at: str | None
    record_sha256: str | None
    """Of the record of its evidence, which lists the digest of the manifest; null where it is not sealed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestReport(Typed):
    """What the report of the latest complete run says: unsigned, or as the last auditor signed it."""

    run: str
    sign_offs: Count
    signed_by: str | None
    rejected_by: str | None
    audited: str | None
    """Day of the audit; null where nobody may rely on it as one: see `why_no_audit`."""
    no_use_after: str | None
    why_no_audit: str | None
    finding: str | None
    """The impact ratio with the most evidence, of those that rest on enough people."""
    ratio: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSchedule(Typed):
    """When windows end, and how many are made up."""

    cron: str
    timezone: str
    start: str | None
    catchup: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class RunIndex(Typed):
    """``<audit>/index/runs.json``: every run of an audit, in the order of windows."""

    schema: Literal["audit-run-index/1"] = SCHEMA
    audit: str
    title: str
    planned: str | None
    """Folder of the latest run with a plan that can be read, which says title and schedule."""
    schedule: KeptSchedule | None
    runs: tuple[IndexedRun, ...]
    latest: LatestReport | None
    notes: tuple[str, ...]
    """What is wrong with its windows: two that overlap, one that was audited twice, a folder that names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditState(Typed):
    """The state of an audit, from one instant until another."""

    audit: str
    title: str
    folders: str
    """SHA-256 of the names of its folders that are windows."""
    settled: bool
    """Whether all of its runs are sealed, so that only another one can change what became of a window."""
    as_of: str
    until: str
    """When the clock alone changes the state of a window."""
    cron: str
    timezone: str
    states: Mapping[str, Count]
    strip: tuple[str, ...]
    """States of the latest windows, the oldest first."""
    first: str | None
    """Start of the first of them."""
    next_window: str | None
    """The one that ends next; it is not due yet."""
    latest: LatestReport | None
    drift: str
    alarms: Count
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptStates(Typed):
    """``_index/audits.json``: the state of every audit of a store."""

    schema: Literal["audit-states/1"] = STATES_SCHEMA
    audits: tuple[AuditState, ...]
