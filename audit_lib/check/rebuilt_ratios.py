"""Impact ratios of a table, computed again over the highest rate and, where that fails, in other ways."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

from audit_lib.check.findings import Rebuilt, SummaryFinding
from audit_lib.check.published_tables import PublishedRow, PublishedTable
from audit_lib.check.rebuilt_rates import LAW, TRUNCATED, RateRange, RateUnit, scale_of, show, unit_of
from audit_lib.metrics.rounding import round_half_up, rounded_half_up
from audit_lib.policies import Policy

PRINTED_RATES: Final = "printed rates, half up"
PRINTED_RATES_TRUNCATED: Final = "printed rates, cut off"
_NO_COMPARATOR: Final = "the category that the ratios were taken over is not among the rows that were read"
_FEWEST: Final = 3  # ratios that follow over a rate, which no chance gives
_MOST: Final = Fraction(4, 5)


@dataclass(frozen=True, slots=True)
class Member:
    """A row, what its rate can be, and the rate as printed (as a share of 1)."""

    row: PublishedRow
    rate: RateRange | None
    printed: Fraction | None


def rebuild_ratios(
    table: PublishedTable, members: Sequence[Member], policy: Policy
) -> tuple[list[SummaryFinding], list[Rebuilt]]:
    """Recompute the ratios over the law's comparator; where that fails, find what else they were made with."""
    people = [m for m in members if m.row.label.role == "category"]
    findings = list(_without_ratio(table, people, policy))
    for member in members:
        if member.row.label.role == "unknown" and member.row.cell("ratio").number:
            message = "people of unknown category are not in the calculations; only their number is printed"
            findings.append(_ratio_finding("unknown_in_calculation", table, member.row, message))
    printed = []
    for member in people:
        cell = member.row.cell("ratio")
        if cell.text and cell.number is None and not cell.is_none:
            findings.append(_ratio_finding("unreadable_number", table, member.row, "not a ratio"))
        elif cell.number is not None and cell.number.negative:
            findings.append(_ratio_finding("ratio_not_rebuilt", table, member.row, "a negative ratio"))
        elif cell.number is not None:
            printed.append(member)
    rated = [m for m in people if m.rate is not None]
    if not printed or not rated:
        return findings, []
    comparators = _law(printed, rated)
    if all(c.high == 0 for c in comparators):
        message = "no category has anyone selected, so no ratio exists"
        return [
            *findings,
            *(_ratio_finding("ratio_of_zero_rates", table, m.row, message) for m in printed),
        ], []
    unit = unit_of(table, "ratio")
    other = _other(
        printed, [m for m in members if m.rate is not None and m.row.label.role != "total"], comparators, unit
    )
    known = {id(member): _conventions(member, rated, comparators, unit) for member in printed}
    is_off = 2 * sum(not conventions for conventions in known.values()) > len(printed)
    beyond = _beyond(printed, comparators, unit) if other is None and is_off else None
    if beyond is not None:
        findings.append(_elsewhere(table, beyond, comparators[0]))
    if other is not None:
        findings.append(_not_highest(table, other, comparators[0], unit))
    rebuilt = []
    for member in printed:
        conventions = known[id(member)]
        elsewhere = other is not None and _agreement(member, other[1], unit) == "half up"
        if LAW not in conventions and elsewhere and other is not None:
            conventions = (f"counts over {other[0]}, half up", *conventions)
        cell = member.row.cell("ratio")
        recomputed = _recomputed(member, comparators[0], unit)
        where = {"table": table.name, "row": member.row.label.text, "column": table.headers["ratio"]}
        rebuilt.append(Rebuilt(printed=cell.text, recomputed=recomputed, conventions=conventions, **where))
        if beyond is not None and _agreement(member, beyond, unit) == "half up":
            continue
        if LAW in conventions or elsewhere:  # the table's comparator is one finding, not one a row
            continue
        kind, message = _fault(conventions, recomputed)
        unsure = "" if beyond is None else _NO_COMPARATOR
        findings.append(
            SummaryFinding(
                id=kind, printed=cell.text, recomputed=recomputed, message=message, unsure=unsure, **where
            )
        )
    return findings, rebuilt


