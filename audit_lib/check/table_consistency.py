"""Whether tables agree with themselves and with each other: shares, totals, families of the same people."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

from audit_lib.check.findings import SummaryFinding
from audit_lib.check.headers import Meaning
from audit_lib.check.published_tables import PublishedRow, PublishedTable
from audit_lib.check.rebuilt_rates import RateUnit, scale_of, show, unit_of
from audit_lib.metrics.rounding import printed_agreement
from audit_lib.policies import Policy

COUNTS: Final[tuple[Meaning, ...]] = ("applicants", "selected")


def shares(table: PublishedTable, unknown: int) -> Iterator[SummaryFinding]:
    """Yield shares of the data that are not the row's people over one total.

    The total is that of the rows, with or without the unknown people: whichever gives more of the column. Where a
    row's people are withheld, it is any total of more people that the column leaves.
    """
    people = [row for row in table.of("category") if row.cell("applicants").count is not None]
    printed = [row for row in people if row.cell("share").number]
    known = sum(row.cell("applicants").count or 0 for row in people)
    listed = sum(row.cell("applicants").count or 0 for row in table.of("unknown"))
    if not printed or not known:
        return
    unit = unit_of(table, "share")

    def wrong(total: int) -> list[tuple[PublishedRow, str]]:
        found = []
        for row in printed:
            number, n = row.cell("share").number, row.cell("applicants").count
            if number is None or n is None:
                continue
            value = Fraction(n, total) * scale_of(number, unit)
            if number.negative or printed_agreement(value, number.digits) != "rounded":
                found.append((row, show(value, number)))
        return found

    totals = dict.fromkeys([known, known + unknown, known + listed])
    if any(row.cell("applicants").is_none for row in table.of("category")):
        totals |= dict.fromkeys(_totals(printed, unit, known))
    for row, recomputed in min((wrong(total) for total in totals), key=len):
        yield SummaryFinding(
            id="share_not_rebuilt",
            table=table.name,
            row=row.label.text,
            column=table.headers["share"],
            printed=row.cell("share").text,
            recomputed=recomputed,
            message="not the row's people over the sum of the rows",
        )


def _totals(rows: Sequence[PublishedRow], unit: RateUnit, known: int) -> Iterator[int]:
    """Yield the least and the greatest total that each row's share leaves: one of them suits most rows."""
    for row in rows:
        number, n = row.cell("share").number, row.cell("applicants").count
        if number is None or not n:
            continue
        half, people = Fraction(1, 2 * 10**number.decimals), n * scale_of(number, unit)
        yield max(known, math.floor(people / (number.value + half)) + 1)
        if number.value > half:
            yield max(known, math.floor(people / (number.value - half)))


def totals(table: PublishedTable) -> Iterator[SummaryFinding]:
    """Yield printed totals that are not the sum of their rows, with or without the unknown ones."""
    for row in table.of("total"):
        for meaning in COUNTS:
            parts = [part.cell(meaning).count for part in _parts_of(row, table.of("category"))]
            if None in parts:
                continue
            known = sum(part or 0 for part in parts)
            unknown = sum(part.cell(meaning).count or 0 for part in _parts_of(row, table.of("unknown")))
            total = row.cell(meaning).count
            if total is not None and total not in (known, known + unknown):
                yield SummaryFinding(
                    id="total_mismatch",
                    table=table.name,
                    row=row.label.text,
                    column=table.headers[meaning],
                    printed=row.cell(meaning).text,
                    recomputed=str(known),
                    message="not the sum of the rows",
                )


def _parts_of(total: PublishedRow, rows: Sequence[PublishedRow]) -> list[PublishedRow]:
    """Return the rows that a total sums: all, or those of the category that it is of."""
    return [row for row in rows if total.label.levels.items() <= row.label.levels.items()]


def stated_total(table: PublishedTable) -> Iterator[SummaryFinding]:
    """Yield a total that a column states for the whole table and that is not the sum of its rows."""
    counts = [row.cell("applicants").count for row in table.of("category")]
    people = sum(n or 0 for n in counts)
    for total in table.total:
        if None not in counts and total != people:
            yield SummaryFinding(
                id="total_mismatch",
                table=table.name,
                column="table total",
                printed=str(total),
                recomputed=str(people),
                message="not the sum of the rows",
            )


def unknown_people(group: dict[str, PublishedTable]) -> Iterator[SummaryFinding]:
    """Yield tables whose known and unknown people together are not those of the other tables of the same people."""
    everyone: list[tuple[PublishedTable, int]] = []
    for table in group.values():
        counts = [row.cell("applicants").count for row in table.of("category")]
        listed = [row.cell("applicants").count for row in table.of("unknown")]
        stated = table.unknown or ([sum(n or 0 for n in listed)] if listed and None not in listed else [])
        if counts and None not in counts:
            everyone += [(table, sum(n or 0 for n in counts) + unknown) for unknown in stated]
    totals = [people for _, people in everyone]
    usual = max(sorted(set(totals)), key=totals.count, default=0)
    for table, people in everyone:
        if people != usual:
            yield SummaryFinding(
                id="unknown_does_not_add_up",
                table=table.name,
                printed=str(people),
                recomputed=str(usual),
                message="known and unknown people together are not as many as in the other tables of the same people",
            )


