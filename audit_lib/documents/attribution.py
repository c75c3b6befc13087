"""To what the change of a group's difference is to be attributed: ``audit attribute``, and part of an alarm."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from audit_lib.documents.drift import RunIdentity
from audit_lib.documents.rate_tables import CategoryLevels
from audit_lib.documents.sequence_name import Quantity
from audit_lib.results import Interval, Undefined
from audit_lib.typed_json import OPTIONAL, Count, Typed

SCHEMA: Final = "audit-attribution/1"

Cause = Literal["model", "prompt", "rule", "mix", "answers", "source", "software", "none", "cannot_tell"]
"""`answers`: parsing and missing answers; `cannot_tell`: two or more of them changed at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOfChange(Typed):
    """A part of the change, and what it is attributed to; all parts add up to the change."""

    cause: Cause
    candidates: tuple[Cause, ...]
    """Where it cannot be told: the causes that changed at once."""
    how: Literal["recomputed", "standardised", "remainder"]
    """The old rule applied to new scores; the baseline's mix; or what is left, by what changed in these windows."""
    part: float
    interval: Interval | Undefined
    share: float | Undefined
    """Of the whole change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseMark(Typed):
    """That something became another, and how that is known."""

    cause: Cause
    said: str
    exchanged: Literal["rule", "reading"] | None = field(default=None, metadata=OPTIONAL)
    """What of the sides can be exchanged to compute its part, if that can be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumChange(Typed):
    """The difference in one stratum."""

    stratum: tuple[str, ...]
    before: float | Undefined
    after: float | Undefined
    change: float | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingAnswers(Typed):
    """Answers of a group that were not read."""

    group: CategoryLevels
    before: float
    """Share of its rows."""
    after: float
    change: Interval | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryShift(Typed):
    """How far answers to canaries moved, next to how far those of the windows before differ from each other."""

    compared: Count
    windows: tuple[Count, Count]
    between: float | Undefined
    """Mean distance of a window before from one after: of probabilities and scores how far they are apart, of texts 0
    for the same and 1 for another."""
    noise: float | Undefined
    """Mean distance of two windows before."""
    p_value: float | Undefined
    """By exchanging windows."""
    moved: bool | None
    """None where it cannot be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldShift(Typed):
    """How the sampled rows differ in a field."""

    field: str
    levels: Count
    psi: float
    """Population stability index, natural logarithms."""
    jsd: float
    """Jensen-Shannon divergence, bits."""
    reference: float
    """PSI that blocks of clusters dealt at random to the two sides exceed in 5%."""
    p_value: float
    standardised: bool
    """Whether strata are made of it, so that its part is that of the mix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextShift(Typed):
    """Whether a classifier tells the sampled texts of the two sides apart."""

    applications: tuple[Count, Count]
    auc: float
    """Of texts that it had not seen; 0.5: it cannot."""
    p_value: float
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution(Typed):
    """Of one group and its reference."""

    schema: Literal["audit-attribution/1"] = SCHEMA
    audit: str
    quantity: Quantity
    group: CategoryLevels
    reference: CategoryLevels
    before: tuple[RunIdentity, ...]
    after: tuple[RunIdentity, ...]
    difference_before: float
    """Of the means of all answered rows of the two groups, as in the tables."""
    difference_after: float
    change: float
    interval: Interval | Undefined
    rows: tuple[Count, Count]
    """With an answer, before and after."""
    method: str
    parts: tuple[PartOfChange, ...]
    """The largest first."""
    marks: tuple[CauseMark, ...]
    strata_by: tuple[str, ...]
    strata: tuple[StratumChange, ...]
    simpson: bool
    """Whether every stratum changed against the sign of the whole."""
    missing: tuple[MissingAnswers, ...]
    change_over_missing: tuple[float, float]
    """The change if more answers had been read, as many as before: over all that they could have been."""
    canaries: CanaryShift
    fields: tuple[FieldShift, ...]
    texts: TextShift | Undefined
    notes: tuple[str, ...]
    """What could not be done, and why."""
    sentence: str
