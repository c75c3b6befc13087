"""The applicant's name in every form: whole, reversed, with initials, first, last, middle and short names alone.

A whole name counts however it is written. A part alone may be another person's, or a word: what stands around it
decides, and what stays open is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from audit_lib.perturb.redaction.applicant import Name
from audit_lib.perturb.redaction.folding import Folded, fold
from audit_lib.perturb.redaction.inside import find_in_files, find_inside, spelled_out
from audit_lib.perturb.redaction.lexicons import first_names, honorifics, nicknames, word_set, words
from audit_lib.perturb.redaction.spans import Doubt, Found, Span
from audit_lib.perturb.redaction.states import STATES

_SEP: Final = r"(?:[ \t]+|[ \t]*\r?\n[ \t]*|[_.+-])"
_LEFT: Final = r"(?<![^\W_])"
_RIGHT: Final = r"(?![^\W_])"
_SUFFIX: Final = r"(?:,?[ \t]+(?:jr|sr|ii|iii|iv)\b\.?)?"
_MONTHS: Final = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
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
_VERB: Final = re.compile(r"\s+(?:[a-z]+(?:ed|es|s)|is|was|has|had|did|does|led|ran|taught|wrote|built|made|took|gave|"
                          r"grew|spoke|brought|began|kept|won|said|knew|came|went|held|became|and I)\b")  # fmt: skip
_SURE_VERB: Final = re.compile(r"\s+(?:\w+ed|is|was|has|had|did|does|led|ran|taught|wrote|built|made|"
                               r"took|gave|spoke|brought|"
                               r"kept|won|said|knew|came|went|teaches|works|leads|brings|says|writes|runs|makes|shows|"
                               r"plans|helps|uses|gives|takes|knows|wants|speaks|holds|coaches|credits)\b")  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A part of the name that may stand alone."""

    folded: str
    slot: str
    sure: bool = True


def find_names(text: str, folded: Folded, name: Name, other_names: Sequence[str], found: Found) -> None:
    """Add every form of the name to what was found."""
    firsts, lasts, parts = _parts(name, other_names)
    find_in_files(text, name, found)
    found.add_all(_whole(text, folded, name, firsts, lasts))
    known = {part.folded for part in parts}
    for part in sorted(parts, key=lambda part: (-len(part.folded), part.folded)):
        for start, end, match in folded.finditer(_LEFT + _pattern(part.folded) + _RIGHT):
            if found.free(start, end):
                _alone(text, folded, part, start, end, match, known, found)
    _initials(text, name, found)
    find_inside(text, name, [(part.folded, part.slot) for part in parts], found)


def _pattern(folded: str) -> str:
    """Return a pattern for one or more words: any white space, hyphens and apostrophes left out too."""
    special = {" ": r"\s+", "-": r"[- \t]?", "'": "'?"}
    return "".join(special.get(char) or re.escape(char) for char in folded)


def _parts(name: Name, other_names: Sequence[str]) -> tuple[list[str], list[str], list[_Part]]:
    first, last = fold(name.first).text, fold(name.last).text
    firsts = [first, *nicknames().get(first, ())]
    lasts = [last] if last else []
    parts = {first: _Part(folded=first, slot="first_name")}
    if last:
        parts[last] = _Part(folded=last, slot="last_name")
    for shown, forms, slot in ((name.first, firsts, "first_name"), (name.last, lasts, "last_name")):
        if (spelled := spelled_out(shown)) not in parts and spelled:
            forms.append(spelled)
            parts[spelled] = _Part(folded=spelled, slot=slot)
    for short in nicknames().get(first, ()):
        parts.setdefault(short, _Part(folded=short, slot="nickname", sure=short not in words()))
    for other in other_names:
        tokens = fold(other).text.split()
        if len(tokens) > 1:
            firsts.append(tokens[0])
            lasts.append(tokens[-1])
            parts.setdefault(tokens[-1], _Part(folded=tokens[-1], slot="last_name"))
        if tokens:
            parts.setdefault(tokens[0], _Part(folded=tokens[0], slot="nickname"))
    for middle in name.middle:
        plain = fold(middle).text.strip(".")
        if len(plain) > 2:
            parts.setdefault(plain, _Part(folded=plain, slot="middle_name"))
    for whole, slot in ((first, "first_name"), (last, "last_name")):
        for piece in re.split(r"[-\s]", whole):
            if len(piece) > 3 and piece != whole and piece not in parts:
                parts.setdefault(piece, _Part(folded=piece, slot=slot, sure=slot == "last_name"))
    by_length = {"key": len, "reverse": True}
    return sorted(set(firsts), **by_length), sorted(set(lasts), **by_length), list(parts.values())  # type: ignore[call-overload]


