"""The statutory tables, their chart, and the uncertainty beside each ratio."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from audit_lib.measure.further import CLASSIFICATION
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
    link,
    text,
)
from audit_lib.report.charts import Dot, dot_chart
from audit_lib.report.charts.drawing import short
from audit_lib.report.content import Content, RateTable, TableRow, in_words
from audit_lib.report.numbers import UNDEFINED, count, guarded, interval, p_value, percent
from audit_lib.report.rate_table import WHOLE, Tally, tally
from audit_lib.report.sections.adverse import adverse
from audit_lib.report.sections.beyond import MOST_STRATA
from audit_lib.report.sections.firmness import agreement, firmness, number_of
from audit_lib.report.suppress import HIDDEN
from audit_lib.results import Undefined


def statutory(content: Content) -> list[Section]:
    """Make the tables of the headline."""
    return [
        Section(kind, content.policy.table(kind).title, tuple(_kind(content, kind, content.headline)))
        for kind in ("selection", "scoring")
        if any(table.kind == kind for table in content.headline)
    ]


def strata(content: Content) -> Section | None:
    """Make the tables of every further stratum; beyond a bound, those with the smallest ratios."""
    wheres = list(dict.fromkeys(table.where for table in content.by_stratum))
    by_place: dict[str, list[RateTable]] = {where: [] for where in wheres}
    for table in content.by_stratum:
        by_place[table.where].append(table)
    blocks: list[Block] = []
    if len(wheres) > 1:
        blocks.append(_overview(content, by_place))
    smallest = {where: _smallest(tables) for where, tables in by_place.items()}
    chosen = set(sorted(wheres, key=lambda w: smallest[w][0])[:MOST_STRATA])
    blocks += [
        Fold(f"Rates: {where}", tuple(_table(content, table) for table in by_place[where]))
        for where in wheres
        if where in chosen
    ]
    if len(wheres) > MOST_STRATA:
        blocks.append(
            Paragraph(
                text(
                    f"Printed in full: the {MOST_STRATA} of {count(len(wheres))} with the smallest impact ratio. The "
                    "tables of all of them are in ",
                    link("tables.csv", "tables.csv"),
                    ", beside this page.",
                )
            )
        )
    blocks += _same_people(content)
    if heterogeneity := agreement(content):
        blocks.append(heterogeneity)
    if not blocks:
        return None
    lead = "Pooled tables can hide what happens in one part. Here is each by itself; its rows rest on fewer people."
    title = "Position by position"
    if any(CLASSIFICATION in table.stratum for table in content.by_stratum):
        title = "Class by class, and position by position"
        cite = next(
            (f.cite for f in content.policy.required_fields if f.check == "classification_tables"), ""
        )
        lead += " The groups into which the tool puts people are asked for one by one" + (
            f" ({cite})." if cite else "."
        )
    return Section("strata", title, (Paragraph(text(lead)), *blocks))


def _same_people(content: Content) -> list[Block]:
    """Name the strata whose tables are those of another one."""
    same = content.metrics.get("strata_identical", [])
    if not same:
        return []
    names = "; ".join(
        f"{in_words(entry['stratum'])} (the same people as {in_words(entry['same_as']) or WHOLE})"
        for entry in same[:MOST_STRATA]
    )
    more = f"; and {count(len(same) - MOST_STRATA)} more" if len(same) > MOST_STRATA else ""
    lead = (
        f"Their tables are those of another stratum, and are not printed twice: {names}{more}. The rows of "
    )
    return [
        Paragraph(text(lead, "all of them are in ", link("tables.csv", "tables.csv"), ", beside this page."))
    ]


def _smallest(tables: list[RateTable]) -> tuple[Fraction, RateTable | None, TableRow | None]:
    found = [
        (row.ratio, number, table, row)
        for number, (table, row) in enumerate((t, r) for t in tables for r in t.rows)
        if isinstance(row.ratio, Fraction)
    ]
    if not found:
        return Fraction(2), None, None
    ratio, _, table, row = min(found, key=lambda entry: entry[:2])
    return ratio, table, row


def _overview(content: Content, by_place: Mapping[str, list[RateTable]]) -> Table:
    """One line a stratum: how many people, and its smallest ratio."""
    digits, threshold = content.policy.rounding.ratio, content.policy.guidance.threshold
    rows = []
    for where, tables in by_place.items():
        ratio, table, row = _smallest(tables)
        found = tally(tables)
        if table is None or row is None:
            cells = [Cell(UNDEFINED), Cell("")]
        else:
            cells = [
                Cell(
                    guarded(ratio, digits, threshold),
                    mark="*" if row.below else "",
                    tone="flag" if row.below else "plain",
                ),
                Cell(
                    f"{row.label}, {content.policy.table(table.kind).title.lower()}: {row.selected} of {row.n}"
                ),
            ]
        people = max(table.total + table.unknown for table in tables)
        rows.append(Row(where, (Cell(count(people)), *cells, Cell(_below(found)))))
    columns = (
        Column("Stratum", numeric=False),
        Column("Most assessed in a table"),
        Column("Smallest ratio (* if below)"),
        Column("Where it is", numeric=False),
        Column("Ratios below the guideline"),
    )
    notes = ("Comparators, whose ratio is 1, are not counted.",)
    return Table("Smallest ratio by stratum", columns, tuple(rows), notes)


def _below(found: Tally) -> str:
    hidden = f", {count(found.hidden)} hidden" if found.hidden else ""
    return f"{count(found.below)} of {count(found.compared)}{hidden}"


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
        if chart := _rates_chart(content, chosen):
            yield chart
        for table in chosen:
            yield _table(content, table)
            if verdicts := adverse(content, table):
                yield verdicts
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
                f"Median score ({table.where}): {short(table.median)}. {count(ties)} of {count(scored)} scores "
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
    )


def _row(content: Content, table: RateTable, row: TableRow) -> Row:
    digits, threshold = content.policy.rounding, content.policy.guidance.threshold
    if row.hidden:
        return Row(row.label, (Cell("hidden"),) * 5, "muted")
    limits = row.rate_estimate["interval"]
    rate_note = (
        _together(" to ".join(percent(Fraction(limits[end]), digits.rate_percent) for end in ("low", "high")))
        if "low" in limits
        else ""
    )
    tone: Tone = "flag" if row.below else "plain"
    comparator = row.label == table.comparator
    ratio = (
        _undefined(row) if isinstance(row.ratio, Undefined) else guarded(row.ratio, digits.ratio, threshold)
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


def _undefined(row: TableRow) -> str:
    return "hidden" if row.hidden or row.ratio_hidden else UNDEFINED


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
    exact = all(t["name"] == "fisher_exact" for row in table.rows for t in row.estimate["tests"][:1])
    rows = []
    for row in table.rows:
        found = {test["name"]: test for test in row.estimate["tests"]}
        wide = next((i for i in row.estimate["intervals"] if i["kind"] == "simultaneous"), None)
        first: Mapping[str, Any] = next(iter(row.estimate["tests"]), {})
        fisher = first.get("p_value")
        holm = row.estimate.get("multiplicity", {}).get("holm")
        sd = found.get("two_standard_deviations", {}).get("statistic")
        limits = row.estimate["interval"]
        rows.append(
            Row(
                row.label,
                (
                    Cell(number_of(row)),
                    Cell(_limits(limits, policy.rounding.ratio, policy.guidance.threshold)),
                    Cell(_limits(wide or {}, policy.rounding.ratio, policy.guidance.threshold)),
                    Cell(p_value(fisher, alpha) if isinstance(fisher, float) else "\N{EN DASH}"),
                    Cell(p_value(holm, alpha) if isinstance(holm, float) else "\N{EN DASH}"),
                    Cell(
                        f"{sd:+.2f}".replace("-", "\N{MINUS SIGN}")
                        if isinstance(sd, float)
                        else "\N{EN DASH}"
                    ),
                    Cell(_verdicts(content, row, fisher)),
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
            Column("Exact p" if exact else "p"),
            Column("p after Holm, whole audit"),
            Column("Standard deviations"),
            Column("Both verdicts", numeric=False),
        ),
        tuple(rows),
        _methods(table),
    )


def _methods(table: RateTable) -> tuple[str, ...]:
    """How the intervals and tests of a table were made, in the measure stage's own words."""
    parts = {"Intervals": [], "Tests": [], "Ratios": []}  # type: dict[str, list[str]]
    for row in table.rows:
        limits = (row.estimate["interval"], *row.estimate["intervals"])
        parts["Intervals"] += [i["method"] for i in limits if "method" in i]
        parts["Tests"] += [t["method"] for t in row.estimate["tests"]]
        parts["Ratios"] += [row.estimate["method"]] if "method" in row.estimate else []
    return tuple(f"{what}: {'; '.join(dict.fromkeys(said))}." for what, said in parts.items() if said)


