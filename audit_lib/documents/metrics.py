"""``metrics.json``: every number of an audit; as it is archived, and without what a policy hides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from pydantic import JsonValue

from audit_lib.documents.effects import NamesExplained, StrataSpread
from audit_lib.documents.rate_tables import CategoryLevels, PrintedRow, RateRow, RateTable
from audit_lib.documents.reliability import Reliability
from audit_lib.documents.statuses import StatusCounts, Statuses
from audit_lib.results import Estimate, Interval, Multiplicity, TestResult, Undefined
from audit_lib.stats.heterogeneity import SimpsonCheck
from audit_lib.typed_json import OPTIONAL, Count, Typed, decode

SCHEMA: Final = "audit-metrics/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCounts(Typed):
    """How many rows there are, and how many of them have which status."""

    total: Count
    answered: Count
    unknown_group: Count
    by_status: Mapping[str, Count]
    decided_without_score: Count
    """Rows whose recorded decision counts though they have no score, as others have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demographics(Typed):
    """How many people have demographics, and what stood there instead."""

    people: Count
    matched: Count
    unmatched: Count
    unknown: Mapping[str, Count]
    unknown_values: Mapping[str, Mapping[str, Count]] | None = field(default=None, metadata=OPTIONAL)
    """Attribute -> value that is no level -> people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SameStratum(Typed):
    """A stratum that holds the rows of another one, and is not measured again."""

    stratum: CategoryLevels
    same_as: CategoryLevels


@dataclass(frozen=True, slots=True, kw_only=True)
class Missingness(StatusCounts, Typed):
    """How many rows of a group have which status; of the rows of unknown group where `group` is None."""

    stratum: CategoryLevels
    group: CategoryLevels | None
    n: Count
    ok: Count
    unranked: Count
    refused: Count
    unparsed: Count
    error: Count
    decided_without_score: Count
    repeats: Statuses | None = field(default=None, metadata=OPTIONAL)
    """Of all repeats: a row with one answer counts as answered, though others failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelMass(Typed):
    """How much of the model's probability fell on the allowed answers."""

    stratum: CategoryLevels
    group: CategoryLevels
    n: Count
    mean: float | None
    minimum: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingError(Typed):
    """How far the sampled scores of a group may be from those that endless sampling would give."""

    stratum: CategoryLevels
    group: CategoryLevels
    n: Count
    """Scores with an uncertainty of their own: read from several answers."""
    without: Count
    """Scores of one answer, whose uncertainty is not known."""
    answers: Count
    """That the n scores were read from."""
    of_score: float | None
    """Standard error of one score: root of the mean square."""
    of_mean: float | None
    """Standard error of the mean of the n; none where candidates share an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSummary(Typed):
    """The scores of a group: mean, standard deviation, and the 0, 25, 50, 75 and 100% quantiles."""

    stratum: CategoryLevels
    group: CategoryLevels
    n: Count
    mean: float | None
    sd: float | None
    quantiles: tuple[float, float, float, float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumCounts(Typed):
    """A stratum's ``(selected, total)`` of a category, then of the comparator."""

    stratum: CategoryLevels
    counts: tuple[Count, Count, Count, Count]


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumValue(Typed):
    """An estimate in one stratum."""

    stratum: CategoryLevels
    value: float | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioHeterogeneity(Typed):
    """Whether the strata of a split agree on an impact ratio."""

    over: tuple[str, ...]
    metric: str
    table: str
    """Kind of the tables."""
    family: str
    group: CategoryLevels
    reference: CategoryLevels
    label: str
    comparator: str
    strata: tuple[StratumCounts, ...]
    breslow_day: TestResult | Undefined
    cochran_q: TestResult | Undefined
    clustered_by: str | None = field(default=None, metadata=OPTIONAL)
    """The unit that people share; then Breslow and Day's test, of independent people, is none."""
    simpson: SimpsonCheck | Undefined
    multiplicity: Multiplicity | None = field(default=None, metadata=OPTIONAL)

    @property
    def tested(self) -> TestResult | Undefined:
        """The test that is one of the audit's family."""
        return self.breslow_day if self.clustered_by is None else self.cochran_q


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateSimpson(Typed):
    """Whether pooling the strata turns the sign of an estimate around."""

    reversed: bool
    complete: bool
    pooled: float
    adjusted: float
    scale: str
    lower: Count
    equal: Count
    higher: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateHeterogeneity(Typed):
    """Whether the strata of a split agree on an estimate."""

    over: tuple[str, ...]
    metric: str
    group: CategoryLevels
    reference: CategoryLevels
    parameters: Mapping[str, int | float | str]
    strata: tuple[StratumValue, ...]
    cochran_q: TestResult | Undefined
    simpson: EstimateSimpson | Undefined
    spread: StrataSpread | Undefined | None = field(default=None, metadata=OPTIONAL)
    """Of standardised effects."""
    multiplicity: Multiplicity | None = field(default=None, metadata=OPTIONAL)

    @property
    def tested(self) -> TestResult | Undefined:
        """The test that is one of the audit's family."""
        return self.cochran_q


