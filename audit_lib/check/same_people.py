"""What a page says of all its tables: that they hold the same people, and how many."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from audit_lib.check.findings import SummaryFinding
from audit_lib.check.published_numbers import WHOLE, whole
from audit_lib.check.published_tables import PublishedTable
from audit_lib.check.stated_fields import NEGATED, sentences
from audit_lib.check.table_consistency import groups_of
from audit_lib.policies import Policy

_SAME: Final = re.compile(
    rf"\b(?:same|identical) (?P<people>{WHOLE}) (?:\w+ )?"
    r"(?:applicants|candidates|individuals|people|persons|employees)\b",
    re.IGNORECASE,
)
_OF_TABLES: Final = re.compile(r"\b(?:tables?|results|breakdowns?|sections)\b", re.IGNORECASE)
# Where categories are left out of a table, it may hold fewer people than the page says.
_LEFT_OUT: Final = re.compile(
    r"exclu|left out|leav(?:es?|ing) out|\bomit|\b(?:fewer|less) than|\bunder 2|\bbelow 2", re.IGNORECASE
)


def stated_alike(text: str, tables: Sequence[PublishedTable], policy: Policy) -> Iterator[SummaryFinding]:
    """Yield tables of other numbers of people than the page says that all its tables hold.

    Such a number is of those tables of the same people of which at least one holds exactly so many. Fewer may be
    lawful where words leave categories out, and a misreading where a table read from places on a page lacks some.
    """
    numbers = {
        whole(found["people"])
        for sentence in sentences(text)
        if _OF_TABLES.search(sentence) and not NEGATED.search(sentence)
        for found in _SAME.finditer(sentence)
    }
    for group in groups_of(tables) if numbers else ():
        held = [(table, _people(table)) for table in group.values()]
        stated = next((people for _, people in held if people in numbers), None)
        if stated is None:
            continue
        for table, people in held:
            if people is None or people == stated:
                continue
            if people < stated and (_LEFT_OUT.search(text) or _lacks_rows(table, policy)):
                continue
            yield SummaryFinding(
                id="tables_do_not_add_up",
                table=table.name,
                column=table.headers["applicants"],
                printed=str(people),
                recomputed=str(stated),
                message=f"the page says that its tables hold the same {stated} people, and this one has {people}",
            )


def _lacks_rows(table: PublishedTable, policy: Policy) -> bool:
    return table.page > 0 and len(table.of("category")) < len(policy.categories(str(table.family)))


def _people(table: PublishedTable) -> int | None:
    """Sum a table's people of known category; None where a number of them is not printed."""
    counts = [row.cell("applicants").count for row in table.of("category")]
    return None if not counts or None in counts else sum(count or 0 for count in counts)
