"""What differs between two variants of a prompt, by the kind of perturbation, and which prompts mention a group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from audit_lib.documents.design import AttributeMentioned, Personas, Substitution, TemplateChange, Unawareness
from audit_lib.report.blocks import Text, text
from audit_lib.report.content import Content
from audit_lib.report.design import design_words
from audit_lib.report.numbers import count
from audit_lib.report.sections.estimates import variation_in_words
from audit_lib.translation import Filled, archived, known, mark, t

_BY_NAMES: Final = {
    "full": mark(
        "Nobody applied for these jobs. The same applications were put before the model again and again with different "
        "{signals}, and the demographics are those that the names were chosen to signal."
    ),
    "balanced_incomplete": mark(
        "Nobody applied for these jobs. The same applications were put before the model again and again, each in "
        "{block_size} of {groups} groups, with different {signals}, and the demographics are those that the names were "
        "chosen to signal."
    ),
    "two_sample": mark(
        "Nobody applied for these jobs. Each application was put before the model for one group only, with {signals} "
        "of that group, and the demographics are those that the names were chosen to signal."
    ),
}
_BY_OTHER_SIGNALS: Final = {
    "full": mark(
        "Nobody applied for these jobs. The same applications were put before the model again and again with different "
        "{signals}, and the demographics are those that these were chosen to signal."
    ),
    "balanced_incomplete": mark(
        "Nobody applied for these jobs. The same applications were put before the model again and again, each in "
        "{block_size} of {groups} groups, with different {signals}, and the demographics are those that these were "
        "chosen to signal."
    ),
    "two_sample": mark(
        "Nobody applied for these jobs. Each application was put before the model for one group only, with {signals} "
        "of that group, and the demographics are those that these were chosen to signal."
    ),
}


def experiment_words(content: Content) -> str:
    """Say what was put before the model; the wording ``experiment`` of a policy leaves room for it (``{varied}``)."""
    settings, told = content.spec.perturb, content.design.substitution
    if told is not None and not told.prompts_varied:
        return t(
            "No text mentions a group in words that could be exchanged, so each was put before the model as it is, and "
            "the demographics are unknown."
        )
    if told is not None and _once(content):
        return t(
            "These are not results of people. Each text was put before the model for one group only with the words "
            "that mention a group exchanged, and the demographics are those that these words mention."
        )
    if told is not None:
        return t(
            "These are not results of people. The same texts were put before the model again and again with the words "
            "that mention a group exchanged, and the demographics are those that these words mention."
        )
    if settings is None or settings.kind != "persona":
        return t(
            "The same texts were put before the model again and again, and the demographics were assigned."
        )
    signals = {
        t("names"): settings.names,
        t("titles"): settings.titles,
        t("pronouns"): settings.pronouns,
        t("other signals"): settings.signals,
    }
    *most, last = [name for name, given in signals.items() if given]
    listed = t("{most} and {last}", most=Filled(", ").join(most), last=last) if most else last
    return t(
        (_BY_NAMES if settings.names else _BY_OTHER_SIGNALS)[settings.design],
        signals=listed,
        block_size=settings.block_size,
        groups=count(len(content.spec.groups.cells())),
    )


def _once(content: Content) -> bool:
    """Tell whether each application is shown in one group only."""
    return content.spec.perturb is not None and content.spec.perturb.design == "two_sample"


def comparison_words(content: Content) -> str:
    """Say what two versions of a text that are compared differ in."""
    told = content.design.substitution
    if told is not None and not told.prompts_varied:
        return t(
            "No text mentions a group in words that could be exchanged, so no two versions of one were compared."
        )
    if _once(content):
        return t(
            "Each application was answered for one group only: two groups are compared by different applications, "
            "which differ in more than the group. That they were dealt to groups by lot is what makes groups "
            "comparable."
        )
    if told is not None:
        return t(
            "The same text was answered with the words of each group that it mentions: what differs between two "
            "versions of it are these words alone."
        )
    settings = content.spec.perturb
    if settings is None or settings.block_size is None:
        return t(
            "The same application was answered under the names, titles or pronouns of each group: what differs between "
            "two versions of it is the group alone."
        )
    return t(
        "The same application was answered under the names, titles or pronouns of {block_size} groups: what differs "
        "between two versions of it is the group alone.",
        block_size=settings.block_size,
    )


def assigned(content: Content) -> str:
    """Say how groups that were assigned are known."""
    told = content.design.substitution
    if told is not None and not told.prompts_varied:
        return t("unknown: no text mentions a group in words that could be exchanged")
    if told is not None:
        return t(
            "assigned: the group is the one that the words of a text mention, as they were found or exchanged"
        )
    return t("assigned: the group is the one a name, title or pronoun was chosen to signal")


def _changed(name: str, changes: Sequence[TemplateChange]) -> tuple[str, str]:
    """Say in which places a further task changes the prompt: what has one cause, and what has several."""
    label = variation_in_words(f"task:{name}")
    places = Filled("; ").join(
        t("\N{LEFT DOUBLE QUOTATION MARK}{put}\N{RIGHT DOUBLE QUOTATION MARK} was added", put=one.put)
        if not one.taken
        else t(
            "\N{LEFT DOUBLE QUOTATION MARK}{taken}\N{RIGHT DOUBLE QUOTATION MARK} was left out",
            taken=one.taken,
        )
        if not one.put
        else t(
            "\N{LEFT DOUBLE QUOTATION MARK}{taken}\N{RIGHT DOUBLE QUOTATION MARK} became "
            "\N{LEFT DOUBLE QUOTATION MARK}{put}\N{RIGHT DOUBLE QUOTATION MARK}",
            taken=one.taken,
            put=one.put,
        )
        for one in changes
    )
    if not changes:
        return label, t("the prompt itself, word for word: it shows noise, and no other task")
    if len(changes) == 1:
        return label, t("differs from the prompt in one place: {places}", places=places)
    return label, t(
        "differs from the prompt in {count} places, so that what an effect changes by has no single cause: {places}",
        count=count(len(changes)),
        places=places,
    )


def what_was_varied(content: Content) -> list[tuple[str, Text]]:
    """What differs between two variants of a prompt, and which prompts say a group in words."""
    design = content.design
    told: list[tuple[str, str]] = []
    if (found := design.substitution) is not None:
        told.append((t("What was varied"), _exchanged(content, found)))
    elif design.perturbation == "persona":
        told.append((t("What was varied"), _personas(content, design.personas)))
    if (dealt := design_words(content)) is not None:
        told.append((t("Design"), dealt))
    if (ftu := design.ftu) is not None:
        by_slots = design.perturbation == "persona"
        label = t("Words of a group beside the slots") if by_slots else t("Words of a group in the prompts")
        told.append((label, _mentioning(content, ftu)))
    told += [_changed(name, changes) for name, changes in (design.tasks or {}).items()]
    told += [
        (t("The spec and the prompts disagree"), f"{archived(words)}.") for words in design.warnings or ()
    ]
    return [(label, text(words)) for label, words in told]


def _exchanged(content: Content, found: Substitution) -> str:
    varied, without = found.prompts_varied, found.prompts_without_mention
    if not varied:
        return t(
            "nothing: no prompt has a word of a group that could be exchanged, so each was asked as it is, every group "
            "is unknown, and no comparison of groups is defined"
        )
    said = [
        t(
            "the words that mention a group, exchanged for those of every other group in {varied} prompts, each over "
            "the attributes that it mentions",
            varied=_few(content, varied),
        )
    ]
    if without:
        said.append(
            t(
                "{without} mention no group in what is exchanged: they got no variant, and no number here is about "
                "them",
                without=_few(content, without),
            )
        )
    if stays := found.prompts_with_words_that_stay:
        said.append(
            t(
                "in {stays} a word that stays says the same attribute too, so variants contradict it",
                stays=_few(content, stays),
            )
        )
    if doubtful := found.doubtful_mentions:
        said.append(
            t(
                "the part of speech of {doubtful} of {mentions} words was guessed",
                doubtful=_few(content, doubtful),
                mentions=count(found.mentions),
            )
        )
    if left := found.mentions_left_alone:
        said.append(
            t(
                "{left} words were left alone: alternatives such as he/she, links and addresses",
                left=_few(content, left),
            )
        )
    return Filled("; ").join(said)


def _personas(content: Content, found: Personas | None) -> str:
    said = [t("what fills the slots of a text: a name, title, pronoun or other signal of each group")]
    if found is None:
        return said[0]
    if alike := found.prompts_alike_in_all_groups:
        said.append(
            t(
                "{alike} of {prompts} prompts have no slot that tells a group: they read the same in every group, and "
                "pull differences towards zero",
                alike=_few(content, alike),
                prompts=count(found.prompts),
            )
        )
    for lexicon, levels in (found.lexicon_rows_not_used or {}).items():
        said.append(
            t(
                "rows of {lexicon} that this audit has no group for were not used: {rows}",
                lexicon=lexicon,
                rows=", ".join(f"{known(level)} ({count(n)})" for level, n in levels.items()),
            )
        )
    return Filled("; ").join(said)


def _mentioning(content: Content, ftu: Unawareness) -> str:
    def share(one: AttributeMentioned) -> str:
        words = f"{known(one.attribute.replace('_', ' '))}: {_few(content, one.mentioning)}"
        if one.interval is None or one.share is None or content.hidden:
            return words
        low, high = one.interval
        return t(
            "{words} ({share:.1f}%, {level:%} interval {low:.1f} to {high:.1f})",
            words=words,
            share=100 * one.share,
            level=ftu.level,
            low=100 * low,
            high=100 * high,
        )

    shares = Filled("; ").join(map(share, ftu.attributes))
    said = [t("of {prompts} prompts, {shares}", prompts=count(ftu.prompts), shares=shares)]
    if stays := [one for one in ftu.outside or () if one.mentioning]:
        named = ", ".join(
            f"{known(one.attribute.replace('_', ' '))} ({_few(content, one.mentioning)})" for one in stays
        )
        said.append(
            t(
                "Of these the template or fields that are not exchanged mention {named}: the same in all variants",
                named=named,
            )
        )
    if ftu.unaware:
        said.append(t("The model is told no group (fairness through unawareness)"))
    return Filled(". ").join(said)


def _few(content: Content, n: int) -> str:
    """Return a number of prompts; where small cells are hidden, small ones are not told."""
    small = content.policy.cells.small
    return t("fewer than {small}", small=small) if content.hidden and 0 < n < small else count(n)
