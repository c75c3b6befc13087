"""``plan.json``: what was decided before the model was asked anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from pydantic import JsonValue

from audit_lib.results import Undefined
from audit_lib.typed_json import LATER, OPTIONAL, Count, Typed

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
    """The smallest difference between one category and all others of its table that the audit finds with its power."""

    metric: str
    quota: Count | None
    """Of a gap of the shares of a round's places."""
    attributes: tuple[str, ...]
    """Of the comparison: its categories are the combinations of their levels."""
    categories: Count
    n: Count
    """Rows of each category."""
    rate: float | None
    """Of the other categories, where people are selected; assumed where the design does not fix it."""
    smallest_detectable: float | Undefined
    """A ratio; or a distance from parity, of scores and effects in standard deviations of the score."""
    monte_carlo_error: float | None
    """Standard error that the number of simulated audits leaves in it."""
    audits: Count | None
    """Simulated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerBasis(Typed):
    """What the simulated audits take for granted."""

    tests_of_tables: Count
    """Tables of everybody, which share half of the error (all, where there are no other tests)."""
    other_tests: Count
    strata_assumed: Count | None
    """Of each further split: `measure.power_strata`."""
    version_sd: float | None
    """SD of the versions of one application, that of applications being 1; None where rows are independent people."""
    name_sd: float | None
    names: Count | None
    """Of a group, in the file of names; those whose effects are measured allow for other names."""
    not_simulated: str | None
    """Why the design is not simulated, but tables of independent people of several sizes."""


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
    power_basis: PowerBasis | None = field(default=None, metadata=OPTIONAL)
    verdicts: PlannedVerdicts | None = field(default=None, metadata=LATER)
    """Earlier versions had none."""
    names: NamesRule | None = field(default=None, metadata=OPTIONAL)
    """Of standardised effects of personas with names."""
