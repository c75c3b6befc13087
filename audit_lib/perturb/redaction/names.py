"""The applicant's name in every form; here first, last, middle and short names that stand alone.

A whole name counts however it is written. A part alone may be another person's, or a word: what stands around it
decides, and what stays open is reported.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from audit_lib.perturb.redaction.applicant import ApplicantName
from audit_lib.perturb.redaction.folding import Folded, fold
from audit_lib.perturb.redaction.inside import find_in_files, find_inside
from audit_lib.perturb.redaction.lexicons import first_names, honorifics, places, word_set, words
from audit_lib.perturb.redaction.parts import LEFT, RIGHT, NamePart, parts_of, pattern, pieces, suffix_end
from audit_lib.perturb.redaction.spans import Doubt, FoundSpans, RedactedSpan
from audit_lib.perturb.redaction.stated import stated_names
from audit_lib.perturb.redaction.states import STATES
from audit_lib.perturb.redaction.whole import find_initials, find_whole

_MONTHS: Final = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_MONTH_DATED: Final = re.compile(
    r"\.?,?[ \t]+'?\d{2,4}(?!\w)|[ \t]*[-–—/][ \t]*(?:Jan|Feb|Mar|Apr|May|Ju[nl]|Aug|Sep|Oct|Nov|Dec)"
)
"""What makes *Jan*, *Jun*, *Mar* a month: a year or day, or another month after a dash."""

_MONTH_AROUND: Final = re.compile(
    r"(?:\b(?:in|since|until|last|this|next|early|late|mid)\s+|[-–—]\s*)$", re.I
)
_FUNCTION: Final = word_set(
    "i a an the this that these those you we they he she it my your his her our their is was are were be been am to of "
    "in on at by for with from as and or but if when while who which what how why where there here not no so do does "
    "did can could should would may might must shall has have had per via than then all any each every some dear hi "
    "hello hey thanks thank sincerely regards best ms mr mrs miss dr prof asked told met saw hired know known ask "
    "meet hire recommend contact call email about after before because since although though through during until "
    "like unlike only even just also both either neither once yes well now today yesterday"
)
_AFTER_A_NAME: Final = word_set("is was has had and did does also")
_NOT_SURNAMES: Final = word_set(
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday ba bs ma ms mba phd jr sr ii iii iv i resume cv"
)
_PLACE_BEFORE: Final = re.compile(
    r"\b(?:Santa|San|Mount|Mt\.|Fort|Port|Lake|Saint|St\.|New|North|South|East|West|Los|Las|Cape|Rio)[ \t]+$"
    r"|\b(?i:liv(?:ed|e|es|ing)|born|raised|grew up|moved|relocat\w+|based|resid\w+|travel\w*|taught|work(?:ed|ing)|"
    r"stud(?:ied|ying)|serv(?:ed|ing)|volunteer\w*|summers?|years?|store|shop|school|university|college)\s+"
    r"(?i:in|to|near)\s+$"
)
_PLACE_AFTER: Final = re.compile(
    rf",[ ]?(?:{STATES})(?!\w)"
    r"|[ \t]+(?:(?:High|Middle|Elementary|Primary|Junior|Memorial|Public|Community|State|Prep)\b|"
    r"School|Street|St\.?\b|Ave|Road|Rd|Slope|University|College|Park\b|County|City|Heights|Hills|Valley|"
    r"Creek|Lake|Library|Hospital|Center|Centre|Foundation|Boulevard|Blvd|Drive|Lane|Hall\b|Church|Academy|Institute|Bridge|Island|Beach|Springs|Township|"
    r"District|Station|Square|Plaza|Terrace|Museum|Theat|Stadium|Airport|Building|House\b)"
)
_GOING: Final = re.compile(
    r"\b(?i:to|in|into|from|near|at|via|through|across|around|within|throughout|outside|toward|towards|visit(?:ed|ing|s)?|"
    r"tour(?:ed|ing)?|leav(?:e|es|ing)|left|reach(?:ed)?|of)[ \t\r\n]+(?i:the[ \t]+)?$"
)
"""What stands before a place, and before a person more rarely."""

_VERB: Final = re.compile(r"\s+(?:[a-z]+(?:ed|es|s)|is|was|has|had|did|does|led|ran|taught|wrote|built|made|took|gave|"
                          r"grew|spoke|brought|began|kept|won|said|knew|came|went|held|became|and I)\b")  # fmt: skip
_SURE_VERB: Final = re.compile(r"\s+(?:\w+ed|is|was|has|had|did|does|led|ran|taught|wrote|built|made|"
                               r"took|gave|spoke|brought|"
                               r"kept|won|said|knew|came|went|teaches|works|leads|brings|says|writes|runs|makes|shows|"
                               r"plans|helps|uses|gives|takes|knows|wants|speaks|holds|coaches|credits)\b")  # fmt: skip


def find_names(
    text: str, folded: Folded, name: ApplicantName, other_names: Sequence[str], found: FoundSpans
) -> None:
    """Add every form of the name to what was found."""
    stated = stated_names(text, folded, name, parts_of(name, other_names))
    parts = parts_of(name, other_names, stated)
    find_in_files(text, name, found)
    find_whole(text, folded, name, parts, found)
    known = {part.folded for part in parts.alone}
    for part in sorted(parts.alone, key=lambda part: (-len(part.folded), part.folded)):
        for start, end, match in folded.finditer(LEFT + pattern(part.folded) + RIGHT):
            doubted = any(d.kind == "name" and d.start <= start and end <= d.end for d in found.doubts)
            if found.free(start, end) and not doubted:
                _alone(text, folded, part, start, end, match, known, found)
    _plurals(text, folded, name, found)
    find_initials(text, name, found)
    find_inside(text, name, [(part.folded, part.slot) for part in parts.alone], found)


def _plurals(text: str, folded: Folded, name: ApplicantName, found: FoundSpans) -> None:
    """Report *the Smiths*, *O'Neills'*: the applicant's family, or several of the name."""
    forms = {name.first: "first_name", **dict.fromkeys([name.last, *pieces(name.last)], "last_name")}
    for form, slot in forms.items():
        plain = fold(form).text
        if len(plain) < 3:
            continue
        for start, end, _ in folded.finditer(rf"{LEFT}{pattern(plain)}e?s{RIGHT}"):
            word = plain in words() and _begins_sentence(text, start)
            if text[start].isupper() and not word and found.free(start, end):
                found.doubt(Doubt(start=start, end=end, kind="name", why="the name in the plural", slot=slot))


