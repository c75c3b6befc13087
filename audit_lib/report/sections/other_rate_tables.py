"""Rate tables of a kind that the policy has no title for, such as those of a metric from another package."""

from __future__ import annotations

from audit_lib.documents.estimates import defined
from audit_lib.documents.rate_tables import HiddenRow, PrintedRow, RateRow, RateTable
from audit_lib.report.blocks import Block, Cell, Column, Fold, Paragraph, Row, Section, Table, code, filled
from audit_lib.report.content import Content, in_words
from audit_lib.report.numbers import count, decimal
from audit_lib.report.table_names import category_name
from audit_lib.translation import Filled, known, t, tp


def other_rate_tables(content: Content) -> Section | None:
    """Make the section, or none where every table has a title in the policy."""
    kinds = {kind.name for kind in content.policy.tables}
    blocks: list[Block] = [_table(table) for table in content.metrics.tables if table.kind not in kinds]
    if not blocks:
        return None
    lead = Paragraph(
        filled(t("More results of this audit's metrics. All of it is in {file}."), file=code("report.json"))
    )
    return Section("others", t("Further tables"), (lead, *blocks))


def _table(table: RateTable[RateRow] | RateTable[PrintedRow]) -> Fold:
    parts = [known(name.replace("_", " ")) for name in (table.kind, table.family)] + [in_words(table.stratum)]
    title = Filled(", ").join(filter(None, parts)).capitalize()
    columns = (
        Column(t("Category"), numeric=False),
        Column(t("People")),
        Column(t("Selected")),
        Column(t("Rate")),
        Column(t("Ratio to the highest rate")),
    )
    rows: tuple[PrintedRow, ...] = table.rows
    return Fold(title, (Table(title, columns, tuple(map(_row, rows))),))


def _row(row: PrintedRow) -> Row:
    if isinstance(row, HiddenRow):
        return Row(category_name(row.label), (Cell(t("hidden")),) * 4, "muted")
    numbers = [defined(one.value) for one in (row.rate, row.impact_ratio)]
    cells = [
        Cell(tp("of a rate", "undefined") if number is None else decimal(number, 4)) for number in numbers
    ]
    return Row(category_name(row.label), (Cell(count(row.n)), Cell(count(row.selected)), *cells))
