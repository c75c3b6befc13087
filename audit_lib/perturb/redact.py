"""Redaction: a real dossier becomes a template with typed slots, from which every variant is filled.

Fields of the applicant that the caller knows are found first, then rules look for the rest. What the rules leave
open stays as it is and is reported: nothing is redacted, and nothing passed over, in silence. Filling a template
with the original values gives the dossier again, byte for byte.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from audit_lib.errors import AuditError, InputError
from audit_lib.perturb.parsed import ParsedTemplate
from audit_lib.perturb.redaction.applicant import Applicant, applicant_of
from audit_lib.perturb.redaction.checks import run_check
from audit_lib.perturb.redaction.contact import find_contact
from audit_lib.perturb.redaction.folding import fold
from audit_lib.perturb.redaction.labelled import FIELDS, find_labelled
from audit_lib.perturb.redaction.names import find_names
from audit_lib.perturb.redaction.people import find_others, find_pronouns, find_titles
from audit_lib.perturb.redaction.protected import (
    find_ethnicity,
    find_relations,
    find_sexed,
    neutral_relations,
)
from audit_lib.perturb.redaction.schooling import find_colleges, find_jobs
from audit_lib.perturb.redaction.slots import Slots, family
from audit_lib.perturb.redaction.spans import Doubt, FoundSpans, RedactedSpan
from audit_lib.perturb.redaction.years import find_years
from audit_lib.perturb.template import escape, fill, slots
from audit_lib.registry import did_you_mean

__all__ = [
    "KINDS",
    "NOT_ON_DEMAND",
    "PERSONA_SLOTS",
    "Applicant",
    "Doubt",
    "Redacted",
    "RedactedSpan",
    "redact",
]

KINDS: Final = (
    "name", "title", "pronoun", "relation", "ethnicity", "college", "college_place", "job_place", "phone", "email",
    "link", "address", *FIELDS, "graduation_year", "person", "organisation", "place",
)  # fmt: skip
"""Kinds of spans and doubts; the last two are never redacted unless asked for."""

NOT_ON_DEMAND: Final = ("address", "sex", "organisation", "place")
"""Kinds that `also` cannot name: no place of theirs is left doubtful, or no slot can replace it."""

PERSONA_SLOTS: Final = (
    "name",
    "first_name",
    "last_name",
    "middle_name",
    "nickname",
    "email",
    "title",
    "pronoun",
)
"""Slots that a persona fills; all others get words that are the same for everybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """A dossier as a template.

    Attributes
    ----------
    text : str
        The dossier as it was.
    template : str
        The same with slots for what was redacted; braces of the dossier's own are escaped.
    originals : mapping of str to str
        What stood in each slot.
    spans, doubts : tuple
        What was redacted, and what may have to be.
    written : tuple of str
        For each span its slot, as the template writes it.
    sex : str
        Which of *she* and *he* was taken to mean the applicant; empty where nothing says it.
    candidates : int
        How many people the dossier presents as its applicant: more than one needs a person to look.
    checks : tuple of str
        The models that looked besides the rules; they also decide which pronouns are sure of their case.
    """

    text: str
    template: str
    originals: Mapping[str, str]
    spans: tuple[RedactedSpan, ...]
    doubts: tuple[Doubt, ...]
    written: tuple[str, ...]
    sex: str
    candidates: int
    checks: tuple[str, ...] = ()

    @property
    def names_found(self) -> int:
        """How often the applicant's name was found, in any form."""
        return sum(span.kind == "name" for span in self.spans)

    def restored(self) -> str:
        """Fill the template with the original values: the dossier, byte for byte."""
        return fill(self.template, self.originals)

    def parsed(self) -> ParsedTemplate:
        """Parse the template, to fill it many times."""
        return ParsedTemplate.of(self.template)

    def template_with(self, kept: Collection[str] = PERSONA_SLOTS) -> str:
        """Return the template with only these slots (and their forms) left open.

        The others take words that say nothing of the person: ``[college]``, ``spouse``, ``[phone]``.

        Raises
        ------
        InputError
            If a slot is not known.
        """
        neutral = {**_BRACKETED, **_APPLICANT, **neutral_relations()}
        for slot in kept:
            if slot not in (*PERSONA_SLOTS, *neutral, "honorific"):
                known = [*PERSONA_SLOTS, *neutral, "honorific"]
                raise InputError(f"slot {slot!r} is not one of redaction's{did_you_mean(slot, known)}")
        values = {}
        for key in dict.fromkeys(slots(self.template)):
            base, number = family(key)
            if base in kept or base.split(".")[0] in kept:
                continue
            if base == "honorific":
                values[key] = self.originals[key]
            else:
                word = neutral.get(base) or f"[{base}]"
                values[key] = f"{word[:-1]} {number}]" if number > 1 and word.endswith("]") else word
        return ParsedTemplate.of(self.template).partly(values)

    def coverage(self) -> dict[str, dict[str, int]]:
        """Count, for each kind, what was redacted, how much of it a person should check, and what was left open."""
        counts: dict[str, dict[str, int]] = {}
        for kind in KINDS:
            spans = [span for span in self.spans if span.kind == kind]
            doubts = sum(doubt.kind == kind for doubt in self.doubts)
            if spans or doubts:
                unsure = sum(not span.sure for span in spans)
                counts[kind] = {"redacted": len(spans), "to_check": unsure, "left_doubtful": doubts}
        return counts


