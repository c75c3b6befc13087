"""What the complete shards of a run add up to, as ``audit counts --format json`` prints it."""

from __future__ import annotations

from dataclasses import dataclass

from audit_lib.documents.metrics import Missingness, RowCounts, ScoreSummary
from audit_lib.documents.rate_tables import CategoryLevels
from audit_lib.results import Undefined
from audit_lib.typed_json import Count, Typed


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedCount(Typed):
    """How many of a group are selected, of those with a decision."""

    stratum: CategoryLevels
    group: CategoryLevels
    n: Count
    selected: Count
    rate: float | Undefined
    ratio: float | Undefined
    """To the highest rate of the groups of the stratum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorePairs(Typed):
    """All pairs of a score of a group and one of its reference, by which is higher."""

    stratum: CategoryLevels
    group: CategoryLevels
    reference: CategoryLevels
    wins: Count
    losses: Count
    ties: Count
    index: float | Undefined
    """(wins - losses) / pairs: RABBI."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardTotals(Typed):
    """All that follows from the counts of single shards; intervals and tests take the stage ``metrics``."""

    run: str
    shards: tuple[Count, ...]
    """That are counted."""
    planned: Count
    """How many there are to be."""
    rows: RowCounts
    missingness: tuple[Missingness, ...]
    scores: tuple[ScoreSummary, ...]
    selection: tuple[SelectedCount, ...] | Undefined
    pairs: tuple[ScorePairs, ...]
