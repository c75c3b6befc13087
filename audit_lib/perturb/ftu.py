"""Fairness through unawareness (FTU): how many prompts mention a protected word at all.

Where none does, a model sees no group, and metrics that compare a prompt with its counterfactual do not apply. What
counts is all that the model reads: the fields that are exchanged, the others, and the prompt template.
Source: Bouchard, "An Actionable Framework for Assessing Bias and Fairness in Large Language Model Use
Cases" (2024). LangFair's flag of that name says the opposite of what it is called.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from audit_lib.documents.design import AttributeMentioned, AttributeOutside, Mentioning, Unawareness
from audit_lib.perturb.pools import slots_asked_for
from audit_lib.perturb.template import parts, read_template
from audit_lib.stats.intervals import wilson

if TYPE_CHECKING:
    from audit_lib.perturb.lexicon import SwapLexicon
    from audit_lib.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the model reads besides the texts that are exchanged or filled.

    Parameters
    ----------
    mentions : frozenset of str
        Attributes that the prompt template itself mentions.
    shown : frozenset of str or None
        Slots that the template shows; None without a template, where all fields may be shown.
    """

    mentions: frozenset[str]
    shown: frozenset[str] | None

    @classmethod
    def of(cls, run: Run, swap: SwapLexicon) -> Surroundings:
        """Read the template that the plan archived."""
        said = {a for text in template_texts(run) for a in swap.parse("\n".join(parts(text)[0])).attributes}
        return cls(mentions=frozenset(said), shown=shown_fields(run))

    def shows(self, field: str) -> bool:
        """Tell whether the model reads a field."""
        return self.shown is None or field in self.shown


def template_texts(run: Run) -> list[str]:
    """Return the texts of the prompt template, the block for one candidate of a list included."""
    if run.spec.prompt is None:
        return []
    content = run.design_file("prompt.template")
    block = yaml.safe_load(content).get("candidate")
    return [m["content"] for m in read_template(content)] + ([block] if isinstance(block, str) else [])


def shown_fields(run: Run) -> frozenset[str] | None:
    """Return the slots that the template shows, of fields and of a persona; None without a template."""
    if run.spec.prompt is None:
        return None
    return frozenset(slots_asked_for(run.design_file("prompt.template"), run.spec))


def ftu_report(
    mentions: Iterable[Collection[str]],
    attributes: Sequence[str],
    level: float,
    outside: Iterable[Collection[str]] | None = None,
) -> Unawareness:
    """Return the shares of prompts that mention each attribute, with Wilson intervals.

    Parameters
    ----------
    mentions : iterable of collection of str
        For each prompt the attributes that it mentions.
    attributes : sequence of str
        Attributes that were looked for.
    level : float
        Nominal coverage of the intervals.
    outside : iterable of collection of str, optional
        For each prompt the attributes that stay mentioned in all of its variants, because what mentions them is the
        template or a field that is not exchanged.

    Returns
    -------
    Unawareness
        With an entry for each attribute; where `outside` is given, also the prompts that mention each there.

    Examples
    --------
    >>> report = ftu_report([{"sex"}, {"sex", "race"}, set(), set()], ["sex", "race"], 0.95)
    >>> report.unaware, report.any.mentioning, report.attributes[1]
    (False, 2, AttributeMentioned(attribute='race', mentioning=1, share=0.25, interval=(0.045587, 0.699358)))
    """
    counts: Counter[str] = Counter()
    prompts = mentioning = 0
    for found in mentions:
        prompts += 1
        mentioning += bool(found)
        counts.update(found)
    stays = Counter(attribute for one in outside or () for attribute in one)
    return Unawareness(
        prompts=prompts,
        unaware=mentioning == 0,
        level=level,
        any=Mentioning(mentioning=mentioning, **_share(mentioning, prompts, level)),
        attributes=tuple(
            AttributeMentioned(attribute=a, mentioning=counts[a], **_share(counts[a], prompts, level))
            for a in attributes
        ),
        outside=None
        if outside is None
        else tuple(AttributeOutside(attribute=a, mentioning=stays[a]) for a in attributes),
    )


def _share(count: int, n: int, level: float) -> dict[str, Any]:
    if n == 0:
        return {"share": None, "interval": None}
    found = wilson(count, n, level)
    return {
        "share": round(count / n, 6),
        "interval": (round(float(found.low), 6), round(float(found.high), 6)),
    }