def _fault(conventions: tuple[str, ...], recomputed: str) -> tuple[str, str]:
    if TRUNCATED in conventions:
        return "truncated", "digits cut off, not rounded"
    counted = f"the counts give {recomputed}" if recomputed else "the row's counts give none"
    if conventions:
        return "ratio_from_printed_rates", f"follows only from the printed rates; {counted}"
    return "ratio_not_rebuilt", f"no convention gives it; {counted}"


def _ratio_finding(kind: str, table: PublishedTable, row: PublishedRow, message: str) -> SummaryFinding:
    return SummaryFinding(
        id=kind,
        table=table.name,
        row=row.label.text,
        column=table.headers.get("ratio", "ratio"),
        printed=row.cell("ratio").text,
        message=message,
    )


def _without_ratio(
    table: PublishedTable, people: Sequence[Member], policy: Policy
) -> Iterator[SummaryFinding]:
    """Yield categories of at least the policy's share (2%) of the data that have a rate and no ratio."""
    total = sum(m.row.cell("applicants").count or 0 for m in people)
    if "ratio" not in table.headers or all(m.rate is None or m.rate.high == 0 for m in people):
        return
    if not any(m.row.cell("ratio").number for m in people) and any(_is_withheld(table, m) for m in people):
        return  # over a comparator that is withheld, any ratio would give its rate away
    for member in people:
        n = member.row.cell("applicants").count
        if n and member.row.cell("ratio").is_none and Fraction(n, total) >= policy.exclusion.share:
            share = round_half_up(100 * Fraction(n, total), 1)
            message = f"{n} of {total} people are {share}% of the table, too many to be left out"
            yield _ratio_finding("category_without_ratio", table, member.row, message)


def _is_withheld(table: PublishedTable, member: Member) -> bool:
    return "applicants" in table.headers and member.row.cell("applicants").is_none


def _law(printed: Sequence[Member], rated: Sequence[Member]) -> list[RateRange]:
    """Highest rate among the categories with a ratio, and among all: the rule is silent on excluded ones."""
    found: list[RateRange] = []
    for group in ([m for m in printed if m.rate is not None], rated):
        rates = [m.rate for m in group if m.rate is not None]
        if rates:
            top = RateRange(low=max(r.low for r in rates), high=max(r.high for r in rates))
            if top not in found:
                found.append(top)
    return found


def _between(member: Member, base: RateRange) -> tuple[Fraction, Fraction] | None:
    if member.rate is None or base.low == 0:
        return None
    return member.rate.low / base.high, member.rate.high / base.low


def _agreement(
    member: Member, base: RateRange, unit: RateUnit, *, capped: bool = False
) -> Literal["half up", "cut off"] | None:
    """Whether the printed ratio lies in the range that the row and a comparator leave."""
    number = member.row.cell("ratio").number
    between = _between(member, base)
    if number is None or between is None:
        return None
    scale = scale_of(number, unit)
    low, high = between[0] * scale, between[1] * scale
    if capped:
        high = min(high, Fraction(scale))
    digits, shown = number.decimals, number.value
    if rounded_half_up(low, digits) <= shown <= rounded_half_up(high, digits):
        return "half up"
    power = 10**digits
    cut = (Fraction(math.floor(low * power), power), Fraction(math.floor(high * power), power))
    return "cut off" if cut[0] <= shown <= cut[1] else None


def _conventions(
    member: Member, rated: Sequence[Member], comparators: Sequence[RateRange], unit: RateUnit
) -> tuple[str, ...]:
    found = {_agreement(member, base, unit, capped=True) for base in comparators}
    names = [name for agreement, name in (("half up", LAW), ("cut off", TRUNCATED)) if agreement in found]
    shown = [m.printed for m in rated if m.printed is not None]
    if member.printed is not None and shown and max(shown) > 0:
        base = RateRange(low=max(shown), high=max(shown))
        again = Member(member.row, RateRange(low=member.printed, high=member.printed), member.printed)
        agreement = _agreement(again, base, unit)
        if agreement is not None:
            names.append(PRINTED_RATES if agreement == "half up" else PRINTED_RATES_TRUNCATED)
    return tuple(names)


