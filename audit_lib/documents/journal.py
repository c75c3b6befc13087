"""``<audit>/journal/NNNNNN.json``: an entry of the journal of an audit's attempts; and what documents keep of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from pydantic import Field

from audit_lib.canonical import canonical_json, sha256
from audit_lib.documents.evidence import Instant, Sha256
from audit_lib.documents.run_statement import JournalHead
from audit_lib.typed_json import OPTIONAL, Typed

JOURNAL_SCHEMA: Final = "audit-journal/1"
JOURNAL_AT_PLAN_SCHEMA: Final = "audit-journal-at-plan/1"
JournalEvent = Literal[
    "planned", "asked", "completed", "failed", "abandoned", "signed", "rejected", "superseded"
]
ENDS: Final[tuple[JournalEvent, ...]] = ("completed", "failed", "abandoned")


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry(Typed):
    """What happened to an attempt, with the digest of the entry before."""

    schema: Literal["audit-journal/1"] = JOURNAL_SCHEMA
    number: Annotated[int, Field(ge=1)]
    previous: Sha256 | None
    """SHA-256 of the entry before; null for the first."""
    audit: str
    window: str
    run: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    """The run's folder in its window: the begin of its design's digest."""
    attempt: Annotated[int, Field(ge=0)]
    """Number of the attempt at the run; 0 where none was counted, as for a stage that is run by itself."""
    event: JournalEvent
    outcome: str | None = field(default=None, metadata=OPTIONAL)
    """Of what was sealed."""
    sealed_sha256: Sha256 | None = field(default=None, metadata=OPTIONAL)
    """Of the plan's record at plan time, of the manifest at the end, and of an auditor's answer."""
    at: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalAtPlan(Typed):
    """``plan/journal.json``: what the journal held when a run was planned."""

    schema: Literal["audit-journal-at-plan/1"] = JOURNAL_AT_PLAN_SCHEMA
    head: JournalHead | None
    """The newest entry; null where there was none."""
    window: tuple[JournalEntry, ...]
    """All entries about the run's window until then."""


@dataclass(frozen=True, slots=True)
class EnteredAttempt:
    """What a journal says of one attempt.

    Attributes
    ----------
    first : JournalEntry
        Its first entry, which says what it is an attempt at.
    end : JournalEntry or None
        How it ended; None where nothing is entered of that.
    superseded : bool
        Whether another run has taken the place of what it sealed.
    """

    first: JournalEntry
    end: JournalEntry | None
    superseded: bool


def attempts_among(entries: Iterable[JournalEntry]) -> list[EnteredAttempt]:
    """Return the attempts that entries are about, in the order in which they were entered first."""
    by_attempt: dict[tuple[str, str, int], list[JournalEntry]] = {}
    superseded = set()
    for one in entries:
        if one.event == "superseded":
            superseded.add((one.window, one.run))
        elif one.event not in ("signed", "rejected"):
            by_attempt.setdefault((one.window, one.run, one.attempt), []).append(one)
    found = []
    for (window, run, _), own in by_attempt.items():
        end = next((one for one in reversed(own) if one.event in ENDS), None)
        sealed = end is not None and end.event == "completed"
        found.append(EnteredAttempt(own[0], end, sealed and (window, run) in superseded))
    return found


def entry_bytes(entry: JournalEntry) -> bytes:
    """Return an entry as it is written."""
    return canonical_json(entry.as_dict())


def entry_digest(entry: JournalEntry) -> str:
    """Return the digest by which the next entry names it, and people its head."""
    return sha256(entry_bytes(entry))


def head_of(entry: JournalEntry) -> JournalHead:
    """Return what somebody keeps of an entry, to know later whether everything until it is as it was."""
    return JournalHead(number=entry.number, sha256=entry_digest(entry))
