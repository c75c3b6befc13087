"""The statutory tables as the summary sets them: what the rule asks for of each category, and nothing more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from audit_lib.measure.rows.split_columns import CLASSIFICATION
from audit_lib.report.blocks import Block, Cell, Column, Paragraph, Row, Table, Text, filled, link, text
from audit_lib.report.content import Content, ExactRow, ExactTable
from audit_lib.report.leading import convincing
from audit_lib.report.numbers import count, guarded, percent
from audit_lib.report.readings import facts
from audit_lib.report.readings.names import REPORT, in_language
from audit_lib.report.sections.rate_table import undefined
from audit_lib.report.table_names import category_name, table_name
from audit_lib.results import Undefined
from audit_lib.translation import Filled, spoken, t, tn, tp

_MOST_CLASS_TABLES: Final = 9


def annexed(words: str) -> Text:
    """Fill a sentence's place for the link to the annex."""
    return filled(words, page=link(t("the annex"), in_language(REPORT, spoken())))


def tables_of(content: Content, kind: str) -> Iterable[Block]:
    """Make the tables of the headline of a kind, those of classification groups, and what their marks mean."""
    tables = facts.headline(content, kind)
    if not tables:
        return
    classes = [
        table for table in content.by_stratum if table.kind == kind and CLASSIFICATION in table.stratum
    ]
    shown = [*tables, *classes[:_MOST_CLASS_TABLES]]
    for table in shown:
        yield _table(content, table)
    if words := list(_under(content, shown)):
        yield Paragraph(text(Filled(" ").join(words)))
    if len(classes) > _MOST_CLASS_TABLES:
        yield Paragraph(
            annexed(t("The tables of {n} more classes are in {page}.", n=len(classes), page="{page}"))
        )


def _table(content: Content, table: ExactTable) -> Table:
    policy = content.policy
    kind = policy.table(table.kind)
    where = [table.where] if table.stratum else []
    unknown = tn(
        "Category unknown: {n} more person, not in this table.",
        "Category unknown: {n} more people, not in this table.",
        table.unknown,
        n=count(table.unknown),
    )
    return Table(
        Filled(", ").join([table_name(policy, table), *where]),
        (
            Column(t("Category"), numeric=False),
            Column(t("Assessed"), of="n"),
            Column(t(kind.count), of="selected"),
            Column(t(kind.rate), of="rate"),
            Column(t("Impact ratio"), of="ratio"),
        ),
        tuple(_row(content, table, row) for row in table.rows),
        (unknown,),
    )


def _row(content: Content, table: ExactTable, row: ExactRow) -> Row:
    digits, threshold = content.policy.rounding, content.policy.guidance.threshold
    name = category_name(row.label)
    if row.hidden:
        return Row(name, (Cell(t("hidden")),) * 4, "muted")
    rate = (
        tp("of a rate", "undefined")
        if isinstance(row.rate, Undefined)
        else percent(row.rate, digits.rate_percent)
    )
    ratio = (
        undefined(row) if isinstance(row.ratio, Undefined) else guarded(row.ratio, digits.ratio, threshold)
    )
    return Row(
        name + (" \N{DAGGER}" if row.small and row.n else ""),
        (
            Cell(count(row.n)),
            Cell(count(row.selected)),
            Cell(rate),
            Cell(
                ratio,
                mark="*" if row.below else "",
                tone="flag" if convincing(content, table, row) else "plain",
            ),
        ),
        "muted" if row.excluded else "plain",
        _left_out(row),
    )


def _left_out(row: ExactRow) -> str:
    """Say why a category has no ratio; the auditor's own words are in the language in which they were written."""
    if not row.excluded:
        return ""
    if spoken() == "en":
        return row.excluded
    return t("The auditor left it out of the impact ratio; the reason is on the page in English.")


def _under(content: Content, tables: Iterable[ExactTable]) -> Iterable[str]:
    """Say what the marks of these tables mean."""
    rows = [row for table in tables for row in table.rows]
    guidance = content.policy.guidance
    if any(row.below for row in rows):
        yield t(
            "* below the {guideline} of {cite}; {standing}.",
            guideline=t(guidance.name),
            cite=t(guidance.cite),
            standing=t(guidance.standing),
        )
    if any(row.small and row.n and not row.hidden for row in rows):
        yield "\N{DAGGER} " + t(
            "fewer than {n} people: one decision changes such a rate a lot.",
            n=content.spec.measure.small_cell,
        )
    if any(row.hidden or row.ratio_hidden for row in rows):
        yield t(
            "Hidden: so few people that the numbers could reveal somebody, or would give such numbers away."
        )
    if any(
        isinstance(row.ratio, Undefined) and not (row.hidden or row.ratio_hidden or row.excluded)
        for row in rows
    ):
        yield t("Undefined: there is nobody in the group, or no rate to divide by.")
