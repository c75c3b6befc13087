"""``comparison.json``: runs of one design and different models, prompts or tasks, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from audit_lib.documents.rate_tables import Levels
from audit_lib.results import Interval, Undefined
from audit_lib.typed_json import Typed

SCHEMA: Final = "audit-comparison/1"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedFindings(Typed):
    """How many tests are below alpha: taken one by one, and after each adjustment."""

    p_value: int
    p_holm: int
    p_benjamini_hochberg: int


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
    stratum: Levels
    group: Levels
    reference: Levels
    value: float | Undefined
    interval: Interval | Undefined
    intervals: tuple[Interval, ...]
    n: int
    n_group: int | None
    n_reference: int | None
    clusters: int | None
    flags: tuple[str, ...]
    method: str
    variation: str | None
    threshold: float | None
    p_value: float | None
    p_holm: float | None
    p_benjamini_hochberg: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Typed):
    """``comparison.json``."""

    schema: Literal["audit-comparison/1"] = SCHEMA
    design: str
    """Digest of what the runs have in common."""
    experiment: bool
    level: float
    headline: tuple[str, ...]
    """Columns of the stratum that leads."""
    runs: tuple[ComparedRun, ...]
    multiplicity: ComparedFamily
    estimates: tuple[ComparedEstimate, ...]
