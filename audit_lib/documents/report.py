"""``report.json``: what the page of a report says, for machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from pydantic import Field, JsonValue

from audit_lib.documents.earlier import EarlierAudit, Smallest, Span, Time
from audit_lib.documents.journal import JournalAtPlan
from audit_lib.documents.metrics import PrintedMetrics
from audit_lib.documents.plan import PolicyVersion
from audit_lib.documents.rate_tables import CategoryLevels
from audit_lib.documents.sample import Sample
from audit_lib.typed_json import OPTIONAL, Count, Typed

SCHEMA: Final = "audit-report/2"

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedBy(Typed):
    """Who signed, and with which key."""

    auditor: str
    organisation: str
    signed_at: Time
    number: Annotated[int, Field(ge=1)]
    key_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignFacts(Typed):
    """Groups that each application was shown in. Null: hidden, or of exchanged words, which differ."""

    kind: Literal["full", "balanced_incomplete", "two_sample"]
    groups: Annotated[int, Field(ge=1)]
    block_size: int | None
    exactly_balanced: bool | None
    fewest_applications: Count | None
    most_applications: Count | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationFacts(Typed):
    """Whether the tables met what was expected of them."""

    success: bool
    severity_failed: Literal["warning", "error"] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdverseImpactFinding(Typed):
    """What all tests of the policy, read together, say of a row of the headline."""

    kind: str
    family: str
    stratum: CategoryLevels
    category: CategoryLevels
    verdict: Literal["indicated", "not indicated", "too few to tell", "look closer", "undefined"]
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch(Typed):
    """Where the text of the law leaves room, and how it is read."""

    name: str
    value: str
    question: str
    reason: str
    cite: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredField(Typed):
    """What the law asks for, and whether it is here."""

    id: str
    duty: str
    cite: str
    where: str
    status: Literal["computed", "stated", "seen", "missing", "not met", "not applicable"]
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Typed):
    """``report.json``: what report.html says, for machines."""

    schema: Literal["audit-report/2"] = SCHEMA
    title: str
    subtitle: str
    audit: str
    run: str
    window: Span
    spec_digest: Digest
    status: Literal["signed", "not signed"]
    signature: SignedBy | None
    attested: tuple[str, ...]
    """Ids of the policy's attestations that the signature holds; none without one."""
    experiment: bool
    """True: assigned demographics; not a bias audit."""
    provenance: Literal["self_reported", "observer_coded", "assigned", "inferred"]
    valid_judge: bool
    planned_at: Time
    scored_at: Time
    measured_at: Time
    """Its day is the date of the audit, once an independent auditor has signed."""
    policy: PolicyVersion
    tool: str
    tool_version: str
    models: tuple[Mapping[str, JsonValue], ...]
    """Each model as its backend describes it."""
    served: Mapping[str, Count]
    """Which models answered, by the names that they answered under -> rows. Not those that failed, nor recorded rows
    that name no model."""
    prompt_template_sha256: Digest | None
    score_methods: Mapping[str, Count]
    """How scores were read -> rows: logits, logprobs, sampled, generated, ranking, recorded."""
    sample: Sample
    design: DesignFacts | None
    validation: ValidationFacts
    headline: Mapping[str, Smallest]
    """Kind of table -> the impact ratio with the most evidence in the headline."""
    adverse_impact: tuple[AdverseImpactFinding, ...]
    """Headline rows by all tests of the policy, read together; none where it has no such tests."""
    metrics: PrintedMetrics
    switches: tuple[Switch, ...]
    required_fields: tuple[RequiredField, ...]
    caveats: tuple[str, ...]
    earlier: tuple[EarlierAudit, ...]
    journal: JournalAtPlan | None = field(default=None, metadata=OPTIONAL)
    """Attempts on this window that were entered before this run was planned, and the head of the journal then."""
    inputs: Mapping[str, Digest]
    """Artefact that the report was made from -> SHA-256. Where counts are hidden, of the plan alone."""
    planned_under: PolicyVersion | None = field(default=None, metadata=OPTIONAL)
    """The pack that the plan names, where `policy` is another one, under which the scores were read afterwards."""
    digests: Mapping[str, Digest] | None = field(default=None, metadata=OPTIONAL)
    """Every other field -> SHA-256 of its value as indented JSON: who has the document alone finds a change by it."""
