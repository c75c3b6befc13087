"""``<audit>/journal/NNNNNN.json``: an entry of the journal of an audit's attempts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from pydantic import Field

from audit_lib.canonical import canonical_json, sha256
from audit_lib.documents.evidence import Instant, Sha256
from audit_lib.typed_json import OPTIONAL, Typed

JOURNAL_SCHEMA: Final = "audit-journal/1"
JournalEvent = Literal["planned", "completed", "failed", "abandoned", "superseded"]


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
    """Of the plan's record at plan time, and of the manifest at the end."""
    at: Instant


def entry_bytes(entry: JournalEntry) -> bytes:
    """Return an entry as it is written."""
    return canonical_json(entry.as_dict())


def entry_digest(entry: JournalEntry) -> str:
    """Return the digest by which the next entry names it, and people its head."""
    return sha256(entry_bytes(entry))
