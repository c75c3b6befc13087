"""Rates and impact ratios of the categories, by model."""

from __future__ import annotations

from collections.abc import Sequence

from audit_lib.compare.sections.estimates import in_order
from audit_lib.documents.comparison import ComparedRate, Comparison
from audit_lib.report.blocks import Block, Cell, Column, Paragraph, Row, Section, Table, text
from audit_lib.report.numbers import count, decimal
from audit_lib.results import Undefined
from audit_lib.translation import t


def rates(document: Comparison) -> list[Section]:
    """Make a table for each kind of rate and family of categories, the models below each other."""
    found = [rate for rate in document.rates if tuple(rate.stratum) == document.headline]
    if not found:
        return []
    words = t(
        "The rate of each category over the highest of the same model. The category with the highest rate need not be "
        "the same in two models, so these ratios are set side by side. Models are tested against each other by ratios "
        "over one category, that of the reference."
    )
    blocks: list[Block] = [Paragraph(text(words))]
    kinds = in_order(f"{rate.kind} {rate.family}" for rate in found)
    for kind in kinds:
        own = [rate for rate in found if f"{rate.kind} {rate.family}" == kind]
        title = t("{kind}, {family}", kind=own[0].kind.replace("_", " ").capitalize(), family=own[0].family)
        blocks.append(_table(document, title, own))
    return [Section("rates", t("Impact ratios of categories"), tuple(blocks))]


def _table(document: Comparison, title: str, found: Sequence[ComparedRate]) -> Table:
    labels = in_order(rate.label for rate in found)
    by_place = {(rate.run, rate.label): rate for rate in found}
    rows = tuple(
        Row(run.label, tuple(_cell(by_place.get((place, label))) for label in labels))
        for place, run in enumerate(document.runs)
    )
    columns = (Column(t("Model"), numeric=False), *(Column(label) for label in labels))
    note = t("Below each ratio the rate, and how many were selected of how many.")
    return Table(title, columns, rows, (note,))


def _cell(rate: ComparedRate | None) -> Cell:
    if rate is None:
        return Cell("\N{EN DASH}")
    if isinstance(rate.rate, Undefined):
        return Cell("\N{EN DASH}", note=rate.rate.reason)
    share = t(
        "{rate}: {selected} of {n}",
        rate=f"{rate.rate:.1%}",
        selected="" if rate.selected is None else count(rate.selected),
        n="" if rate.n is None else count(rate.n),
    )
    mark = t("highest") if rate.comparator else t("below the guideline") if rate.below else ""
    return Cell(decimal(rate.ratio), mark=mark, note=share, tone="flag" if rate.below else "plain")
