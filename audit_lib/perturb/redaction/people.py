"""Titles and third-person pronouns, where they mean the applicant.

A pronoun means whom the text named last: the applicant, by a name, or somebody else, by a title and another name
or a word such as *mother* or *principal*. Pronouns that may mean somebody else stay and are reported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from audit_lib.perturb.agreement import part_of
from audit_lib.perturb.redaction.applicant import ApplicantName
from audit_lib.perturb.redaction.folding import Folded, fold
from audit_lib.perturb.redaction.lexicons import first_names, honorifics
from audit_lib.perturb.redaction.spans import Doubt, FoundSpans, RedactedSpan

PRONOUNS: Final = {
    "she": "female", "her": "female", "hers": "female", "herself": "female",
    "he": "male", "him": "male", "his": "male", "himself": "male",
}  # fmt: skip
_PRONOUN: Final = re.compile(
    r"(?<![\w])(?:" + "|".join(sorted(PRONOUNS, key=len, reverse=True)) + r")(?!\w)", re.I
)
_BOTH: Final = re.compile(r"\b(?:s/he|he\s*(?:/|or)\s*she|she\s*(?:/|or)\s*he|his\s*(?:/|or)\s*hers?|"
                          r"hers?\s*(?:/|or)\s*his"
                          r"|him\s*(?:/|or)\s*her|her\s*(?:/|or)\s*him)\b", re.I)  # fmt: skip
_STATED: Final = re.compile(
    r"(?i:\bpronouns?\b[ \t]*[:=-]?[ \t]*|\()(?P<list>(?i:she|he)[ \t]*/[ \t]*(?i:hers?|him|his)"
    r"(?:[ \t]*/[ \t]*(?i:hers?|his|him))?)"
)
_THEY_PARTS: Final = {
    "they": "subject", "them": "object", "their": "possessive", "theirs": "possessive_pronoun",
    "themself": "reflexive", "themselves": "reflexive",
}  # fmt: skip
_THEY: Final = re.compile(
    r"(?<![\w])(?:" + "|".join(sorted(_THEY_PARTS, key=len, reverse=True)) + r")(?!\w)", re.I
)
_THEY_STATED: Final = re.compile(
    r"(?i)\bthey[ \t]*/[ \t]*them\b|\bpronouns?\b[^\n]{0,20}\bthey\b|\bnon-?binary\b"
)
_SINGULAR: Final = "singular they: look at the verb, and whether several are meant"
_SPEAKER: Final = re.compile(r"[,.!?][\"”]\s*$")
_OTHER_FEMALE: Final = (
    "mother mom mum mommy grandmother grandma aunt sister daughter niece wife girlfriend woman girl "
    "lady mrs. stepmother "
    "abuela queen actress"
)
_OTHER_MALE: Final = (
    "father dad daddy grandfather grandpa uncle brother son nephew husband boyfriend man boy gentleman stepfather "
    "abuelo king"
)
_OTHER_ANY: Final = (
    "principal boss supervisor manager mentor coach teacher professor colleague student child friend parent spouse "
    "partner cousin neighbor neighbour doctor director customer client patient advisor counselor roommate classmate "
    "superintendent interviewer applicant's coworker"
)
_OTHERS: Final = {
    **dict.fromkeys(_OTHER_FEMALE.split(), "female"),
    **dict.fromkeys(_OTHER_MALE.split(), "male"),
    **dict.fromkeys(_OTHER_ANY.split(), ""),
}
_OTHER: Final = re.compile(
    r"\b(?i:my|our|their|an?|one|the|his|her|another|this|that|each|every|whose)\s+(?:[\w-]+\s+){0,2}?(?P<word>"
    + "|".join(sorted(map(re.escape, _OTHERS), key=len, reverse=True)) + r")\b(?!\s+(?i:teacher|school))"
)  # fmt: skip
_TITLED: Final = re.compile(r"\b(?P<title>[A-Z][\w'’]{1,10})\.?[ \t]+(?P<name>[A-Z][\w'’-]+)")
_NAMED: Final = re.compile(r"\b(?P<first>[A-Z][^\W\d_]+)[ \t]+[A-Z][\w'’-]+")


@dataclass(frozen=True, slots=True)
class _PersonMention:
    at: int
    applicant: bool
    sex: str


def find_titles(text: str, found: FoundSpans, known: str = "") -> str:
    """Add the titles before the applicant's names; return the sex that they say, or nothing.

    A title of the other sex than the applicant's is a relative's: it and the name after it are reported and stay.
    The applicant's sex is what is `known`, else what most of the titles say.
    """
    starts = sorted(span.start for span in found.spans if span.kind == "name")
    sexes: Counter[str] = Counter()
    titles: list[tuple[RedactedSpan, str]] = []
    for start in starts:
        before = re.search(
            r"(?<![\w.])(?P<title>[^\W\d_][\w'’]*)(?P<dot>\.?)(?:[ \t]+(?:\r?\n[ \t]*)?|\r?\n[ \t]*)$",
            text[:start][-24:],
        )
        if before is None:
            continue
        sex = honorifics().get(fold(before.group("title")).text)
        if sex is None or not before.group("title")[0].isupper():
            continue
        offset = start - len(text[:start][-24:])
        begin = offset + before.start("title") if start > 24 else before.start("title")
        end = begin + len(before.group("title")) + len(before.group("dot"))
        slot = "title" if sex or fold(before.group("title")).text == "mx" else "honorific"
        titles.append(
            (RedactedSpan(start=begin, end=end, kind="title", slot=slot, rule="title before a name"), sex)
        )
        if sex:
            sexes[sex] += 1
    most = sexes.most_common()
    mine = known or (most[0][0] if most and (len(most) == 1 or most[0][1] > most[1][1]) else "")
    for title, sex in titles:
        if not mine or sex in ("", mine):
            found.add(replace(title, sure=not sex or bool(known) or len(sexes) == 1))
            continue
        found.doubt(_doubt(title, "a title of the other sex: maybe a relative's"))
        for span in [s for s in found.spans if s.kind == "name" and not text[title.end : s.start].strip()]:
            if span.start >= title.end:
                found.spans.remove(span)
                found.doubt(_doubt(span, "after a title of the other sex: maybe a relative"))
    for match in re.finditer(r"(?i)\b(ma['’]am|madam|sir)\b", text):
        found.doubt(Doubt(start=match.start(), end=match.end(), kind="title", why="a form of address by sex"))
    return mine


def _doubt(span: RedactedSpan, why: str) -> Doubt:
    return Doubt(start=span.start, end=span.end, kind=span.kind, why=why, slot=span.slot)


def find_pronouns(text: str, found: FoundSpans, sex: str, others: Sequence[ApplicantName] = ()) -> str:
    """Add the pronouns that mean the applicant; return the sex that they say, or nothing.

    Parameters
    ----------
    sex : str
        What is known already: by the caller or a title. Else the pronouns that follow the applicant's name decide.
    others : sequence of ApplicantName
        Further candidates whom the text names.
    """
    for match in _STATED.finditer(text):
        sex = sex or PRONOUNS[match.group("list").split("/")[0].strip().lower()]
        for word in re.finditer(r"\w+", match.group("list")):
            start, end = match.start("list") + word.start(), match.start("list") + word.end()
            plain = word.group().lower()
            if PRONOUNS[plain] == sex:
                # In "she/her" the second stands for the object, in "he/him/his" the third for the possessive.
                first = "object" if plain in ("her", "him") else "possessive"
                part = {"she": "subject", "he": "subject", "hers": "possessive_pronoun"}.get(plain, first)
                found.add(
                    RedactedSpan(
                        start=start, end=end, kind="pronoun", slot=f"pronoun.{part}", rule="stated pronouns"
                    )
                )
    both = [match.span() for match in _BOTH.finditer(text)]
    mentions = _mentions(text, found, others)
    places = [
        match for match in _PRONOUN.finditer(text)
        if found.free(*match.span()) and not any(a <= match.start() < b for a, b in both)
    ]  # fmt: skip
    quoted = {
        match.start() for match in places if _SPEAKER.search(text[max(0, match.start() - 8) : match.start()])
    }
    nearest = {
        match.start(): _nearest(text, mentions, match.start(), PRONOUNS[match.group().lower()])
        for match in places
    }
    if not sex:
        counts = Counter(
            PRONOUNS[m.group().lower()] for m in places
            if (n := nearest[m.start()]) and n.applicant and m.start() not in quoted
        )  # fmt: skip
        counts = counts or Counter(
            PRONOUNS[m.group().lower()] for m in places
            if nearest[m.start()] is None and m.start() not in quoted
        )  # fmt: skip
        sex = max(sorted(counts), key=lambda s: counts[s]) if counts else ""
    first_person = len(re.findall(r"\b(?:I|my|My|me)\b", text))
    for match in places:
        start, end = match.span()
        antecedent = nearest[start]
        part, sure = part_of(text, start, end)
        slot, why = f"pronoun.{part}", ""
        if PRONOUNS[match.group().lower()] != sex:
            why = "another pronoun than the applicant's"
        elif start in quoted and _named_in_quotation(text, start, found):
            why = "who says this to the applicant is somebody else"
        elif antecedent is not None and not antecedent.applicant:
            why = "somebody else was named last"
        elif antecedent is None and first_person > 2:
            why = "the text is in the first person"
        if why:
            found.doubt(Doubt(start=start, end=end, kind="pronoun", why=why, slot=slot))
            continue
        sure = sure and antecedent is not None
        found.add(RedactedSpan(start=start, end=end, kind="pronoun", slot=slot, rule="pronoun", sure=sure))
    theirs = list(_THEY.finditer(text)) if _THEY_STATED.search(text) else []
    if len(theirs) > sum(span.kind == "pronoun" for span in found.spans):
        for match in theirs:
            slot = f"pronoun.{_THEY_PARTS[match.group().lower()]}"
            found.add(
                RedactedSpan(
                    start=match.start(),
                    end=match.end(),
                    kind="pronoun",
                    slot=slot,
                    rule=_SINGULAR,
                    sure=False,
                )
            )
    for start, end in both:
        found.doubt(
            Doubt(start=start, end=end, kind="pronoun", why="both pronouns: said of nobody in particular")
        )
    return sex


def find_others(text: str, folded: Folded, others: Sequence[ApplicantName], found: FoundSpans) -> None:
    """Report every name of a further candidate: it stays in the template."""
    for other in others:
        for part in {fold(p).text for p in (other.first, other.last) if p}:
            for start, end, _ in folded.finditer(rf"(?<![^\W_]){re.escape(part)}(?![^\W_])"):
                if text[start].isupper():
                    why = "another candidate's name"
                    found.doubt(Doubt(start=start, end=end, kind="person", why=why, slot="person"))


def _named_in_quotation(text: str, at: int, found: FoundSpans) -> bool:
    """Return whether the quotation that ends here names the applicant, and so is not the applicant's."""
    end = len(text[:at].rstrip(' \t"”\n'))
    begin = max(text.rfind(mark, max(0, end - 300), end) for mark in ("“", '"'))
    return begin >= 0 and any(s.kind == "name" and begin <= s.start < end for s in found.spans)