def _whole(text: str, folded: Folded, name: Name, firsts: list[str], lasts: list[str]) -> Iterator[Span]:
    if not lasts:
        return
    first = "|".join(map(_pattern, firsts))
    last = "|".join(map(_pattern, lasts))
    middle = (
        rf"(?:{_SEP}(?:\(\"?[\w' -]{{1,20}}\"?\)|\"[\w' -]{{1,20}}\"|'[\w -]{{1,20}}'|[a-z]\b\.?|"
        rf"[^\W\d_][\w'-]*)){{0,3}}?"
    )
    for start, end, match in folded.finditer(
        rf"{_LEFT}(?:{first}){middle}{_SEP}(?P<last>{last}){_RIGHT}{_SUFFIX}"
    ):
        between = folded.text[match.start() :][: match.start("last") - match.start()]
        shown = text[start : folded.span(match, "last")[0]].split()
        middles = {fold(middle).text for middle in name.middle}
        if any(
            word[:1].islower() and word.isalpha() and fold(word).text not in middles for word in shown[1:]
        ):
            continue  # "Ann met Dr. Lee": other words stand between
        if any(word.strip(".,").lower() in (*honorifics(), "and", "or") for word in shown[1:]):
            continue
        strange = len(between.split()) > 1 + len(name.middle) and not re.search(r"[\"'(]|\b[a-z]\b", between)
        if re.search(r"[_+]|\w[.-]$", between) and " " not in between:
            cut = folded.span(match, "last")[0]
            yield Span(start=start, end=cut - 1, kind="name", slot="first_name", rule="whole name, joined")
            yield Span(start=cut, end=end, kind="name", slot="last_name", rule="whole name, joined")
        else:
            yield Span(start=start, end=end, kind="name", slot="name", rule="whole name", sure=not strange)
    for _, _, match in folded.finditer(rf"{_LEFT}(?P<first>{first})(?P<last>{last}){_RIGHT}"):
        start, end = folded.span(match, "first")
        if text[start:end].islower() or text[end].isupper():
            yield Span(start=start, end=end, kind="name", slot="first_name", rule="whole name, joined")
            start, end = folded.span(match, "last")
            yield Span(start=start, end=end, kind="name", slot="last_name", rule="whole name, joined")
    rest = rf"(?:{_SEP}[^\W\d_][\w'-]*\.?)??(?:{_SEP}[a-z]\b)?"
    reverse = rf"{_LEFT}(?P<last>{last}),[ \t]*(?P<first>(?:{first}){rest}){_RIGHT}"
    for _, _, match in folded.finditer(reverse):
        for group, slot in (("last", "last_name"), ("first", "first_name")):
            start, end = folded.span(match, group)
            yield Span(start=start, end=end, kind="name", slot=slot, rule="last name first")
    own_middles = [fold(part).text for part in name.middle]
    named = "".join(rf"(?:{_pattern(part)}[ \t]+)?" for part in own_middles)
    # "M.J. Fernández" of María José Fernández de Córdoba: any longer word of the name may stand after initials.
    pieces = {piece for piece in re.split(r"[-\s]", fold(name.last).text) if len(piece) > 3}
    ends = "|".join(map(_pattern, sorted({*lasts, *pieces, *(m for m in own_middles if len(m) > 3)},
                                         key=lambda part: (-len(part), part))))  # fmt: skip
    firsts_letters = sorted({fold(word).text[0] for word in re.split(r"[\s.-]+", name.first) if word})
    initials = (
        rf"{_LEFT}(?P<initial>[{''.join(firsts_letters)}](?:\.?[ \t-]*[a-z]\b)?)"
        rf"(?:(?P<dot>\.)[ \t]*|[ \t]+){named}(?P<last>{ends}){_RIGHT}"
    )
    for _, _, match in folded.finditer(initials):
        start, end = folded.span(match, "initial")
        # "A Ruiz" and "I Smith" may begin with a word; so may no other letter without a dot.
        if text[start:end].isupper() or (match["dot"] and text[start].isupper()):
            if fold(text[start:end]).text in honorifics() or (not match["dot"] and text[start:end] in "AI"):
                continue
            rule, dotted = "initial and last name", bool(match["dot"])
            yield Span(start=start, end=end, kind="name", slot="first_name.initial", rule=rule, sure=dotted)
            start, end = folded.span(match, "last")
            slot = "middle_name" if match["last"] in own_middles else "last_name"
            yield Span(start=start, end=end, kind="name", slot=slot, rule=rule, sure=dotted)
    start_of_last = re.escape(fold(name.last).text[0])
    for _, _, match in folded.finditer(
        rf"{_LEFT}(?P<first>{first})[ \t]+(?P<initial>{start_of_last})\.(?!\w)"
    ):
        begin = folded.span(match, "initial")[0]
        if text[begin].isupper():
            start, end = folded.span(match, "first")
            yield Span(start=start, end=end, kind="name", slot="first_name", rule="first name and initial")
            yield Span(
                start=begin,
                end=begin + 1,
                kind="name",
                slot="last_name.initial",
                rule="first name and initial",
            )


