"""Every number of a table, computed again from its whole numbers of people."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from audit_lib.check.findings import Rebuilt, SummaryFinding
from audit_lib.check.headers import Meaning
from audit_lib.check.published_numbers import Number
from audit_lib.check.published_tables import PublishedTable
from audit_lib.check.rebuilt_rates import counts, rebuild_rate, scale_of, unit_of
from audit_lib.check.rebuilt_ratios import Member, rebuild_ratios
from audit_lib.metrics.rounding import rounded_half_up
from audit_lib.policies import Policy


def rebuild(table: PublishedTable, policy: Policy) -> tuple[list[SummaryFinding], list[Rebuilt]]:
    """Recompute a table.

    Returns
    -------
    findings : list of SummaryFinding
        What does not follow from the table's own counts.
    rebuilt : list of Rebuilt
        Every printed rate and ratio with the conventions that give it.
    """
    findings: list[SummaryFinding] = [*_columns(table), *counts(table)]
    rebuilt: list[Rebuilt] = []
    unit = unit_of(table, "rate")
    members = []
    for row in table.rows:
        rate, found, record = rebuild_rate(table, row, unit)
        findings += found
        rebuilt += record
        number = row.cell("rate").number
        members.append(Member(row, rate, None if number is None else number.value / scale_of(number, unit)))
    found, record = rebuild_ratios(table, members, policy)
    return findings + found + list(_print(table, policy.guidance.threshold)), rebuilt + record


def _columns(table: PublishedTable) -> Iterator[SummaryFinding]:
    fields: tuple[tuple[Meaning, str, str], ...] = (
        ("applicants", "the number of applicants or candidates", "F05"),
        ("rate", "the selection rate or scoring rate", "F06"),
        ("ratio", "the impact ratio", "F07"),
    )
    for meaning, words, field in fields:
        if meaning not in table.headers:
            yield SummaryFinding(
                id="column_missing",
                table=table.name,
                column=meaning,
                message=f"no column for {words} was found ({field})",
            )
    yield from _not_given(table, "applicants", "number of people", "F05")
    yield from _not_given(table, "rate", "rate", "F06")


def _not_given(table: PublishedTable, meaning: Meaning, words: str, field: str) -> Iterator[SummaryFinding]:
    """Yield a column that holds nothing, and rows without their number of people that have a rate or a ratio."""
    rows = table.of("category")
    lacking = [row for row in rows if meaning in table.headers and row.cell(meaning).is_none]
    column = table.headers.get(meaning, meaning)
    if lacking and len(lacking) == len(rows):
        message = f"no category has a {words} ({field})"
        printed = lacking[0].cell(meaning).text
        yield SummaryFinding(
            id="numbers_not_given", table=table.name, column=column, printed=printed, message=message
        )
    elif meaning == "applicants":
        empty = [row for row in lacking if not any(cell.text for cell in row.cells.values())]
        if empty:
            yield SummaryFinding(
                id="field_not_found",
                table=table.name,
                row="; ".join(row.label.text for row in empty),
                column=field,
                message="the row of this category is empty: a page should say how many people it has, if any",
                rule="5-303(a)(1)",
            )
        told = [row for row in lacking if row.cell("rate").number or row.cell("ratio").number]
        if told:
            message = f"a rate or a ratio, and no {words} that it is of"
            where = "; ".join(row.label.text for row in told)
            yield SummaryFinding(
                id="field_not_found",
                table=table.name,
                row=where,
                column=field,
                message=message,
                rule="5-303(a)(1)",
            )


def _print(table: PublishedTable, threshold: Fraction) -> Iterator[SummaryFinding]:
    """Yield what is odd in how a column prints: signs left out, and decimals that differ for no reason."""
    for meaning in ("rate", "ratio"):
        cells = [(row, row.cell(meaning)) for row in table.rows]
        numbers = [(row, cell, cell.number) for row, cell in cells if cell.number is not None]
        if not numbers:
            continue
        column = table.headers[meaning]
        signed = [n.percent for _, _, n in numbers]
        if any(signed) and not all(signed):
            for row, cell, number in numbers:
                if not number.percent:
                    yield SummaryFinding(
                        id="missing_percent_sign",
                        table=table.name,
                        row=row.label.text,
                        column=column,
                        printed=cell.text,
                        message="read as a percentage, like the rest of its column",
                    )
        digits = [n.decimals for _, _, n in numbers]
        usual = max(sorted(set(digits)), key=digits.count)
        # More digits where the usual ones would print a ratio on or over the guideline are no fault.
        odd = [
            row.label.text
            for row, _, n in numbers
            if n.decimals != usual and not (n.decimals > usual and _crosses(n, usual, threshold))
        ]
        if odd:
            yield SummaryFinding(
                id="mixed_digits",
                table=table.name,
                column=column,
                row="; ".join(odd),
                message=f"other rows print {usual} decimals; each is checked at its own",
            )


def _crosses(number: Number, digits: int, threshold: Fraction) -> bool:
    """Whether a ratio that prints as this number could land on or over the threshold with fewer digits."""
    half = Fraction(1, 2 * 10**number.decimals)
    side = _side(number.value, threshold)
    ends = (number.value - half, number.value, number.value + half)
    return any(_side(rounded_half_up(end, digits), threshold) != side for end in ends)


def _side(value: Fraction, threshold: Fraction) -> int:
    return (value > threshold) - (value < threshold)
