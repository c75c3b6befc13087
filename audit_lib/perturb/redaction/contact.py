"""Ways to reach the applicant: e-mail, phone, links, address."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from audit_lib.perturb.redaction.applicant import Applicant, ApplicantName
from audit_lib.perturb.redaction.folding import fold
from audit_lib.perturb.redaction.spans import Doubt, FoundSpans, RedactedSpan
from audit_lib.perturb.redaction.states import STATES

_EMAIL: Final = re.compile(r"(?<![\w.+-])[\w.+%'-]+@[\w-]+(?:\.[\w-]+)+(?<![.-])")
_PHONE: Final = re.compile(
    r"(?<![\w.])(?:\+?1[ .-]?)?(?:\(\d{3}\)[ \t]?|\d{3}[ .\-–/])\d{3}[ .\-–]\d{4}(?:[ ,]*(?:x|"
    r"ext\.?)[ ]?\d{1,5})?(?![\w-])"
    r"|(?<![\w.-])\d{10}(?![\w-])|(?<![\w.-])\d{3}-\d{4}(?![\w-])"
    r"|(?<!\w)\+\d{1,3}(?:[ .()-]{0,2}\d{1,4}){2,6}(?!\w)"
    r"|(?<![\w.+-])\(?0\d{1,4}\)?(?:[ .-]\d{2,4}){2,4}(?![\w-])"
)
_LINK: Final = re.compile(
    r"(?i)\b(?:https?://|www\.)[^\s<>\"|]+[^\s<>\"|.,;:!?)\]'’]"
    r"|\b(?:[a-z0-9-]{1,63}\.){0,4}(?:linkedin|github|gitlab|twitter|x|facebook|instagram|medium|behance|dribbble|tiktok|youtube"
    r"|wixsite|wordpress|substack|orcid)\.(?:com|org|io)/[^\s<>\"|,;]*[^\s<>\"|.,;:!?)\]'’]"
)
_DOMAIN: Final = re.compile(
    r"(?i)(?<![\w@./-])(?P<host>[a-z0-9-]{3,40})\.(?:com|org|net|io|me|dev|edu|co)\b(?:/\S*[\w/])?"
)
_HANDLE: Final = re.compile(r"(?<![\w@.])@\w[\w.]{2,30}(?<!\.)")
_TOWN: Final = r"[A-Z][^\W\d_]*(?:[.'’-]?[ ]?[A-Z][^\W\d_]*\.?){0,3}"
PLACE: Final = re.compile(rf"\b{_TOWN},[ ]?(?:{STATES})(?![\w])")
"""A town with its state."""

_ZIP: Final = r"[ ,]+\d{5}(?:-\d{4})?\b"
_STREET: Final = re.compile(
    rf"\b\d{{1,6}}[A-Z]?[ \t]+(?:[NSEW]\.?[ \t]+)?(?:[A-Z0-9][\w'’.-]*[ \t]+){{1,4}}"
    r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Drive|Dr|Lane|Ln|Court|Ct|Way|Place|Pl|Terrace|Ter|Circle|Cir|"
    r"Parkway|Pkwy|Highway|Hwy|Square|Sq|Trail|Loop)\b\.?"
    r"(?:,?[ \t]*(?:Apt|Apartment|Unit|Suite|Ste|Fl|Floor|#)\.?[ \t]*#?\w+)?"
    rf"(?:[,|]?[ \t]*\r?\n?[ \t]*{_TOWN},[ ]?(?:{STATES})(?:{_ZIP})?)?"
)
_PLACE_ZIP: Final = re.compile(rf"\b{_TOWN},[ ]?(?:{STATES}){_ZIP}")
_HEAD_LINES: Final = 10
_BOX: Final = re.compile(r"\bP\.?[ ]?O\.?[ ]Box[ ]\d+")


def find_contact(text: str, applicant: Applicant, name: ApplicantName, found: FoundSpans) -> None:
    """Add e-mails, phones, links and addresses; known ones first, whatever they look like."""
    _known(text, applicant, found)
    parts = {piece for part in (name.first, name.last) for piece in _pieces(part)}
    own, sure = _own_email(text, applicant, name, parts)
    for match in _EMAIL.finditer(text):
        mine = match.group().lower() == own.lower()
        slot = "email" if mine else "other_email"
        found.add(
            RedactedSpan(
                start=match.start(),
                end=match.end(),
                kind="email",
                slot=slot,
                rule="e-mail",
                sure=mine and sure,
            )
        )
    for match in _LINK.finditer(text):
        found.add(RedactedSpan(start=match.start(), end=match.end(), kind="link", slot="link", rule="link"))
    for match in (*_DOMAIN.finditer(text), *_HANDLE.finditer(text)):
        if _says(match.group(), parts, name):
            found.add(
                RedactedSpan(
                    start=match.start(),
                    end=match.end(),
                    kind="link",
                    slot="link",
                    rule="handle with the name",
                )
            )
        elif found.free(*match.span()):
            found.doubt(
                Doubt(
                    start=match.start(), end=match.end(), kind="link", why="a handle or domain", slot="link"
                )
            )
    _add(_PHONE.finditer(text), "phone", found)
    for pattern in (_STREET, _PLACE_ZIP, _BOX):
        _add(pattern.finditer(text), "address", found)
    # A town in the first lines is where the applicant lives; deeper down it is a school's or an employer's.
    head = re.match(r"(?:[^\n]*\n){0,5}[^\n]*", text)
    for match in PLACE.finditer(head.group() if head else ""):
        line = text[
            text.rfind("\n", 0, match.start()) + 1 : (text.find("\n", match.end()) + 1 or len(text) + 1) - 1
        ]
        beside = [
            s for s in found.spans if s.kind in ("email", "phone", "link") and _same_line(text, s, match)
        ]
        if beside or line.strip(" \t|•*_-") == match.group():
            found.add(
                RedactedSpan(
                    start=match.start(),
                    end=match.end(),
                    kind="address",
                    slot="address",
                    rule="town at the head",
                )
            )


def _own_email(text: str, applicant: Applicant, name: ApplicantName, parts: set[str]) -> tuple[str, bool]:
    """Return the applicant's e-mail, or nothing, and whether no other could be it.

    The one that was given; else the one that says the whole name best. One part of the name is enough at the head
    alone: deeper down a referee may share it.
    """
    if applicant.email:
        return applicant.email, True
    first, last = (_pieces(part)[0] for part in (name.first, name.last))
    ranked: dict[str, int] = {}
    for match in _EMAIL.finditer(text):
        local = "".join(filter(str.isalpha, fold(match.group().partition("@")[0]).text))
        whole = bool(first and last) and first in local and last in local
        initial = len(last) > 2 and local in (first[:1] + last, last + first[:1])
        at_head = text[: match.start()].count("\n") < _HEAD_LINES and _says(local, parts, name)
        if rank := 3 * whole + 2 * initial + at_head:
            ranked[match.group().lower()] = max(rank, ranked.get(match.group().lower(), 0))
    if not ranked:
        return "", False
    best = max(ranked.values())
    chosen = [mail for mail, rank in ranked.items() if rank == best]
    return chosen[0], len(chosen) == 1


def _known(text: str, applicant: Applicant, found: FoundSpans) -> None:
    if applicant.email:
        for match in re.finditer(r"(?i)(?<![\w.])" + re.escape(applicant.email) + r"(?!\w)", text):
            found.add(
                RedactedSpan(start=match.start(), end=match.end(), kind="email", slot="email", rule="known")
            )
    digits = re.sub(r"\D", "", applicant.phone)
    if len(digits) >= 6:
        for match in re.finditer(
            r"(?<!\d)(?:\+?1[ .-]?)?[(+]?" + r"[ ().\-–/]{0,3}".join(digits) + r"(?!\d)", text
        ):
            found.add(
                RedactedSpan(start=match.start(), end=match.end(), kind="phone", slot="phone", rule="known")
            )
    if applicant.address.strip():
        loose = r"[\s,]+".join(map(re.escape, re.split(r"[\s,]+", applicant.address.strip())))
        for match in re.finditer(r"(?i)(?<!\w)" + loose + r"(?!\w)", text):
            found.add(
                RedactedSpan(
                    start=match.start(), end=match.end(), kind="address", slot="address", rule="known"
                )
            )


def _pieces(part: str) -> list[str]:
    whole = re.sub(r"[^a-z]", "", fold(part).text)
    return [whole, *(p for p in re.split(r"[^a-z]+", fold(part).text) if len(p) > 3)]


def _says(handle: str, parts: set[str], name: ApplicantName) -> bool:
    """Return whether a handle holds a part of the name, of three letters at least, or initial and last name."""
    plain = re.sub(r"[^a-z]", "", fold(handle).text)
    return any(len(part) > 2 and part in plain for part in parts)


def _add(matches: Iterable[re.Match[str]], kind: str, found: FoundSpans) -> None:
    for match in matches:
        # Ten digits in a row, or seven, may be another number.
        sure = kind != "phone" or re.fullmatch(r"\d{10}|\d{3}-\d{4}", match.group()) is None
        found.add(
            RedactedSpan(start=match.start(), end=match.end(), kind=kind, slot=kind, rule=kind, sure=sure)
        )


def _same_line(text: str, span: RedactedSpan, match: re.Match[str]) -> bool:
    first, last = sorted((span.start, match.start()))
    return "\n" not in text[first:last]