def _alone(
    text: str,
    folded: Folded,
    part: NamePart,
    start: int,
    end: int,
    match: re.Match[str],
    known: set[str],
    found: FoundSpans,
) -> None:
    """Decide on a part of the name that stands by itself."""
    shown = text[start:end]
    bare = re.search(r"(?:(?P<title>[\w'’]+)\.?\s+)$", text[:start][-24:])
    title = bare is not None and fold(bare.group("title")).text in honorifics()
    if part.slot == "middle_name" and title:
        part = replace(part, slot="last_name")
    if part.slot == "last_name":
        end = suffix_end(text, end)
    joined = bool(re.search(r"[_]", text[max(0, start - 1) : start] + text[end : end + 1]))
    if shown.islower() and not joined and (part.folded in words() or len(part.folded) < 3 or part.doubt):
        return  # the word, not the name
    if part.folded in ("jan", "jun", "mar", "dec") and _MONTH_DATED.match(text, end):
        return
    why = part.doubt or _not_the_applicant(text, folded, part, start, end, known, titled=title)
    colleges = (span for span in found.spans if span.kind == "college")
    if any(re.fullmatch(r",[ \t]*", text[college.end : start]) for college in colleges):
        why = why or "after a college: may be its town"
    if why:
        found.doubt(Doubt(start=start, end=end, kind="name", why=why, slot=part.slot))
        return
    if shown.islower() and not joined:
        if any(char.isupper() for char in text[max(0, start - 200) : end + 200]):
            why = "lower case, in a text that has capitals"
            found.doubt(Doubt(start=start, end=end, kind="name", why=why, slot=part.slot))
            return
        found.add(
            RedactedSpan(
                start=start, end=end, kind="name", slot=part.slot, rule="part alone, lower case", sure=False
            )
        )
        return
    sure = part.sure and not re.search(r"\b[Ii]n\s+$", text[:start][-6:])
    if title:  # "Mr. Kim" of Kim Min-jun: the last name may stand first
        sure = part.slot == "last_name" or (part.sure and part.slot != "first_name")
    if part.folded in words() | _FUNCTION and not title and not joined:
        reading = _word_or_name(text, part, start, end)
        if part.folded in _FUNCTION and not part.sure:  # "An", "In", "So": the word is the likelier reading
            reading = "word" if reading in ("open", "word") else "open"
        if reading == "word":
            return
        if reading == "open":
            found.doubt(
                Doubt(
                    start=start, end=end, kind="name", why="may be the word and not the name", slot=part.slot
                )
            )
            return
        sure = reading == "name" and (part.sure or part.slot != "first_name")
    possessive = re.match(r"['’](?!\w)", text[end : end + 2])
    if possessive and part.folded.endswith(("s", "z", "x")):
        slot = f"{part.slot}.possessive"
        found.add(
            RedactedSpan(start=start, end=end + 1, kind="name", slot=slot, rule="possessive", sure=sure)
        )
    else:
        found.add(
            RedactedSpan(start=start, end=end, kind="name", slot=part.slot, rule="part alone", sure=sure)
        )


