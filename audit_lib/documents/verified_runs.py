"""What is kept of verifications of a whole store, so that what did not change since is not computed again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from pydantic import Field

from audit_lib.canonical import canonical_json
from audit_lib.documents.evidence import Instant, Sha256
from audit_lib.typed_json import OPTIONAL, Count, Typed

VERIFIED_SCHEMA: Final = "audit-verified-runs/1"
RunVerdict = Literal["verified", "does not verify", "could not be checked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedRun(Typed):
    """How a run verified when it was verified in full last."""

    run: str
    """``audit/window/design``."""
    verdict: RunVerdict
    sealed: bool
    """Whether it had evidence; else it was the evidence of a failed attempt."""
    sha256: Sha256 | None
    """Digest over the paths, sizes and SHA-256 of all of its files; null where it did not verify."""
    files: Count
    bytes: Count
    listing: Sha256 | None
    """Digest of what the store itself said of its objects; null of a folder, which says nothing to rely on."""
    verified_at: Instant
    looked_at: Instant
    """When its bytes, or what the store said of them, were last held against this."""
    version: str
    """Of this library."""
    trust: Sha256 | None
    """Of the trust files or keys that it was verified under; null without any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedJournal(Typed):
    """How far the journal of an audit's attempts was when it was read whole last."""

    audit: str
    entries: Count
    head: Sha256 | None
    listing: Sha256 | None
    verified_at: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedRuns(Typed):
    """``NN.json``: the runs and audits whose name's digest says this number."""

    schema: Literal["audit-verified-runs/1"] = VERIFIED_SCHEMA
    number: Annotated[int, Field(ge=0, lt=64)]
    runs: tuple[VerifiedRun, ...] = ()
    journals: tuple[VerifiedJournal, ...] = ()
    mac: Sha256 | None = field(default=None, metadata=OPTIONAL)
    """HMAC-SHA256 with the verifier's own key over all else; left out without a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRun(Typed):
    """A run as the listing of the store shows it."""

    run: str
    state: Literal["sealed", "failed", "unfinished"]
    listing: Sha256 | None
    bytes: Count | None
    """Null of a folder, where sizes are not listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedAudit(Typed):
    """An audit as the listing of the store shows it."""

    audit: str
    listing: Sha256 | None
    """Of its journal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPart(Typed):
    """``part-NN.json``: what one of several tasks has to look at."""

    numbers: tuple[Annotated[int, Field(ge=0, lt=64)], ...]
    runs: tuple[ListedRun, ...]
    audits: tuple[ListedAudit, ...]


def maced_bytes(document: VerifiedRuns) -> bytes:
    """Return what the MAC of a document is over."""
    return canonical_json({key: value for key, value in document.as_dict().items() if key != "mac"})
