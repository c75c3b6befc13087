"""``<audit>/monitor/<window>_<digest>.json``: what changed between a sealed run and the complete run before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, Literal, TypeVar

from audit_lib.documents.metrics import RowCounts
from audit_lib.documents.rate_tables import CategoryLevels
from audit_lib.results import Interval, Undefined
from audit_lib.typed_json import OPTIONAL, Typed

SCHEMA: Final = "audit-drift/1"

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeAndNow(Typed, Generic[T]):
    """A value of the previous run and of the current one."""

    previous: T
    current: T


@dataclass(frozen=True, slots=True, kw_only=True)
class RunIdentity(Typed):
    """Which sealed run."""

    window: str
    spec_digest: str
    manifest_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowState(Typed):
    """An owed window, and what became of it."""

    window: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAudited(Typed):
    """The owed windows in between that nobody audited: how many of each state, and the latest of them by name."""

    states: Mapping[str, int]
    windows: tuple[WindowState, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModels(Typed):
    """The names under which models answered; `changed` is None where a run has none."""

    previous: tuple[str, ...]
    current: tuple[str, ...]
    changed: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryChanges(Typed):
    """The canaries that both runs asked, and how many were answered differently."""

    compared: int
    text_changed: int
    status_changed: int
    served_changed: int
    """By another model id or system fingerprint."""
    largest_probability_change: float | Undefined
    largest_score_change: float | Undefined


@dataclass(frozen=True, kw_only=True)  # without slots: a class has one base with slots at most
class EstimateChange(Typed):
    """How much a number changed, and whether both intervals explain it."""

    previous: float | Undefined
    current: float | Undefined
    change: float | Undefined
    """Current minus previous."""
    interval: Interval | Undefined
    exceeds: bool | None
    """Whether the interval of the change leaves out 0; None where there is none."""
    n_previous: int
    n_current: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableNumber(Typed):
    """Which number of a statutory table."""

    table: str
    family: str
    stratum: CategoryLevels
    category: str
    number: Literal["rate", "impact_ratio"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricNumber(Typed):
    """Which estimate of a metric."""

    metric: str
    group: CategoryLevels
    reference: CategoryLevels
    stratum: CategoryLevels
    parameters: Mapping[str, int | float | str]
    """Those that come from the spec."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedTableNumber(EstimateChange, TableNumber):
    """A rate or an impact ratio in both runs; of a ratio also what is flagged, and against whom."""

    four_fifths_flag: BeforeAndNow[bool | None] | None = field(default=None, metadata=OPTIONAL)
    comparator: BeforeAndNow[str | Undefined] | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedMetricNumber(EstimateChange, MetricNumber):
    """An estimate in both runs."""


ChangedNumber = ChangedTableNumber | ChangedMetricNumber
NamedNumber = TableNumber | MetricNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftSummary(Typed):
    """How many numbers were compared, and how many changed by more than chance explains."""

    compared: int
    undefined: int
    with_interval: int
    exceeding: int
    expected_by_chance: float
    newly_flagged: int
    no_longer_flagged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRun(Typed):
    """A run with no complete run before it."""

    schema: Literal["audit-drift/1"] = SCHEMA
    audit: str
    current: RunIdentity
    not_audited: NotAudited
    previous: None = None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift(Typed):
    """What changed since the run before."""

    schema: Literal["audit-drift/1"] = SCHEMA
    audit: str
    current: RunIdentity
    not_audited: NotAudited
    previous: RunIdentity
    design_changed: bool
    changed_sections: tuple[str, ...]
    """Top-level keys of the spec, and design files, that are not as they were."""
    model_changed: bool
    answering: ServedModels
    canaries: CanaryChanges
    software_changed: Mapping[str, BeforeAndNow[str | None]]
    rows: BeforeAndNow[RowCounts]
    method: str
    summary: DriftSummary
    comparisons: tuple[ChangedNumber, ...]
    only_previous: tuple[NamedNumber, ...]
    only_current: tuple[NamedNumber, ...]


DriftDocument = Drift | FirstRun
