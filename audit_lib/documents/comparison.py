"""``comparison.json``: runs of one design and different models, prompts or tasks, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from audit_lib.documents.metrics import PairwiseAnswers
from audit_lib.documents.rate_tables import CategoryLevels
from audit_lib.results import Interval, Undefined
from audit_lib.typed_json import OPTIONAL, Count, Typed

SCHEMA: Final = "audit-comparison/4"

Parameters = Mapping[str, int | float | str]
"""What of the spec an estimate depends on, such as ``{"k": 2}``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Typed):
    """What a model is asked, counted from its very requests before any is sent."""

    requests: Count
    calls: Count
    prompt_tokens: Count
    completion_tokens: Count
    """As many as are allowed."""
    money: float | None
    """In the currency of the spec's prices; None without prices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedTokens(Typed):
    """What a model's answers really took, as the endpoint or the local model counted it; failures are not in it."""

    answers: Count
    prompt_tokens: Count
    completion_tokens: Count
    money: float | None
    """In the currency of the spec's prices; None without prices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputStatistics(Typed):
    """What a model's answers look like, all groups together."""

    by_status: Mapping[str, Count]
    label_mass: float | None
    """Mean probability that fell on the allowed answers."""
    scores: Count
    mean: float | None
    sd: float | None
    skewness: float | Undefined
    excess_kurtosis: float | Undefined
    """0 for a normal distribution."""
    pairs: PairwiseAnswers | Undefined
    """Answers about two candidates in both orders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedFindings(Typed):
    """How many tests are below alpha: taken one by one, and after the adjustment."""

    p_value: int
    p_holm: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun(Typed):
    """A run that is compared, and by which name."""

    label: str
    audit: str
    title: str
    window: str
    run: str
    """Its folder in the store."""
    spec_digest: str
    manifest_sha256: str
    model: str
    revision: str | None
    answered_by: tuple[str, ...]
    """The names under which models answered."""
    valid_judge: bool
    task: str
    prompt_sha256: str | None
    prompts: tuple[str, ...]
    """Further prompts that the run tried."""
    tasks: tuple[str, ...]
    """Further tasks that the run tried."""
    rows: int
    answered: int
    repeats: Count
    """Answers to each prompt."""
    software: Mapping[str, str]
    """Versions with which its evidence was sealed, as its manifest says."""
    asked: Asked
    used: UsedTokens | None
    """None where nobody counted, as of recorded answers."""
    statistics: OutputStatistics


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelExclusion(Typed):
    """A rule of the papers by which models with inconsistent answers about pairs are left out."""

    limit: float
    """A larger share of inconsistent pairs leaves a model out."""
    of: str
    """What of."""
    cite: str
    excluded: tuple[int, ...] | Undefined
    """Places of the runs; undefined where no pairs were asked about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedMetric(Typed):
    """A metric, in which runs it was measured, and whether models are tested against each other by it."""

    name: str
    title: str
    parity: float | None
    signed: bool
    unit: str
    runs: tuple[int, ...]
    shared: bool
    """Whether all runs have it; only then it is compared."""
    tested: str | Undefined
    """How models are tested against each other; or why they are not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRate(Typed):
    """A category's rate and impact ratio in one run; the comparator is that run's own."""

    run: int
    kind: str
    family: str
    stratum: CategoryLevels
    label: str
    n: Count | None
    selected: Count | None
    rate: float | Undefined
    ratio: float | Undefined
    below: bool | None
    comparator: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference(Typed):
    """The difference of an estimate between two runs that judged the same."""

    first: int
    second: int
    value: float | Undefined
    """The first run's less the second's; of ratios, the first divided by the second."""
    interval: Interval | Undefined
    units: Count
    """Applications, or rounds, that both have; 0 where that is not known."""
    p_value: float | None
    p_holm_models: float | None
    """Adjusted for the pairs of models of this contrast."""
    p_holm: float | None
    """Adjusted for all tests between models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedContrast(Typed):
    """One estimate of all runs: every pair of them tested on the same applications or rounds."""

    metric: str
    stratum: CategoryLevels
    group: CategoryLevels
    reference: CategoryLevels
    parameters: Parameters
    scale: Literal["difference", "ratio"]
    unit: Literal["application", "round"] | None
    """What is paired; None where no pair can be tested."""
    pairs: tuple[PairedDifference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedFamily(Typed):
    """All tests between models, and how they were made."""

    family_size: Count
    method: str
    rule: str
    alpha: float
    findings: ComparedFindings
    contrasts: tuple[PairedContrast, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedFamily(Typed):
    """All tests of all runs, and how their p-values were adjusted for their number."""

    family_size: int
    rule: str
    methods: Mapping[str, str]
    alpha: float
    findings: ComparedFindings


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedEstimate(Typed):
    """An estimate of one of the runs, with its p-value adjusted over all of them."""

    run: int
    """Its place among the runs, from 0."""
    metric: str
    stratum: CategoryLevels
    group: CategoryLevels
    reference: CategoryLevels
    value: float | Undefined
    interval: Interval | Undefined
    intervals: tuple[Interval, ...]
    n: int
    n_group: int | None
    n_reference: int | None
    clusters: int | None
    flags: tuple[str, ...]
    method: str
    parameters: Parameters
    p_value: float | None
    p_holm: float | None
    remark: str | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Typed):
    """``comparison.json``."""

    schema: Literal["audit-comparison/4"] = SCHEMA
    design: str
    """Digest of what the runs have in common."""
    experiment: bool
    level: float
    headline: tuple[str, ...]
    """Columns of the stratum that leads."""
    runs: tuple[ComparedRun, ...]
    metrics: tuple[ComparedMetric, ...]
    multiplicity: ComparedFamily
    estimates: tuple[ComparedEstimate, ...]
    rates: tuple[ComparedRate, ...]
    paired: PairedFamily
    exclusions: tuple[ModelExclusion, ...]
    not_studied: str | None
    """Why it was not studied which metric foretells the gaps; None where ``validity.json`` says."""
