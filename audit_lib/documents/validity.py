"""``validity.json``: which metric foretells the gaps of an allocation, over the models of a panel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from audit_lib.results import Interval, Undefined
from audit_lib.typed_json import Typed

SCHEMA: Final = "audit-validity/1"

Gap = Literal["demographic_parity_gap", "equal_opportunity_gap"]
Gain = Literal["distance", "rank"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCounts(Typed):
    """What the answers of a pairwise model look like, over all of its pairs."""

    prompts: int
    regular: int
    tie: int
    unparsed: int
    pairs: int
    flipped: int
    inconsistent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StudiedModel(Typed):
    """A model of the panel in one task, and where its scores come from."""

    label: str
    task: str
    model: str
    revision: str | None
    run: str | None
    """Its run's folder in the store; null for a table."""
    manifest_sha256: str | None
    valid_judge: bool | None
    """Whether the spec calls the model one; null for a table, which does not say."""
    jobs: tuple[str, ...]
    rounds: int
    rows: int
    scored: int
    unknown_group: int
    """Candidates without a group: they compete, and are counted in no group."""
    answers: PairCounts | None
    inconsistent_share: float | None
    """Share of pairs without the same named winner in both orders; null where no pairs were asked."""
    left_out_of_validity: bool
    left_out_of_selection: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Point(Typed):
    """A group of one job as one model treats it: what the metrics say, and the gaps that were measured."""

    model: str
    task: str
    job: str
    group: str
    gap: Gap
    n_group: int
    n_reference: int
    metrics: Mapping[str, float | Undefined]
    gaps: Mapping[str, float | Undefined]
    """By quota, ``"1"``, ``"2"`` and so on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation(Typed):
    """Predictive validity: Pearson's r of a metric with a measured gap."""

    task: str
    gap: Gap
    k: int
    metric: str
    undirected: bool
    """Compared with the gap's absolute value."""
    job: str | None
    """Null: all jobs."""
    group: str | None
    """Null: all groups."""
    n: int
    """Points: one a model, job and group."""
    models: int
    left_out: int
    """Points of models that answered too many pairs inconsistently."""
    undefined_points: int
    """Points without the metric or without the gap."""
    r: float | Undefined
    p_value: float | Undefined
    """Two-sided, of no correlation; takes points as independent."""
    interval: Interval | Undefined
    """Over models: what another choice of models could have given."""
    interval_of_points: Interval | Undefined
    """Fisher's, which takes points as independent; too short where points of one model go together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSelection(Typed):
    """How well a metric lists models from the fairest on: NDCG at N, mean over jobs."""

    task: str
    gap: Gap
    k: int
    metric: str
    gain: Gain
    length: int
    """N, the models that are listed."""
    models: int
    left_out: int
    """Models that answered too many pairs inconsistently."""
    jobs: int
    undefined_jobs: int
    ndcg: float | Undefined
    low: float | None
    """The lowest of the jobs."""
    high: float | None
    chance: float | Undefined
    """Expected of a list in random order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender(Typed):
    """A metric, and how well it foretells gaps on average over tasks, gaps and quotas."""

    metric: str
    mean_r: float | Undefined
    interval: Interval | Undefined
    share_best: float | None
    """Share of draws of models in which its mean correlation is the highest; a tie counts for each in part."""
    held_out: float | Undefined
    """Mean correlation of the metric from one half of the rounds with the gap from the other."""
    held_out_interval: Interval | Undefined
    """Of that, over models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BestMetric(Typed):
    """Which metric foretells gaps best here, and how sure that choice is."""

    metric: str | Undefined
    runner_up: str | None
    settings: int
    """Combinations of task, gap and quota over which correlations are averaged."""
    undefined_settings: int
    points: int
    models: int
    difference: float | Undefined
    """Mean correlation of the best less that of the runner-up, both on Fisher's z."""
    interval: Interval | Undefined
    """Of the difference, over models."""
    draws: int
    undefined_draws: int
    splits: int
    """Random halves of the rounds behind `Contender.held_out`."""
    decided: bool
    """Whether the best leads surely, and foretells.

    The interval of the difference excludes 0, the best leads in at least 95% of the draws, and on rounds not seen its
    correlation is the highest, and above 0 by its interval.
    """
    sentence: str
    contenders: tuple[Contender, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidityStudy(Typed):
    """``validity.json``."""

    schema: Literal["audit-validity/1"] = SCHEMA
    title: str
    source: Literal["runs", "table"]
    design: str
    """SHA-256 of what the scores were read from."""
    groups: tuple[str, ...]
    """The compared groups."""
    reference: str
    quotas: tuple[int, ...]
    bins: int
    """Bins of the Jensen-Shannon divergence."""
    level: float
    same_pools: bool
    """Whether the models of each task judged the same candidates in the same rounds."""
    models: tuple[StudiedModel, ...]
    best: BestMetric
    correlations: tuple[Correlation, ...]
    selection: tuple[ModelSelection, ...]
    points: tuple[Point, ...]
