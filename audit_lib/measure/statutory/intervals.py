"""Intervals and tests of a statutory table's rates and ratios, by what is independent: people, applications, rounds."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

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
from audit_lib.stats.ratios import ratios_to_the_highest
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


def category_of_rows(rows: Rows, categories: Sequence[int]) -> NDArray[np.int32]:
    """Return the category of each row, of the category of each profile of the rows; -1 for none."""
    category = np.full(len(rows), -1, dtype=np.int32)
    for number, (_, where) in zip(categories, rows.profiles(), strict=True):
        category[where] = number
    return category


def _narrow(counts: NDArray[np.int64]) -> NDArray[Any]:
    return counts.astype(np.min_scalar_type(counts.max(initial=0)))


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
        category = category_of_rows(rows, categories)
        counted = (category >= 0) & (positive >= 0)
        kept = slice(None) if counted.all() else np.flatnonzero(counted)
        codes = (rows.round if unit == "round" else rows.application)[kept]
        clusters, units = compact(codes + 1)  # + 1: rows without a round are one unit together
        rates = None
        if codes.size and int(np.bincount(clusters).max()) > 1:
            cells, size = category[kept].astype(np.int64), len(labels) * units
            cells *= units
            cells += clusters
            people = _narrow(np.bincount(cells, minlength=size))
            won = _narrow(np.bincount(cells[positive[kept] == 1], minlength=size))
            rates = ClusteredRates.of(won.reshape(-1, units), people.reshape(-1, units))
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
        return None if self.rates is None else int(np.count_nonzero(self.rates.people[self.places[label]]))

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
        """Return `to_the_highest` of one table."""
        return to_the_highest([(self, rows)])[0]

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

    def told(self, row: ImpactRow) -> bool:
        """Whether a category's clusters tell its spread."""
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


def fixed_ratios(
    tables: Sequence[tuple[Clusters, Sequence[ImpactRow], ImpactRow]],
) -> list[dict[str, Interval | Undefined]]:
    """Return `Clusters.ratio` of several rows over one, by category, of each table."""
    counts = [
        [(row.selected, row.total, top.selected, top.total) for row in rows] if clusters.rates is None else []
        for clusters, rows, top in tables
    ]
    flat = [pair for own in counts for pair in own]
    z = z_quantile(tables[0][0].level) if tables else 0.0
    x1, n1, x2, n2 = np.array(flat, dtype=np.float64).reshape(-1, 4).T
    low, high = koopman_limits(x1, n1, x2, n2, z)
    ends = zip(low.tolist(), high.tolist(), strict=True)
    found: list[dict[str, Interval | Undefined]] = []
    for clusters, rows, top in tables:
        if clusters.rates is None:
            limits = [
                Interval(low=a, high=b, level=clusters.level, method="Koopman score", kind="conditional")
                for _, (a, b) in zip(rows, ends, strict=False)
            ]
            found.append({str(row.category): one for row, one in zip(rows, limits, strict=True)})
        else:
            found.append({str(row.category): clusters.ratio(row, top) for row in rows})
    return found


def to_the_highest(tables: Sequence[tuple[Clusters, Sequence[ImpactRow]]]) -> list[dict[str, Interval]]:
    """Simultaneous intervals of each rate over the highest, by category, of each table; none where they do not exist.

    Categories whose clusters tell no spread have none, and are left out of what the others are compared with; if the
    highest rate is one of them, nobody has any.
    """
    kept = [[row for row in rows if clusters.told(row)] for clusters, rows in tables]
    there = [
        number
        for number, (_, rows) in enumerate(tables)
        if len(kept[number]) >= 2 and max(rows, key=_exact_rate) in kept[number]
    ]
    single = [number for number in there if tables[number][0].rates is None]
    of_single = ratios_to_the_highest(
        [([row.selected for row in kept[n]], [row.total for row in kept[n]]) for n in single],
        tables[0][0].level if tables else 0.95,
    )
    intervals = dict(zip(single, of_single, strict=True))
    intervals |= {n: _clustered(tables[n][0], kept[n]) for n in there if n not in intervals}
    found: list[dict[str, Interval]] = [{} for _ in tables]
    for number, own in intervals.items():
        if not isinstance(own, Undefined):
            named = {str(row.category): one for row, one in zip(kept[number], own, strict=True)}
            if len(kept[number]) < len(tables[number][1]):
                named = {label: replace(one, method=AMONG) for label, one in named.items()}
            found[number] = named
    return found


def to_the_highest_of(
    tables: Sequence[tuple[Clusters, Mapping[str, tuple[int, int]]]],
) -> list[dict[str, Interval]]:
    """Return the same for categories by their label: people selected, and all."""

    def rows(counts: Mapping[str, tuple[int, int]]) -> Sequence[ImpactRow]:
        selected: dict[Hashable, int] = {label: pair[0] for label, pair in counts.items()}
        totals: dict[Hashable, int] = {label: pair[1] for label, pair in counts.items()}
        return impact_ratios(selected, totals).rows

    return to_the_highest([(clusters, rows(counts)) for clusters, counts in tables])


def _clustered(clusters: Clusters, rows: Sequence[ImpactRow]) -> tuple[Interval, ...] | Undefined:
    assert clusters.rates is not None
    try:
        part = clusters.rates.take([clusters.places[str(row.category)] for row in rows])
        return part.ratios(clusters.level).to_highest
    except UndefinedMetricError as error:
        return Undefined(str(error))


def _exact_rate(row: ImpactRow) -> Fraction:
    return Fraction(row.selected, row.total)
