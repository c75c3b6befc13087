"""Which groups each application was shown in, as the report says it."""

from __future__ import annotations

from typing import Final

from audit_lib.documents.report import DesignFacts
from audit_lib.report.content import Content
from audit_lib.report.numbers import count
from audit_lib.translation import Filled, mark, t, tn

_OF_PERSONAS: Final = {
    "full": mark("full: every application in all {groups} groups"),
    "balanced_incomplete": mark("balanced incomplete: every application in {block_size} of {groups} groups"),
    "two_sample": mark(
        "two-sample: every application in one of {groups} groups only, so that groups are compared by different "
        "applications"
    ),
}
_OF_MENTIONS: Final = {
    "full": mark(
        "full: every application in all {groups} groups, of these in those that differ in what it mentions"
    ),
    "balanced_incomplete": mark(
        "balanced incomplete: every application in {block_size} of {groups} groups, of these in those that differ in "
        "what it mentions"
    ),
    "two_sample": mark(
        "two-sample: every application in one of {groups} groups only, so that groups are compared by different "
        "applications, of these in those that differ in what it mentions"
    ),
}
"""The same of exchanged words: a text comes in the groups of what it mentions only."""


def design_facts(content: Content) -> DesignFacts | None:
    """Return the design for ``report.json``; None where nothing was varied, or ``design.json`` does not say.

    How many applications a group has is None where counts are hidden, and of exchanged words: a text comes in the
    groups of what it mentions only.
    """
    found = content.design.design
    if found is None:
        return None
    counts = found.applications_by_group
    told = not content.hidden and content.design.perturbation == "persona"
    return DesignFacts(
        kind=found.kind,
        groups=len(found.groups),
        block_size=found.block_size,
        exactly_balanced=found.exactly_balanced if told else None,
        fewest_applications=min(counts) if told else None,
        most_applications=max(counts) if told else None,
    )


def design_words(content: Content) -> str | None:
    """Say in how many groups each application was shown, and how evenly that came out."""
    facts = design_facts(content)
    if facts is None:
        return None
    said = [
        t(
            (_OF_PERSONAS if content.design.perturbation == "persona" else _OF_MENTIONS)[facts.kind],
            groups=count(facts.groups),
            block_size=facts.block_size,
        )
    ]
    fewest, most = facts.fewest_applications, facts.most_applications
    if fewest is None or most is None:
        return said[0]
    if fewest == most:
        said.append(tn("{n} application a group", "{n} applications a group", fewest, n=count(fewest)))
    else:
        said.append(
            tn(
                "from {fewest} to {n} application a group",
                "from {fewest} to {n} applications a group",
                most,
                fewest=count(fewest),
                n=count(most),
            )
        )
    if facts.kind != "full":
        said.append(t("exactly balanced") if facts.exactly_balanced else t("not exactly balanced"))
    words = Filled("; ").join(said)
    if fewest == 0:
        return t("{words}. Groups that no application was shown in have no result", words=words)
    return words
