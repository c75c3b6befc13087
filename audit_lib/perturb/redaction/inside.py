"""The applicant's name inside other words: in the names of files, run together, as initials, cut by a line break."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from audit_lib.perturb.redaction.applicant import ApplicantName
from audit_lib.perturb.redaction.folding import fold
from audit_lib.perturb.redaction.lexicons import words
from audit_lib.perturb.redaction.spans import Doubt, FoundSpans, RedactedSpan

_FILE: Final = re.compile(
    r"(?<![\w.+()-])[\w.+()-]*\.(?:pdf|docx?|txt|md|rtf|odt|pages|pptx?|jpe?g|png)\b", re.I
)
_TOKEN: Final = re.compile(r"[^\W\d_]+(?:[.'’‐‑-]{1,2}[^\W\d_]+)*")
_CUT: Final = re.compile(r"([^\W\d_]+)-[ \t]*\r?\n[ \t]*([^\W\d_]+)")
_BORN: Final = re.compile(r"\b(?:née|nee|né|maiden name(?: is| was|:)?|formerly|birth name(?: is| was|:)?)[ \t]+"
                          r"(?P<name>[A-Z][\w'’-]+(?:[ \t]+[A-Z][\w'’-]+)?)")  # fmt: skip
_UMLAUTS: Final = {"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"}


def spelled_out(part: str) -> str:
    """Return a name with umlauts as two letters, folded: ``Müller`` as ``mueller``."""
    return fold("".join(_UMLAUTS.get(char, char) for char in part.lower())).text


def letters(part: str) -> str:
    """Return the letters of a name alone, folded: ``Seung-hee`` as ``seunghee``."""
    return "".join(filter(str.isalpha, fold(part).text))


def find_in_files(text: str, name: ApplicantName, found: FoundSpans) -> None:
    """Add the name in the names of files: ``AnaRuizCV.pdf``, ``aruiz_resume.pdf``, ``RuizA.docx``."""
    if not name.last:
        return
    first, last = (_either(part) for part in (name.first, name.last))
    initial = re.escape(letters(name.first)[:1])
    orders = (
        (rf"(?P<a>{first})[_.+-]*(?P<b>{last})", "first_name", "last_name", True),
        (rf"(?P<a>{last})[_.+-]*(?P<b>{first})", "last_name", "first_name", True),
        (rf"(?<![a-z])(?P<a>{initial})[_.+-]?(?P<b>{last})", "first_name.initial", "last_name", False),
        (rf"(?P<a>{last})[_.+-]?(?P<b>{initial})(?![a-z])", "last_name", "first_name.initial", False),
    )
    for file in _FILE.finditer(text):
        folded = fold(file.group())
        for pattern, one, two, sure in orders:
            for _, _, match in folded.finditer(pattern):
                for group, slot in (("a", one), ("b", two)):
                    start, end = (file.start() + at for at in folded.span(match, group))
                    found.add(
                        RedactedSpan(
                            start=start, end=end, kind="name", slot=slot, rule="name of a file", sure=sure
                        )
                    )


def find_inside(
    text: str, name: ApplicantName, parts: Collection[tuple[str, str]], found: FoundSpans
) -> None:
    """Add names cut by a line break, and report words that hold the name or its initials.

    Parameters
    ----------
    parts : collection of (str, str)
        Parts of the name that may stand alone, folded, and the slot of each.
    """
    slots = {letters(part): slot for part, slot in parts if len(letters(part)) > 2}
    for cut in _CUT.finditer(text):
        slot = slots.get(letters(cut.group()))
        if slot:
            found.add(RedactedSpan(start=cut.start(), end=cut.end(), kind="name", slot=slot, rule="cut by a line break",
                           sure=False))  # fmt: skip
    for born in _BORN.finditer(text):
        found.doubt(Doubt(start=born.start(), end=born.end(), kind="name", why="a former name"))
    first, last = letters(name.first), letters(name.last)
    collapsed = {spelled: slot for plain, slot in slots.items() if (spelled := _collapsed(plain)) != plain}
    initials = _initials(name)
    for token in _TOKEN.finditer(text):
        plain, shown = letters(token.group()), token.group()
        slot = ""
        if last and (first + last in plain or last + first in plain):
            why = "holds the first and the last name"
        elif last and len(last) > 2 and plain in (first[:1] + last, last + first[:1]):
            why = "an initial and the last name"
        elif last and plain == first + last[:1] and shown[0].isupper() and shown[-1].isupper():
            why = "the first name and an initial"
        elif len(plain) > 1 and plain in initials and shown[0].isupper() and not shown[1:].islower():
            why = "the initials"
        elif plain in slots and plain not in words() and not shown.islower():
            why, slot = "a part of the name", slots[plain]
        elif plain in collapsed:
            why, slot = "the name in another spelling", collapsed[plain]
        else:
            continue
        if not any(d.start <= token.start() and token.end() <= d.end for d in found.doubts):
            found.doubt(Doubt(start=token.start(), end=token.end(), kind="name", why=why, slot=slot))


def _either(part: str) -> str:
    spellings = {letters(part), letters(spelled_out(part))}
    return "|".join(re.escape(s) for s in sorted(spellings, key=lambda s: (-len(s), s)))


def _collapsed(plain: str) -> str:
    return re.sub("([aou])e", r"\1", plain)


def _initials(name: ApplicantName) -> set[str]:
    """Return the initials that people sign with: first and last, with middle names, and with every word."""

    def of(*parts: str) -> str:
        return "".join(letters(word)[:1] for part in parts for word in re.split(r"[\s.-]+", part) if word)

    return {
        of(name.first[:1], name.last[:1]), of(name.first, name.last), of(name.first, *name.middle, name.last),
        of(name.first[:1], *name.middle, name.last[:1]), of(name.first), of(name.first, *name.middle),
    }  # fmt: skip
