"""Fairness through unawareness, the framework's first question: which prompts mention a protected word."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from audit_lib.documents.design import AttributeMentioned, Mentioning, ProtectedMentions
from audit_lib.perturb.unawareness import TEMPLATE
from audit_lib.report.blocks import Block, Cell, Column, Fold, Notice, Paragraph, Row, Section, Table, text
from audit_lib.report.content import Content, in_words
from audit_lib.report.numbers import count, percent
from audit_lib.translation import mark, t

KINDS: Final = {
    "age": mark("age"),
    "disability": mark("disability"),
    "national_origin": mark("national origin"),
    "orientation": mark("sexual orientation or gender identity"),
    "race": mark("race or ethnicity"),
    "religion": mark("religion"),
    "sex": mark("sex or gender"),
}


def unawareness(content: Content) -> Section | None:
    """Make the section; none where the spec does not ask the framework's questions."""
    found = content.design.protected_words
    if found is None:
        return None
    blocks: list[Block] = [_verdict(content, found)]
    if found.prompts > found.without_text:
        words = t(
            "Looked at are the prompts as they were sampled, before anything was put into them, and the prompt "
            "template. The words are those of the library's lists, which are English: a prompt can tell a group "
            "without any of them, by a name, a school or an address, and in any other language."
        )
        blocks += [Paragraph(text(words)), _by_kind(content, found)]
        blocks += [] if content.hidden else [*_by_field(found), *_by_group(found), *_examples(found)]
    return Section("unawareness", t("Fairness through unawareness"), tuple(blocks))


def _verdict(content: Content, found: ProtectedMentions) -> Block:
    if found.unaware is None and found.not_english:
        words = t(
            "No word of the lists was found, but {unread} of {n} prompts are not in English, and the lists are: "
            "whether these mention a protected word is not known.",
            unread=_few(content, found.not_english),
            n=count(found.prompts),
        )
        return Notice(t("Unawareness was not measured"), text(words))
    if found.unaware is None:
        return Paragraph(
            text(t("No prompt has a text, so nobody can say whether one mentions a protected word."))
        )
    if found.unaware:
        words = t("None of {n} prompts mentions a protected word of the lists.", n=count(found.prompts))
        return Paragraph(text(words))
    words = t(
        "{mentioning} of {n} prompts mention a protected word ({share}), so the model can know a group from words "
        "alone, and the metrics that compare groups apply.",
        mentioning=_few(content, found.any.mentioning),
        n=count(found.prompts),
        share=_share(content, found.any),
    )
    return Notice(t("The model is not unaware of groups"), text(words), "note")


def _few(content: Content, n: int) -> str:
    small = content.policy.cells.small
    return t("fewer than {n}", n=small) if content.hidden and 0 < n < small else count(n)


def _share(content: Content | None, one: Mentioning | AttributeMentioned) -> str:
    if one.share is None or one.interval is None or (content is not None and content.hidden):
        return "\N{EN DASH}"
    low, high = (percent(Fraction(limit), 1) for limit in one.interval)
    return t("{share}, interval {low} to {high}", share=percent(Fraction(one.share), 1), low=low, high=high)


def _name(kind: str) -> str:
    return t(KINDS[kind]) if kind in KINDS else kind.replace("_", " ")


def _field(name: str) -> str:
    return t("Prompt template") if name == TEMPLATE else name


def _by_kind(content: Content, found: ProtectedMentions) -> Table:
    rows = [
        Row(
            _name(one.attribute),
            (Cell(_few(content, one.mentioning)), Cell(_share(content, one))),
            note=t("also in the prompt template") if one.attribute in found.template else "",
        )
        for one in found.kinds
    ]
    columns = (
        Column(t("Kind of word"), numeric=False),
        Column(t("Prompts")),
        Column(t("Share of all prompts")),
    )
    note = t(
        "Of {n} prompts, {without} without a text, and {unread} in another language without a word of the lists. "
        "Wilson intervals of level {level:g}, of prompts that do not depend on each other.",
        n=count(found.prompts),
        without=count(found.without_text),
        unread=_few(content, found.not_english),
        level=found.level,
    )
    return Table(t("Prompts that mention a protected word"), columns, tuple(rows), (note,))


def _counts(
    first: str, caption: str, parts: Sequence[tuple[str, Mentioning, Sequence[AttributeMentioned]]]
) -> Table:
    """Make a table of counts: a row a part of the prompts, a column a kind that any of them mentions."""
    named = {one.attribute for _, _, kinds in parts for one in kinds if one.mentioning}
    columns = (
        Column(first, numeric=False),
        Column(t("Any")),
        *(Column(_name(one.attribute)) for one in parts[0][2] if one.attribute in named),
    )
    rows = tuple(
        Row(
            label,
            (
                Cell(count(whole.mentioning), note=_share(None, whole)),
                *(Cell(count(k.mentioning)) for k in kinds if k.attribute in named),
            ),
        )
        for label, whole, kinds in parts
    )
    return Table(caption, columns, rows)


def _by_field(found: ProtectedMentions) -> list[Block]:
    parts = [(one.field, one.any, one.kinds) for one in found.fields]
    return [_counts(t("Field"), t("Prompts that mention a word in a field"), parts)] if parts else []


def _by_group(found: ProtectedMentions) -> list[Block]:
    parts = [
        (
            t("{group} ({n} prompts)", group=in_words(dict(one.group)), n=count(one.prompts)),
            one.any,
            one.kinds,
        )
        for one in found.groups
    ]
    return [_counts(t("Group"), t("Prompts that mention a word, by group"), parts)] if parts else []


def _examples(found: ProtectedMentions) -> list[Block]:
    if not found.words:
        return []
    rows = tuple(
        Row(
            one.word,
            (Cell(_name(one.kind)), Cell(count(one.prompts)), Cell(_field(one.field)), Cell(one.example)),
        )
        for one in found.words
    )
    columns = (
        Column(t("Word"), numeric=False),
        Column(t("Kind of word"), numeric=False),
        Column(t("Prompts")),
        Column(t("Field"), numeric=False),
        Column(t("Where it was first found, other words masked"), numeric=False),
    )
    return [
        Fold(t("Words that were found"), (Table(t("The most frequent words of each kind"), columns, rows),))
    ]
