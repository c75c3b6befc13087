"""Whom the law binds, what it asks of them since when, and what is not claimed of it."""

from __future__ import annotations

from typing import Final

from audit_lib.policies.pack_schema import Sureness
from audit_lib.policies.standing import not_yet, standing
from audit_lib.report.blocks import (
    Block,
    Bullets,
    Cell,
    Column,
    Heading,
    Notice,
    Paragraph,
    Row,
    Section,
    Table,
    strong,
    text,
)
from audit_lib.report.content import Content
from audit_lib.translation import Filled, archived, mark, t

_SURE: Final[dict[Sureness, str]] = {
    "secondary": mark("{cite}; read in an account of it"),
    "recalled": mark("{cite}; to be looked up"),
}


def law(content: Content) -> Section | None:
    """Make the section; none where the policy says neither whom its law binds nor what it asks."""
    policy, day = content.policy, content.last_day
    if not policy.duties and policy.binds is None:
        return None
    name = t(policy.short_law)
    blocks: list[Block] = [Paragraph(text(_in_force(content)))]
    if policy.binds is not None:
        blocks.append(
            Paragraph(
                text(
                    strong(t("Whom it binds.") + " "),
                    t(policy.binds.text) + " (" + _cited(policy.binds.cite, policy.binds.seen) + ")",
                )
            )
        )
    if policy.duties:
        columns = tuple(Column(c, numeric=False) for c in (t("Duty"), t("Whose"), t("Since"), t("Paragraph")))
        rows = tuple(
            Row(
                t(duty.text),
                (Cell(t(duty.of)), Cell(standing(policy, day, duty)), Cell(_cited(duty.cite, duty.seen))),
                "plain" if not_yet(policy, day, duty) is None else "muted",
            )
            for duty in policy.duties
        )
        blocks.append(Table(t("Duties of {law}", law=name), columns, rows))
    if policy.not_claimed:
        blocks += [
            Heading(t("What this page does not claim of {law}", law=name)),
            Bullets(tuple(text(t(one.text) + " (" + archived(one.cite) + ")") for one in policy.not_claimed)),
        ]
    return Section("law", t("The law, and since when"), tuple(blocks))


def not_in_force(content: Content) -> Notice | None:
    """Say in front of everything that the law was not in force yet; None where it was."""
    policy, day = content.policy, content.last_day
    first = not_yet(policy, day)
    if first is None:
        return None
    words = t(
        "{law} applies from {since}, and this audit's window ends on {day}. What the law asks for stands here as "
        "it will be asked.",
        law=t(policy.short_law),
        since=first,
        day=day,
    )
    asked = [archived(duty.cite) for duty in policy.duties if not_yet(policy, day, duty) is None]
    if asked:
        words += " " + t("Asked already: {cites}.", cites=Filled("; ").join(asked))
    return Notice(t("{law} is not in force yet", law=t(policy.short_law)), text(words), "note")


def other_pack(content: Content) -> Notice | None:
    """Say in front of everything that the plan named another pack; None where it named this one."""
    planned = content.planned_under
    if planned is None:
        return None
    words = t(
        "The plan of this run names {planned}, and its sealed report is under that. This page reads the same scores "
        "under {pack}: its tables, tests, switches and checklist were computed again afterwards. Nobody signed this "
        "page.",
        planned=f"{planned.name} {planned.version}",
        pack=f"{content.policy.name} {content.policy.version}",
    )
    return Notice(t("Another law than the one that was planned"), text(words), "note")


def _in_force(content: Content) -> str:
    policy = content.policy
    words = [
        t(
            "{law}: {standing}. That day is the last of this audit's window.",
            law=t(policy.short_law),
            standing=standing(policy, content.last_day),
        )
    ]
    if policy.in_force is not None:
        words.append(t("Source: {cite}.", cite=_cited(policy.in_force.cite, policy.in_force.seen)))
        words += [] if policy.in_force.doubt is None else [t(policy.in_force.doubt)]
    return Filled(" ").join(words)


def _cited(cite: str, seen: Sureness) -> str:
    return t(_SURE[seen], cite=archived(cite)) if seen in _SURE else archived(cite)
