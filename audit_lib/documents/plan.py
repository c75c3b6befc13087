"""``plan.json``: what was decided before the model was asked anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from pydantic import JsonValue

from audit_lib.documents.rate_tables import CategoryLevels
from audit_lib.results import Undefined
from audit_lib.typed_json import LATER, OPTIONAL, Typed

SCHEMA: Final = "audit-plan/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds(Typed):
    """Numbers that findings are judged by."""

    guidance_ratio: str
    """An exact fraction, such as ``4/5``."""
    alpha: float
    power: float
    level: float
    small_cell: int
    minimum_answered_share: float
    maximum_answered_gap: float
    minimum_label_mass: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyVersion(Typed):
    """Which policy pack."""

    name: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Power(Typed):
    """The smallest impact ratio below 1 that a comparison could nominally detect."""

    group: CategoryLevels
    reference: CategoryLevels
    n_group: int
    n_reference: int
    reference_rate: float | None
    smallest_detectable_ratio: float | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesRule(Typed):
    """How errors of effects allow for names, and what is assumed of them."""

    rule: str
    few_names: int
    smallest_effect: float | None
    name_sd: float
    version_sd: float
    prompt_sd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis(Typed):
    """What a metric asks of every two groups that it compares: whether they differ, and by more than a margin."""

    metric: str
    question: str
    """Metrics of one question do not contradict each other."""
    compared: Literal["each_category_with_the_highest", "each_group_with_its_reference"]
    margin: float | None
    """Largest distance from parity that is of no interest; of a ratio the lowest ratio that is. None: equivalence is
    never said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedVerdicts(Typed):
    """How each comparison will have its verdict."""

    rule: str
    fewest_people: int
    """Of each of the two groups, for a finding."""
    hypotheses: tuple[Hypothesis, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Typed):
    """``plan.json``."""

    schema: Literal["audit-plan/1"] = SCHEMA
    audit: str
    window: str
    window_start: str
    window_end: str
    spec_digest: str
    seed: int
    design: Mapping[str, JsonValue]
    decision: Mapping[str, JsonValue]
    """The spec's decision rule, without what it leaves open."""
    metrics: tuple[str, ...]
    quotas: tuple[int, ...]
    thresholds: Thresholds
    policy: PolicyVersion
    policy_digest: str | None = field(default=None, metadata=LATER)
    """SHA-256 of the pack as it was read, with what it extends; earlier versions did not keep it."""
    inputs: Mapping[str, str]
    """Design file -> SHA-256."""
    power: tuple[Power, ...]
    verdicts: PlannedVerdicts | None = field(default=None, metadata=LATER)
    """Earlier versions had none."""
    names: NamesRule | None = field(default=None, metadata=OPTIONAL)
    """Of standardised effects of personas with names."""
