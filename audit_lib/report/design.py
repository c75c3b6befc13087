"""Which groups each application was shown in, as the report says it."""

from __future__ import annotations

from audit_lib.documents.report import DesignFacts
from audit_lib.report.content import Content
from audit_lib.report.numbers import count


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
    groups = count(facts.groups)
    words = {
        "full": f"full: every application in all {groups} groups",
        "balanced_incomplete": f"balanced incomplete: every application in {facts.block_size} of {groups} groups",
        "two_sample": f"two-sample: every application in one of {groups} groups only, so that groups are compared by "
        "different applications",
    }[facts.kind]
    if content.design.perturbation != "persona":
        words += ", of these in those that differ in what it mentions"
    fewest, most = facts.fewest_applications, facts.most_applications
    if fewest is None or most is None:
        return words
    words += f"; {_applications(fewest)} a group" if fewest == most else (
        f"; from {count(fewest)} to {_applications(most)} a group"
    )  # fmt: skip
    if facts.kind != "full":
        words += "; exactly balanced" if facts.exactly_balanced else "; not exactly balanced"
    if fewest == 0:
        words += ". Groups that no application was shown in have no result"
    return words


def _applications(number: int) -> str:
    return f"{count(number)} application{'' if number == 1 else 's'}"
