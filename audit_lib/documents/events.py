"""What happened to an audit that somebody should know: events, and the log of who was told and who took note."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from pydantic import Field

from audit_lib.typed_json import OPTIONAL, Typed

EVENT_SCHEMA: Final = "audit-event/1"

EventKind = Literal[
    "alarm",
    "failed",
    "missed",
    "late",
    "evidence_broken",
    "sign_off_due",
    "validity_ending",
    "budget_reached",
]
EventSeverity = Literal["info", "warning", "critical"]
_Number = Annotated[int, Field(ge=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Typed):
    """One thing that happened. No text of an applicant is in it."""

    schema: Literal["audit-event/1"] = EVENT_SCHEMA
    audit: str
    kind: EventKind
    key: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    """Of what it is about: the same thing has the same key, whenever and by whomever it is seen."""
    severity: EventSeverity
    subject: str
    since: str
    """Instant from which on it has been so."""
    moved: str
    """What happened, and by how much."""
    sure: str
    """How sure that is."""
    affected: str
    """Who is affected."""
    link: str
    windows: tuple[str, ...] = ()
    """Labels of the windows it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedEvent(Typed):
    """``events/KIND.KEY/NUMBER/opened.json``: an event when it was first seen; the number counts its returns."""

    event: Event
    number: _Number
    opened_at: str
    channels: tuple[str, ...]
    """Who was to be told then."""

    @property
    def id(self) -> str:
        """Name of the event in messages and commands."""
        return f"{self.event.audit}.{self.event.kind}.{self.event.key}.{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedEvent(Typed):
    """``closed.json``: it is no longer so."""

    closed_at: str
    recovered: bool
    """False where something else took its place, such as a late window that is missed now: of that people are told."""
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement(Typed):
    """``acknowledged/NUMBER.json``: somebody took note, and answers for it."""

    by: str
    note: str
    acknowledged_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SendingClaim(Typed):
    """``told/STAGE/CHANNEL/NUMBER.claim.json``: somebody is about to send a message."""

    claimed_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SendingOutcome(Typed):
    """``NUMBER.failed.json`` or ``sent.json``: what came of sending."""

    at: str
    why: str | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationNote(Typed):
    """``verified/RUN/NUMBER.json``: how a run verified, written where that is not as the note before says."""

    run: str
    outcome: Literal["verified", "broken"]
    findings: tuple[str, ...]
    """Kinds and places of what was found."""
    noted_at: str

    @property
    def is_of_a_run(self) -> bool:
        """Whether it is about ``audit/window/design``, and not about the journal of the audit."""
        return self.run.count("/") == 2
