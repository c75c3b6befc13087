"""``reproduction.json``: what came of asking a sealed audit's model again, and why it differs where it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import JsonValue

from audit_lib.documents.evidence import Instant, Sha256
from audit_lib.results import Undefined
from audit_lib.typed_json import Count, Typed

SCHEMA: Final = "audit-reproduction/1"
PREDICATE: Final = "urn:audit-lib:reproduction:1"
"""Of the signed statement."""

ReproductionOutcome = Literal["reproduced", "differs", "nothing_to_ask"]
CauseKind = Literal[
    "model",
    "template",
    "settings",
    "backend",
    "software",
    "processor",
    "missing_answers",
    "own_noise",
    "unknown",
]
"""``settings``: how it was computed or asked, by options; ``own_noise``: the model does not repeat its answers."""
Certainty = Literal["sure", "by_experiment", "only_difference", "cannot_tell"]
"""``cannot_tell``: one of several that could be, or nothing that was recorded explains it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReproducedRun(Typed):
    """The sealed run that was asked again; it is not touched."""

    audit: str
    window: str
    spec_digest: Sha256
    outcome: str
    manifest_sha256: Sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionDifference(Typed):
    """Something that is not here as it was there."""

    kind: Literal["model", "template", "settings", "backend", "software", "processor"]
    what: str
    archived: JsonValue
    here: JsonValue
    matters: bool
    """Whether it may move a score by what is known of it; installed packages that take no part in scoring do not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedPart(Typed):
    """What was asked: all of the run's requests, or a part that was drawn."""

    unit: Literal["requests", "pools"]
    """What is drawn: a pool's answers make its scores together."""
    units: Count
    of_units: Count
    seed: int | None
    """None: all."""
    requests: Count
    """That were asked; with a local model all of a pack, since neighbours change last digits."""
    of_requests: Count
    plan_sha256: Sha256
    """Of ``variants/shards.json``: the requests, packs and shards are the run's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseFloor(Typed):
    """How far answers may be apart, as the run's shards recorded it: the largest of what was asked again."""

    probability: float | None
    share: float | None
    """Of a label among the labels."""
    allowed_probability: float | None
    """The most that the audit's validation allowed a probability to be from what the model's own passes give."""
    allowed_share: float | None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreGap(Typed):
    """An answer that differs beyond the floor: which, without what was asked or said."""

    request_digest: Sha256
    repeat: Count
    archived_status: str
    status: str
    archived_score: float | None
    score: float | None
    probability_gap: float | None
    share_gap: float | None
    text_differs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreComparison(Typed):
    """Archived answers next to new ones, one by one."""

    compared: Count
    equal: Count
    within_floor: Count
    same_reading: Count
    """Other words that are read as the same score."""
    beyond_floor: Count
    within_allowed: Count
    """Of those beyond the floor: no farther apart than the audit's validation allowed (`NoiseFloor`)."""
    missing_here: Count
    """Answered there and not here."""
    missing_there: Count
    other_status: Count
    """No answer on either side, for other reasons."""
    largest_probability_gap: float | None
    largest_share_gap: float | None
    largest_score_gap: float | None

    @property
    def differ(self) -> int:
        """Answers that are not reproduced."""
        return self.beyond_floor + self.missing_here + self.missing_there + self.other_status


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingTest(Typed):
    """Whether shares of sampled answers differ by more than drawing them again makes them differ."""

    answers: Count
    draws: Count
    p_mean: float
    """Of the sum of the scores' differences."""
    p_spread: float
    """Of the sum of the shares' squared differences."""
    alpha: float
    differs: bool
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetBound(Typed):
    """What a drawn part shows of all."""

    drawn: Count
    differ: Count
    upper: float
    """At most this share of all units could differ."""
    level: float
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReproductionExperiment(Typed):
    """Some answers asked once more, with one thing changed."""

    name: Literal["asked_twice", "own_passes", "setting_restored"]
    what: str
    answers: Count
    beyond_floor: Count | None
    """Of these answers, how many are still not the compared ones; None where it could not be tried."""
    largest_gap: float | None
    shows: CauseKind | None
    """What it shows by itself to be the cause; None where it shows none."""
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReproductionCause(Typed):
    """What a difference is attributed to, and how sure that is."""

    kind: CauseKind
    certainty: Certainty
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberChange(Typed):
    """A number or verdict of ``metrics.json`` that is another one with the new scores."""

    where: str
    archived: JsonValue
    here: JsonValue
    prints_differently: bool
    """With three digits after the point; always so of what is no number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsComparison(Typed):
    """What of the metrics would change."""

    compared: Count
    """Numbers, flags and verdicts."""
    changed: Count
    printed: Count
    """Of these, those that print differently with three digits after the point."""
    verdicts: tuple[NumberChange, ...]
    numbers: tuple[NumberChange, ...]
    """Those that print differently."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction(Typed):
    """``reproduction.json``."""

    schema: Literal["audit-reproduction/1"] = SCHEMA
    run: ReproducedRun
    made_at: Instant
    outcome: ReproductionOutcome
    reason: str
    model: Mapping[str, JsonValue]
    """What answered here, as its backend describes it."""
    environment_sha256: Sha256
    """Of ``environment.json`` next to this file: what is installed here."""
    overrides: Mapping[str, JsonValue]
    """What was set for this reproduction in place of what the spec says."""
    conditions: tuple[ConditionDifference, ...]
    asked: AskedPart | None
    floor: NoiseFloor | None
    scores: ScoreComparison | None
    sampling: SamplingTest | None
    subset: SubsetBound | None
    largest: tuple[ScoreGap, ...]
    experiments: tuple[ReproductionExperiment, ...]
    causes: tuple[ReproductionCause, ...]
    metrics: MetricsComparison | Undefined
