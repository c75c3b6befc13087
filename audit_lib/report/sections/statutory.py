"""The statutory tables, their chart, and the uncertainty beside each ratio."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from audit_lib.report.blocks import (
    Block,
    Cell,
    Chart,
    Column,
    Fold,
    Heading,
    Paragraph,
    Row,
    Section,
    Table,
    Tone,
    text,
)
from audit_lib.report.charts import Dot, dot_chart
from audit_lib.report.content import Content, RateTable, TableRow
from audit_lib.report.numbers import UNDEFINED, count, guarded, interval, p_value, percent
from audit_lib.report.sections.firmness import agreement, firmness
from audit_lib.results import Undefined


def statutory(content: Content) -> list[Section]:
    """Make the tables of the headline, then those of every further stratum."""
    sections = [
        Section(kind, content.policy.table(kind).title, tuple(_kind(content, kind, content.headline)))
        for kind in ("selection", "scoring")
        if any(table.kind == kind for table in content.headline)
    ]
    folds = []
    for where in dict.fromkeys(table.where for table in content.by_stratum):
        tables = [table for table in content.by_stratum if table.where == where]
        folds.append(Fold(f"Rates: {where}", tuple(_table(content, table) for table in tables)))
    if heterogeneity := agreement(content):
        folds.append(heterogeneity)
    if folds:
        lead = "Pooled tables can hide what happens in one part. Here is each by itself; its rows rest on fewer people."
        sections.append(Section("strata", "Position by position", (Paragraph(text(lead)), *folds)))
    return sections


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _kind(content: Content, kind: str, tables: Iterable[RateTable]) -> Iterable[Block]:
    policy = content.policy
    yield Paragraph(
        text(
            f"{policy.table(kind).rate}: {policy.table(kind).formula}. Impact ratio: a category's rate divided by "
            f"the highest rate in the same table."
        )
    )
    if kind == "scoring":
        yield from _median(content, [t for t in tables if t.kind == kind])
    for where in dict.fromkeys(table.where for table in tables):
        chosen = [table for table in tables if table.kind == kind and table.where == where]
        if len(dict.fromkeys(table.where for table in tables)) > 1:
            yield Heading(_sentence(where))
        if chart := _chart(content, chosen):
            yield chart
        for table in chosen:
            yield _table(content, table)
        yield Fold(
            f"{policy.table(kind).title}: tests and intervals beside each ratio (beyond the text of the law)",
            tuple(_tests(content, table) for table in chosen),
        )
        yield Fold(
            f"{policy.table(kind).title}: how firm each finding is (beyond the text of the law)",
            tuple(firmness(content, table) for table in chosen),
        )
    yield Paragraph(text(policy.guidance.wording))


def _median(content: Content, tables: list[RateTable]) -> Iterable[Block]:
    seen = []
    for table in tables:
        if table.median is None or table.where in seen:
            continue
        seen.append(table.where)
        scored = content.metrics["rows"]["answered"] if not table.stratum else table.total + table.unknown
        ties = table.median_ties or 0
        share = percent(Fraction(ties, scored), content.policy.rounding.rate_percent) if scored else UNDEFINED
        yield Paragraph(
            text(
                f"Median score ({table.where}): {table.median:.6g}. {count(ties)} of {count(scored)} scores "
                f"({share}) equal it and do not count as above it."
            )
        )


def _table(content: Content, table: RateTable) -> Table:
    policy = content.policy
    kind = policy.table(table.kind)
    where = f", {table.where}" if table.stratum else ""
    notes = []
    if any(row.below for row in table.rows):
        notes.append(
            f"* below the {policy.guidance.name} of {policy.guidance.cite}; {policy.short_law} sets no pass mark."
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
    if any(row.small for row in table.rows):
        notes.append("\N{DAGGER} " + policy.cells.wording.format(n=content.spec.measure.small_cell))
    notes += [
        f"{row.label}: the ratio is undefined: {row.ratio.reason}."
        for row in table.rows
        if isinstance(row.ratio, Undefined)
    ]
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
    )


def _row(content: Content, table: RateTable, row: TableRow) -> Row:
    digits, threshold = content.policy.rounding, content.policy.guidance.threshold
    limits = row.rate_estimate["interval"]
    rate_note = (
        _together(" to ".join(percent(Fraction(limits[end]), digits.rate_percent) for end in ("low", "high")))
        if "low" in limits
        else ""
    )
    tone: Tone = "flag" if row.below else "plain"
    comparator = row.label == table.comparator
    ratio = UNDEFINED if isinstance(row.ratio, Undefined) else guarded(row.ratio, digits.ratio, threshold)
    return Row(
        row.label + (" \N{DAGGER}" if row.small else ""),
        (
            Cell(count(row.n)),
            Cell(count(row.selected)),
            Cell(UNDEFINED if isinstance(row.share, Undefined) else percent(row.share, digits.rate_percent)),
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


def _ratio_note(content: Content, row: TableRow) -> str:
    limits = row.estimate["interval"]
    if "low" not in limits:
        return ""
    words = interval(
        limits["low"], limits["high"], content.policy.rounding.ratio, content.policy.guidance.threshold
    )
    return _together(words)


def _together(words: str) -> str:
    return words.replace(" ", "\N{NO-BREAK SPACE}")


def _tests(content: Content, table: RateTable) -> Table:
    alpha, policy = content.spec.measure.alpha, content.policy
    level = f"{content.spec.measure.level:.0%}"
    rows = []
    for row in table.rows:
        found = {test["name"]: test for test in row.estimate["tests"]}
        wide = next((i for i in row.estimate["intervals"] if i["kind"] == "simultaneous"), None)
        fisher = found.get("fisher_exact", {}).get("p_value")
        holm = row.estimate.get("multiplicity", {}).get("holm")
        sd = found.get("two_standard_deviations", {}).get("statistic")
        limits = row.estimate["interval"]
        rows.append(
            Row(
                row.label,
                (
                    Cell(count(row.n)),
                    Cell(_limits(limits, policy.rounding.ratio, policy.guidance.threshold)),
                    Cell(_limits(wide or {}, policy.rounding.ratio, policy.guidance.threshold)),
                    Cell(p_value(fisher, alpha) if isinstance(fisher, float) else "\N{EN DASH}"),
                    Cell(p_value(holm, alpha) if isinstance(holm, float) else "\N{EN DASH}"),
                    Cell(
                        f"{sd:+.2f}".replace("-", "\N{MINUS SIGN}")
                        if isinstance(sd, float)
                        else "\N{EN DASH}"
                    ),
                ),
            )
        )
    return Table(
        f"{policy.table(table.kind).title}, {policy.family(table.family).title.lower()}: uncertainty",
        (
            Column("Category", numeric=False),
            Column("Assessed"),
            Column(f"{level} interval, comparator held fixed"),
            Column(f"{level} interval, comparator picked by the data"),
            Column("Fisher's exact p"),
            Column("p after Holm, whole audit"),
            Column("Standard deviations"),
        ),
        tuple(rows),
        (
            "Koopman's score interval; simultaneous intervals over all pairs of rows. Both, and the tests, take "
            "rows as independent.",
        ),
    )


def _limits(limits: object, digits: int, threshold: Fraction) -> str:
    if not isinstance(limits, dict) or "low" not in limits:
        return "\N{EN DASH}"
    return interval(limits["low"], limits["high"], digits, threshold)


def _chart(content: Content, tables: list[RateTable]) -> Chart | None:
    policy = content.policy
    dots = []
    for table in tables:
        dots.append(Dot(label=policy.family(table.family).title, value=None, printed="", heading=True))
        for row in table.rows:
            name = ", ".join(row.levels.values())  # the label without its qualifier: charts are narrow
            if isinstance(row.ratio, Undefined):
                dots.append(Dot(label=name, value=None, printed=UNDEFINED))
                continue
            limits = row.estimate["interval"]
            high = limits.get("high", None) if "low" in limits else None
            dots.append(
                Dot(
                    label=name,
                    value=float(row.ratio),
                    printed=guarded(row.ratio, policy.rounding.ratio, policy.guidance.threshold),
                    low=limits.get("low"),
                    high=math.inf if "low" in limits and high is None else high,
                    flagged=bool(row.below),
                    hollow=row.label == table.comparator,
                )
            )
    drawn = [dot for dot in dots if not dot.heading]
    if all(dot.value is None for dot in drawn):
        return None
    kind = policy.table(tables[0].kind)
    title = f"Impact ratios of {kind.title.lower()}, {tables[0].where}"
    description = "; ".join(f"{dot.label}: {dot.printed}" for dot in drawn)
    finite = [dot.high for dot in drawn if dot.high is not None and math.isfinite(dot.high)]
    span = (0.0, min(2.0, max([1.2, *finite])))
    guide = (float(policy.guidance.threshold), f"{float(policy.guidance.threshold):g}")
    caption = (
        f"Impact ratios with {content.spec.measure.level:.0%} intervals (comparator held fixed). Open dot: the "
        f"category with the highest rate. "
        f"Dashed: the {policy.guidance.name} of {policy.guidance.cite}, which {policy.short_law} does not set."
    )
    wide, narrow = (
        dot_chart(title, description, dots, span=span, guide=guide, origin=1.0, width=width, names=names)
        for width, names in ((760, 270), (360, 0))
    )
    return Chart(wide, narrow, caption)
