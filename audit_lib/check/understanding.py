"""Whether a table was understood before the page is accused of what is in it.

Where many of a table's cells hold no numbers, or most of its numbers do not follow, its columns or rows may have been
taken for others: one warning says so, or what is said of them carries the doubt. What seems to be missing may be in a
table that was not understood.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from audit_lib.check.category_coverage import missing_families
from audit_lib.check.findings import SummaryFinding
from audit_lib.check.grids import Grid
from audit_lib.check.headers import has_header
from audit_lib.check.published_numbers import read_number
from audit_lib.check.published_tables import PublishedTable
from audit_lib.check.row_labels import categories_in
from audit_lib.policies import Policy

_NO_NUMBERS: Final = frozenset({"unreadable_number", "fractional_count"})
_FEWEST: Final = 3  # cells or rows that are no slip of the page
_IMPOSSIBLE: Final = frozenset({"more_selected_than_applied"}) | _NO_NUMBERS
"""What a row can be accused of that comes as easily of a column that was taken for another."""
_SHARE: Final = 4  # of the rows: one in so many
_CLOSE: Final = Fraction(1, 100)
_FOLLOWING: Final = frozenset(
    {"rate_not_rebuilt", "ratio_not_rebuilt", "share_not_rebuilt", "rate_impossible"}
)
_MOST_ODD: Final = (
    "most numbers of this column do not follow from the others, so that a column may have been taken for another; look "
    "at the page"
)
_NAMED: Final = 3
_SAID: Final = {
    "applicants": re.compile(r"\bN\b|(?i:\b(?:applicants|candidates|people|individuals|of all)\b)"),
    "rate": re.compile(r"(?i:\brates?\b|%|percent)"),
    "ratio": re.compile(r"(?i:\bratios?\b)"),
}
_APART: Final = frozenset({"comparator_elsewhere"})


def not_understood(table: PublishedTable, findings: Sequence[SummaryFinding]) -> SummaryFinding | None:
    """Return the one thing to say of a table in which so many cells are odd that it was misread."""
    rows = len(table.of("category"))
    odd = [finding for finding in findings if finding.id in _NO_NUMBERS]
    doubles = [
        key for key, times in Counter(row.label.key for row in table.of("category")).items() if times > 1
    ]
    impossible = {finding.row for finding in findings if finding.id in _IMPOSSIBLE}
    why = ""
    if len(odd) >= max(_FEWEST, rows / _SHARE):
        shown = ", ".join(repr(finding.printed) for finding in odd[:_NAMED])
        why = f"{len(odd)} cells hold something else than the numbers that their columns seem to be of ({shown})"
    elif len(doubles) >= max(_FEWEST, rows / _SHARE):
        why = f"{len(doubles)} categories have several rows, as if tables of several positions or kinds were one"
    elif not _are_turned(table) and len(impossible) >= max(min(_FEWEST, rows), rows / _SHARE) > 1:
        what = "more selected people than applicants, or no number where one should be"
        why = f"{len(impossible)} of {rows} rows have {what}"
    if not why:
        return None
    message = (
        f"not understood, and nothing in this table was checked: {why}; check it by hand, or from HTML or CSV"
    )
    return SummaryFinding(id="unreadable_table", table=table.name, message=message, unsure=table.unsure)


def _are_turned(table: PublishedTable) -> bool:
    """Whether the printed rates are the applicants over the selected, so that the page itself has them turned."""
    told = [
        (rate.value / (100 if rate.percent else 1), Fraction(people, chosen))
        for row in table.of("category")
        if (rate := row.cell("rate").number) is not None
        and (people := row.cell("applicants").count) is not None
        and (chosen := row.cell("selected").count)
    ]
    return len(told) > 1 and all(abs(rate - turned) <= _CLOSE for rate, turned in told)


def with_doubts(
    table: PublishedTable, findings: Iterable[SummaryFinding], grids: Sequence[Grid]
) -> Iterator[SummaryFinding]:
    """Give findings the doubt that they rest on a column that was taken for another."""
    found = list(findings)
    rows = len(table.of("category"))
    columns = Counter((finding.id, finding.column) for finding in found if finding.id in _FOLLOWING)
    for finding in found:
        if 2 * columns[finding.id, finding.column] > rows > 1:
            finding = replace(finding, unsure=finding.unsure or _MOST_ODD)
        elif finding.id == "column_missing" and (places := _may_hold(table, finding.column, grids)):
            finding = replace(finding, unsure=f"it may be in {places}; look at the page")
        yield finding


def _may_hold(table: PublishedTable, meaning: str, grids: Sequence[Grid]) -> str:
    """Name the columns and tables that were not read, and headers that have words of another number as well."""
    read = [
        text for held, text in table.headers.items() if held != meaning and re.search(_SAID[meaning], text)
    ]
    return ", ".join((*map(repr, (*table.unread, *read)), *_of_categories(grids)))


def absent_families(
    tables: Sequence[PublishedTable],
    unread: Sequence[PublishedTable],
    grids: Sequence[Grid],
    findings: Sequence[SummaryFinding],
    policy: Policy,
) -> Iterator[SummaryFinding]:
    """Yield the families of tables that the page lacks; unsurely where a table was not read that may be theirs."""
    apart = [f"table {finding.table}" for finding in findings if finding.id in _APART]
    doubts = [*(f"table {table.name}" for table in unread), *apart, *_of_categories(grids)]
    absent = list(missing_families(tables, policy))
    titles = {family.name: f"no table by {family.title.lower()} was" for family in policy.families}
    for table in unread:  # each may be one of them: its own family, or else any
        mine = [f for f in absent if f.message.startswith(titles.get(str(table.family), "-"))]
        for finding in (mine or absent)[-1:]:
            absent.remove(finding)
    for finding in absent:
        if doubts and not finding.unsure:
            finding = replace(
                finding,
                unsure=f"{'; '.join(doubts[:_NAMED])}: it has categories and was not understood as a whole, and may be "
                "this one",
            )
        yield finding


def _of_categories(grids: Sequence[Grid]) -> Iterator[str]:
    """Yield tables of categories and numbers under no header of rates."""
    for number, grid in enumerate(grids, 1):
        rows = sum(
            bool(categories_in(row[0])) and any(read_number(text) for text in row[1:]) for row in grid.rows
        )
        if rows > 1 and not has_header(grid):
            title = grid.caption or next(reversed(grid.trail), "") or "without a caption"
            yield f"table {number} of the file ({title})"
