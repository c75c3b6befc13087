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
from audit_lib.report.sections.firmness import number_of
from audit_lib.results import Estimate, Interval, Undefined

_TWO: Final = "two_standard_deviations"
"""Name of the test that counts standard deviations."""


def uncertainty_table(content: Content, table: ExactTable) -> Table:
    """Make the table of intervals, tests and both verdicts beside each ratio."""
    alpha, policy = content.spec.measure.alpha, content.policy
    level = f"{content.spec.measure.level:.0%}"
    exact = all(t.name == "fisher_exact" for row in table.rows for t in row.estimate.tests[:1])
    rows = []
    for row in table.rows:
        found = {test.name: test for test in row.estimate.tests}
        p = first_p(row.estimate)
        two = found.get(_TWO)
        sd = None if two is None else defined(two.statistic)
        rows.append(
            Row(
                row.label,
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
        f"{policy.table(table.kind).title}, {policy.family(table.family).title.lower()}: uncertainty",
        (
            Column("Category", numeric=False),
            Column("Assessed"),
            Column(f"{level} interval, comparator picked by the data"),
            Column(f"{level} interval, comparator held fixed"),
            Column("Exact p" if exact else "p"),
            Column("p adjusted for all tests"),
            Column("Standard deviations"),
            Column("Both verdicts", numeric=False),
        ),
        tuple(rows),
        (*_methods(table), NOT_ALLOWED_FOR),
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
    parts = {"Intervals": intervals, "Tests": tests, "Ratios": ratios}
    return tuple(f"{what}: {'; '.join(dict.fromkeys(said))}." for what, said in parts.items() if said)


def _verdicts(content: Content, row: ExactRow, p: float | None) -> str:
    """The guideline's verdict and the test's, which often disagree."""
    if row.below is None or p is None:
        return "\N{EN DASH}"
    side = "below" if row.below else "not below"
    found = "significant" if p < content.spec.measure.alpha else "not significant"
    return f"{side} {float(content.policy.guidance.threshold):g}; {found}"


def _limits(ends: Interval | None, digits: int, threshold: Fraction) -> str:
    return "\N{EN DASH}" if ends is None else interval(ends.low, ends.high, digits, threshold)
