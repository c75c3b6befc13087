"""Intervals and tests of a statutory table's rates and ratios, by what is independent: people, applications, rounds."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.rate_tables import PICKED
from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.rows.scored import Rows, compact
from audit_lib.measure.sides import ClusterUnit
from audit_lib.metrics.impact import ImpactRow, impact_ratios
from audit_lib.results import Interval, TestResult, Undefined
from audit_lib.stats._checks import z_quantile
from audit_lib.stats.adverse_impact import two_standard_deviations
from audit_lib.stats.clustered_equal_rates import clustered_equal_rates
from audit_lib.stats.clustered_rates import ClusteredRates
from audit_lib.stats.equal_rates import equal_rates
from audit_lib.stats.exact import fisher_exact
from audit_lib.stats.intervals import ratio_of_proportions, wilson
from audit_lib.stats.koopman import koopman_limits
from audit_lib.stats.ratios import critical_of_ratios, to_highest
from audit_lib.translation import mark

AMONG: Final = mark(
    "ratio to the highest rate among the categories whose clusters tell their spread, from simultaneous intervals of "
    "all pairs of these"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableTests:
    """Tests of a table that allow for the comparator being picked: of the whole, and of each category by its label."""

    table: TestResult | Undefined
    rows: Mapping[str, TestResult]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """The rates of a table by independent unit.

    Parameters
    ----------
    unit : {"application", "round"}
        What is independent.
    places : mapping of str to int
        Category's label -> its place in `rates`.
    rates : ClusteredRates or None
        None where each unit has one row: then counts say it all, and the exact methods hold.
    units : int
        Units of the table.
    level : float
        Nominal coverage.
    """

    unit: ClusterUnit
    places: Mapping[str, int]
    rates: ClusteredRates | None
    units: int
    level: float

    @classmethod
    def of(
        cls,
        rows: Rows,
        categories: Sequence[int],
        labels: Sequence[str],
        positive: NDArray[np.int8],
        unit: ClusterUnit,
        level: float,
    ) -> Clusters:
        """Count the people of each category by round or application.

        Parameters
        ----------
        rows : Rows
            The stratum.
        categories : sequence of int
            Place in `labels` of the category of each profile of `rows`, in their order; -1 for none.
        labels : sequence of str
            The categories.
        positive : ndarray of int8, shape (rows,)
            1 selected, 0 not, -1 not assessed.
        unit : {"application", "round"}
            What is independent.
        level : float
            Nominal coverage.
        """
        category = np.full(len(rows), -1, dtype=np.int64)
        for number, (_, where) in zip(categories, rows.profiles(), strict=True):
            category[where] = number
        kept = np.flatnonzero((category >= 0) & (positive >= 0))
        codes = (rows.round if unit == "round" else rows.application)[kept]
        clusters, units = compact(codes + 1)  # + 1: rows without a round are one unit together
        rates = None
        if kept.size and int(np.bincount(clusters).max()) > 1:
            cells, size = category[kept] * units + clusters, len(labels) * units
            rates = ClusteredRates.of(
                np.bincount(cells[positive[kept] == 1], minlength=size).reshape(-1, units),
                np.bincount(cells, minlength=size).reshape(-1, units),
            )
        places = {label: i for i, label in enumerate(labels)}
        return cls(unit=unit, places=places, rates=rates, units=units, level=level)

    @property
    def method(self) -> str:
        """What is taken as independent, in words."""
        return "rows taken as independent" if self.rates is None else f"clustered by {self.unit}"

    def rate(self, label: str, selected: int, total: int) -> Interval | Undefined:
        """Interval of a category's rate."""
        if self.rates is None:
            return wilson(selected, total, self.level)
        try:
            return self.rates.rate(self.places[label], self.level)
        except UndefinedMetricError as error:
            return Undefined(str(error))

    def units_of(self, label: str) -> int | None:
        """How many units hold people of a category; None where each has one row."""
        return None if self.rates is None else int(np.count_nonzero(self.rates.occurs[self.places[label]]))

    def ratio(self, row: ImpactRow, top: ImpactRow) -> Interval | Undefined:
        """Interval of a ratio with the comparator held fixed."""
        if self.rates is None:
            limits = ratio_of_proportions(
                row.selected, row.total, top.selected, top.total, self.level, method="koopman"
            )
            return replace(limits, kind="conditional")
        try:
            return self.rates.ratio(self._place(row), self._place(top), self.level)
        except UndefinedMetricError as error:
            return Undefined(str(error))

    def to_highest(self, rows: Sequence[ImpactRow]) -> dict[str, Interval]:
        """Simultaneous intervals of each rate over the highest, by category; none where they do not exist.

        Categories whose clusters tell no spread have none, and are left out of what the others are compared with; if
        the highest rate is one of them, nobody has any.
        """
        (found,) = ratio_intervals([(self, rows, None)])
        return found.to_highest

    def equal_rates(self, rows: Sequence[ImpactRow], seed: int) -> TableTests:
        """Test that all rates are equal, and whether each could be the highest.

        A category whose people are all in one cluster says nothing of spread: it is left out.
        """
        alone = {} if self.rates is None else {str(row.category): row for row in rows if self._in_one(row)}
        kept = [row for row in rows if str(row.category) not in alone]
        try:
            if self.rates is None:
                found = equal_rates([row.selected for row in kept], [row.total for row in kept], seed=seed)
            else:
                part = self.rates.take([self._place(row) for row in kept])
                found = clustered_equal_rates(part, seed=seed)
        except UndefinedMetricError as error:
            return TableTests(table=Undefined(str(error)), rows={})
        n = sum(row.total for row in kept) if self.rates is None else self.units
        table = TestResult(
            name="equal_rates", p_value=found.p_value, statistic=found.statistic, n=n, method=found.method
        )
        own = zip(kept, found.p_values, found.statistics, strict=True)
        tests = {
            str(row.category): replace(table, name=PICKED, p_value=p, statistic=statistic, alternative="less")
            for row, p, statistic in own
        }
        nothing = Undefined("all people of the category are in one cluster: no spread to estimate")
        tests |= {label: replace(table, name=PICKED, p_value=nothing, statistic=nothing) for label in alone}
        return TableTests(table=table, rows=tests)

    def tells(self, row: ImpactRow) -> bool:
        """Return whether the clusters of a category tell its spread."""
        try:
            if self.rates is not None:
                self.rates.require(self._place(row))
        except UndefinedMetricError:
            return False
        return True

    def _in_one(self, row: ImpactRow) -> bool:
        return self.units_of(str(row.category)) == 1 and row.total > 1

    def tests(self, row: ImpactRow, top: ImpactRow) -> tuple[TestResult, ...]:
        """Tests of equal rates of two fixed categories, by clusters first.

        Fisher's and the standard deviations need independent rows.
        """
        x, n, top_x, top_n = row.selected, row.total, top.selected, top.total
        tests = [] if self.rates is None else [self.rates.test(self._place(row), self._place(top))]
        tests.append(fisher_exact(x, n - x, top_x, top_n - top_x))
        try:
            tests.append(two_standard_deviations(x, n, top_x, top_n))
        except UndefinedMetricError as error:
            undefined = Undefined(str(error))
            tests.append(
                TestResult(
                    name="two_standard_deviations",
                    p_value=undefined,
                    statistic=undefined,
                    n=n + top_n,
                    method="not computed",
                )
            )
        return tuple(tests)

    def _place(self, row: ImpactRow) -> int:
        return self.places[str(row.category)]


