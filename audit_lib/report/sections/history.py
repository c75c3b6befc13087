"""What came before: the trend over earlier audits of the tool, and where their pages are."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from audit_lib.documents.earlier import Smallest
from audit_lib.figures import trend
from audit_lib.report.blocks import Block, Cell, Chart, Column, Paragraph, Row, Section, Table, text
from audit_lib.report.content import Content
from audit_lib.report.leading import headline, least
from audit_lib.report.numbers import UNDEFINED, guarded

_KINDS = ("selection", "scoring")
_LEAD: Final = (
    "Of each audit's headline tables the impact ratio with the most evidence, as its page led with it. A ratio with "
    "fewer than {few} people in one of its two groups cannot lead. Audits by earlier versions of this program led with "
    "their smallest ratio; where it rested on fewer, it is not shown."
)


def history(content: Content) -> Section:
    """The trend, with a mark at each new version of the tool."""
    earlier = content.earlier
    if not earlier:
        words = (
            "When this audit was planned there was no earlier one of this tool. Once there is, the impact ratio with "
            "the most evidence in each audit stands here, with a mark at each new version of the tool."
        )
        return Section("trend", "From audit to audit", (Paragraph(text(words)),))
    now = {kind: found for kind in _KINDS if (found := headline(content, kind)) is not None}
    few = least(content)
    # Reports of earlier versions led with the smallest ratio, whatever it rested on.
    columns = [
        {kind: found for kind, found in each.items() if min(found.n, found.comparator_n) >= few}
        for each in (*(audit.smallest for audit in earlier), now)
    ]
    names = [audit.end[:10] for audit in earlier] + [f"{content.key.window.end:%Y-%m-%d}"]
    versions = [audit.version for audit in earlier] + [content.tool_version]
    blocks: list[Block] = [Paragraph(text(_LEAD.format(few=few)))]
    series: dict[str, ArrayLike] = {
        content.policy.table(kind).title: [float(c[kind].ratio) if kind in c else np.nan for c in columns]
        for kind in _KINDS
        if any(kind in c for c in columns)
    }
    if series:
        guidance = content.policy.guidance
        guide = (float(guidance.threshold), f"{guidance.name} ({float(guidance.threshold):g})")
        wide, narrow = (trend(names, series, versions, guide=guide, width=width) for width in (760, 360))
        blocks.append(
            Chart(
                wide,
                narrow,
                "Impact ratio with the most evidence, from audit to audit. "
                + ("" if guidance.own else f"{content.policy.short_law} does not set the {guidance.name}. ")
                + "Categories, counts and comparators differ from audit to audit.",
            )
        )
    rows = [
        Row(
            name,
            (*(Cell(*_printed(content, c.get(kind))) for kind in _KINDS), Cell(version), Cell(status)),
        )
        for name, c, version, status in zip(
            names, columns, versions, [*(a.status for a in earlier), content.status], strict=True
        )
    ]
    heads = (
        Column("Window until", numeric=False),
        *(Column(f"Leading ratio, {content.policy.table(kind).title.lower()}") for kind in _KINDS),
        Column("Version of the tool", numeric=False),
        Column("Status", numeric=False),
    )
    blocks.append(Table("Leading impact ratios from audit to audit", heads, tuple(rows)))
    return Section("trend", "From audit to audit", tuple(blocks))


def _printed(content: Content, found: Smallest | None) -> tuple[str, str, str]:
    """Text, mark and note of a cell."""
    if found is None:
        return UNDEFINED, "", ""
    ratio: Fraction = found.ratio
    threshold = content.policy.guidance.threshold
    words = guarded(ratio, content.policy.rounding.ratio, threshold)
    return words, "*" if ratio < threshold else "", found.label


def earlier_audits(content: Content) -> Section:
    """Where the pages of earlier audits are, and the days of those that the spec names."""
    stated = content.spec.use.earlier_audits
    blocks: list[Block] = []
    if stated:
        days = ", ".join(sorted(set(stated)))
        words = (
            f"Bias audits of this tool before this one, as its user states them (not checked here): {days}."
        )
        blocks.append(Paragraph(text(words)))
    if not content.earlier:
        words = "There was no earlier audit of this tool in the store when this one was planned."
        return Section("earlier", "Earlier audits", (*blocks, Paragraph(text(words))))
    rows = tuple(
        Row(
            audit.audited,
            (Cell(f"{audit.start[:10]} to {audit.end[:10]}"), Cell(audit.version), Cell(audit.status)),
            link=audit.href,
        )
        for audit in reversed(content.earlier)
    )
    columns = tuple(
        Column(c, numeric=False) for c in ("Computed", "Window audited", "Version of the tool", "Status")
    )
    blocks.append(Table("Earlier audits in the store, the latest first", columns, rows))
    return Section("earlier", "Earlier audits", tuple(blocks))
