"""Multiplicity: every hypothesis that the audit tests is one member of one family."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Protocol, TypeVar

from audit_lib.documents.metrics import Findings, Heterogeneity, TestFamily
from audit_lib.documents.rate_tables import RateRow, RateTable
from audit_lib.results import Estimate, Multiplicity, TestResult, Undefined
from audit_lib.stats.multiplicity import holm

RULE = (
    "One test a hypothesis: of each impact ratio that its rate could be the highest, whichever comparator the data "
    "pick, in every table and stratum; the first test of each estimate; and of each comparison of strata Breslow-"
    "Day (counts of independent people) or Cochran Q. The ratios of one table hold together by the law of its "
    "largest difference, so a table counts once: its smallest p-value is that of all its rates being equal. There "
    "are two families: the tables of everybody, and all else (tables of strata, estimates and comparisons). Each "
    "has half of the error, the whole of it where the other has no test. Within a family tables, estimates and "
    "comparisons count alike, and p-values are adjusted by Holm's steps, with these weights. A second statistic of "
    "the same hypothesis, such as Fisher's test or the number of standard deviations, is not counted again. Strata "
    "that hold the rows of another one are not measured again, and statistics that have the very same numbers of "
    "the same comparison (the share of texts flagged and of prompts with one, where each prompt has one text) are "
    "one hypothesis."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypotheses:
    """All that an audit tests: its statutory tables, its estimates, and its comparisons of strata."""

    tables: tuple[RateTable[RateRow], ...]
    estimates: tuple[Estimate, ...]
    heterogeneity: tuple[Heterogeneity, ...]


Holder = TypeVar("Holder", bound=Estimate | Heterogeneity)


class Mark(Protocol):
    """Sees what was tested, one after another, and gives it back, perhaps with more in it."""

    def __call__(self, about: About, holder: Holder, test: TestResult) -> Holder:
        """Return `holder`, whose hypothesis `test` is of; equal ones with equal p-values are one hypothesis."""
        ...


class About(NamedTuple):
    """What a hypothesis is about."""

    part: str
    """The table, estimate or comparison."""
    row: str | None = None
    """Which of the hypotheses of a table it is; None where `part` is one alone."""
    family: TestsTogether = "all else"


TestsTogether = Literal["tables of everybody", "all else"]
"""Each has an equal share of the error."""


def adjust(tested: Hypotheses, alpha: float) -> tuple[Hypotheses, TestFamily]:
    """Adjust the p-values of an audit for their number, and put them next to the tests.

    Parameters
    ----------
    tested : Hypotheses
        Each impact ratio, estimate and comparison of strata whose test has a p-value gets `multiplicity`.
    alpha : float
        Level at which findings are counted.

    Returns
    -------
    Hypotheses, TestFamily
        What was given, with the adjusted p-values; and how many there are, the rule that makes the family, and how
        many findings are left at `alpha`.
    """
    place_of: dict[Hashable, int] = {}
    p_values: list[float | Undefined] = []
    parts: list[Hashable] = []
    families: list[TestsTogether] = []

    def place(about: About, test: TestResult) -> int:
        same = about.part, about.row, repr(test.p_value)
        if same not in place_of:
            place_of[same] = len(p_values)
            p_values.append(test.p_value)
            parts.append(same if about.row is None else about.part)
            families.append(about.family)
        return place_of[same]

    def count(about: About, holder: Holder, test: TestResult) -> Holder:
        place(about, test)
        return holder

    _each(tested, count)
    adjusted = holm(p_values, parts, families)

    def mark(about: About, holder: Holder, test: TestResult) -> Holder:
        own = Multiplicity(test=test.name, holm=adjusted.p_values[place(about, test)])
        return replace(holder, multiplicity=own)

    family = TestFamily(
        family_size=len(p_values),
        rule=RULE,
        methods={"holm": adjusted.method},
        alpha=alpha,
        findings=Findings(unadjusted=_below(p_values, alpha), holm=_below(adjusted.p_values, alpha)),
    )
    return _each(tested, mark), family


def _below(p_values: Iterable[float | Undefined], alpha: float) -> int:
    return sum(1 for p in p_values if not isinstance(p, Undefined) and p < alpha)


def _each(tested: Hypotheses, mark: Mark) -> Hypotheses:
    """Give each hypothesis whose test has a p-value to `mark`, in the order of the document."""
    return Hypotheses(
        tables=tuple(_table(table, mark) for table in tested.tables),
        estimates=tuple(_estimate(estimate, mark) for estimate in tested.estimates),
        heterogeneity=tuple(_strata(entry, mark) for entry in tested.heterogeneity),
    )


def _table(table: RateTable[RateRow], mark: Mark) -> RateTable[RateRow]:
    counts = [(row.n, row.selected) for row in table.rows]
    of_table = repr(("table", table.family, dict(table.stratum), table.classification, counts))
    family: TestsTogether = "all else" if table.stratum else "tables of everybody"

    def one(row: RateRow) -> RateRow:
        test = _first(row.impact_ratio)
        if test is None:
            return row
        marked = mark(About(of_table, row.label, family), row.impact_ratio, test)
        return row if marked is row.impact_ratio else replace(row, impact_ratio=marked)

    rows = tuple(one(row) for row in table.rows)
    if all(marked is row for marked, row in zip(rows, table.rows, strict=True)):
        return table
    # That all rates are equal is ruled out where any of them is found below the highest.
    found = [adjusted for row in rows if (adjusted := row.impact_ratio.multiplicity) is not None]
    least = min(found, key=lambda one: (isinstance(one.holm, Undefined), one.holm), default=None)
    whole = table.equal_rates
    if least is None or whole is None or isinstance(whole, Undefined):
        return replace(table, rows=rows)
    return replace(table, rows=rows, multiplicity=replace(least, test=whole.name))


def _estimate(estimate: Estimate, mark: Mark) -> Estimate:
    test = _first(estimate)
    if test is None:
        return estimate
    named = (dict(estimate.group), dict(estimate.reference), dict(estimate.stratum))
    counts = (estimate.n, estimate.n_group, estimate.n_reference)
    return mark(About(repr(("estimate", *named, estimate.value, *counts))), estimate, test)


def _strata(entry: Heterogeneity, mark: Mark) -> Heterogeneity:
    test = entry.tested
    if isinstance(test, Undefined) or isinstance(test.p_value, Undefined):
        return entry
    return mark(
        About(repr(("strata", dict(entry.group), dict(entry.reference), test.statistic))), entry, test
    )


def _first(estimate: Estimate) -> TestResult | None:
    """Return the first test of an estimate, if it has a p-value."""
    test = estimate.tests[0] if estimate.tests else None
    return None if test is None or isinstance(test.p_value, Undefined) else test