def groups_of(tables: Sequence[PublishedTable]) -> list[dict[str, PublishedTable]]:
    """Put tables of the same people together: one kind, one place, and no family twice.

    Where no family is there twice, what is over the tables (as the names of sheets) tells families and no places.
    """
    known = [table for table in tables if table.family is not None]
    if len({table.kind for table in known}) == 1 and len({table.family for table in known}) == len(known):
        return [{str(table.family): table for table in known}]
    open_: dict[tuple[str, str], dict[str, PublishedTable]] = {}
    groups: list[dict[str, PublishedTable]] = []
    for table in tables:
        if table.family is None:
            continue
        key = (table.kind, table.place)
        if table.family in open_.get(key, {table.family: table}):
            open_[key] = {}
            groups.append(open_[key])
        open_[key][table.family] = table
    return groups


def families(group: dict[str, PublishedTable], policy: Policy, unknown: int) -> Iterator[SummaryFinding]:
    """Yield categories whose people differ between a table and the finer table of the same people.

    With people of unknown category a table of one attribute holds more than the sums of the table of two do.
    That is no finding, as long as those unknown could be the difference.
    """
    for fine in group.values():
        for coarse in group.values():
            attributes = policy.family(str(coarse.family)).attributes
            if len(attributes) == 1 and len(policy.family(str(fine.family)).attributes) > 1:
                yield from _differences(coarse, fine, attributes[0], unknown)


def selected_alike(
    group: dict[str, PublishedTable], policy: Policy, unknown: int
) -> Iterator[SummaryFinding]:
    """Yield tables of one attribute each in which so different numbers are selected that people must be missing.

    Two attributes divide the same people; only those whose category is unknown can be in one table and not in the
    other.
    """
    sums: list[tuple[PublishedTable, int, int]] = []
    for table in group.values():
        if len(policy.family(str(table.family)).attributes) != 1 or "selected" not in table.headers:
            continue
        rows = table.of("category")
        counts = [(row.cell("applicants").count, row.cell("selected").count) for row in rows]
        if rows and not any(None in pair for pair in counts):
            sums.append((table, sum(n or 0 for n, _ in counts), sum(s or 0 for _, s in counts)))
    for number, (table, people, selected) in enumerate(sums):
        for other, others, also in sums[:number]:
            if abs(selected - also) > max(unknown, abs(people - others)):
                yield SummaryFinding(
                    id="tables_do_not_add_up",
                    table=table.name,
                    column=table.headers["selected"],
                    printed=str(selected),
                    recomputed=str(also),
                    message=f"of {people} people here {selected} are selected, of {others} in table {other.name} "
                    f"{also}: more apart than people of unknown category can be",
                )


def people_alike(group: dict[str, PublishedTable], policy: Policy, unknown: int) -> Iterator[SummaryFinding]:
    """Yield tables of one attribute each that hold so different numbers of people that they are of other people."""
    sums: list[tuple[PublishedTable, int]] = []
    for table in group.values():
        counts = [row.cell("applicants").count for row in table.of("category")]
        if len(policy.family(str(table.family)).attributes) == 1 and counts and None not in counts:
            sums.append((table, sum(n or 0 for n in counts)))
    for number, (table, people) in enumerate(sums):
        for other, others in sums[:number]:
            if abs(people - others) - unknown > policy.exclusion.share * max(people, others):
                yield SummaryFinding(
                    id="tables_do_not_add_up",
                    table=table.name,
                    column=table.headers["applicants"],
                    printed=str(people),
                    recomputed=str(others),
                    message=f"table {other.name} holds {others} people: more apart than people of unknown category "
                    "and small categories can be",
                )


def _differences(
    coarse: PublishedTable, fine: PublishedTable, attribute: str, unknown: int
) -> Iterator[SummaryFinding]:
    gaps: list[tuple[PublishedRow, Meaning, int]] = []
    more, possible = 0, True
    for row in coarse.of("category"):
        category = row.label.levels.get(attribute)
        if category is None:
            continue
        beyond: dict[Meaning, int] = {}
        for meaning in COUNTS:
            whole, parts = row.cell(meaning).count, _sum(fine, attribute, category, meaning)
            if whole is None or parts is None:
                continue
            beyond[meaning] = whole - parts
            if whole != parts:
                gaps.append((row, meaning, parts))
        more += beyond.get("applicants", 0)
        possible &= 0 <= beyond.get("selected", 0) <= beyond.get("applicants", 0)
    if possible and more <= unknown:
        return
    for row, meaning, parts in gaps:
        yield SummaryFinding(
            id="tables_do_not_add_up",
            table=coarse.name,
            row=row.label.text,
            column=coarse.headers[meaning],
            printed=row.cell(meaning).text,
            recomputed=str(parts),
            message=f"the rows of table {fine.name} hold another number of these people",
        )


def _sum(table: PublishedTable, attribute: str, category: str, meaning: Meaning) -> int | None:
    """Sum a column over the rows of a category; None where a row has no number of people."""
    if meaning not in table.headers:
        return None
    rows = [row for row in table.of("category") if row.label.levels.get(attribute) == category]
    counts = [row.cell(meaning).count for row in rows]
    return None if None in counts else sum(count or 0 for count in counts)
