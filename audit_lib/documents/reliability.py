"""What lies under calibration: bins of scores with the share of people in each whose outcome was 1, group by group."""

from __future__ import annotations

from dataclasses import dataclass

from audit_lib.documents.rate_tables import CategoryLevels
from audit_lib.results import Interval, Undefined
from audit_lib.typed_json import Count, Typed


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin(Typed):
    """The rows of a group whose score lies in one bin."""

    low: float
    high: float
    n: Count
    score: float
    """Their mean score."""
    outcome: float
    """The share of them with outcome 1."""
    interval: Interval | Undefined
    """Of that share, by clusters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability(Typed):
    """The bins of one group that hold anybody, from the lowest score."""

    stratum: CategoryLevels
    group: CategoryLevels
    bins: tuple[ReliabilityBin, ...]
