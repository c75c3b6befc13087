"""Read a result of redaction again: `ok` only where nothing is left to look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Literal

from audit_lib.languages import not_english
from audit_lib.perturb.rereading.fields import find_fields
from audit_lib.perturb.rereading.findings import GONE, LeftPassage, plain, words
from audit_lib.perturb.rereading.given import find_given
from audit_lib.perturb.rereading.ledger import remaining, unexplained
from audit_lib.perturb.rereading.people import find_people
from audit_lib.perturb.rereading.sections import find_sections
from audit_lib.perturb.rereading.signs import find_signs
from audit_lib.perturb.rereading.vocabulary import find_beside, find_they, find_words

if TYPE_CHECKING:
    from audit_lib.perturb.redact import Applicant, Redacted

MODELS: Final = {"presidio": "presidio_analyzer", "spacy": "spacy"}
"""Models that look too -> the package of each."""

_NEUTRAL: Final = words(
    "dr doctor prof professor coach eng engineer judge officer principal dean president nurse"
)
"""Titles that a template keeps, and that tell neither sex nor faith."""

RereadStatus = Literal["ok", "review"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reread:
    """What a second reading of a result says.

    Attributes
    ----------
    findings : tuple of LeftPassage
        Places of the original that are left and no doubt of redaction's covers, in order.
    reasons : tuple of str
        Why a person has to look, without anything personal; empty: the dossier is ok.
    not_looked : tuple of str
        Models that did not look: without them no dossier is ok.
    """

    findings: tuple[LeftPassage, ...]
    reasons: tuple[str, ...]
    not_looked: tuple[str, ...]

    @property
    def status(self) -> RereadStatus:
        """``ok`` where there is nothing to look at, else ``review``."""
        return "review" if self.reasons else "ok"


def installed() -> tuple[str, ...]:
    """Return which models are installed."""
    return tuple(sorted(model for model, package in MODELS.items() if find_spec(package) is not None))


def reread(
    redacted: Redacted, applicant: Applicant | None = None, *, pages_unread: Sequence[int] = ()
) -> Reread:
    """Read what redaction left, by rules that share nothing with it.

    Parameters
    ----------
    redacted : Redacted
        A result of `redact`.
    applicant : Applicant, optional
        What was known of the applicant.
    pages_unread : sequence of int
        Pages whose text nobody read.

    Examples
    --------
    >>> from audit_lib.perturb.redact import Applicant, redact
    >>> ana = Applicant(name="Ana Ruiz")
    >>> letter = redact("Thanks, Ana! Yours, R u i z", ana)
    >>> [letter.text[f.start : f.end] for f in reread(letter, ana).findings]
    ['R u i z']
    """
    text = redacted.text
    spans = [(span.start, span.end) for span in redacted.spans]
    left = remaining(text, redacted.template, spans)
    agrees = left is not None
    left = text if left is None else left
    names = _names(redacted, applicant)
    groups = [(s.start, s.end) for s in redacted.spans if s.kind in ("ethnicity", "relation")]
    found = [
        *find_given(left, names), *find_fields(left), *find_signs(left), *find_words(left),
        *find_they(left, others_only=_goes_by_she_or_he(redacted)), *find_people(left), *find_sections(left),
        *find_beside(left, groups), *_other_language(left),
    ]  # fmt: skip
    listed = zip(redacted.spans, redacted.written, strict=True)
    removed = tuple(unexplained(text, [(s.start, s.end, s.kind, slot.lower()) for s, slot in listed], names))
    stays = tuple(
        LeftPassage(
            start=s.start, end=s.end, kind="title", why="a title that stays, and may tell a sex or a faith"
        )
        for s, slot in zip(redacted.spans, redacted.written, strict=True)
        if slot.lower().startswith("honorific") and plain(text[s.start : s.end]).strip(".") not in _NEUTRAL
    )
    findings = (
        *removed,
        *stays,
        *_apart(left, found, [(doubt.start, doubt.end) for doubt in redacted.doubts]),
    )
    not_looked = tuple(sorted(set(MODELS) - set(redacted.checks)))
    unsure = sum(not span.sure for span in redacted.spans)
    reasons = (
        ("what was removed is not what is listed as removed", not agrees),
        (f"people presented as the applicant: {redacted.candidates}", redacted.candidates > 1),
        ("the applicant's name was not found", not redacted.names_found),
        (f"pages that need OCR: {len(pages_unread)}", bool(pages_unread)),
        (f"doubtful places left: {len(redacted.doubts)}", bool(redacted.doubts)),
        (f"places redacted, to be checked: {unsure}", bool(unsure)),
        (f"places found by the second reader: {len(findings)}", bool(findings)),
        (f"did not look, not installed or not asked for: {', '.join(not_looked)}", bool(not_looked)),
    )
    return Reread(
        findings=tuple(sorted(findings)),
        reasons=tuple(reason for reason, holds in reasons if holds),
        not_looked=not_looked,
    )


def _goes_by_she_or_he(redacted: Redacted) -> bool:
    """Return whether pronouns of one sex were removed at least as often as *they* is left."""
    gone = sum(span.kind in ("pronoun", "title") for span in redacted.spans)
    return bool(redacted.sex) and gone >= sum(1 for _ in find_they(redacted.text, others_only=False))


def _names(redacted: Redacted, applicant: Applicant | None) -> tuple[str, ...]:
    given = () if applicant is None else (
        applicant.name, applicant.first_name, applicant.last_name, *applicant.other_names,
        f"{applicant.first_name} {applicant.last_name}",
    )  # fmt: skip
    kinds = ["first_name", "last_name", "middle_name", "nickname"]
    if not any(name.strip() for name in given):
        kinds.append("name")  # else a name that was removed would explain itself
    stated = [
        value for slot, value in redacted.originals.items()
        if slot.split(".")[0] in kinds and "initial" not in slot
    ]  # fmt: skip
    return tuple(dict.fromkeys(name for name in (*given, *stated) if name.strip()))


def _other_language(left: str) -> Iterator[LeftPassage]:
    """Yield the lines in another language than English: the word lists know only some of its words."""
    at = 0
    for line in left.split("\n"):
        language = not_english(line.replace(GONE, " "))
        if language not in ("", "no English"):
            bare = line.strip()
            start = at + (line.index(bare) if bare else 0)
            yield LeftPassage(
                start=start,
                end=start + len(bare),
                kind="unread",
                why=f"a line in another language: {language}",
            )
        at += len(line) + 1


def _apart(left: str, found: Sequence[LeftPassage], doubts: Sequence[tuple[int, int]]) -> list[LeftPassage]:
    """Return the findings, each place once, less what is gone and what is doubtful already."""
    taken = [char == GONE for char in left]
    for start, end in doubts:
        taken[start:end] = [True] * (end - start)
    kept = []
    for finding in sorted(
        found, key=lambda f: (f.kind in ("unread", "personal"), f.start, -f.end, f.kind, f.why)
    ):
        start = finding.start
        while start < finding.end:
            while start < finding.end and (taken[start] or left[start].isspace()):
                start += 1
            end = start
            while end < finding.end and not taken[end]:
                end += 1
            shown = left[start:end].rstrip()
            if any(map(_tells, shown)):
                kept.append(
                    LeftPassage(start=start, end=start + len(shown), kind=finding.kind, why=finding.why)
                )
                taken[start : start + len(shown)] = [True] * len(shown)
            start = max(end, start + 1)
    return kept


def _tells(char: str) -> bool:
    return char.isalnum() or (not char.isascii() and not char.isspace())
