"""``validation.json``: which expectations the tables meet, and how complete the answers are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from audit_lib.documents.statuses import StatusCounts
from audit_lib.typed_json import OPTIONAL, Count, Typed


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected(Typed):
    """An expectation, and whether it is met."""

    expectation: str
    column: str | None
    severity: str
    success: bool
    observed: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteResult(Typed):
    """The expectations on a table, and whether they are met."""

    table: str
    suite: str | None = field(default=None, metadata=OPTIONAL)
    """Name of the suite, where the spec brings it: Great Expectations computed its results, this library all others."""
    success: bool
    expectations: tuple[Expected, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Completeness(StatusCounts, Typed):
    """How many answers of a group have which status; a level is None where it is not known."""

    group: Mapping[str, str | None]
    n: Count
    ok: Count
    unranked: Count
    refused: Count
    unparsed: Count
    error: Count
    answered_share: float | None
    label_below_top: Count | None = field(default=None, metadata=OPTIONAL)
    """Answers not read because labels were hidden; only where there are any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VariationCompleteness(Typed):
    """The same of one variation, and how far the groups' shares lie apart."""

    variation: str
    groups: tuple[Completeness, ...]
    answered_gap: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MassOfAll(Typed):
    """Mean and smallest label mass."""

    mean: float
    minimum: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation(Typed):
    """``validation.json``."""

    success: bool
    severity_failed: Literal["warning", "error"] | None
    suites: tuple[SuiteResult, ...]
    completeness: tuple[Completeness, ...] | None
    """By group; None where counts are hidden."""
    beside: tuple[VariationCompleteness, ...] | None = field(default=None, metadata=OPTIONAL)
    """Of controls, other prompts and checks."""
    label_mass: MassOfAll | None