def _other(
    printed: Sequence[Member], members: Sequence[Member], comparators: Sequence[RateRange], unit: RateUnit
) -> tuple[str, RateRange, Member | None] | None:
    """Return the comparator that rebuilds more of the table than the law's does, if there is one."""
    candidates: list[tuple[str, RateRange, Member | None]] = [
        (repr(m.row.label.text), m.rate, m) for m in members if m.rate is not None and m.rate.low > 0
    ]
    counts = [(m.row.cell("selected").count, m.row.cell("applicants").count) for m in printed]
    whole = [(k, n) for k, n in counts if k is not None and n is not None]
    overall = (sum(k for k, _ in whole), sum(n for _, n in whole))
    if len(whole) == len(counts) and all(overall):
        rate = Fraction(*overall)
        candidates.append(("the rate of all categories together", RateRange(low=rate, high=rate), None))

    def matches(base: RateRange, own: Member | None, capped: bool = False) -> int:
        # Over itself a row has a ratio of 1, however wide the range of its rate is.
        return len(
            [
                m
                for m in printed
                if (_is_one(m, unit) if m is own else _agreement(m, base, unit, capped=capped) == "half up")
            ]
        )

    lawful = max(matches(base, None, capped=True) for base in comparators)
    if lawful == len(printed):
        return None
    best = max(candidates, key=lambda candidate: matches(candidate[1], candidate[2]), default=None)
    if best is None or matches(best[1], best[2]) <= max(lawful, 1):
        return None
    return best


def _beyond(printed: Sequence[Member], comparators: Sequence[RateRange], unit: RateUnit) -> RateRange | None:
    """Return the rate, higher than any of the table, over which most ratios follow; None where there is none."""
    ranges: list[tuple[Fraction, Fraction]] = []
    for member in printed:
        number = member.row.cell("ratio").number
        if number is None or member.rate is None or number.value <= 0:
            continue
        scale, half = scale_of(number, unit), Fraction(1, 2 * 10**number.decimals)
        low = member.rate.low * scale / (number.value + half)
        least = number.value - half
        ranges.append((low, member.rate.high * scale / least if least > 0 else Fraction(1)))
    highest = max(base.high for base in comparators)
    points = [point for low, high in ranges for point in (low, high) if point > highest]
    held = {point: sum(low <= point <= high for low, high in ranges) for point in points}
    most = max(held.values(), default=0)
    if most < _FEWEST or most < _MOST * len(ranges):
        return None
    best = [point for point in points if held[point] == most]
    return RateRange(low=min(best), high=min(max(best), Fraction(1)))


def _elsewhere(table: PublishedTable, base: RateRange, law: RateRange) -> SummaryFinding:
    rate, highest = (f"{round_half_up(100 * one.high, 1)}%" for one in (base, law))
    return SummaryFinding(
        id="comparator_elsewhere",
        table=table.name,
        column=table.headers["ratio"],
        printed=rate,
        recomputed=highest,
        message=f"the ratios follow over {rate}, and the highest rate of this table is {highest}: the category with "
        "that rate may be in a part of it that stands elsewhere, or was not read",
    )


def _is_one(member: Member, unit: RateUnit) -> bool:
    number = member.row.cell("ratio").number
    return number is not None and number.value == scale_of(number, unit)


def _not_highest(
    table: PublishedTable, other: tuple[str, RateRange, Member | None], law: RateRange, unit: RateUnit
) -> SummaryFinding:
    name, base, member = other
    percent = [f"{round_half_up(100 * rate.high, 1)}%" for rate in (base, law)]
    return SummaryFinding(
        id="comparator_not_highest",
        table=table.name,
        row=member.row.label.text if member else "",
        column=table.headers["ratio"],
        printed=member.row.cell("ratio").text if member else "",
        recomputed=_recomputed(member, law, unit) if member else "",
        message=f"the ratios follow over {name} ({percent[0]}); the highest rate is {percent[1]}",
    )


def _recomputed(member: Member, base: RateRange, unit: RateUnit) -> str:
    number = member.row.cell("ratio").number
    between = _between(member, base)
    if number is None or between is None:
        return ""
    scale = scale_of(number, unit)
    ends = [show(min(end, Fraction(1)) * scale, number) for end in between]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
