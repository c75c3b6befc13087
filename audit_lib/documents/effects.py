"""What ``metrics.json`` says of effects one by one: of strata, such as positions, and of names."""

from __future__ import annotations

from dataclasses import dataclass

from audit_lib.documents.rate_tables import CategoryLevels
from audit_lib.results import Interval, Undefined
from audit_lib.typed_json import Count, Typed


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumEffect(Typed):
    """The effect in one stratum, drawn towards the mean of all by as much as its estimate is noise."""

    stratum: CategoryLevels
    value: float
    standard_error: float
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class StrataSpread(Typed):
    """How much effects differ between strata, beyond the errors of their estimates."""

    sd: float
    """0 where estimates differ by no more than their errors."""
    interval: Interval
    n: Count
    """Strata with an estimate and an error."""
    method: str
    effects: tuple[StratumEffect, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NameEffect(Typed):
    """A name against the others of its group, drawn towards 0 by as much as its estimate is noise."""

    name: str
    group: CategoryLevels
    n: Count
    applications: Count
    value: float
    standard_error: float
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesExplained(Typed):
    """How much names of one group differ, in standard deviations of the score, and each name."""

    names: Count
    applications: Count
    n: Count
    sd: float
    """Standard deviation of names' effects; 0 where names differ by no more than the rest of the scores."""
    sd_interval: Interval
    share_of_variance: float
    """Of the scores' variance, what names of one group explain."""
    share_interval: Interval
    method: str
    effects: tuple[NameEffect, ...] | Undefined
