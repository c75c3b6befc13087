"""The statutory tables of ``metrics.json``: people, rate and impact ratio of each category; as measured, and hidden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, Literal, TypeVar

from audit_lib.results import Estimate, Interval, Multiplicity, TestResult, Undefined
from audit_lib.typed_json import OPTIONAL, Count, Typed

PICKED: Final = "could_be_highest"
"""Name of the test of an impact ratio that allows for the comparator being picked by the data."""

CategoryLevels = Mapping[str, str]
"""Attribute or column -> level."""

Ends = tuple[float, float | None]
"""The least and the greatest value; None: no bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds(Typed):
    """What some people could change: those of a category without an answer, or those of unknown category."""

    n: Count
    """The people."""
    rate_bounds: Ends | Undefined
    ratio_bounds: Ends | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall(Typed):
    """How many more people of a category would have been selected."""

    pooled: float
    """At the rate of both groups together."""
    comparator: float
    """At the comparator's rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipFlop(Typed):
    """What one selection more or less, between a category and the comparator, would reverse."""

    below_threshold: bool
    threshold_reverses: bool
    significant: bool
    significance_reverses: bool
    ratio: float
    ratio_after: float | None
    p_value: float
    p_value_after: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdverseImpact(Typed):
    """What a difference amounts to."""

    shortfall: Shortfall | Undefined
    flip_flop: FlipFlop | Undefined
    alpha: float
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RateRow(Typed):
    """One category: counts, rate and ratio.

    Parameters
    ----------
    category : mapping of str to str
        Attribute -> the policy's category.
    n, selected : int
        People assessed, and those selected (in scoring tables: those above the median).
    share_of_data : float
        `n` over the base that the policy names.
    rate, impact_ratio : Estimate
        With Wilson's interval; and with Koopman's, which holds the comparator fixed, next to the one that
        allows for its having been the highest. Where people share rounds or applications all three allow for it.
        The first test of a ratio is whether the rate could be the highest, whichever that is; the others hold the
        comparator fixed.
    four_fifths_flag : bool or None
        Whether the exact ratio is below the policy's guidance; None where it is undefined.
    excluded : str or None
        Why the row is left out of the impact ratio, if it is.
    missing, unknown : Bounds
        Bounds for the category's people without an answer, and for the table's people of unknown category.
    adverse_impact : AdverseImpact
        Shortfall, flip-flop and the smallest ratio that could have been found.
    population : Interval or Undefined or None
        Of scoring rates: an interval of the ratio at the population's median, the comparator picked by the data. The
        others take the sample's median as fixed.
    """

    category: CategoryLevels
    label: str
    n: Count
    selected: Count
    share_of_data: float
    rate: Estimate
    impact_ratio: Estimate
    four_fifths_flag: bool | None
    excluded: str | None
    missing: Bounds
    unknown: Bounds
    adverse_impact: AdverseImpact
    population: Interval | Undefined | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenEstimate(Typed):
    """What stands where an estimate is hidden: why, and nothing else."""

    value: Undefined
    interval: Undefined
    n: None = None
    intervals: tuple[Interval, ...] = ()
    tests: tuple[TestResult, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RowWithoutRatio(Typed):
    """A category whose counts are printed and whose ratio is hidden, as it would tell of a hidden comparator."""

    category: CategoryLevels
    label: str
    n: Count
    selected: Count
    share_of_data: float
    rate: Estimate
    impact_ratio: HiddenEstimate
    four_fifths_flag: None = None
    excluded: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenRow(Typed):
    """A category whose numbers are hidden: null stands where they were."""

    category: CategoryLevels
    label: str
    n: None = None
    selected: None = None
    share_of_data: None = None
    rate: HiddenEstimate
    impact_ratio: HiddenEstimate
    four_fifths_flag: None = None
    excluded: None = None
    missing: None = None
    unknown: None = None
    adverse_impact: None = None
    suppressed: Literal[True] = True


PrintedRow = RateRow | RowWithoutRatio | HiddenRow
"""A row of a table in which some may be hidden."""

TableRow = TypeVar("TableRow", RateRow, PrintedRow)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateTable(Typed, Generic[TableRow]):
    """One statutory table: one kind of rate, one family of categories, one stratum.

    Parameters
    ----------
    total, unknown : int
        People in the rows, and those whose category is not known.
    comparator : str or Undefined
        Label of the row with the highest rate.
    median : float or None
        That scores are above; None in tables of another kind.
    median_ties, tied_rounds, undersized_rounds : int or None
        Scores at the median; rounds whose last place was drawn by lot, and rounds with no more people than places.
    classification : str or None
        The class of the tool that the table counts, where it counts one.
    equal_rates : TestResult or Undefined or None
        Whether all rates with a ratio could be equal; the first test of each ratio is part of it.
    multiplicity : Multiplicity or None
        Its p-value, adjusted for the other tables and tests of the audit.
    larger : RateTable or None
        Where the comparator has too few people for a ratio to lead: the larger categories, compared with each other.
        Not among the adjusted tests.
    """

    kind: str
    family: str
    stratum: CategoryLevels
    total: Count
    unknown: Count
    comparator: str | Undefined
    rows: tuple[TableRow, ...]
    median: float | None = None
    median_ties: Count | None = None
    tied_rounds: Count | None = None
    undersized_rounds: Count | None = None
    classification: str | None = None
    equal_rates: TestResult | Undefined | None = field(default=None, metadata=OPTIONAL)
    multiplicity: Multiplicity | None = field(default=None, metadata=OPTIONAL)
    larger: RateTable[TableRow] | None = field(default=None, metadata=OPTIONAL)
