"""Whole names: first and last, reversed, with initials before or after, run together, and initials alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from audit_lib.perturb.redaction.applicant import ApplicantName
from audit_lib.perturb.redaction.folding import Folded, fold
from audit_lib.perturb.redaction.lexicons import honorifics, words
from audit_lib.perturb.redaction.parts import LEFT, RIGHT, Parts, pattern, pieces, suffix_end
from audit_lib.perturb.redaction.spans import Doubt, FoundSpans, RedactedSpan

_SEP: Final = r"(?:[ \t]+|[ \t]*\r?\n[ \t]*|[_.+-])"
_JR: Final = r"(?:,?[ \t]+(?:jr|sr|ii|iii|iv)\b\.?)?"


def find_whole(text: str, folded: Folded, name: ApplicantName, parts: Parts, found: FoundSpans) -> None:
    """Add every form of the whole name; forms that may be another person's are reported."""
    if parts.lasts:
        found.add_all(_whole(text, folded, name, parts))
        found.add_all(_reversed(text, folded, parts))
        found.add_all(_initial_and_last(text, folded, name, parts))
        _last_and_initials(text, folded, name, found)


def _whole(text: str, folded: Folded, name: ApplicantName, parts: Parts) -> Iterator[RedactedSpan]:
    first, last = ("|".join(map(pattern, forms)) for forms in (parts.firsts, parts.lasts))
    middle = (
        rf"(?:{_SEP}(?:\(\"?[\w' -]{{1,20}}\"?\)|\"[\w' -]{{1,20}}\"|'[\w -]{{1,20}}'|[a-z]\b\.?|"
        rf"[^\W\d_][\w'-]*)){{0,3}}?"
    )
    for start, end, match in folded.finditer(rf"{LEFT}(?:{first}){middle}{_SEP}(?P<last>{last}){RIGHT}"):
        between = folded.text[match.start() :][: match.start("last") - match.start()]
        shown = text[start : folded.span(match, "last")[0]].split()
        middles = {fold(middle).text for middle in name.middle}
        if "\n" in text[start:end] and not _one_name_over_two_lines(text[start:end], middles):
            continue  # other lines stand between: "Rashida", "Welder Certified", "Muhammad was hired"
        if any(
            word[:1].islower() and word.isalpha() and fold(word).text not in middles for word in shown[1:]
        ):
            continue  # "Ann met Dr. Lee": other words stand between
        if any(word.strip(".,").lower() in (*honorifics(), "and", "or") for word in shown[1:]):
            continue
        strange = len(between.split()) > 1 + len(name.middle) and not re.search(r"[\"'(]|\b[a-z]\b", between)
        if re.search(r"[_+]|\w[.-]$", between) and " " not in between:
            cut = folded.span(match, "last")[0]
            yield RedactedSpan(
                start=start, end=cut - 1, kind="name", slot="first_name", rule="whole name, joined"
            )
            yield RedactedSpan(start=cut, end=end, kind="name", slot="last_name", rule="whole name, joined")
        else:
            end = suffix_end(text, end)
            strange = strange or bool(re.match(r"[-‐‑][A-Z]", text[end : end + 2]))  # "Ana Ruiz-Cole"
            yield RedactedSpan(
                start=start, end=end, kind="name", slot="name", rule="whole name", sure=not strange
            )
    for _, _, match in folded.finditer(rf"{LEFT}(?P<first>{first})(?P<last>{last}){RIGHT}"):
        start, end = folded.span(match, "first")
        if text[start:end].islower() or text[end].isupper():
            yield RedactedSpan(
                start=start, end=end, kind="name", slot="first_name", rule="whole name, joined"
            )
            start, end = folded.span(match, "last")
            yield RedactedSpan(start=start, end=end, kind="name", slot="last_name", rule="whole name, joined")
    if not name.last:
        return
    start_of_last = re.escape(fold(name.last).text[0])
    for _, _, match in folded.finditer(
        rf"{LEFT}(?P<first>{first})[ \t]+(?P<initial>{start_of_last})\.(?!\w)"
    ):
        begin = folded.span(match, "initial")[0]
        if text[begin].isupper():
            start, end = folded.span(match, "first")
            yield RedactedSpan(
                start=start, end=end, kind="name", slot="first_name", rule="first name and initial"
            )
            yield RedactedSpan(
                start=begin,
                end=begin + 1,
                kind="name",
                slot="last_name.initial",
                rule="first name and initial",
            )


def _one_name_over_two_lines(shown: str, middles: set[str]) -> bool:
    """Return whether a name that is cut by a line's end holds middle names and initials only, and one such end."""
    between = shown.split()[1:-1]
    known = all(fold(word).text.strip("\"'().") in middles or len(word.strip(".")) == 1 for word in between)
    return known and shown.count("\n") == 1