class RatioIntervals(NamedTuple):
    """Intervals of the ratios of one table, by category."""

    fixed: dict[str, Interval | Undefined]
    """With the comparator held fixed; none of the comparator itself."""
    to_highest: dict[str, Interval]
    """As `Clusters.to_highest`."""


def ratio_intervals(
    tables: Sequence[tuple[Clusters, Sequence[ImpactRow], ImpactRow | None]],
) -> list[RatioIntervals]:
    """Return the intervals of several tables, whose limits are found together.

    Parameters
    ----------
    tables : sequence of (Clusters, sequence of ImpactRow, ImpactRow or None)
        Of each the rows that have a ratio, and the comparator; None where no interval that holds it fixed is wanted.
    """
    asked = [_Asked(clusters, rows, top) for clusters, rows, top in tables]
    wanted = [one.pairs() for one in asked]
    low, high = koopman_limits(*np.concatenate([np.zeros((5, 0)), *wanted], axis=1))
    ends = np.cumsum([pairs.shape[1] for pairs in wanted]).tolist()
    starts = [0, *ends][:-1]
    return [
        one.read(low[start:end], high[start:end]) for one, start, end in zip(asked, starts, ends, strict=True)
    ]


def counted_rows(counts: Mapping[str, tuple[int, int]]) -> tuple[ImpactRow, ...]:
    """Return the rows of categories by their label: people selected, and all."""
    selected: dict[Hashable, int] = {label: pair[0] for label, pair in counts.items()}
    totals: dict[Hashable, int] = {label: pair[1] for label, pair in counts.items()}
    return impact_ratios(selected, totals).rows


