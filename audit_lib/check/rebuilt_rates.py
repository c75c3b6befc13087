"""Numbers of people and rates of a table, row by row, computed again from whole numbers.

A rate is a range of fractions: one value where both counts are printed or only one whole number of people gives
the printed rate, and as wide as the printed digits allow otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

from audit_lib.check.findings import Rebuilt, SummaryFinding
from audit_lib.check.headers import Meaning
from audit_lib.check.published_numbers import Number, PublishedCell
from audit_lib.check.published_tables import PublishedRow, PublishedTable
from audit_lib.metrics.rounding import printed_agreement, round_half_up

LAW: Final = "counts, half up"
TRUNCATED: Final = "counts, cut off"

RateUnit = Literal[1, 100]


@dataclass(frozen=True, slots=True, kw_only=True)
class RateRange:
    """What a row's rate can be: from `low` to `high`, one value if they are equal."""

    low: Fraction
    high: Fraction

    @property
    def exact(self) -> Fraction | None:
        """The rate, where the row leaves only one."""
        return self.low if self.low == self.high else None


def counts(table: PublishedTable) -> Iterator[SummaryFinding]:
    """Yield the cells that hold no number of people, and rows with more selected than assessed."""
    for row in table.rows:
        for meaning in ("applicants", "selected"):
            cell = row.cell(meaning)
            where = {
                "table": table.name,
                "row": row.label.text,
                "column": table.headers.get(meaning, meaning),
            }
            number = cell.number
            if number is None:
                if cell.text and not cell.is_none:
                    yield SummaryFinding(
                        id="unreadable_number", printed=cell.text, message="not a number of people", **where
                    )
            elif number.negative:
                yield SummaryFinding(
                    id="negative_count", printed=cell.text, message="a negative number of people", **where
                )
            elif cell.count is None:
                yield SummaryFinding(
                    id="fractional_count", printed=cell.text, message="not a whole number of people", **where
                )
        n, k = row.cell("applicants").count, row.cell("selected").count
        if n is not None and k is not None and k > n:
            yield SummaryFinding(
                id="more_selected_than_applied",
                table=table.name,
                row=row.label.text,
                column=table.headers["selected"],
                printed=row.cell("selected").text,
                message=f"{k} selected of {n}",
            )


def unit_of(table: PublishedTable, meaning: Meaning) -> RateUnit:
    """Return 100 where the column holds percentages: a sign in it or in its header, or a value over 1."""
    numbers = [n for row in table.rows if (n := row.cell(meaning).number)]
    percent = any(n.percent for n in numbers) or "%" in table.headers.get(meaning, "")
    # A ratio over 1 is a ratio over the wrong comparator, not a percentage.
    return 100 if percent or any(n.value > (1 if meaning == "rate" else 10) for n in numbers) else 1


def scale_of(number: Number, unit: RateUnit) -> int:
    """Return 100 for a percentage and 1 for a share of 1: a sign decides, and else the column."""
    return 100 if number.percent else unit


def rebuild_rate(
    table: PublishedTable, row: PublishedRow, unit: RateUnit
) -> tuple[RateRange | None, list[SummaryFinding], list[Rebuilt]]:
    """Return what a row's rate can be, what is wrong with the printed one, and how it came about."""
    cell, n, k = row.cell("rate"), row.cell("applicants").count, row.cell("selected").count
    number = cell.number
    column = table.headers.get("rate", "rate")
    where = {"table": table.name, "row": row.label.text, "column": column}
    exact = Fraction(k, n) if n and k is not None and k <= n else None
    counted = None if exact is None else RateRange(low=exact, high=exact)
    if cell.text and number is None and not cell.is_none:
        return (
            counted,
            [SummaryFinding(id="unreadable_number", printed=cell.text, message="not a rate", **where)],
            [],
        )
    if number is None or (exact is None and k is not None):
        return counted, [], []
    if number.negative:
        return (
            counted,
            [SummaryFinding(id="rate_not_rebuilt", printed=cell.text, message="a negative rate", **where)],
            [],
        )
    scale = scale_of(number, unit)
    if exact is not None:
        value = exact * scale
        recomputed = show(value, number)
        agreement = printed_agreement(value, number.digits)
        conventions = {"rounded": (LAW,), "truncated": (TRUNCATED,), "differs": ()}[agreement]
        record = Rebuilt(printed=cell.text, recomputed=recomputed, conventions=conventions, **where)
        found = []
        if agreement == "truncated":
            found.append(_truncated(where, cell, recomputed))
        elif agreement == "differs":
            message = f"{k} of {n} is {recomputed}"
            found.append(
                SummaryFinding(
                    id="rate_not_rebuilt", printed=cell.text, recomputed=recomputed, message=message, **where
                )
            )
        return counted, found, [record]
    return _recovered(where, cell, number, n, scale)


def _recovered(
    where: dict[str, str], cell: PublishedCell, number: Number, n: int | None, scale: int
) -> tuple[RateRange | None, list[SummaryFinding], list[Rebuilt]]:
    """Recover the rate of a row whose selected people are not printed."""
    unit = Fraction(1, 10**number.decimals)
    if number.value > scale:
        message = "a rate over 100%"
        return None, [SummaryFinding(id="rate_impossible", printed=cell.text, message=message, **where)], []
    if n is None:
        low, high = (number.value - unit / 2) / scale, (number.value + unit / 2) / scale
        return RateRange(low=max(low, Fraction(0)), high=min(high, Fraction(1))), [], []
    if n == 0:
        return (
            None,
            [SummaryFinding(id="rate_impossible", printed=cell.text, message="a rate of nobody", **where)],
            [],
        )
    for convention, below, above in ((LAW, unit / 2, unit / 2), (TRUNCATED, Fraction(0), unit)):
        least = max(0, math.ceil((number.value - below) * n / scale))
        most = min(n, math.ceil((number.value + above) * n / scale) - 1)
        if least <= most:
            people = f"{least} of {n}" if least == most else f"{least} to {most} of {n}"
            record = Rebuilt(
                printed=cell.text,
                recomputed=f"{show(Fraction(least * scale, n), number)} ({people})",
                conventions=(convention,),
                **where,
            )
            found = [_truncated(where, cell, record.recomputed)] if convention == TRUNCATED else []
            return RateRange(low=Fraction(least, n), high=Fraction(most, n)), found, [record]
    nearest = math.floor(number.value * n / scale + Fraction(1, 2))
    recomputed = show(Fraction(nearest * scale, n), number)
    message = f"no whole number of {n} people gives {cell.text}; {nearest} would give {recomputed}"
    finding = SummaryFinding(
        id="rate_impossible", printed=cell.text, recomputed=recomputed, message=message, **where
    )
    return None, [finding], [Rebuilt(printed=cell.text, recomputed=recomputed, conventions=(), **where)]


def _truncated(where: dict[str, str], cell: PublishedCell, recomputed: str) -> SummaryFinding:
    return SummaryFinding(
        id="truncated",
        printed=cell.text,
        recomputed=recomputed,
        message="digits cut off, not rounded",
        **where,
    )


def show(value: Fraction, number: Number) -> str:
    """Print a value as a number is printed: its decimals, half up, and its sign."""
    return round_half_up(value, number.decimals) + ("%" if number.percent else "")
