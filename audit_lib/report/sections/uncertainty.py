"""Intervals and tests beside each ratio of a statutory table."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from audit_lib.measure.multiplicity import NOT_ALLOWED_FOR
from audit_lib.report.blocks import Cell, Column, Row, Table
from audit_lib.report.content import Content, RateTable, TableRow
from audit_lib.report.leading import picked
from audit_lib.report.numbers import interval, p_value
from audit_lib.report.sections.firmness import number_of


def uncertainty_table(content: Content, table: RateTable) -> Table:
    """Make the table of intervals, tests and both verdicts beside each ratio."""
    alpha, policy = content.spec.measure.alpha, content.policy
    level = f"{content.spec.measure.level:.0%}"
    exact = all(t["name"] == "fisher_exact" for row in table.rows for t in row.estimate["tests"][:1])
    rows = []
    for row in table.rows:
        found = {test["name"]: test for test in row.estimate["tests"]}
        first: Mapping[str, Any] = next(iter(row.estimate["tests"]), {})
        fisher = first.get("p_value")
        holm = row.estimate.get("multiplicity", {}).get("holm")
        sd = found.get("two_standard_deviations", {}).get("statistic")
        limits = row.estimate["interval"]
        rows.append(
            Row(
                row.label,
                (
                    Cell(number_of(row)),
                    Cell(_limits(picked(row), policy.rounding.ratio, policy.guidance.threshold)),
                    Cell(_limits(limits, policy.rounding.ratio, policy.guidance.threshold)),
                    Cell(p_value(fisher, alpha) if isinstance(fisher, float) else "\N{EN DASH}"),
                    Cell(p_value(holm, alpha) if isinstance(holm, float) else "\N{EN DASH}"),
                    Cell(
                        f"{sd:+.2f}".replace("-", "\N{MINUS SIGN}")
                        if isinstance(sd, float)
                        else "\N{EN DASH}"
                    ),
                    Cell(_verdicts(content, row, fisher)),
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


def _methods(table: RateTable) -> tuple[str, ...]:
    """How the intervals and tests of a table were made, in the measure stage's own words."""
    parts = {"Intervals": [], "Tests": [], "Ratios": []}  # type: dict[str, list[str]]
    for row in table.rows:
        limits = (row.estimate["interval"], *row.estimate["intervals"])
        parts["Intervals"] += [i["method"] for i in limits if "method" in i]
        parts["Tests"] += [t["method"] for t in row.estimate["tests"]]
        parts["Ratios"] += [row.estimate["method"]] if "method" in row.estimate else []
    return tuple(f"{what}: {'; '.join(dict.fromkeys(said))}." for what, said in parts.items() if said)


def _verdicts(content: Content, row: TableRow, p: object) -> str:
    """The guideline's verdict and the test's, which often disagree."""
    if row.below is None or not isinstance(p, float):
        return "\N{EN DASH}"
    side = "below" if row.below else "not below"
    found = "significant" if p < content.spec.measure.alpha else "not significant"
    return f"{side} {float(content.policy.guidance.threshold):g}; {found}"


def _limits(limits: object, digits: int, threshold: Fraction) -> str:
    if not isinstance(limits, dict) or "low" not in limits:
        return "\N{EN DASH}"
    return interval(limits["low"], limits["high"], digits, threshold)