Heterogeneity = RatioHeterogeneity | EstimateHeterogeneity


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseAnswers(Typed):
    """What the answers about pairs look like: of all pairs, or of those of a group with its reference."""

    stratum: CategoryLevels
    group: CategoryLevels | None
    reference: CategoryLevels | None
    prompts: Count
    regular: Count
    tie: Count
    unparsed: Count
    pairs: Count
    flipped: Count
    inconsistent: Count
    mixed: Count
    regular_share: float | None
    tie_share: float | None
    unparsed_share: float | None
    flipped_share: float | None
    inconsistent_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakageEstimate(Typed):
    """How well one level of an attribute is told from all others by one material; 0.5 is chance."""

    material: str
    redacted: bool
    fields: tuple[str, ...]
    longest_in_parts: Count
    attribute: str
    level: str
    value: float | Undefined
    interval: Interval | Undefined
    n: Count
    n_group: Count
    applications: Count
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Leakage(Typed):
    """How well attributes can be told from the material alone, and how that was predicted."""

    embedding: Mapping[str, JsonValue]
    """What made the vectors, as its classifier describes itself."""
    split: str
    penalty: float
    estimates: tuple[LeakageEstimate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings(Typed):
    """How many tests are below alpha: taken one by one, and after the adjustment."""

    unadjusted: Count
    holm: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class TestFamily(Typed):
    """All hypotheses that the audit tests, and how their p-values were adjusted for their number."""

    __test__ = False  # not a pytest class

    family_size: Count
    rule: str
    methods: Mapping[str, str]
    alpha: float
    findings: Findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics(Typed):
    """``metrics.json`` as the stage writes it and the evidence keeps it."""

    schema: Literal["audit-metrics/1"] = SCHEMA
    experiment: bool
    rows: RowCounts
    demographics: Demographics | None
    strata_identical: tuple[SameStratum, ...]
    missingness: tuple[Missingness, ...]
    label_mass: tuple[LabelMass, ...]
    tables: tuple[RateTable[RateRow], ...]
    estimates: tuple[Estimate, ...]
    scores: tuple[ScoreSummary, ...]
    heterogeneity: tuple[Heterogeneity, ...]
    pairwise_answers: tuple[PairwiseAnswers, ...] | None = field(default=None, metadata=OPTIONAL)
    sampling_errors: tuple[SamplingError, ...] | None = field(default=None, metadata=OPTIONAL)
    leakage: Leakage | None = field(default=None, metadata=OPTIONAL)
    reliability: tuple[Reliability, ...] | None = field(default=None, metadata=OPTIONAL)
    names: NamesExplained | Undefined | None = field(default=None, metadata=OPTIONAL)
    multiplicity: TestFamily


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppressed(Typed):
    """How many cells are hidden, and why."""

    cells: Count
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressedMetrics(Typed):
    """What of ``metrics.json`` is printed under a policy that hides small cells.

    Entries about hidden cells are left out whole, hidden rows of tables are marked, and what could tell of any group
    and is not named here is not printed.
    """

    schema: Literal["audit-metrics/1"] = SCHEMA
    experiment: bool
    rows: RowCounts
    strata_identical: tuple[SameStratum, ...]
    suppressed: Suppressed
    tables: tuple[RateTable[PrintedRow], ...]
    missingness: tuple[Missingness, ...]
    label_mass: tuple[LabelMass, ...]
    scores: tuple[ScoreSummary, ...]
    estimates: tuple[Estimate, ...]
    heterogeneity: tuple[Heterogeneity, ...]
    multiplicity: TestFamily | Undefined

    @property
    def demographics(self) -> None:
        """Never printed."""

    @property
    def pairwise_answers(self) -> None:
        """Never printed."""

    @property
    def sampling_errors(self) -> None:
        """Never printed."""

    @property
    def leakage(self) -> None:
        """Never printed."""

    @property
    def reliability(self) -> None:
        """Never printed."""

    @property
    def names(self) -> None:
        """Never printed."""


PrintedMetrics = Metrics | SuppressedMetrics


def read_metrics(content: bytes, where: str = "metrics.json") -> Metrics:
    """Read ``metrics.json``.

    Raises
    ------
    EvidenceError
        If it is not what the stage writes; the message names the keys.

    Examples
    --------
    >>> read_metrics(b'{"schema": "audit-metrics/9"}')
    Traceback (most recent call last):
    audit_lib.errors.EvidenceError: metrics.json: schema: input should be 'audit-metrics/1'; experiment: is missing; ...
    """
    return decode(Metrics, content, where)
