"""What was not read, and whether a table read from where words stand on a page can have been read right.

A row that took a number from its neighbour, or a label that lost its second line, gives findings about the reader
and not about the page. Such a table is called unreadable, with its page, and nothing else is said of it. Only where
every line of the table was read, and the numbers of all its other rows follow from each other, is one odd row the
page's own; what is said of it carries the caution.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from audit_lib.check.column_years import year_of
from audit_lib.check.findings import SummaryFinding
from audit_lib.check.grids import PublishedFile
from audit_lib.check.headers import NUMBERS
from audit_lib.check.published_numbers import PublishedCell
from audit_lib.check.published_tables import PublishedRow, PublishedTable
from audit_lib.check.rebuilt_rates import RateUnit, rebuild_rate, unit_of
from audit_lib.check.row_labels import categories_in
from audit_lib.policies import Policy

_LONGEST: Final = 60
_MOST_HIDDEN: Final = 20
_HIGHEST_RATE: Final = 100  # in percent
_FEWEST: Final = 3  # rows read right that make another one's oddity the page's
_RESTS_ON_ALL_ROWS: Final = frozenset(
    {
        "ratio_not_rebuilt",
        "comparator_elsewhere",
        "comparator_not_highest",
        "share_not_rebuilt",
        "total_mismatch",
        "category_without_ratio",
    }
)

_UNNAMED_GLYPH: Final = "(cid:"
_SEXES: Final = frozenset({"Male", "Female"})
_TWO_RACES: Final = (
    "a label has words of two categories, as if it were put together from two rows; look at the page"
)
_MAY_BE_ONE: Final = (
    "nothing tells this table from another of its family, and no category is in both: they may be one table in two "
    "parts; look at the page"
)
_MAY_BE_EARLIER: Final = (
    "they may be of an audit before this one, whose own date was not found; look at the page"
)
_RESTS_ON_ALL_TABLES: Final = frozenset(
    {
        "table_missing",
        "category_left_out",
        "category_dropped",
        "category_missing",
        "tables_do_not_add_up",
        "unknown_does_not_add_up",
    }
)


def part(
    tables: Sequence[PublishedTable], policy: Policy
) -> tuple[list[PublishedTable], list[SummaryFinding]]:
    """Part tables into those that can be checked and a finding for each that cannot."""
    kept, findings = [], []
    for table in tables:
        why = reason(table, policy) if table.unsure and not _is_borne_out(table, policy) else None
        if why is None:
            kept.append(table)
        else:
            findings.append(_unreadable(table, why))
    return kept, findings


def columns_not_read(tables: Sequence[PublishedTable], audited: date | None) -> Iterator[SummaryFinding]:
    """Yield the rates and ratios that were left out, once where one header heads several tables.

    Those of a year before the audit's are another audit's, and only named as not checked.
    """
    said: set[tuple[str, ...]] = set()
    for table in tables:
        of_now = [text for text in table.earlier if audited is None or (year_of(text) or 0) >= audited.year]
        left_out = (*table.repeated, *of_now)
        if left_out and left_out not in said:
            said.add(left_out)
            message = (
                "give each group of columns a header of its own, or a table; only the first were checked"
            )
            unsure = "" if table.repeated or audited is not None else _MAY_BE_EARLIER
            yield SummaryFinding(
                id="columns_not_read",
                table=table.name,
                column="; ".join(left_out),
                message=message,
                unsure=unsure,
            )


def pictures_not_read(document: PublishedFile) -> Iterator[SummaryFinding]:
    """Yield the pictures that may hold a table and were not read: a page with one of them is no clean page."""
    if document.unread:
        yield SummaryFinding(id="picture_not_read", message="; ".join(document.unread))


def hidden_parts(document: PublishedFile) -> Iterator[SummaryFinding]:
    """Yield what of a table is in the file and not shown, so that it is neither read nor passed over."""
    for part in document.hidden[:_MOST_HIDDEN]:
        message = "hidden in the file: who looks at the page does not see it; it was not read"
        if part.is_shown:
            message = "kept from those who have the page read to them; it was read as it is shown"
        yield SummaryFinding(
            id="hidden_content", table=part.table, row=part.row, printed=_cut(part.words), message=message
        )
    if len(document.hidden) > _MOST_HIDDEN:
        rest = len(document.hidden) - _MOST_HIDDEN
        yield SummaryFinding(
            id="hidden_content", message=f"{rest} more parts of tables are hidden; look at the file"
        )


def lost_rows(
    table: PublishedTable, policy: Policy, findings: Sequence[SummaryFinding]
) -> SummaryFinding | None:
    """Say so where numbers that rest on all rows do not follow, and rows of the table's family were not read."""
    if (
        not table.unsure
        or table.is_whole
        or table.family is None
        or not any(f.id in _RESTS_ON_ALL_ROWS for f in findings)
    ):
        return None
    read, family = len(table.of("category")), len(policy.categories(table.family))
    if read >= family or _is_product(table, policy):
        return None
    return _unreadable(
        table, f"{read} of {family} categories were read, and its numbers do not follow from these"
    )


def _is_product(table: PublishedTable, policy: Policy) -> bool:
    """Whether a table by two attributes has a row for each pair of the categories in it: no single rows were lost."""
    attributes = policy.family(str(table.family)).attributes
    levels = [row.label.levels for row in table.of("category")]
    seen = [{level.get(attribute) for level in levels} for attribute in attributes]
    pairs = {tuple(level.get(attribute) for attribute in attributes) for level in levels}
    return len(seen) > 1 and len(pairs) == math.prod(map(len, seen)) == len(levels)


