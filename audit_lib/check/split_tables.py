"""One table that a page prints as several: parts under headers of their own, for men and women or "continued"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from audit_lib.check.published_tables import PublishedTable
from audit_lib.check.rebuild import rebuild
from audit_lib.check.row_labels import category_over
from audit_lib.policies import Policy

_CONTINUED: Final = re.compile(r"\bcontinued\b|\bcont['\u2019]?d\b|\bcont\.", re.IGNORECASE)
_OF_COMPARATOR: Final = frozenset(
    {"ratio_not_rebuilt", "comparator_not_highest", "comparator_elsewhere", "category_without_ratio"}
)


def reunited(tables: Sequence[PublishedTable], policy: Policy) -> list[PublishedTable]:
    """Put tables together that follow each other and divide the categories of one family between them.

    The law compares the categories of a family over one rate. Parts share no category, and they are about one category
    of an attribute each, or the page says that one goes on in the other, or more ratios follow over the highest rate of
    both together than over that of each.
    """
    found: list[PublishedTable] = []
    for table in tables:
        last = found[-1] if found else None
        if last is not None and _are_parts(last, table, policy):
            table = _together(last, table)
            found.pop()
        found.append(table)
    return [replace(table, number=number) for number, table in enumerate(found, 1)]


def _together(last: PublishedTable, table: PublishedTable) -> PublishedTable:
    return replace(
        last,
        rows=(*last.rows, *table.rows),
        unknown=last.unknown or table.unknown,
        total=last.total or table.total,
        unsure=last.unsure or table.unsure,
        is_whole=last.is_whole and table.is_whole,
    )


def _are_parts(last: PublishedTable, table: PublishedTable, policy: Policy) -> bool:
    if last.family is None or (last.family, last.kind) != (table.family, table.kind):
        return False
    if last.headers.keys() != table.headers.keys():
        return False
    if last.place != table.place and {last.place, table.place} - {""} and not _tell_categories(last, table):
        return False
    keys = [{row.label.key for row in one.of("category")} for one in (last, table)]
    if not keys[0].isdisjoint(keys[1]):
        return False
    attributes = policy.family(last.family).attributes
    for attribute in attributes if len(attributes) > 1 else ():
        levels = [{row.label.levels.get(attribute) for row in one.of("category")} for one in (last, table)]
        if len(levels[1]) == 1 and levels[0].isdisjoint(levels[1]):
            return True
    return _CONTINUED.search(table.caption) is not None or _explain_each_other(last, table, policy)


def _explain_each_other(last: PublishedTable, table: PublishedTable, policy: Policy) -> bool:
    """Whether more ratios follow over the highest rate of both together than over that of each."""
    apart, together = (
        sum(f.id in _OF_COMPARATOR for one in some for f in rebuild(one, policy)[0])
        for some in ((last, table), (_together(last, table),))
    )
    return together < apart


def _tell_categories(last: PublishedTable, table: PublishedTable) -> bool:
    """Whether what tells two tables apart is no more than the category that each is about."""
    names = {
        name.casefold()
        for one in (last, table)
        for row in one.of("category")
        for name in row.label.levels.values()
    }
    return all(one.place.casefold() in names or category_over(one.place) for one in (last, table))
