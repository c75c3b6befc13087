"""A statutory table: people, selected or above the median, rate and impact ratio of each category."""

from __future__ import annotations

from fractions import Fraction

from audit_lib.documents.estimates import limits
from audit_lib.report.blocks import Cell, Column, Row, Table, Tone
from audit_lib.report.content import Content, ExactRow, ExactTable
from audit_lib.report.leading import convincing, least, picked
from audit_lib.report.numbers import UNDEFINED, count, guarded, interval, percent
from audit_lib.report.suppress import HIDDEN
from audit_lib.results import Undefined


def rate_table(content: Content, table: ExactTable) -> Table:
    """Make the table as the law asks for it, its notes under it."""
    policy = content.policy
    kind = policy.table(table.kind)
    where = f", {table.where}" if table.stratum else ""
    notes = []
    if any(row.below for row in table.rows):
        notes.append(
            f"* below the {policy.guidance.name} of {policy.guidance.cite}; {policy.guidance.standing}."
        )
    # Also where it is 0: section 5-303(a)(1) asks for the number.
    notes.append(policy.wording["unknown_note"].format(n=count(table.unknown)))
    if table.undersized_rounds:
        notes.append(
            f"{count(table.undersized_rounds)} rounds had no more candidates with a score than places: everybody "
            "in them was selected, whatever the scores."
        )
    if table.tied_rounds:
        notes.append(
            f"In {count(table.tied_rounds)} rounds the last place was tied and was drawn by lot (seeded)."
        )
    if any(row.hidden for row in table.rows):
        notes.append(f"Hidden rows: {HIDDEN.removeprefix('hidden: ')}.")
    if any(row.small and row.n and not row.hidden for row in table.rows):
        notes.append("\N{DAGGER} " + policy.cells.wording.format(n=content.spec.measure.small_cell))
    if any(picked(row) for row in table.rows):
        notes.append(
            f"Under each ratio: its {content.spec.measure.level:.0%} interval, which allows for the comparator being "
            "picked by the data."
        )
    if table.larger is not None and table.larger.aside is not None:
        notes.append(_without(content, table.larger, table.larger.aside))
    reasons: dict[str, list[str]] = {}
    for row in table.rows:
        if isinstance(row.ratio, Undefined) and not row.hidden:
            reasons.setdefault(row.ratio.reason, []).append(row.label)
    for reason, labels in reasons.items():
        notes.append(f"No ratio: {reason.removeprefix('hidden: ')}: {'; '.join(labels)}.")
    return Table(
        f"{kind.title}, {policy.family(table.family).title.lower()}{where}",
        (
            Column("Category", numeric=False),
            Column("Assessed"),
            Column(kind.count),
            Column("Share of data"),
            Column(kind.rate),
            Column("Impact ratio"),
        ),
        tuple(_row(content, table, row) for row in table.rows),
        tuple(notes),
        stacked=True,
    )


def _without(content: Content, larger: ExactTable, aside: ExactRow) -> str:
    """Say how the larger categories compare with each other where the highest rate is that of too few people."""
    digits, threshold = content.policy.rounding.ratio, content.policy.guidance.threshold
    found = [
        f"{row.label} {guarded(row.ratio, digits, threshold)}"
        + (f" ({note})" if (note := _ratio_note(content, row)) else "")
        for row in larger.rows
        if isinstance(row.ratio, Fraction) and row.label != larger.comparator
    ]
    if not found:
        return f"The highest rate is that of {aside.selected} of {aside.n} people."
    return (
        f"The highest rate is that of {aside.selected} of {aside.n} people ({aside.label}). Compared with the highest "
        f"of the categories of at least {least(content)} people, {larger.comparator}: {'; '.join(found)}."
    )


def _row(content: Content, table: ExactTable, row: ExactRow) -> Row:
    digits, threshold = content.policy.rounding, content.policy.guidance.threshold
    if row.hidden:
        return Row(row.label, (Cell("hidden"),) * 5, "muted")
    ends = limits(row.rate_estimate.interval)
    rate_note = (
        _together(" to ".join(percent(Fraction(end), digits.rate_percent) for end in (ends.low, ends.high)))
        if ends is not None
        else ""
    )
    tone: Tone = "flag" if convincing(content, table, row) else "plain"
    comparator = row.label == table.comparator
    ratio = (
        undefined(row) if isinstance(row.ratio, Undefined) else guarded(row.ratio, digits.ratio, threshold)
    )
    return Row(
        row.label + (" \N{DAGGER}" if row.small and row.n else ""),
        (
            Cell(count(row.n)),
            Cell(count(row.selected)),
            Cell(
                UNDEFINED
                if isinstance(row.share, Undefined)
                else percent(row.share, digits.rate_percent, content.policy.exclusion.share)
            ),
            Cell(
                UNDEFINED if isinstance(row.rate, Undefined) else percent(row.rate, digits.rate_percent),
                note=rate_note,
            ),
            Cell(
                ratio,
                mark="*" if row.below else "",
                note="highest rate" if comparator else _ratio_note(content, row),
                tone=tone,
            ),
        ),
        "muted" if row.excluded else "plain",
        row.excluded or "",
    )


def undefined(row: ExactRow) -> str:
    """Return what stands where a row has no ratio."""
    return "hidden" if row.hidden or row.ratio_hidden else UNDEFINED


def _ratio_note(content: Content, row: ExactRow) -> str:
    if (ends := picked(row)) is None:
        return ""
    words = interval(ends.low, ends.high, content.policy.rounding.ratio, content.policy.guidance.threshold)
    return _together(words)


def _together(words: str) -> str:
    return words.replace(" ", "\N{NO-BREAK SPACE}")
