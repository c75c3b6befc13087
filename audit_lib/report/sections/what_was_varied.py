"""What differs between two variants of a prompt, by the kind of perturbation, and which prompts mention a group."""

from __future__ import annotations

from audit_lib.documents.design import AttributeMentioned, Personas, Substitution, Unawareness
from audit_lib.report.blocks import Text, text
from audit_lib.report.content import Content
from audit_lib.report.design import design_words
from audit_lib.report.numbers import count


def experiment_words(content: Content) -> str:
    """Say what was put before the model; the wording ``experiment`` of a policy leaves room for it (``{varied}``)."""
    settings, told = content.spec.perturb, content.design.substitution
    if told is not None and not told.prompts_varied:
        return (
            "No text mentions a group in words that could be exchanged, so each was put before the model as it is, and "
            "the demographics are unknown."
        )
    if told is not None:
        shown = "Each text was" if _once(content) else "The same texts were"
        how = "for one group only" if _once(content) else "again and again"
        return (
            f"These are not results of people. {shown} put before the model {how} with the words that mention a group "
            "exchanged, and the demographics are those that these words mention."
        )
    if settings is None or settings.kind != "persona":
        return "The same texts were put before the model again and again, and the demographics were assigned."
    signals = {
        "names": settings.names,
        "titles": settings.titles,
        "pronouns": settings.pronouns,
        "other signals": settings.signals,
    }
    *most, last = [name for name, given in signals.items() if given]
    listed = f"{', '.join(most)} and {last}" if most else last
    source = "the names were" if settings.names else "these were"
    shown = {
        "full": f"The same applications were put before the model again and again with different {listed}",
        "balanced_incomplete": "The same applications were put before the model again and again, each in "
        f"{settings.block_size} of {count(len(content.spec.groups.cells()))} groups, with different {listed}",
        "two_sample": f"Each application was put before the model for one group only, with {listed} of that group",
    }[settings.design]
    return f"Nobody applied for these jobs. {shown}, and the demographics are those that {source} chosen to signal."


def _once(content: Content) -> bool:
    """Tell whether each application is shown in one group only."""
    return content.spec.perturb is not None and content.spec.perturb.design == "two_sample"


def comparison_words(content: Content) -> str:
    """Say what two versions of a text that are compared differ in."""
    told = content.design.substitution
    if told is not None and not told.prompts_varied:
        return "No text mentions a group in words that could be exchanged, so no two versions of one were compared."
    if _once(content):
        return (
            "Each application was answered for one group only: two groups are compared by different applications, "
            "which differ in more than the group. That they were dealt to groups by lot is what makes groups "
            "comparable."
        )
    if told is not None:
        return (
            "The same text was answered with the words of each group that it mentions: what differs between two "
            "versions of it are these words alone."
        )
    return (
        f"The same application was answered under the names, titles or pronouns of {_groups(content)}: what differs "
        "between two versions of it is the group alone."
    )


def _groups(content: Content) -> str:
    settings = content.spec.perturb
    if settings is None or settings.block_size is None:
        return "each group"
    return f"{settings.block_size} groups"


def assigned(content: Content) -> str:
    """Say how groups that were assigned are known."""
    told = content.design.substitution
    if told is not None and not told.prompts_varied:
        return "unknown: no text mentions a group in words that could be exchanged"
    if told is not None:
        return (
            "assigned: the group is the one that the words of a text mention, as they were found or exchanged"
        )
    return "assigned: the group is the one a name, title or pronoun was chosen to signal"


def what_was_varied(content: Content) -> list[tuple[str, Text]]:
    """What differs between two variants of a prompt, and which prompts say a group in words."""
    design = content.design
    told: list[tuple[str, str]] = []
    if (found := design.substitution) is not None:
        told.append(("What was varied", _exchanged(content, found)))
    elif design.perturbation == "persona":
        told.append(("What was varied", _personas(content, design.personas)))
    if (dealt := design_words(content)) is not None:
        told.append(("Design", dealt))
    if (ftu := design.ftu) is not None:
        by_slots = design.perturbation == "persona"
        label = "Words of a group beside the slots" if by_slots else "Words of a group in the prompts"
        told.append((label, _mentioning(content, ftu)))
    told += [("The spec and the prompts disagree", f"{words}.") for words in design.warnings or ()]
    return [(label, text(words)) for label, words in told]


def _exchanged(content: Content, found: Substitution) -> str:
    varied, without = found.prompts_varied, found.prompts_without_mention
    if not varied:
        return (
            "nothing: no prompt has a word of a group that could be exchanged, so each was asked as it is, every group "
            "is unknown, and no comparison of groups is defined"
        )
    words = (
        f"the words that mention a group, exchanged for those of every other group in {_few(content, varied)} prompts, "
        "each over the attributes that it mentions"
    )
    if without:
        words += f"; {_few(content, without)} mention no group in what is exchanged: they got no variant, and no number"
        words += " here is about them"
    if stays := found.prompts_with_words_that_stay:
        words += f"; in {_few(content, stays)} a word that stays says the same attribute too, so variants contradict it"
    if doubtful := found.doubtful_mentions:
        words += (
            f"; the part of speech of {_few(content, doubtful)} of {count(found.mentions)} words was guessed"
        )
    if left := found.mentions_left_alone:
        words += (
            f"; {_few(content, left)} words were left alone: alternatives such as he/she, links and addresses"
        )
    return words


def _personas(content: Content, found: Personas | None) -> str:
    words = "what fills the slots of a text: a name, title, pronoun or other signal of each group"
    if found is None:
        return words
    if alike := found.prompts_alike_in_all_groups:
        words += (
            f"; {_few(content, alike)} of {count(found.prompts)} prompts have no slot that tells a group: they read "
            "the same in every group, and pull differences towards zero"
        )
    for lexicon, levels in (found.lexicon_rows_not_used or {}).items():
        rows = ", ".join(f"{level} ({count(n)})" for level, n in levels.items())
        words += f"; rows of {lexicon} that this audit has no group for were not used: {rows}"
    return words


def _mentioning(content: Content, ftu: Unawareness) -> str:
    def share(one: AttributeMentioned) -> str:
        words = f"{one.attribute.replace('_', ' ')}: {_few(content, one.mentioning)}"
        if one.interval is None or one.share is None or content.hidden:
            return words
        low, high = one.interval
        level = f"{100 * ftu.level:.0f}% interval"
        return f"{words} ({100 * one.share:.1f}%, {level} {100 * low:.1f} to {100 * high:.1f})"

    words = f"of {count(ftu.prompts)} prompts, " + "; ".join(map(share, ftu.attributes))
    if stays := [one for one in ftu.outside or () if one.mentioning]:
        named = ", ".join(
            f"{one.attribute.replace('_', ' ')} ({_few(content, one.mentioning)})" for one in stays
        )
        words += f". Of these the template or fields that are not exchanged mention {named}: the same in all variants"
    return words + (". The model is told no group (fairness through unawareness)" if ftu.unaware else "")


def _few(content: Content, n: int) -> str:
    """Return a number of prompts; where small cells are hidden, small ones are not told."""
    small = content.policy.cells.small
    return f"fewer than {small}" if content.hidden and 0 < n < small else count(n)
