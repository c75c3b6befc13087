"""Which metrics the use asks for, and which of them this audit has: `audit recommend` as part of the page."""

from __future__ import annotations

from typing import Final

from audit_lib.framework import JudgedFamily, load_framework, recommend_for
from audit_lib.report.blocks import (
    Block,
    Bullets,
    Cell,
    Column,
    Facts,
    Fold,
    Heading,
    Paragraph,
    Row,
    Section,
    Table,
    Text,
    code,
    filled,
    text,
)
from audit_lib.report.content import Content
from audit_lib.translation import Filled, mark, t

_VERDICTS: Final = {
    "applies": mark("applies"),
    "does not apply": mark("does not apply"),
    "unanswered": mark("unanswered"),
}
_OPTIONS: Final = {
    "generation": mark("generation"),
    "classification": mark("classification"),
    "recommendation": mark("recommendation"),
    "assistive": mark("assistive"),
    "punitive": mark("punitive"),
    "neither": mark("neither"),
}
"""Answers to the framework's questions."""


def framework(content: Content) -> Section | None:
    """Make the section; none where the spec does not answer the framework's questions."""
    if content.spec.framework is None:
        return None
    found = recommend_for(content.spec, design=content.design)
    measured = set(content.spec.measure.metrics)
    questions = {question.key: question.text for question in load_framework().questions}
    facts = Facts(tuple((t(questions[key]), text(_say(value))) for key, value in found.answers.items()))
    rows = tuple(
        Row(
            t(one.title),
            (
                Cell(t(_VERDICTS[one.verdict])),
                Cell(_metrics(one, measured)),
                Cell(f"{one.why} ({t(one.cite)})"),
            ),
            "plain" if one.verdict == "applies" else "muted",
        )
        for one in found.families
    )
    columns = tuple(
        Column(label, numeric=False) for label in (t("Family"), t("Verdict"), t("Metrics"), t("Why"))
    )
    lead = t(
        "The spec answers some questions about the tool's use; published rules say which metrics follow. The rules are "
        "data, and {command} applies them."
    )
    blocks: list[Block] = [
        Paragraph(filled(lead, command=code("audit recommend"))),
        facts,
        Table(t("Families of metrics"), columns, rows, (t("Rules: {cite}.", cite=t(found.cite)),)),
    ]
    if found.warnings:
        blocks += [Heading(t("Where this audit and the rules part")), Bullets(_texts(found.warnings))]
    if found.notes:
        blocks.append(Fold(t("What else the rules say of these answers"), (Bullets(_texts(found.notes)),)))
    return Section("framework", t("Which metrics this use asks for"), tuple(blocks))


def _metrics(family: JudgedFamily, measured: set[str]) -> str:
    """Names of the metrics; where a family applies, those that this audit lacks are marked."""
    lacking = set(family.metrics) - measured if family.verdict == "applies" else set()
    return Filled(", ").join(
        t("{name} (not measured)", name=name) if name in lacking else name for name in family.metrics
    )


def _texts(lines: tuple[str, ...]) -> tuple[Text, ...]:
    return tuple(text(line) for line in lines)


def _say(answer: str | bool) -> str:
    if isinstance(answer, str):
        return t(_OPTIONS.get(answer, answer))
    return t("yes") if answer else t("no")
