"""What is kept of a publication, so that a site that is as it was is not made again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from audit_lib.canonical import canonical_json
from audit_lib.documents.evidence import Instant, Sha256
from audit_lib.typed_json import Count, Typed

PUBLISHED_SCHEMA: Final = "audit-published-site/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedValidity(Typed):
    """Until when the latest report of an audit may be relied on."""

    audit: str
    audited: str | None
    last_day: str | None
    cite: str
    why_no_audit: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSite(Typed):
    """``published.json``: what a site was made of, and what it was then."""

    schema: Literal["audit-published-site/1"] = PUBLISHED_SCHEMA
    published_at: Instant
    asked_sha256: Sha256
    """Of the addresses that were given, the library's files and all installed packages."""
    runs_sha256: Sha256
    """Of everything in the store that is not the site, before any of it was read."""
    site_sha256: Sha256
    """Of the site, after it was written."""
    files: Count
    validity: tuple[PublishedValidity, ...]
    without_report: tuple[str, ...]
    mac: Sha256
    """HMAC-SHA256 with the publisher's own key over all else."""


def published_bytes(document: PublishedSite) -> bytes:
    """Return what the MAC of a document is over."""
    return canonical_json({key: value for key, value in document.as_dict().items() if key != "mac"})
