"""Intervals and tests beside each ratio of a statutory table."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from audit_lib.documents.estimates import adjusted_p, defined, fixed_p, limits
from audit_lib.documents.rate_tables import PICKED
from audit_lib.report.blocks import Cell, Column, Row, Table
from audit_lib.report.content import Content, ExactRow, ExactTable
from audit_lib.report.leading import picked
from audit_lib.report.numbers import interval, p_or_dash
from audit_lib.report.sections.what_could_change import number_of
from audit_lib.report.table_names import category_name, table_name
from audit_lib.report.verdict_words import shown_verdict, verdict_cell
from audit_lib.results import Estimate, Interval, Undefined
from audit_lib.translation import Filled, archived, mark, t

_TWO: Final = "two_standard_deviations"
"""Name of the test that counts standard deviations."""
_FORMS: Final = (mark("pooled"), mark("hypergeometric"))
"""Forms of that test: its method in the archive names one."""


def uncertainty_table(content: Content, table: ExactTable) -> Table:
    """Make the table of intervals, tests and the verdict beside each ratio."""
    alpha, policy = content.spec.measure.alpha, content.policy
    level = content.spec.measure.level
    held = [test.name for row in table.rows for test in row.estimate.tests if test.name not in (PICKED, _TWO)]
    exact = set(held) <= {"fisher_exact"}
    at_population = any(row.population is not None for row in table.rows)
    rows = []
    for row in table.rows:
        found = {test.name: test for test in row.estimate.tests}
        p = None if PICKED not in found else defined(found[PICKED].p_value)
        two = found.get(_TWO)
        sd = None if two is None else defined(two.statistic)
        rows.append(
            Row(
                category_name(row.label),
                (
                    Cell(number_of(row)),
                    _verdict(content, table, row),
                    Cell(_limits(picked(row), policy.rounding.ratio, policy.guidance.threshold)),
                    *([_at_population(content, row)] if at_population else []),
                    Cell(p_or_dash(p, alpha)),
                    Cell(p_or_dash(adjusted_p(row.estimate), alpha)),
                    Cell(
                        _limits(
                            limits(row.estimate.interval), policy.rounding.ratio, policy.guidance.threshold
                        )
                    ),
                    Cell(p_or_dash(fixed_p(row.estimate), alpha)),
                    Cell("\N{EN DASH}" if sd is None else f"{sd:+.2f}".replace("-", "\N{MINUS SIGN}")),
                ),
            )
        )
    return Table(
        t("{table}: uncertainty", table=table_name(policy, table)),
        (
            Column(t("Category"), numeric=False),
            Column(t("Assessed")),
            Column(t("Verdict"), numeric=False),
            Column(t("{level:%} interval, comparator picked by the data", level=level)),
            *(
                [Column(t("{level:%} interval at the population's median", level=level))]
                if at_population
                else []
            ),
            Column(t("p, comparator picked by the data")),
            Column(t("p adjusted for all tests")),
            Column(t("{level:%} interval, comparator held fixed", level=level)),
            Column(t("Exact p, comparator held fixed") if exact else t("p, comparator held fixed")),
            Column(t("Standard deviations")),
        ),
        tuple(rows),
        (*_equal_rates(table, alpha), *_by_steps(table), *_median(table), *_methods(table)),
    )


def _median(table: ExactTable) -> tuple[str, ...]:
    """Of scoring rates: that the median which they are counted above is taken as it is in the sample."""
    if table.median is None:
        return ()
    return (
        t(
            "The law's ratio is at the median of the sample, which the other intervals and the tests take as fixed. "
            "The interval at the population's median allows for the median having been estimated, and for the "
            "comparator having been picked by the data. Where scores vary much more in one category than in another, "
            "the others are too short for that ratio (simulated: 95% intervals held it in 92% where standard "
            "deviations were as 1 to 3, and in 86% where they were as 1 to 15)."
        ),
        *_without_population(table),
    )


def _without_population(table: ExactTable) -> tuple[str, ...]:
    """Why an interval at the population's median does not exist, each reason once with its categories."""
    by: dict[str, list[str]] = {}
    for row in table.rows:
        if isinstance(row.population, Undefined):
            by.setdefault(row.population.reason, []).append(category_name(row.label))
    return tuple(
        t(
            "No interval at the population's median: {reason} ({categories}).",
            reason=archived(reason),
            categories=Filled(", ").join(names),
        )
        for reason, names in by.items()
    )


def _at_population(content: Content, row: ExactRow) -> Cell:
    found = row.population
    ends = None if isinstance(found, Undefined) else found
    return Cell(_limits(ends, content.policy.rounding.ratio, content.policy.guidance.threshold))


def _equal_rates(table: ExactTable, alpha: float) -> tuple[str, ...]:
    """The p-value of the whole table, and how those of its categories are read."""
    whole = table.equal_rates
    if whole is None:
        return ()
    if isinstance(whole, Undefined):
        return (t("Whether all rates are equal was not tested: {reason}.", reason=archived(whole.reason)),)
    p, own = defined(whole.p_value), table.multiplicity
    adjusted = None if own is None else defined(own.holm)
    return (
        t(
            "That all these rates are equal: p {p}, adjusted for all tests {adjusted}.",
            p=p_or_dash(p, alpha),
            adjusted=p_or_dash(adjusted, alpha),
        ),
        t(
            "The first p of a category is whether its rate could be the highest, whichever category that is; those of "
            "one table hold together. Where the comparator is held fixed, the p and the interval do not allow for its "
            "having been picked after looking."
        ),
    )


def _by_steps(table: ExactTable) -> tuple[str, ...]:
    """Why a verdict may be a difference where the interval reaches 1."""
    found = [
        category_name(row.label)
        for row in table.rows
        if (verdict := shown_verdict(row.estimate)) is not None
        and verdict.found
        and (ends := picked(row)) is not None
        and ends.high >= 1
    ]
    if not found:
        return ()
    return (
        t(
            "The test finds a difference of categories whose interval reaches 1 ({categories}): it goes by steps, from "
            "the category with the most evidence on, and the intervals do not.",
            categories=Filled(", ").join(found),
        ),
    )


def _methods(table: ExactTable) -> tuple[str, ...]:
    """How the intervals and tests of a table were made, in the measure stage's own words."""
    intervals: list[str] = []
    tests: list[str] = []
    ratios: list[str] = []
    for row in table.rows:
        ends = (row.estimate.interval, *row.estimate.intervals)
        intervals += [one.method for one in ends if not isinstance(one, Undefined)]
        tests += [test.method for test in row.estimate.tests]
        ratios += [row.estimate.method] if isinstance(row.estimate, Estimate) else []
    parts = (
        (mark("Intervals: {methods}."), intervals),
        (mark("Tests: {methods}."), tests),
        (mark("Ratios: {methods}."), ratios),
    )
    return tuple(
        t(what, methods=Filled("; ").join(map(archived, dict.fromkeys(said)))) for what, said in parts if said
    )


def _verdict(content: Content, table: ExactTable, row: ExactRow) -> Cell:
    """The verdict; under it on which side of the guideline the ratio is, which the guideline asks and no test."""
    cell = Cell("\N{EN DASH}") if row.empty else verdict_cell(row.estimate)
    if row.below is None or row.label == table.comparator:
        return cell
    words = mark("below {threshold:g}") if row.below else mark("not below {threshold:g}")
    return replace(cell, note=t(words, threshold=float(content.policy.guidance.threshold)))


def _limits(ends: Interval | None, digits: int, threshold: Fraction) -> str:
    return "\N{EN DASH}" if ends is None else interval(ends.low, ends.high, digits, threshold)
