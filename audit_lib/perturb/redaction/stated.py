"""Names by which the dossier says the applicant goes: ``Katarzyna (Kasia) Wójcik``, ``goes by Kasia``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from functools import cache
from typing import Final

from audit_lib.perturb.redaction.applicant import NO_HEAD, NO_NAME, ApplicantName
from audit_lib.perturb.redaction.folding import Folded, fold
from audit_lib.perturb.redaction.lexicons import first_names, honorifics, rows
from audit_lib.perturb.redaction.parts import LEFT, RIGHT, NamePart, Parts, pattern

_WORD: Final = r"[^\W\d_]+(?:['’-][^\W\d_]+)*"
_OTHER: Final = rf"[\"“'‘(]?(?P<other>{_WORD})(?:[ \t]+(?P<next>{_WORD}))?"
_LABELLED: Final = re.compile(
    rf"(?i:\b(?:preferred[ \t]+name|nick-?name)(?:[ \t]+is)?[ \t]*[:=]?)[ \t]+{_OTHER}"
)
_CALLED: Final = re.compile(
    r"(?i:\b(?:go(?:es)?|going|went)[ \t]+by(?:[ \t]+the[ \t]+(?:nick)?name(?:[ \t]+of)?)?|\bknown[ \t]+(?:to[ \t]+"
    r"(?:\w+[ \t]+){1,5})?as|\bnicknamed|\ba\.?k\.?a\.?|\bcall(?:s|ed|ing)?[ \t]+(?:me|her|him|them)|"
    rf"\bprefers?[ \t]+to[ \t]+be[ \t]+called),?[ \t]+{_OTHER}"
)
_CALLS: Final = re.compile(
    rf"{LEFT}(?P<other>{_WORD})(?P<next>),?[ \t]+(?:as[ \t]+(?:\w+[ \t]+){{1,3}}calls?[ \t]+(?:me|her|him|them)\b"
    r"|to[ \t]+(?:(?:my|her|his|their)[ \t]+)?(?:friends|family|colleagues)\b)"
)
_OF_ME: Final = re.compile(r"\bI(?:['’]m|[ \t]+am)?(?:[ \t]+\w+)?[ \t]+$")


def stated_names(text: str, folded: Folded, name: ApplicantName, parts: Parts) -> Iterator[NamePart]:
    """Yield further names of the applicant: surest first.

    A word in brackets or quotes inside the whole name is one. One right after it, or after words such as *goes by*,
    may be something else: its places are to be checked, or only reported.
    """
    if parts.lasts:
        first, last = ("|".join(map(pattern, forms)) for forms in (parts.firsts, parts.lasts))
        middle = rf"(?:[ \t]+{_WORD}\.?){{0,3}}?"
        quoted = rf"[ \t]*(?:\((?P<a>{_WORD})\)|\"(?P<b>{_WORD})\"|'(?P<c>{_WORD})')"
        inside = rf"{LEFT}(?:{first}){middle}{quoted}{middle}[ \t]+(?:{last}){RIGHT}"
        after = rf"{LEFT}(?:{first}){middle}[ \t]+(?:{last}){RIGHT}{quoted}"
        for where, sure in ((inside, True), (after, False)):
            for _, _, match in folded.finditer(where):
                start, end = folded.span(match, match.lastgroup or "a")
                shown = text[start:end]
                if _may_be_a_name(shown) and (sure or not shown.isupper()):
                    alike = (
                        fold(shown).text[0] == fold(name.first).text[0] or fold(shown).text in first_names()
                    )
                    why = "" if sure or alike else "in brackets after the name: maybe a nickname"
                    yield _part(shown, sure=sure, doubt=why)
    known = {part.folded for part in parts.alone}
    for phrase, labelled in ((_LABELLED, True), (_CALLED, False), (_CALLS, False)):
        for match in phrase.finditer(text):
            shown, following = match.group("other"), match.group("next") or ""
            if not _may_be_a_name(shown) or (following[:1].isupper() and fold(following).text not in known):
                continue
            begin = max(text.rfind(mark, 0, match.start()) for mark in ".!?\n") + 1
            own = labelled or _says_whose(
                phrase is _CALLED, text[begin : match.start()], match.group(), known
            )
            yield _part(
                shown, sure=False, doubt="" if own else "what somebody is called: maybe the applicant"
            )


def _says_whose(called: bool, before: str, phrase: str, known: Set[str]) -> bool:
    """Return whether *I go by*, *call me* or the applicant's name in the sentence says who is called so."""
    of_me = re.search(r"(?i)\bcall(?:s|ed|ing)?[ \t]+me\b", phrase) or (
        called and not re.match("(?i)call", phrase) and _OF_ME.search(before)
    )
    named = {fold(word).text for word in re.findall(_WORD, before + phrase) if word[0].isupper()}
    return bool(of_me or known & named)


def _part(shown: str, *, sure: bool, doubt: str) -> NamePart:
    return NamePart(folded=fold(shown).text, slot="nickname", sure=sure, doubt=doubt)


def _may_be_a_name(shown: str) -> bool:
    plain = fold(shown).text
    no_name = plain in NO_NAME | NO_HEAD or plain in honorifics() or plain in _peoples()
    return shown[0].isupper() and len(shown) > 1 and not (shown.isupper() and len(shown) > 3) and not no_name


@cache
def _peoples() -> frozenset[str]:
    return frozenset(fold(row["term"]).text for row in rows("ethnicities", "term"))
