"""The attempts on this window that were entered in the journal before this run was planned."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from audit_lib.documents.journal import EnteredAttempt, JournalAtPlan, attempts_among
from audit_lib.report.blocks import (
    Block,
    Cell,
    Column,
    CommandLine,
    Paragraph,
    Row,
    Section,
    Table,
    code,
    filled,
    text,
)
from audit_lib.report.content import Content
from audit_lib.report.numbers import count
from audit_lib.translation import mark, named, t, tn

_ENDED: Final = {
    "completed": mark("completed"),
    "failed": mark("failed"),
    "stopped": mark("stopped"),
    "validation_failed": mark("failed its validation"),
    "abandoned": mark("killed, and attempted again"),
}
_NO_END: Final = mark("no end was entered")
_SUPERSEDED: Final = mark("completed; another run has taken its place since")


def attempts(content: Content) -> Section | None:
    """Return the attempts, the journal's head, and how to see what came later; None where the plan keeps none."""
    journal = content.journal
    if journal is None:
        return None
    blocks: list[Block] = []
    found = attempts_among(journal.window)
    if found:
        designs = {one.first.run for one in found}
        blocks.append(
            Paragraph(
                text(
                    tn(
                        "When this audit was planned, the journal of attempts had {n} other attempt on this window "
                        "(designs among them: {designs}).",
                        "When this audit was planned, the journal of attempts had {n} other attempts on this window "
                        "(designs among them: {designs}).",
                        len(found),
                        designs=count(len(designs)),
                    )
                )
            )
        )
        blocks.append(_table(content, found))
    else:
        words = t("When this audit was planned, the journal of attempts had no other attempt on this window.")
        blocks.append(Paragraph(text(words)))
    blocks.append(_head(journal))
    blocks.append(
        Paragraph(
            text(
                t(
                    "A sealed page cannot show what was entered after its plan: more attempts at this very run, its "
                    "own end, and other runs on the window. This command lists them all, and so does the page of "
                    "attempts where reports are published."
                )
            )
        )
    )
    key = content.key
    blocks.append(CommandLine(f"audit journal {key.audit} --window {key.window.label} --store <store>"))
    return Section("attempts", t("Attempts on this window"), tuple(blocks))


def _table(content: Content, found: list[EnteredAttempt]) -> Table:
    columns = (
        Column(t("Entry")),
        Column(t("Entered (UTC)"), numeric=False),
        Column(t("Design"), numeric=False),
        Column(t("Attempt")),
        Column(t("What became of it"), numeric=False),
    )
    own = content.key.spec_digest[:16]
    rows = tuple(
        Row(
            count(one.first.number),
            (
                Cell(f"{datetime.fromisoformat(one.first.at):%Y-%m-%d %H:%M}"),
                Cell(one.first.run, note=t("the design of this audit") if one.first.run == own else ""),
                Cell(count(one.first.attempt)),
                Cell(_became(one)),
            ),
        )
        for one in found
    )
    return Table(t("Attempts on this window before this audit was planned"), columns, rows)


def _became(one: EnteredAttempt) -> str:
    if one.superseded:
        return t(_SUPERSEDED)
    if one.end is None:
        return t(_NO_END)
    said = one.end.outcome if one.end.outcome in _ENDED else one.end.event
    return t(_ENDED[said])


def _head(journal: JournalAtPlan) -> Paragraph:
    if journal.head is None:
        return Paragraph(text(t("The journal of attempts was empty then.")))
    return Paragraph(
        filled(
            t(
                "The head of the journal was then entry {number}, {head}. Keep it: with {option} anybody can show "
                "later whether an entry until then was changed or dropped.",
                number="{number}",
                head="{head}",
                option="{option}",
            ),
            number=code(named(str(journal.head.number), "entry")),
            head=code(journal.head.sha256),
            option=code("audit journal --head"),
        )
    )
