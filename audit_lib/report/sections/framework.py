"""Which metrics the use asks for, and which of them this audit has: `audit recommend` as part of the page."""

from __future__ import annotations

from audit_lib.framework import Judged, load_framework, recommend_for
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
    text,
)
from audit_lib.report.content import Content


def framework(content: Content) -> Section | None:
    """Make the section; none where the spec does not answer the framework's questions."""
    if content.spec.framework is None:
        return None
    found = recommend_for(content.spec, design=content.design.as_dict())
    measured = set(content.spec.measure.metrics)
    questions = {question.key: question.text for question in load_framework().questions}
    facts = Facts(tuple((questions[key], text(_say(value))) for key, value in found.answers.items()))
    rows = tuple(
        Row(
            one.title,
            (Cell(one.verdict), Cell(_metrics(one, measured)), Cell(f"{one.why} ({one.cite})")),
            "plain" if one.verdict == "applies" else "muted",
        )
        for one in found.families
    )
    columns = tuple(Column(label, numeric=False) for label in ("Family", "Verdict", "Metrics", "Why"))
    lead = "The spec answers some questions about the tool's use; published rules say which metrics follow. "
    blocks: list[Block] = [
        Paragraph(text(lead, "The rules are data, and ", code("audit recommend"), " applies them.")),
        facts,
        Table("Families of metrics", columns, rows, (f"Rules: {found.cite}.",)),
    ]
    if found.warnings:
        blocks += [Heading("Where this audit and the rules part"), Bullets(_texts(found.warnings))]
    if found.notes:
        blocks.append(Fold("What else the rules say of these answers", (Bullets(_texts(found.notes)),)))
    return Section("framework", "Which metrics this use asks for", tuple(blocks))


def _metrics(family: Judged, measured: set[str]) -> str:
    """Names of the metrics; where a family applies, those that this audit lacks are marked."""
    lacking = set(family.metrics) - measured if family.verdict == "applies" else set()
    return ", ".join(f"{name}{' (not measured)' if name in lacking else ''}" for name in family.metrics)


def _texts(lines: tuple[str, ...]) -> tuple[Text, ...]:
    return tuple(text(line) for line in lines)


def _say(answer: str | bool) -> str:
    return answer if isinstance(answer, str) else ("yes" if answer else "no")
