"""The statutory tables, their chart, and the uncertainty beside each ratio."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from audit_lib.figures.drawing import short
from audit_lib.measure.rows.split_columns import CLASSIFICATION
from audit_lib.report.blocks import (
    Block,
    Cell,
    Column,
    Fold,
    Heading,
    Paragraph,
    Row,
    Section,
    Table,
    filled,
    link,
    text,
)
from audit_lib.report.content import Content, ExactTable, in_words
from audit_lib.report.exact_tables import WHOLE, Tally, tally
from audit_lib.report.leading import convincing, leading, least
from audit_lib.report.numbers import count, guarded, percent
from audit_lib.report.sections.adverse import adverse
from audit_lib.report.sections.metric_estimates import MOST_STRATA
from audit_lib.report.sections.rate_charts import rates_chart, ratios_chart
from audit_lib.report.sections.rate_table import rate_tables
from audit_lib.report.sections.uncertainty import uncertainty_table
from audit_lib.report.sections.what_could_change import agreement, one_other_decision
from audit_lib.report.shared_notes import with_notes_once
from audit_lib.report.table_names import category_name, kind_name
from audit_lib.translation import Filled, t, tp


def statutory(content: Content) -> list[Section]:
    """Make the tables of the headline."""
    return [
        Section(
            kind,
            kind_name(content.policy, kind),
            (*_unweighted(content), *_kind(content, kind, content.headline)),
        )
        for kind in ("selection", "scoring")
        if any(table.kind == kind for table in content.headline)
    ]


def _unweighted(content: Content) -> Iterable[Block]:
    if content.spec.measure.weights is not None:
        words = t(
            "These tables count the people of the sample. The sampling weights of this audit are in none of their "
            "numbers: the ratio is one of counts, and the weighted rates and ratios are with the decision rate gap."
        )
        yield Paragraph(text(words))


def strata(content: Content) -> Section | None:
    """Make the tables of every further stratum; beyond a bound, those whose ratios have the most evidence."""
    wheres = list(dict.fromkeys(table.where for table in content.by_stratum))
    by_place: dict[str, list[ExactTable]] = {where: [] for where in wheres}
    for table in content.by_stratum:
        by_place[table.where].append(table)
    blocks: list[Block] = []
    if len(wheres) > 1:
        blocks.append(_overview(content, by_place))
    first = {where: leading(content, tables).rank for where, tables in by_place.items()}
    chosen = set(sorted(wheres, key=lambda where: first[where])[:MOST_STRATA])
    blocks += [
        Fold(t("Rates: {where}", where=where), rate_tables(content, by_place[where]))
        for where in wheres
        if where in chosen
    ]
    if len(wheres) > MOST_STRATA:
        blocks.append(
            Paragraph(
                filled(
                    t(
                        "Printed in full: the {few} of {n:,} whose impact ratios have the most evidence. The tables "
                        "of all of them are in {file}, beside this page.",
                        few=MOST_STRATA,
                        n=len(wheres),
                        file="{file}",
                    ),
                    file=link("tables.csv", "tables.csv"),
                )
            )
        )
    blocks += _same_people(content)
    if heterogeneity := agreement(content):
        blocks.append(heterogeneity)
    if not blocks:
        return None
    title = t("Position by position")
    lead = [
        t("Pooled tables can hide what happens in one part."),
        t("Here is each by itself; its rows rest on fewer people."),
    ]
    if any(CLASSIFICATION in table.stratum for table in content.by_stratum):
        title = t("Class by class, and position by position")
        cite = next(
            (f.cite for f in content.policy.required_fields if f.check == "classification_tables"), ""
        )
        lead.append(
            t("The groups into which the tool puts people are asked for one by one ({cite}).", cite=t(cite))
            if cite
            else t("The groups into which the tool puts people are asked for one by one.")
        )
    return Section("strata", title, (Paragraph(text(Filled(" ").join(lead))), *blocks))


def _same_people(content: Content) -> list[Block]:
    """Name the strata whose tables are those of another one."""
    same = content.metrics.strata_identical
    if not same:
        return []
    listed: str = Filled("; ").join(
        t(
            "{stratum} (the same people as {other})",
            stratum=in_words(entry.stratum),
            other=in_words(entry.same_as) or t(WHOLE),
        )
        for entry in same[:MOST_STRATA]
    )
    if len(same) > MOST_STRATA:
        listed = t("{listed}; and {n:,} more", listed=listed, n=len(same) - MOST_STRATA)
    words = t(
        "Their tables are those of another stratum, and are not printed twice: {strata}. The rows of all of them are "
        "in {file}, beside this page.",
        strata=listed,
        file="{file}",
    )
    return [Paragraph(filled(words, file=link("tables.csv", "tables.csv")))]


def _overview(content: Content, by_place: Mapping[str, list[ExactTable]]) -> Table:
    """One line a stratum: how many people, and the ratio with the most evidence in it."""
    digits, threshold = content.policy.rounding.ratio, content.policy.guidance.threshold
    rows = []
    for where, tables in by_place.items():
        best, found = leading(content, tables).best, tally(tables)
        if best is None:
            cells = [Cell(t("too few to tell") if found.compared else tp("of a rate", "undefined")), Cell("")]
        else:
            table, row, ratio = best
            cells = [
                Cell(
                    guarded(ratio, digits, threshold),
                    mark="*" if row.below else "",
                    tone="flag" if convincing(content, table, row) else "plain",
                ),
                Cell(
                    t(
                        "{category}, {table}: {selected} of {n}",
                        category=category_name(row.label),
                        table=kind_name(content.policy, table.kind).lower(),
                        selected=row.selected,
                        n=row.n,
                    )
                ),
            ]
        people = max(table.total + table.unknown for table in tables)
        rows.append(Row(where, (Cell(count(people)), *cells, Cell(_below(found)))))
    columns = (
        Column(t("Stratum"), numeric=False),
        Column(t("Most assessed in a table")),
        Column(t("Ratio with the most evidence (* if below)")),
        Column(t("Where it is"), numeric=False),
        Column(t("Ratios below the guideline")),
    )
    notes = (
        t("Comparators, whose ratio is 1, are not counted."),
        t(
            "A ratio with fewer than {least} people in one of its two groups is counted, and does not lead.",
            least=least(content),
        ),
    )
    return Table(t("Leading ratio by stratum"), columns, tuple(rows), notes)


def _below(found: Tally) -> str:
    if found.hidden:
        return t(
            "{below:,} of {compared:,}, {hidden:,} hidden",
            below=found.below,
            compared=found.compared,
            hidden=found.hidden,
        )
    return t("{below:,} of {compared:,}", below=found.below, compared=found.compared)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _kind(content: Content, kind: str, tables: Iterable[ExactTable]) -> Iterable[Block]:
    policy = content.policy
    yield Paragraph(
        text(
            t(
                "{rate}: {formula}. Impact ratio: a category's rate divided by the highest rate in the same table.",
                rate=t(policy.table(kind).rate),
                formula=t(policy.table(kind).formula),
            )
        )
    )
    if kind == "scoring":
        yield from _median(content, [t for t in tables if t.kind == kind])
    for where in dict.fromkeys(table.where for table in tables):
        chosen = [table for table in tables if table.kind == kind and table.where == where]
        if len(dict.fromkeys(table.where for table in tables)) > 1:
            yield Heading(_sentence(where))
        # Before the tables of adverse impact, which some packs have: the law's own come first.
        yield from rate_tables(content, chosen)
        for table in chosen:
            if verdicts := adverse(content, table):
                yield verdicts
        if chart := ratios_chart(content, chosen):
            yield chart
        if chart := rates_chart(content, chosen):
            yield Fold(t("{table}: chart", table=kind_name(policy, kind)), (chart,))
        yield Fold(
            t(
                "{table}: tests and intervals beside each ratio (beyond the text of the law)",
                table=kind_name(policy, kind),
            ),
            with_notes_once(uncertainty_table(content, table) for table in chosen),
        )
        yield Fold(
            t(
                "{table}: how firm each finding is (beyond the text of the law)",
                table=kind_name(policy, kind),
            ),
            with_notes_once(one_other_decision(content, table) for table in chosen),
        )
    yield Paragraph(text(t(policy.guidance.wording)))


def _median(content: Content, tables: list[ExactTable]) -> Iterable[Block]:
    seen = []
    for table in tables:
        if table.median is None or table.where in seen:
            continue
        seen.append(table.where)
        scored = content.metrics.rows.answered if not table.stratum else table.total + table.unknown
        ties = table.median_ties or 0
        share = (
            percent(Fraction(ties, scored), content.policy.rounding.rate_percent)
            if scored
            else tp("of a rate", "undefined")
        )
        yield Paragraph(
            text(
                t(
                    "Median score ({where}): {median}. {ties:,} of {scored:,} scores ({share}) equal it and do not "
                    "count as above it.",
                    where=table.where,
                    median=short(table.median),
                    ties=ties,
                    scored=scored,
                    share=share,
                )
            )
        )