def _not_the_applicant(
    text: str, folded: Folded, part: NamePart, start: int, end: int, known: set[str], *, titled: bool
) -> str:
    """Return why a part of the name seems to be another's, or nothing."""
    if _PLACE_BEFORE.search(text[:start][-30:]) or _PLACE_AFTER.match(text, end):
        return "may be a place"
    if not titled and part.folded in places() and _GOING.search(text[:start][-24:]):
        return "may be the place of that name"
    if re.search(r"\b[Aa]n?[ \t]+$", text[:start][-4:]) and not titled:
        return "after an article: may be a word"
    if re.match(r"[-‐‑][A-Z]", text[end : end + 2]) or re.search(r"[A-Z][\w'’]*[-‐‑]$", text[:start][-20:]):
        return "part of another hyphenated name"
    if part.slot == "last_name" and re.match(r"\s+famil(?:y|ies)\b", text[end : end + 12]):
        return "a family of that name"
    if re.match(r"[ \t]+vs?\.[ \t]", text[end : end + 6]):
        return "maybe a case at law"
    after = re.match(
        r"[ \t]+((?:[A-Z]\.[ \t]+)?)(?P<next>[^\W\d_][\w'’-]*)(?P<dot>\.?)", text[end : end + 40]
    )
    upper = text[start:end].isupper() and end - start > 1
    if after and part.slot != "last_name" and not upper:
        following = after.group("next")
        plain = fold(following).text.removesuffix("'s")
        one_letter = len(following) == 1 and following.isupper() and following != "I"
        if (
            (following[0].isupper() and len(following) > 1)
            and plain not in known | _FUNCTION | _NOT_SURNAMES
            and not following.isupper()
            and plain not in honorifics()
        ):
            return "followed by another last name: maybe another person"
        if one_letter and after.group("dot"):
            return "followed by another initial: maybe another person"
    before = re.search(r"(?P<previous>[^\W\d_][\w'’-]*)(?P<dot>\.?)(?P<gap>[ \t]+)$", text[:start][-30:])
    if before and part.slot == "last_name" and not titled and not upper:
        previous = before.group("previous")
        plain = fold(previous).text
        begins = _begins_sentence(text, start - len(before.group(0)))
        if previous[0].isupper() and plain not in known | _FUNCTION | _NOT_SURNAMES:
            if before.group("dot") and len(previous) > 1:
                return ""  # the sentence before ended
            if plain in first_names() or not begins:
                return "preceded by another first name: maybe another person"
    return ""


def _begins_sentence(text: str, at: int) -> bool:
    before = text[:at].rstrip(" \t\"'“‘(*_#>-•")
    return not before or before[-1] in ".!?:\n;"


def _word_or_name(text: str, part: NamePart, start: int, end: int) -> str:
    """Read a capitalised name that is also a word: ``name``, ``likely``, ``open`` or ``word``."""
    after, before = text[end : end + 40], text[:start][-24:]
    upper = text[start:end].isupper() and end - start > 1
    following = re.match(r"\s+([\w'’]+)", after)
    plain = following.group(1).lower() if following else ""
    if part.folded in ("may", "april", "june", "august") and _is_month(before, after):
        return "word"
    if re.match(r"\s+(?:College|University|Street|St\.|Avenue|Ave|Road|Rd|School|Institute|Hospital|Church|Park|"
                r"County|City|Foundation|Center|Centre|Hall|House)\b", after):  # fmt: skip
        return "open"
    if upper and re.search(r"\b[A-Z]{2,}\b", text[max(0, start - 30) : start] + text[end : end + 30]):
        return "open"
    if not _begins_sentence(text, start):
        return "name"
    if re.match(r"['’]s\b", after) or (
        re.match(r"[ \t]*[,:](?:\s|$)", after) and part.folded not in ("do", "so", "may")
    ):
        return "likely"
    if part.folded in ("will", "may") and plain in _FUNCTION - _AFTER_A_NAME:
        return "word"
    if plain in {
        "the",
        "a",
        "an",
        "my",
        "your",
        "this",
        "that",
        "to",
        "of",
        "you",
        "we",
        "i",
        "each",
        "all",
        "in",
    }:
        return "word"
    # "Hall monitors": after a last name that is a word, not every word in -s is a verb.
    if plain in {"and", "also"} or (_VERB if part.slot != "last_name" else _SURE_VERB).match(after):
        return "likely"
    if re.match(r"\s*(?:\r?\n|$)", after) and re.search(r"\n\s*$|^\s*$", before):
        return "likely"  # alone on its line, as a signature is
    return "open"


def _is_month(before: str, after: str) -> bool:
    if re.match(r"\.?,?\s*(?:'?\d|[-–—/])|\s+(?:to|until|through|and)\s+(?:" + _MONTHS + r"|\d)", after):
        return True
    if re.search(
        rf"(?:{_MONTHS}|\d|end|middle|beginning|start|month|half)\s+(?:to|until|through|of|in)\s+$",
        before,
        re.I,
    ):
        return True
    return bool(_MONTH_AROUND.search(before)) and not re.match(r"['’]s", after)