def _mentions(text: str, found: FoundSpans, others: Sequence[ApplicantName]) -> list[_PersonMention]:
    """Return who is named where, in order."""
    mentions = [_PersonMention(span.start, True, "") for span in found.spans if span.kind == "name"]
    mentions += [
        _PersonMention(match.start("word"), False, _OTHERS[match.group("word").lower()])
        for match in _OTHER.finditer(text)
        if not any(
            s.kind == "relation" and s.start <= match.start("word") < s.end and not s.sure
            for s in found.spans
        )
    ]
    for word in sorted({part for other in others for part in (other.first, other.last)}):
        for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text):
            if found.free(*match.span()):
                mentions.append(_PersonMention(match.start(), False, ""))
    for match in _TITLED.finditer(text):
        sex = honorifics().get(fold(match.group("title")).text)
        if sex is not None and found.free(*match.span("name")):
            mentions.append(_PersonMention(match.start(), False, sex))
    for match in _NAMED.finditer(text):
        if found.free(*match.span()) and fold(match.group("first")).text in first_names():
            mentions.append(_PersonMention(match.start(), False, ""))
    return sorted(mentions, key=lambda m: (m.at, m.applicant))


def _nearest(text: str, mentions: list[_PersonMention], at: int, sex: str) -> _PersonMention | None:
    """Return whom a pronoun of a sex means: whoever was named last and may be of that sex.

    Of people whose sex the text does not say (*her principal*), only the subject of a sentence goes before the
    applicant: *Ana told her principal that she ...* means Ana, *The principal said she ...* may not.
    """
    before = [m for m in mentions if m.at < at and m.sex in ("", sex)]
    applicant = next((m for m in reversed(before) if m.applicant), None)
    for mention in reversed(before):
        if mention.applicant or mention.sex or applicant is None or _is_subject(text, mention.at):
            return mention
    return None


def _is_subject(text: str, at: int) -> bool:
    """Return whether a sentence begins here, but for a determiner."""
    return (
        re.search(r"(?:^|[.!?:\n])[\s\"“*-]*(?:[A-Z][\w']*\s+){0,2}$", text[max(0, at - 40) : at]) is not None
    )
