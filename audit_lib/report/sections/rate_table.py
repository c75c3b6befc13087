"""A statutory table: people, selected or above the median, rate and impact ratio of each category."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from audit_lib.documents.estimates import limits
from audit_lib.report.blocks import Cell, Column, Row, Table, Tone
from audit_lib.report.content import Content, ExactRow, ExactTable
from audit_lib.report.leading import convincing, least, picked
from audit_lib.report.numbers import count, guarded, interval, percent
from audit_lib.report.shared_notes import with_notes_once
from audit_lib.report.suppress import HIDDEN
from audit_lib.report.table_names import category_name, table_name
from audit_lib.results import Undefined
from audit_lib.translation import Filled, archived, t, tp


def rate_tables(content: Content, tables: Iterable[ExactTable]) -> tuple[Table, ...]:
    """Make tables that stand next to each other; how many people are of unknown category is said of each."""
    found = list(tables)
    made = (rate_table(content, table) for table in found)
    return with_notes_once(made, keep={_unknown(content, table) for table in found})


def rate_table(content: Content, table: ExactTable) -> Table:
    """Make the table as the law asks for it, its notes under it."""
    policy = content.policy
    kind = policy.table(table.kind)
    notes = []
    if any(row.below for row in table.rows):
        notes.append(
            t(
                "* below the {guideline} of {cite}; {standing}.",
                guideline=t(policy.guidance.name),
                cite=t(policy.guidance.cite),
                standing=t(policy.guidance.standing),
            )
        )
    # Also where it is 0: section 5-303(a)(1) asks for the number.
    notes.append(_unknown(content, table))
    if table.undersized_rounds:
        notes.append(
            t(
                "{n:,} rounds had no more candidates with a score than places: everybody in them was selected, "
                "whatever the scores.",
                n=table.undersized_rounds,
            )
        )
    if table.tied_rounds:
        notes.append(
            t(
                "In {n:,} rounds the last place was tied and was drawn by lot (seeded).",
                n=table.tied_rounds,
            )
        )
    if any(row.hidden for row in table.rows):
        notes.append(t("Hidden rows: {reason}.", reason=_why(HIDDEN)))
    if any(row.small and row.n and not row.hidden for row in table.rows):
        notes.append("\N{DAGGER} " + t(policy.cells.wording).format(n=content.spec.measure.small_cell))
    if any(picked(row) for row in table.rows):
        notes.append(
            t(
                "Under each ratio: its {level:%} interval, which allows for the comparator being picked by the data.",
                level=content.spec.measure.level,
            )
        )
    if table.larger is not None and table.larger.aside is not None:
        notes.append(_without(content, table.larger, table.larger.aside))
    reasons: dict[str, list[str]] = {}
    for row in table.rows:
        if isinstance(row.ratio, Undefined) and not row.hidden:
            reasons.setdefault(row.ratio.reason, []).append(category_name(row.label))
    for reason, labels in reasons.items():
        notes.append(
            t("No ratio: {reason}: {categories}.", reason=_why(reason), categories=Filled("; ").join(labels))
        )
    return Table(
        Filled(", ").join([table_name(policy, table), *([table.where] if table.stratum else [])]),
        (
            Column(t("Category"), numeric=False),
            Column(t("Assessed"), of="n"),
            Column(t(kind.count), of="selected"),
            Column(t("Share of data"), of="share"),
            Column(t(kind.rate), of="rate"),
            Column(t("Impact ratio"), of="ratio"),
        ),
        tuple(_row(content, table, row) for row in table.rows),
        tuple(notes),
    )


def _unknown(content: Content, table: ExactTable) -> str:
    return t(content.policy.wording["unknown_note"]).format(n=count(table.unknown))


def _why(reason: str) -> str:
    """Return why a number is not there; the heading says already that it is hidden."""
    words = archived(reason)
    return words.partition(": ")[2] if reason.startswith("hidden: ") else words


def _without(content: Content, larger: ExactTable, aside: ExactRow) -> str:
    """Say how the larger categories compare with each other where the highest rate is that of too few people."""
    digits, threshold = content.policy.rounding.ratio, content.policy.guidance.threshold
    found = [
        f"{category_name(row.label)} {guarded(row.ratio, digits, threshold)}"
        + (f" ({note})" if (note := _ratio_note(content, row)) else "")
        for row in larger.rows
        if isinstance(row.ratio, Fraction) and row.label != larger.comparator
    ]
    if not found:
        return t("The highest rate is that of {selected} of {n} people.", selected=aside.selected, n=aside.n)
    return t(
        "The highest rate is that of {selected} of {n} people ({category}). Compared with the highest of the "
        "categories of at least {least} people, {comparator}: {ratios}.",
        selected=aside.selected,
        n=aside.n,
        category=category_name(aside.label),
        least=least(content),
        comparator=category_name(str(larger.comparator)),
        ratios=Filled("; ").join(found),
    )


def _row(content: Content, table: ExactTable, row: ExactRow) -> Row:
    digits, threshold = content.policy.rounding, content.policy.guidance.threshold
    if row.hidden:
        return Row(category_name(row.label), (Cell(t("hidden")),) * 5, "muted")
    ends = limits(row.rate_estimate.interval)
    rate_note = (
        _together(
            t(
                "{low} to {high}",
                low=percent(Fraction(ends.low), digits.rate_percent),
                high=percent(Fraction(ends.high), digits.rate_percent),
            )
        )
        if ends is not None
        else ""
    )
    tone: Tone = "flag" if convincing(content, table, row) else "plain"
    comparator = row.label == table.comparator
    ratio = (
        undefined(row) if isinstance(row.ratio, Undefined) else guarded(row.ratio, digits.ratio, threshold)
    )
    return Row(
        category_name(row.label) + (" \N{DAGGER}" if row.small and row.n else ""),
        (
            Cell(count(row.n)),
            Cell(count(row.selected)),
            Cell(
                tp("of a rate", "undefined")
                if isinstance(row.share, Undefined)
                else percent(row.share, digits.rate_percent, content.policy.exclusion.share)
            ),
            Cell(
                tp("of a rate", "undefined")
                if isinstance(row.rate, Undefined)
                else percent(row.rate, digits.rate_percent),
                note=rate_note,
            ),
            Cell(
                ratio,
                mark="*" if row.below else "",
                note=t("highest rate") if comparator else _ratio_note(content, row),
                tone=tone,
            ),
        ),
        "muted" if row.excluded else "plain",
        archived(row.excluded or ""),
    )


def undefined(row: ExactRow) -> str:
    """Return what stands where a row has no ratio."""
    return tp("of a rate", "hidden") if row.hidden or row.ratio_hidden else tp("of a rate", "undefined")


def _ratio_note(content: Content, row: ExactRow) -> str:
    if (ends := picked(row)) is None:
        return ""
    words = interval(ends.low, ends.high, content.policy.rounding.ratio, content.policy.guidance.threshold)
    return _together(words)


def _together(words: str) -> str:
    return words.replace(" ", "\N{NO-BREAK SPACE}")
