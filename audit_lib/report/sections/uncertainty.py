"""Intervals and tests beside each ratio of a statutory table."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from audit_lib.documents.estimates import adjusted_p, defined, first_p, limits
from audit_lib.measure.multiplicity import NOT_ALLOWED_FOR
from audit_lib.report.blocks import Cell, Column, Row, Table
from audit_lib.report.content import Content, ExactRow, ExactTable
from audit_lib.report.leading import picked
from audit_lib.report.numbers import interval, p_or_dash
from audit_lib.report.sections.what_could_change import number_of
from audit_lib.report.table_names import category_name, table_name
from audit_lib.results import Estimate, Interval, Undefined
from audit_lib.translation import archived, mark, t

_TWO: Final = "two_standard_deviations"
"""Name of the test that counts standard deviations."""
_FORMS: Final = (mark("pooled"), mark("hypergeometric"))
"""Forms of that test: its method in the archive names one."""


def uncertainty_table(content: Content, table: ExactTable) -> Table:
    """Make the table of intervals, tests and both verdicts beside each ratio."""
    alpha, policy = content.spec.measure.alpha, content.policy
    level = content.spec.measure.level
    exact = all(test.name == "fisher_exact" for row in table.rows for test in row.estimate.tests[:1])
    rows = []
    for row in table.rows:
        found = {test.name: test for test in row.estimate.tests}
        p = first_p(row.estimate)
        two = found.get(_TWO)
        sd = None if two is None else defined(two.statistic)
        rows.append(
            Row(
                category_name(row.label),
                (
                    Cell(number_of(row)),
                    Cell(_limits(picked(row), policy.rounding.ratio, policy.guidance.threshold)),
                    Cell(
                        _limits(
                            limits(row.estimate.interval), policy.rounding.ratio, policy.guidance.threshold
                        )
                    ),
                    Cell(p_or_dash(p, alpha)),
                    Cell(p_or_dash(adjusted_p(row.estimate), alpha)),
                    Cell("\N{EN DASH}" if sd is None else f"{sd:+.2f}".replace("-", "\N{MINUS SIGN}")),
                    Cell(_verdicts(content, row, p)),
                ),
            )
        )
    return Table(
        t("{table}: uncertainty", table=table_name(policy, table)),
        (
            Column(t("Category"), numeric=False),
            Column(t("Assessed")),
            Column(t("{level:.0%} interval, comparator picked by the data", level=level)),
            Column(t("{level:.0%} interval, comparator held fixed", level=level)),
            Column(t("Exact p") if exact else "p"),
            Column(t("p adjusted for all tests")),
            Column(t("Standard deviations")),
            Column(t("Both verdicts"), numeric=False),
        ),
        tuple(rows),
        (*_methods(table), t(NOT_ALLOWED_FOR)),
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
        t(what, methods="; ".join(map(archived, dict.fromkeys(said)))) for what, said in parts if said
    )


def _verdicts(content: Content, row: ExactRow, p: float | None) -> str:
    """The guideline's verdict and the test's, which often disagree."""
    if row.below is None or p is None:
        return "\N{EN DASH}"
    significant = p < content.spec.measure.alpha
    if row.below:
        words = (
            mark("below {threshold:g}; significant")
            if significant
            else mark("below {threshold:g}; not significant")
        )
    elif significant:
        words = mark("not below {threshold:g}; significant")
    else:
        words = mark("not below {threshold:g}; not significant")
    return t(words, threshold=float(content.policy.guidance.threshold))


def _limits(ends: Interval | None, digits: int, threshold: Fraction) -> str:
    return "\N{EN DASH}" if ends is None else interval(ends.low, ends.high, digits, threshold)