def _unreadable(table: PublishedTable, why: str) -> SummaryFinding:
    page = f" on page {table.page}" if table.page else ""
    message = f"unreadable table{page}: {why}; check it by hand, or from HTML or CSV"
    return SummaryFinding(id="unreadable_table", table=table.name, message=message, unsure=table.unsure)


def cautioned(
    findings: Iterable[SummaryFinding], tables: Sequence[PublishedTable], words: str = ""
) -> Iterator[SummaryFinding]:
    """Give each finding that rests on a table of which a cell may be misread the reason why.

    `words` says why the words of the page may be misread; then all that rests on no table may be, too.
    """
    unsure = {table.name: table.unsure for table in tables if table.unsure}
    anywhere = next(iter(unsure.values()), "")
    parts = _parts(tables)
    for finding in findings:
        why = anywhere if finding.id in _RESTS_ON_ALL_TABLES else unsure.get(finding.table, "")
        if finding.table in parts and finding.id in _RESTS_ON_ALL_TABLES | _RESTS_ON_ALL_ROWS:
            why = why or _MAY_BE_ONE
        if not finding.table and finding.id not in _RESTS_ON_ALL_TABLES | {
            "picture_not_read",
            "hidden_content",
        }:
            why = words
        if _UNNAMED_GLYPH in finding.printed:
            why = why or "the PDF does not say which letters its font draws there; look at the page"
        yield replace(finding, unsure=finding.unsure or why)


def with_doubted_labels(tables: Iterable[PublishedTable]) -> list[PublishedTable]:
    """Mark the tables of a PDF in which a label has words of two races: it may have been put together from two rows."""
    return [
        replace(table, unsure=table.unsure or _TWO_RACES)
        if any(len(categories_in(row.label.text) - _SEXES) > 1 for row in table.of("category"))
        else table
        for table in tables
    ]


def _parts(tables: Sequence[PublishedTable]) -> set[str]:
    """Return the tables that nothing tells from another one of their family, and that share no category with it."""
    found: set[str] = set()
    for number, table in enumerate(tables):
        for other in tables[:number]:
            is_alike = (table.kind, table.family, table.place) == (other.kind, other.family, other.place)
            keys = [{row.label.key for row in one.of("category")} for one in (table, other)]
            if is_alike and table.family is not None and keys[0].isdisjoint(keys[1]):
                found |= {table.name, other.name}
    return found


def reason(table: PublishedTable, policy: Policy) -> str | None:
    """Say what shows that the table was misread; None if nothing does."""
    if table.repeated:
        return "several columns hold a rate or a ratio, and what tells them apart was not read"
    attributes = set() if table.family is None else set(policy.family(table.family).attributes)
    labels = [row.label for row in table.of("category")]
    for label in labels:
        if not attributes or set(label.levels) != attributes:
            return f"{_short(label.text)} is no category of its family"
    key, times = Counter(label.key for label in labels).most_common(1)[0] if labels else ("", 0)
    if times > 1:
        return f"{times} rows were read as {_short(key)}"
    for row in table.rows:
        for meaning in NUMBERS:
            cell = row.cell(meaning)
            if cell.number is None and not cell.is_none:
                return f"{_short(cell.text)} stands where the number of {_short(row.label.text)} should"
        n, k = row.cell("applicants"), row.cell("selected")
        for cell in (n, k):
            if cell.number is not None and cell.count is None and _may_be_a_rate(cell):
                return f"{_short(cell.text)} stands where {_short(row.label.text)} has a number of people"
        if n.count is not None and k.count is not None and k.count > n.count and not table.is_whole:
            return f"{_short(row.label.text)} has more people selected than assessed"
    missing = [meaning for meaning in ("applicants", "rate", "ratio") if meaning not in table.headers]
    if missing == ["ratio"] and table.is_whole and not table.unread:
        return None  # each column was read, and none is left that could be it
    return f"no column was recognised as {missing[0]}" if missing else None


def _may_be_a_rate(cell: PublishedCell) -> bool:
    """Whether a number that is no number of people may have come from the column of rates."""
    return cell.number is not None and 0 <= cell.number.value <= _HIGHEST_RATE


def _is_borne_out(table: PublishedTable, policy: Policy) -> bool:
    """Whether all rows but one, or but two of one category, are read right beyond doubt."""
    if not table.is_whole or table.repeated or table.family is None:
        return False
    attributes = set(policy.family(table.family).attributes)
    rows = table.of("category")
    times = Counter(row.label.key for row in rows)
    odd = [row for row in rows if set(row.label.levels) != attributes and _may_be_cut(row.label.text, policy)]
    unit = unit_of(table, "rate")
    sure = [
        row
        for row in rows
        if set(row.label.levels) == attributes and times[row.label.key] == 1 and _follows(table, row, unit)
    ]
    others = {row.label.key for row in rows if row not in sure}
    return not odd and len(others) <= 1 and len(sure) >= _FEWEST


def _follows(table: PublishedTable, row: PublishedRow, unit: RateUnit) -> bool:
    """Whether a row's rate follows from its numbers of people, so that none is another row's."""
    _, found, records = rebuild_rate(table, row, unit)
    return not found and any(record.conventions for record in records)


def _may_be_cut(text: str, policy: Policy) -> bool:
    """Whether a label that is no category has a word of one: it may be the rest of it, or misread."""
    names = (level.name for attribute in policy.attributes for level in attribute.categories)
    known = {word for name in names for word in _words_in(name)}
    return any(word in known for word in _words_in(text))


def _words_in(text: str) -> list[str]:
    return [word for word in re.findall(r"[a-z]+", text.lower()) if word not in ("or", "and", "not")]


def _short(text: str) -> str:
    return repr(_cut(text))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
