"""``card.json``: what a careers page may show of an audit, for machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from audit_lib.documents.earlier import Smallest, Span, Time
from audit_lib.documents.report import Digest
from audit_lib.typed_json import Count, Typed

SCHEMA: Literal["audit-card/1"] = "audit-card/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Card(Typed):
    """What may be said of an audit in a few lines, and nothing beyond its evidence."""

    schema: Literal["audit-card/1"] = SCHEMA
    title: str
    """What the audit may be called."""
    tool: str
    audit: str
    run: str
    window: Span
    status: Literal["signed", "not signed"]
    auditor: str | None
    computed: Time
    audited: str | None
    """Date of the audit; null where it is none."""
    valid_until: str | None
    """Last day on which anybody may rely on it; null where there is no such day."""
    why_no_audit: str | None
    smallest: Smallest | None
    """The smallest impact ratio that is printed; null where none is."""
    too_few_people: bool
    """Whether it rests on fewer people than a ratio needs to lead a report."""
    hidden: Count
    """Ratios that are hidden, among which a smaller one may be."""
    link: str
    annex: str
    evidence_sha256: Digest
    """SHA-256 of the sealed run's manifest."""
