"""Charts of a statutory table: the impact ratios, and the rates themselves, with intervals."""

from __future__ import annotations

import math

from audit_lib.documents.estimates import limits
from audit_lib.figures import Dot, dot_chart
from audit_lib.report.blocks import Chart
from audit_lib.report.content import Content, ExactTable
from audit_lib.report.leading import convincing, least, picked
from audit_lib.report.numbers import guarded, percent
from audit_lib.report.sections.rate_table import undefined
from audit_lib.report.table_names import category_name, family_name, kind_name
from audit_lib.results import Undefined
from audit_lib.translation import Filled, mark, t


def rates_chart(content: Content, tables: list[ExactTable]) -> Chart | None:
    """The rates themselves, with their intervals: a ratio does not say how high they are."""
    policy = content.policy
    dots = []
    for table in tables:
        dots.append(Dot(label=family_name(policy, table.family), value=None, printed="", heading=True))
        for row in (row for row in table.rows if row.n or row.hidden):
            name = category_name(", ".join(row.levels.values()))
            if isinstance(row.rate, Undefined):
                dots.append(Dot(label=name, value=None, printed=undefined(row)))
                continue
            ends = limits(row.rate_estimate.interval)
            dots.append(
                Dot(
                    label=name,
                    value=100 * float(row.rate),
                    printed=percent(row.rate, policy.rounding.rate_percent),
                    low=None if ends is None else 100 * ends.low,
                    high=None if ends is None else 100 * ends.high,
                )
            )
    drawn = [dot for dot in dots if not dot.heading]
    if all(dot.value is None for dot in drawn):
        return None
    kind = kind_name(policy, tables[0].kind)
    description = "; ".join(f"{dot.label}: {dot.printed}" for dot in drawn)
    wide, narrow = (
        dot_chart(
            t("{table}, {where}, in percent", table=kind, where=tables[0].where),
            description,
            dots,
            span=(0.0, 100.0),
            width=width,
            names=names,
        )
        for width, names in ((760, 270), (360, 0))
    )
    caption = t("{table} in percent, with {level:%} intervals.", table=kind, level=content.spec.measure.level)
    return Chart(wide, narrow, caption)


def ratios_chart(content: Content, tables: list[ExactTable]) -> Chart | None:
    """Draw the impact ratios, with the guide line of the policy."""
    policy = content.policy
    dots = []
    for table in tables:
        dots.append(Dot(label=family_name(policy, table.family), value=None, printed="", heading=True))
        for row in (row for row in table.rows if row.n or row.hidden):
            name = category_name(
                ", ".join(row.levels.values())
            )  # the label without its qualifier: charts are narrow
            if isinstance(row.ratio, Undefined):
                dots.append(Dot(label=name, value=None, printed=undefined(row)))
                continue
            comparator = row.label == table.comparator
            ends = None if comparator else picked(row)
            dots.append(
                Dot(
                    label=name,
                    value=float(row.ratio),
                    printed=guarded(row.ratio, policy.rounding.ratio, policy.guidance.threshold),
                    low=None if ends is None else ends.low,
                    high=None if ends is None else ends.high,
                    flagged=convincing(content, table, row),
                    hollow=comparator,
                )
            )
    drawn = [dot for dot in dots if not dot.heading]
    if all(dot.value is None for dot in drawn):
        return None
    kind = kind_name(policy, tables[0].kind)
    title = t("Impact ratios of {table}, {where}", table=kind.lower(), where=tables[0].where)
    description = "; ".join(f"{dot.label}: {dot.printed}" for dot in drawn)
    finite = [dot.high for dot in drawn if dot.high is not None and math.isfinite(dot.high)]
    span = (0.0, min(2.0, max([1.2, *finite])))
    guide = (float(policy.guidance.threshold), f"{float(policy.guidance.threshold):g}")
    intervals = t(
        "Impact ratios with {level:%} intervals (comparator picked by the data). Open dot: the category with the "
        "highest rate. Red: below the guideline and a difference by its verdict, on {least} people or more in both "
        "groups.",
        level=content.spec.measure.level,
        least=least(content),
    )
    dashed = t(
        mark("Dashed: the {guideline} of {cite}.")
        if policy.guidance.own
        else mark("Dashed: the {guideline} of {cite}, which {law} does not set."),
        guideline=t(policy.guidance.name),
        cite=t(policy.guidance.cite),
        law=t(policy.short_law),
    )
    caption = Filled(" ").join((intervals, dashed))
    wide, narrow = (
        dot_chart(title, description, dots, span=span, guide=guide, origin=1.0, width=width, names=names)
        for width, names in ((760, 270), (360, 0))
    )
    return Chart(wide, narrow, caption)
