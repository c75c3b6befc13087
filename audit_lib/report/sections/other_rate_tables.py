"""Rate tables of a kind that the policy has no title for, such as those of a metric from another package."""

from __future__ import annotations

from audit_lib.documents.estimates import defined
from audit_lib.documents.rate_tables import HiddenRow, PrintedRow, RateRow, RateTable
from audit_lib.report.blocks import Block, Cell, Column, Fold, Paragraph, Row, Section, Table, code, text
from audit_lib.report.content import Content, in_words
from audit_lib.report.numbers import UNDEFINED, count, decimal


def other_rate_tables(content: Content) -> Section | None:
    """Make the section, or none where every table has a title in the policy."""
    kinds = {kind.name for kind in content.policy.tables}
    blocks: list[Block] = [_table(table) for table in content.metrics.tables if table.kind not in kinds]
    if not blocks:
        return None
    lead = Paragraph(text("More results of this audit's metrics. All of it is in ", code("report.json"), "."))
    return Section("others", "Further tables", (lead, *blocks))


def _table(table: RateTable[RateRow] | RateTable[PrintedRow]) -> Fold:
    parts = [table.kind.replace("_", " "), table.family.replace("_", " "), in_words(table.stratum)]
    title = ", ".join(filter(None, parts)).capitalize()
    names = ("Category", "People", "Selected", "Rate", "Ratio to the highest rate")
    columns = tuple(Column(name, numeric=name != names[0]) for name in names)
    rows: tuple[PrintedRow, ...] = table.rows
    return Fold(title, (Table(title, columns, tuple(map(_row, rows))),))


def _row(row: PrintedRow) -> Row:
    if isinstance(row, HiddenRow):
        return Row(row.label, (Cell("hidden"),) * 4, "muted")
    numbers = [defined(one.value) for one in (row.rate, row.impact_ratio)]
    cells = [Cell(UNDEFINED if number is None else decimal(number, 4)) for number in numbers]
    return Row(row.label, (Cell(count(row.n)), Cell(count(row.selected)), *cells))