_APPLICANT: Final = {
    "pronoun.subject": "the applicant",
    "pronoun.object": "the applicant",
    "pronoun.possessive": "the applicant's",
    "pronoun.possessive_pronoun": "the applicant's",
    "pronoun.reflexive": "the applicant",
}
"""In the third person singular, so that verbs need not change."""

_BRACKETED: Final = {
    slot: f"[{slot.replace('_', ' ')}]"
    for slot in (
        "college",
        "college_place",
        "job_place",
        "phone",
        "other_email",
        "link",
        "address",
        "ethnicity",
        "person",
        *FIELDS,
    )
} | {"college_place": "[city]", "job_place": "[city]", "other_email": "[email]", "graduation_year": "[year]"}


def redact(
    text: str,
    applicant: Applicant | None = None,
    *,
    also: Collection[str] = (),
    checks: Sequence[str] = (),
) -> Redacted:
    """Make a template of a dossier.

    Parameters
    ----------
    text : str
        The dossier.
    applicant : Applicant, optional
        What is known of the applicant; without a name, the one at the dossier's head.
    also : collection of str
        Kinds (`KINDS`) whose doubtful places are redacted too.
    checks : sequence of {"spacy", "presidio"}
        Models that look for what the rules missed; what they find is reported, and redacted only through `also`.

    Raises
    ------
    NoApplicantError
        If no name is given, and the dossier shows none.
    InputError
        If a kind or a check is not known, or a check is not installed.

    Examples
    --------
    >>> letter = redact("Ms. Ruiz asked her pupils; they like her.", Applicant(name="Ana Ruiz"))
    >>> letter.template
    '{{title}} {{last_name}} asked {{pronoun.possessive}} pupils; they like {{pronoun.object}}.'
    >>> letter.restored() == letter.text
    True
    """
    for kind in also:
        if kind in NOT_ON_DEMAND:
            raise InputError(f"kind {kind!r} cannot be redacted on demand: no slot replaces it; leave it out")
        if kind not in KINDS:
            raise InputError(f"kind {kind!r} is not known{did_you_mean(kind, list(KINDS))}")
    known = applicant or Applicant()
    name, others = applicant_of(text, known)
    folded, found = fold(text), FoundSpans()
    find_labelled(text, folded, found)
    find_contact(text, known, name, found)
    find_colleges(text, folded, known, found)
    find_names(text, folded, name, known.other_names, found)
    titled = find_titles(text, found, known.sex)
    find_ethnicity(text, folded, found)
    find_relations(text, folded, found)
    sex = find_pronouns(text, found, known.sex or titled, others)
    find_others(text, folded, others, found)
    find_jobs(text, found)
    find_years(text, found)
    find_sexed(text, found)
    for check in checks:
        run_check(check, text, found)
    if also:
        for doubt in found.open_doubts():
            if doubt.kind in also and doubt.slot:
                found.add(
                    RedactedSpan(
                        start=doubt.start,
                        end=doubt.end,
                        kind=doubt.kind,
                        slot=doubt.slot,
                        rule=doubt.why,
                        sure=False,
                    )
                )
    seeds = {
        "name": " ".join(part for part in (name.first, *name.middle, name.last) if part),
        "first_name": name.first,
        "last_name": name.last,
    }
    return replace(_template(text, found, seeds, sex, 1 + len(others)), checks=tuple(sorted(set(checks))))


def _template(text: str, found: FoundSpans, seeds: Mapping[str, str], sex: str, candidates: int) -> Redacted:
    disputed = {(start, end) for start, end, _ in found.disputed}
    spans = [
        replace(span, sure=False) if (span.start, span.end) in disputed else span
        for span in sorted(found.spans, key=lambda span: span.start)
    ]
    named = Slots(seeds)
    pieces, written, at = [], [], 0
    for span in spans:
        slot = named.slot_for(span.slot, text[span.start : span.end])
        pieces += [escape(text[at : span.start]), "{{", slot, "}}"]
        written.append(slot)
        at = span.end
    pieces.append(escape(text[at:]))
    redacted = Redacted(
        text=text, template="".join(pieces), originals=named.originals, spans=tuple(spans),
        doubts=tuple(found.open_doubts()), written=tuple(written), sex=sex, candidates=candidates,
    )  # fmt: skip
    if redacted.restored() != text:
        raise AuditError(
            "redaction: the template does not fill to the dossier again; please report this as a fault"
        )
    return redacted
