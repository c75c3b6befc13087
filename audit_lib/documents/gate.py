"""What a gate asked before a release, and what it decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from audit_lib.documents.drift import RunIdentity
from audit_lib.documents.rate_tables import CategoryLevels
from audit_lib.results import Interval, Undefined
from audit_lib.typed_json import Count, Typed

GATE_SCHEMA: Final = "audit-gate/1"

GateDecision = Literal["equivalent", "harm", "undecided"]
GateComparison = Literal["margin", "deployed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateAnswer(Typed):
    """A question of a gate: does a number of the new model lie inside its margin?"""

    metric: str
    group: CategoryLevels
    reference: CategoryLevels
    compared: GateComparison
    """`margin`: the new model's number alone; `deployed`: its change from the deployed model's, on the same prompts."""
    low: float
    high: float
    """The margin."""
    units: Count
    """Applications or rounds with both groups."""
    estimate: float | Undefined
    interval: Interval | Undefined
    """That holds at every look at once."""
    inside: float
    """Natural logarithm of the evidence that it lies inside: the lesser of the two sides', each the most so far."""
    outside: float
    """Natural logarithm of the evidence that it lies outside, at the last look: the larger of the two sides'."""
    equivalent: bool
    harm: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GateBatch(Typed):
    """Prompts that were asked together, and the digest of their scores."""

    number: Count
    requests: Count
    units: Count
    scores_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOutMetric(Typed):
    """A metric with a margin that a gate cannot hold against it, and why."""

    metric: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRecord(Typed):
    """``gate/.../gate.json``: all that a decision before a release rests on. No time is in it."""

    schema: Literal["audit-gate/1"] = GATE_SCHEMA
    audit: str
    window: str
    model: str
    spec_digest: str
    """Of the audit's spec with the new model."""
    baseline: Count
    deployed: RunIdentity | Undefined
    """The sealed run of the deployed model on the same prompts; or why nothing is compared with it."""
    seed: int
    alpha: float
    """Bound on calling equivalent what is not, and on calling harmful what is not: each has all of it."""
    minimum: Count
    """Units of a question before anything is said of it."""
    limit: Count | None
    planned_requests: Count
    answered_share: float | Undefined
    """Of the rows that were asked about, in the group where it is lowest."""
    batches: tuple[GateBatch, ...]
    answers: tuple[GateAnswer, ...]
    left_out: tuple[LeftOutMetric, ...]
    decision: GateDecision
    reason: str
    more_units: Count | Undefined
    """Estimated units beyond those asked, until it is decided, if gaps and spread stay what they are."""
    more_prompts: Count | Undefined
