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
from audit_lib.translation import Filled, known, mark, t

_KINDS = ("selection", "scoring")
_STATUS: Final = {"signed": mark("signed"), "not signed": mark("not signed")}
_LEAD: Final = mark(
    "Of each audit's headline tables the impact ratio with the most evidence, as its page led with it. A ratio with "
    "fewer than {few} people in one of its two groups cannot lead. Audits by earlier versions of this program led with "
    "their smallest ratio; where it rested on fewer, it is not shown."
)


def history(content: Content) -> Section:
    """The trend, with a mark at each new version of the tool."""
    earlier = content.earlier
    if not earlier:
        words = t(
            "When this audit was planned there was no earlier one of this tool. Once there is, the impact ratio with "
            "the most evidence in each audit stands here, with a mark at each new version of the tool."
        )
        return Section("trend", t("From audit to audit"), (Paragraph(text(words)),))
    now = {kind: found for kind in _KINDS if (found := headline(content, kind)) is not None}
    few = least(content)
    # Reports of earlier versions led with the smallest ratio, whatever it rested on.
    columns = [
        {kind: found for kind, found in each.items() if min(found.n, found.comparator_n) >= few}
        for each in (*(audit.smallest for audit in earlier), now)
    ]
    names = [audit.end[:10] for audit in earlier] + [f"{content.key.window.end:%Y-%m-%d}"]
    versions = [audit.version for audit in earlier] + [content.tool_version]
    blocks: list[Block] = [Paragraph(text(t(_LEAD, few=few)))]
    series: dict[str, ArrayLike] = {
        t(content.policy.table(kind).title): [float(c[kind].ratio) if kind in c else np.nan for c in columns]
        for kind in _KINDS
        if any(kind in c for c in columns)
    }
    if series:
        guidance = content.policy.guidance
        guide = (float(guidance.threshold), f"{t(guidance.name)} ({float(guidance.threshold):g})")
        wide, narrow = (trend(names, series, versions, guide=guide, width=width) for width in (760, 360))
        caption = [t("Impact ratio with the most evidence, from audit to audit.")]
        if not guidance.own:
            caption.append(
                t(
                    "{law} does not set the {guidance}.",
                    law=t(content.policy.short_law),
                    guidance=t(guidance.name),
                )
            )
        caption.append(t("Categories, counts and comparators differ from audit to audit."))
        blocks.append(Chart(wide, narrow, Filled(" ").join(caption)))
    rows = [
        Row(
            name,
            (
                *(Cell(*_printed(content, c.get(kind))) for kind in _KINDS),
                Cell(_version(version)),
                Cell(t(_STATUS.get(status, status))),
            ),
        )
        for name, c, version, status in zip(
            names, columns, versions, [*(a.status for a in earlier), content.status], strict=True
        )
    ]
    heads = (
        Column(t("Window until"), numeric=False),
        *(
            Column(t("Leading ratio, {table}", table=t(content.policy.table(kind).title).lower()))
            for kind in _KINDS
        ),
        Column(t("Version of the tool"), numeric=False),
        Column(t("Status"), numeric=False),
    )
    blocks.append(Table(t("Leading impact ratios from audit to audit"), heads, tuple(rows)))
    return Section("trend", t("From audit to audit"), tuple(blocks))


def _version(version: str) -> str:
    """Return a version of the tool as the page prints it: the models, and the digest of the prompt if there is one."""
    models, comma, digest = version.rpartition(", prompt ")
    return t("{models}, prompt {digest}", models=models, digest=digest) if comma else version


def _printed(content: Content, found: Smallest | None) -> tuple[str, str, str]:
    """Text, mark and note of a cell."""
    if found is None:
        return t(UNDEFINED), "", ""
    ratio: Fraction = found.ratio
    threshold = content.policy.guidance.threshold
    words = guarded(ratio, content.policy.rounding.ratio, threshold)
    return words, "*" if ratio < threshold else "", known(found.label)


def earlier_audits(content: Content) -> Section:
    """Where the pages of earlier audits are, and the days of those that the spec names."""
    stated = content.spec.use.earlier_audits
    blocks: list[Block] = []
    if stated:
        days = Filled(", ").join(sorted(set(stated)))
        words = t(
            "Bias audits of this tool before this one, as its user states them (not checked here): {days}.",
            days=days,
        )
        blocks.append(Paragraph(text(words)))
    if not content.earlier:
        words = t("There was no earlier audit of this tool in the store when this one was planned.")
        return Section("earlier", t("Earlier audits"), (*blocks, Paragraph(text(words))))
    rows = tuple(
        Row(
            audit.audited,
            (
                Cell(t("{low} to {high}", low=audit.start[:10], high=audit.end[:10])),
                Cell(_version(audit.version)),
                Cell(t(_STATUS.get(audit.status, audit.status))),
            ),
            link=audit.href,
        )
        for audit in reversed(content.earlier)
    )
    columns = tuple(
        Column(c, numeric=False)
        for c in (t("Computed"), t("Window audited"), t("Version of the tool"), t("Status"))
    )
    blocks.append(Table(t("Earlier audits in the store, the latest first"), columns, rows))
    return Section("earlier", t("Earlier audits"), tuple(blocks))