def _alone(
    text: str,
    folded: Folded,
    part: _Part,
    start: int,
    end: int,
    match: re.Match[str],
    known: set[str],
    found: Found,
) -> None:
    """Decide on a part of the name that stands by itself."""
    shown = text[start:end]
    bare = re.search(r"(?:(?P<title>[\w'’]+)\.?\s+)$", text[:start][-24:])
    title = bare is not None and fold(bare.group("title")).text in honorifics()
    why = _not_the_applicant(text, folded, part, start, end, known, titled=title)
    if why:
        found.doubt(Doubt(start=start, end=end, kind="name", why=why, slot=part.slot))
        return
    joined = bool(re.search(r"[_]", text[max(0, start - 1) : start] + text[end : end + 1]))
    if shown.islower() and not joined:
        if part.folded in words() or len(part.folded) < 3:
            return  # the word, not the name
        if any(char.isupper() for char in text[max(0, start - 200) : end + 200]):
            why = "lower case, in a text that has capitals"
            found.doubt(Doubt(start=start, end=end, kind="name", why=why, slot=part.slot))
            return
        found.add(
            Span(start=start, end=end, kind="name", slot=part.slot, rule="part alone, lower case", sure=False)
        )
        return
    sure = part.sure and not (not title and re.search(r"\b[Ii]n\s+$", text[:start][-6:]))
    if part.folded in words() and not title and not joined:
        reading = _word_or_name(text, part, start, end)
        if reading == "word":
            return
        if reading == "open":
            found.doubt(
                Doubt(
                    start=start, end=end, kind="name", why="may be the word and not the name", slot=part.slot
                )
            )
            return
        sure = reading == "name"
    possessive = re.match(r"['’](?!\w)", text[end : end + 2])
    if possessive and part.folded.endswith(("s", "z", "x")):
        slot = f"{part.slot}.possessive"
        found.add(Span(start=start, end=end + 1, kind="name", slot=slot, rule="possessive", sure=sure))
    else:
        found.add(Span(start=start, end=end, kind="name", slot=part.slot, rule="part alone", sure=sure))


def _not_the_applicant(
    text: str, folded: Folded, part: _Part, start: int, end: int, known: set[str], *, titled: bool
) -> str:
    """Return why a part of the name seems to be another's, or nothing."""
    if _PLACE_BEFORE.search(text[:start][-30:]) or _PLACE_AFTER.match(text, end):
        return "may be a place"
    if re.search(r"\b[Aa]n?[ \t]+$", text[:start][-4:]) and not titled:
        return "after an article: may be a word"
    if re.match(r"[-‐‑][A-Z]", text[end : end + 2]) or re.search(r"[A-Z][\w'’]*[-‐‑]$", text[:start][-20:]):
        return "part of another hyphenated name"
    if part.slot == "last_name" and re.match(r"\s+famil(?:y|ies)\b", text[end : end + 12]):
        return "a family of that name"
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


def _word_or_name(text: str, part: _Part, start: int, end: int) -> str:
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


def _initials(text: str, name: Name, found: Found) -> None:
    """Initials as a speaker's label (``AL:``) or with dots (``A.L.``, ``A. M. L.``)."""
    if not name.last:
        return
    letters = [name.first[0], *(middle[0] for middle in name.middle), name.last[0]]
    for chosen in {tuple(letters), (letters[0], letters[-1])}:
        dotted = r"\.[ \t]?".join(f"({re.escape(letter)})" for letter in chosen) + r"\."
        for match in re.finditer(rf"(?<![\w.]){dotted}(?!\w)", text):
            _add_initials(match, len(chosen), found, sure=True, rule="initials with dots")
        label = "".join(f"({re.escape(letter)})" for letter in chosen)
        for match in re.finditer(rf"(?m)^[ \t>*_]*{label}(?=[*_]*[ \t]*:)", text):
            _add_initials(match, len(chosen), found, sure=False, rule="initials as a speaker's label")


def _add_initials(match: re.Match[str], count: int, found: Found, *, sure: bool, rule: str) -> None:
    slots = ["first_name.initial", *["middle_name.initial"] * (count - 2), "last_name.initial"]
    for number, slot in enumerate(slots, start=1):
        found.add(
            Span(
                start=match.start(number), end=match.end(number), kind="name", slot=slot, rule=rule, sure=sure
            )
        )