class _Asked:
    """The pairs of one table whose limits are wanted: those with the comparator first, then all of the categories."""

    def __init__(self, clusters: Clusters, rows: Sequence[ImpactRow], top: ImpactRow | None) -> None:
        self.clusters, self.rows, self.top = clusters, rows, top
        self.others = [] if top is None else [row for row in rows if row is not top]
        self.kept = [row for row in rows if clusters.tells(row)]
        self.critical: float | None = None
        if len(self.kept) > 1 and max(rows, key=_exact_rate) in self.kept and clusters.rates is None:
            with suppress(UndefinedMetricError):
                selected, totals = zip(*((row.selected, row.total) for row in self.kept), strict=True)
                self.critical = critical_of_ratios(selected, totals, clusters.level)

    def pairs(self) -> NDArray[np.float64]:
        """Return selected and total of either side, and the critical value: a column each pair."""
        if self.clusters.rates is not None:
            return np.zeros((5, 0))
        own = np.array([(row.selected, row.total) for row in self.others], dtype=np.float64).reshape(-1, 2).T
        over = (0, 0) if self.top is None else (self.top.selected, self.top.total)
        alone = np.stack(
            [*own, *(np.full(own.shape[1], one) for one in (*over, z_quantile(self.clusters.level)))]
        )
        if self.critical is None:
            return alone
        x, n = np.array([(row.selected, row.total) for row in self.kept], dtype=np.float64).T
        i, j = np.triu_indices(x.size, 1)
        return np.hstack([alone, np.stack([x[i], n[i], x[j], n[j], np.full(i.size, self.critical)])])

    def read(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> RatioIntervals:
        """Return the intervals, given the limits of the pairs."""
        clusters, count = self.clusters, len(self.others)
        if clusters.rates is not None:
            top = self.top
            fixed = (
                {} if top is None else {str(row.category): clusters.ratio(row, top) for row in self.others}
            )
            return RatioIntervals(fixed, self._by_clusters(clusters.rates))
        fixed = {
            str(row.category): Interval(
                low=a, high=b, level=clusters.level, method="Koopman score", kind="conditional"
            )
            for row, a, b in zip(self.others, low[:count].tolist(), high[:count].tolist(), strict=True)
        }
        if self.critical is None:
            return RatioIntervals(fixed, {})
        return RatioIntervals(
            fixed, self._named(to_highest(low[count:], high[count:], len(self.kept), clusters.level))
        )

    def _by_clusters(self, rates: ClusteredRates) -> dict[str, Interval]:
        if len(self.kept) < 2 or max(self.rows, key=_exact_rate) not in self.kept:
            return {}
        places = [self.clusters.places[str(row.category)] for row in self.kept]
        try:
            return self._named(rates.take(places).ratios(self.clusters.level).to_highest)
        except UndefinedMetricError:
            return {}

    def _named(self, found: Sequence[Interval]) -> dict[str, Interval]:
        named = {str(row.category): interval for row, interval in zip(self.kept, found, strict=True)}
        if len(self.kept) == len(self.rows):
            return named
        return {label: replace(interval, method=AMONG) for label, interval in named.items()}


def _exact_rate(row: ImpactRow) -> Fraction:
    return Fraction(row.selected, row.total)
