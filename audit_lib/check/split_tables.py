"""One table that a page prints as several: intersectional categories of men and of women under headers of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from audit_lib.check.published_tables import PublishedTable
from audit_lib.policies import Policy


def reunited(tables: Sequence[PublishedTable], policy: Policy) -> list[PublishedTable]:
    """Put tables together that follow each other and divide the categories of one family between them.

    The law compares the categories of both attributes over one rate. Each of the parts is about one category of an
    attribute, and no two are about the same one.
    """
    found: list[PublishedTable] = []
    for table in tables:
        last = found[-1] if found else None
        if last is not None and _are_parts(last, table, policy):
            table = replace(
                last,
                rows=(*last.rows, *table.rows),
                unknown=last.unknown or table.unknown,
                total=last.total or table.total,
                unsure=last.unsure or table.unsure,
                is_whole=last.is_whole and table.is_whole,
            )
            found.pop()
        found.append(table)
    return [replace(table, number=number) for number, table in enumerate(found, 1)]


def _are_parts(last: PublishedTable, table: PublishedTable, policy: Policy) -> bool:
    if last.family is None or (last.family, last.kind) != (table.family, table.kind):
        return False
    if last.place != table.place and {last.place, table.place} - {""} and not _tell_categories(last, table):
        return False
    attributes = policy.family(last.family).attributes
    if len(attributes) == 1 or last.headers.keys() != table.headers.keys():
        return False
    for attribute in attributes:
        levels = [{row.label.levels.get(attribute) for row in one.of("category")} for one in (last, table)]
        if len(levels[1]) == 1 and levels[0].isdisjoint(levels[1]):
            return True
    return False


def _tell_categories(last: PublishedTable, table: PublishedTable) -> bool:
    """Whether what tells two tables apart is no more than the category that each is about."""
    names = {
        name.casefold()
        for one in (last, table)
        for row in one.of("category")
        for name in row.label.levels.values()
    }
    return all(one.place.casefold() in names for one in (last, table))