def _reversed(text: str, folded: Folded, parts: Parts) -> Iterator[RedactedSpan]:
    """Yield ``Ruiz, Ana María`` and ``Smith, Jr., Robert``."""
    first, last = ("|".join(map(pattern, forms)) for forms in (parts.all_firsts, parts.all_lasts))
    rest = rf"(?:{_SEP}[^\W\d_][\w'-]*\.?)??(?:{_SEP}[a-z]\b)?"
    reverse = rf"{LEFT}(?P<last>(?:{last}){_JR}),[ \t]*(?P<first>(?:{first}){rest}){RIGHT}"
    for _, _, match in folded.finditer(reverse):
        for group, slot in (("last", "last_name"), ("first", "first_name")):
            start, end = folded.span(match, group)
            end = suffix_end(text, end) if group == "first" else end
            yield RedactedSpan(start=start, end=end, kind="name", slot=slot, rule="last name first")


def _initial_and_last(text: str, folded: Folded, name: ApplicantName, parts: Parts) -> Iterator[RedactedSpan]:
    """Yield ``A. Ruiz``, ``R. John Smith Jr.``, ``A Ruiz``."""
    ends = "|".join(map(pattern, _ends(name, parts)))
    initials = (
        rf"{LEFT}(?P<initial>[{_first_letters(name)}](?:\.?[ \t-]*[a-z]\b)?)"
        rf"(?:(?P<dot>\.)[ \t]*|[ \t]+)(?P<last>{ends}){RIGHT}"
    )
    for _, _, match in folded.finditer(initials):
        start, end = folded.span(match, "initial")
        # "A Ruiz" and "I Smith" may begin with a word; so may no other letter without a dot.
        if text[start:end].isupper() or (match["dot"] and text[start].isupper()):
            if fold(text[start:end]).text in honorifics() or (not match["dot"] and text[start:end] in "AI"):
                continue
            rule, dotted = "initial and last name", bool(match["dot"])
            yield RedactedSpan(
                start=start, end=end, kind="name", slot="first_name.initial", rule=rule, sure=dotted
            )
            start, end = folded.span(match, "last")
            end = suffix_end(text, end)
            yield RedactedSpan(start=start, end=end, kind="name", slot="last_name", rule=rule, sure=dotted)


def _last_and_initials(text: str, folded: Folded, name: ApplicantName, found: FoundSpans) -> None:
    """Add ``Smith, R. J.`` and ``Smith RJ``; before another last name the initials may be the next author's."""
    last = "|".join(
        map(pattern, sorted({fold(name.last).text, *pieces(name.last)}, key=lambda p: (-len(p), p)))
    )
    form = (
        rf"{LEFT}(?P<last>{last})(?P<gap>,[ \t]*|[ \t]+)"
        rf"(?P<initials>[{_first_letters(name)}](?:\.?-?[a-z]\b|\.?[ \t](?![ai]\b(?!\.))[a-z]\b){{0,2}})"
        rf"(?P<dot>\.?){RIGHT}"
    )
    for _, end, match in folded.finditer(form):
        start, stop = folded.span(match, "initials")
        shown, comma = text[start:stop], match["gap"].startswith(",")
        begin, cut = folded.span(match, "last")
        if not shown.isupper() or not text[begin].isupper() or (shown in "AI" and not match["dot"]):
            continue
        if re.match(r"[ \t]+[A-Z][^\W\d_]", text[end : end + 8]) or (match["last"] in words() and not comma):
            found.doubt(Doubt(start=start, end=stop, kind="name", why="maybe the initials of the name before",
                              slot="first_name.initial"))  # fmt: skip
            continue
        rule, sure = "last name and initials", comma and bool(match["dot"])
        if found.free(begin, stop):
            found.add(RedactedSpan(start=begin, end=cut, kind="name", slot="last_name", rule=rule, sure=sure))
            found.add(
                RedactedSpan(
                    start=start, end=stop, kind="name", slot="first_name.initial", rule=rule, sure=sure
                )
            )


def _first_letters(name: ApplicantName) -> str:
    return "".join(sorted({fold(word).text[0] for word in re.split(r"[\s.-]+", name.first) if word}))


def _ends(name: ApplicantName, parts: Parts) -> list[str]:
    """Return what may stand after initials: any longer word of the name, as in *M.J. Fernández* of Fernández Soto."""
    middles = {middle for middle in (fold(part).text for part in name.middle) if len(middle) > 3}
    return sorted({*parts.all_lasts, *pieces(name.last), *middles}, key=lambda part: (-len(part), part))


def find_initials(text: str, name: ApplicantName, found: FoundSpans) -> None:
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


def _add_initials(match: re.Match[str], count: int, found: FoundSpans, *, sure: bool, rule: str) -> None:
    slots = ["first_name.initial", *["middle_name.initial"] * (count - 2), "last_name.initial"]
    for number, slot in enumerate(slots, start=1):
        found.add(
            RedactedSpan(
                start=match.start(number), end=match.end(number), kind="name", slot=slot, rule=rule, sure=sure
            )
        )