def _verdicts(content: Content, row: TableRow, p: object) -> str:
    """The guideline's verdict and the test's, which often disagree."""
    if row.below is None or not isinstance(p, float):
        return "\N{EN DASH}"
    side = "below" if row.below else "not below"
    found = "significant" if p < content.spec.measure.alpha else "not significant"
    return f"{side} {float(content.policy.guidance.threshold):g}; {found}"


def _rates_chart(content: Content, tables: list[RateTable]) -> Chart | None:
    """The rates themselves, with their intervals: a ratio does not say how high they are."""
    policy = content.policy
    dots = []
    for table in tables:
        dots.append(Dot(label=policy.family(table.family).title, value=None, printed="", heading=True))
        for row in (row for row in table.rows if row.n or row.hidden):
            name = ", ".join(row.levels.values())
            if isinstance(row.rate, Undefined):
                dots.append(Dot(label=name, value=None, printed=_undefined(row)))
                continue
            limits = row.rate_estimate["interval"]
            dots.append(
                Dot(
                    label=name,
                    value=100 * float(row.rate),
                    printed=percent(row.rate, policy.rounding.rate_percent),
                    low=100 * limits["low"] if "low" in limits else None,
                    high=100 * limits["high"] if "high" in limits else None,
                )
            )
    drawn = [dot for dot in dots if not dot.heading]
    if all(dot.value is None for dot in drawn):
        return None
    kind = policy.table(tables[0].kind)
    description = "; ".join(f"{dot.label}: {dot.printed}" for dot in drawn)
    wide, narrow = (
        dot_chart(
            f"{kind.title}, {tables[0].where}, in percent",
            description,
            dots,
            span=(0.0, 100.0),
            width=width,
            names=names,
        )
        for width, names in ((760, 270), (360, 0))
    )
    return Chart(wide, narrow, f"{kind.title} in percent, with {content.spec.measure.level:.0%} intervals.")


def _limits(limits: object, digits: int, threshold: Fraction) -> str:
    if not isinstance(limits, dict) or "low" not in limits:
        return "\N{EN DASH}"
    return interval(limits["low"], limits["high"], digits, threshold)


def _chart(content: Content, tables: list[RateTable]) -> Chart | None:
    policy = content.policy
    dots = []
    for table in tables:
        dots.append(Dot(label=policy.family(table.family).title, value=None, printed="", heading=True))
        for row in (row for row in table.rows if row.n or row.hidden):
            name = ", ".join(row.levels.values())  # the label without its qualifier: charts are narrow
            if isinstance(row.ratio, Undefined):
                dots.append(Dot(label=name, value=None, printed=_undefined(row)))
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
        f"Dashed: the {policy.guidance.name} of {policy.guidance.cite}"
        + ("." if policy.guidance.own else f", which {policy.short_law} does not set.")
    )
    wide, narrow = (
        dot_chart(title, description, dots, span=span, guide=guide, origin=1.0, width=width, names=names)
        for width, names in ((760, 270), (360, 0))
    )
    return Chart(wide, narrow, caption)
