"""``monitor/cells/WINDOW_DIGEST_RULE.json``: what attribution needs of a sealed run, without any text or person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from audit_lib.documents.drift import RunIdentity
from audit_lib.documents.rate_tables import CategoryLevels
from audit_lib.documents.sequence_name import Quantity
from audit_lib.typed_json import Count, Typed

SCHEMA: Final = "audit-window-cells/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedCell(Typed):
    """A group in a stratum: of each block of clusters how many rows, with an answer, and the sum of their values."""

    quantity: Quantity
    group: CategoryLevels
    stratum: tuple[str, ...]
    asked: tuple[Count, ...]
    answered: tuple[Count, ...]
    total: tuple[float, ...]
    """Of values from 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldLevel(Typed):
    """How many rows of each block have a level of a field; levels of too few rows are one, called by no name."""

    field: str
    level: str | None
    rows: tuple[Count, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCanary(Typed):
    """The answer to one canary; of its text the digest."""

    request_digest: str
    status: str
    score: float | None
    label_probabilities: tuple[float, ...] | None
    text_sha256: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowCells(Typed):
    """All that attribution needs of a sealed run under one decision rule; derived from it."""

    schema: Literal["audit-window-cells/1"] = SCHEMA
    audit: str
    run: RunIdentity
    rule: str
    """Digest of the decision rule that was applied to its scores."""
    own_rule: str
    """Of its own; the same, but where another window's rule was applied."""
    reading: str
    """Digest of how its answers were read."""
    own_reading: str
    """The same, but where answers were read again in another window's way."""
    versions: Mapping[str, str]
    """Digest of what may change a number: model, prompt, reading, decision, source."""
    served: tuple[str, ...]
    """Names under which models answered."""
    fingerprints: tuple[str, ...]
    """Of the models that were asked: name, revision and options."""
    software: Mapping[str, str]
    """Versions of what took part in scoring."""
    strata_by: tuple[str, ...]
    score_range: tuple[float, float] | None
    cells: tuple[CountedCell, ...]
    fields: tuple[FieldLevel, ...]
    canaries: tuple[KeptCanary, ...]
