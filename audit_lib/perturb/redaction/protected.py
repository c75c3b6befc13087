"""Words that say who the applicant is: spouse and parent words, explicit race or ethnicity, words of sex."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from audit_lib.perturb.redaction.folding import Folded, fold
from audit_lib.perturb.redaction.lexicons import rows
from audit_lib.perturb.redaction.spans import Doubt, FoundSpans, RedactedSpan

_NOT_KIN: Final = re.compile(
    r"[ -](?:tongue|language|nature|company|board|figure|ship|lode|earth|goose|hen|house|teresa|time)\b"
)
_OWN: Final = re.compile(
    r"\b(?:my|his|her|their|our)\s+(?:(?:late|ex|ex-|own|single|then|now|new|immigrant|young|former|future)[\s-]+)*$"
)
_BEING: Final = re.compile(
    r"\b(?:as|am|is|was|i'm|becoming|became|being|a|an|busy|single|married|devoted|proud|working|new|loving|full-time|"
    r"stay-at-home|teen|young|expecting|expectant|ex)[\s-]+(?:(?:a|an|the|single|proud|devoted|working|new|busy|young)\s+)*$"
)
_PERSON: Final = (
    "man|men|woman|women|person|people|student|students|male|female|boy|boys|girl|girls|teacher|teachers|educator|"
    "educators|family|families|mother|father|mom|dad|household|parent|parents|immigrant|immigrants|kid|kids|child|"
    "applicant|candidate|professional|professionals|leader|leaders|engineer|nurse|scholar|scholars|community|heritage|"
    "descent|ancestry|neighborhood|american|americans|youth|culture|identity|background|church"
)
_SELF: Final = re.compile(
    r"\b(?:i am|i'm|identif(?:y|ies|ied) as|race|ethnicity|race/ethnicity)\s*[:=]?\s*(?:a |an )?(?:proud )?$"
)
_SEXED: Final = re.compile(
    r"(?i)\b(?:wom[ae]n|female|male|girls?|boys?|ladies|lady|gentlem[ae]n|sorority|fraternity|maternity|paternity|pregnan\w+"
    r"|waitress|actress|hostess|stewardess|alumna|alumnae|salesman|saleswoman|chairwoman|congresswoman|businesswoman|"
    r"businessman|chairman|policeman|fireman|spokeswoman|housewife|daughter|son|sister|brother|bride|groom|goddess|"
    r"princess|queen|king|man|men)\b"
)


def find_relations(text: str, folded: Folded, found: FoundSpans) -> None:
    """Add spouse and parent words that are the applicant's; others are reported."""
    pattern, slots = _relations()
    for start, end, match in folded.finditer(pattern):
        slot = slots[match.group()]
        if not found.free(start, end) or _NOT_KIN.match(folded.text, match.end()):
            continue
        before = folded.text[max(0, match.start() - 60) : match.start()]
        name_before = any(
            span.end <= start and re.fullmatch(r"['’]s?\s+", text[span.end : start]) for span in found.spans
        )
        follows = re.match(
            r"\s*(?:,\s*)?(?:of|to)\s+(?:\w+\s+)?(?:\w+)", folded.text[match.end() : match.end() + 30]
        )
        if _OWN.search(before) or name_before:
            sure, rule = True, "the applicant's relation"
        elif _BEING.search(before) or (follows and slot == "parent" and not before.rstrip().endswith("the")):
            sure, rule = False, "what the applicant is"
        else:
            found.doubt(
                Doubt(
                    start=start,
                    end=end,
                    kind="relation",
                    why="a relation, maybe not the applicant's",
                    slot=slot,
                )
            )
            continue
        found.add(RedactedSpan(start=start, end=end, kind="relation", slot=slot, rule=rule, sure=sure))


@cache
def _relations() -> tuple[re.Pattern[str], dict[str, str]]:
    slots = {fold(row["word"]).text: row["slot"] + (".plural" if row["neutral"].endswith("s") else "")
             for row in rows("relations", "word", "slot", "neutral")}  # fmt: skip
    return re.compile(
        r"(?<![^\W_])(?:" + "|".join(sorted(slots, key=lambda w: (-len(w), w))) + r")(?![^\W_])"
    ), slots


@cache
def neutral_relations() -> dict[str, str]:
    """Return the slot of each relation -> the word that says neither sex."""
    listed = rows("relations", "word", "slot", "neutral")
    return {
        row["slot"] + (".plural" if row["neutral"].endswith("s") else ""): row["neutral"] for row in listed
    }


def find_ethnicity(text: str, folded: Folded, found: FoundSpans) -> None:
    """Add words that name a race or ethnicity outright; words with other meanings only where they say it of people."""
    plain, with_person, with_american = _ethnicities()
    for start, end, _ in folded.finditer(rf"(?<![\w-])(?:{plain})(?![\w])"):
        found.add(
            RedactedSpan(start=start, end=end, kind="ethnicity", slot="ethnicity", rule="names it outright")
        )
    for start, end, match in folded.finditer(rf"(?<![\w-])(?:{with_american})[ -]american\b"):
        found.add(
            RedactedSpan(
                start=start,
                end=end,
                kind="ethnicity",
                slot="ethnicity",
                rule=f"{match.group().split()[0]} American",
            )
        )
    for start, end, match in folded.finditer(rf"(?<![\w-])(?:{with_person})(?![\w-])"):
        after = re.match(rf"\s+(?:{_PERSON})\b", folded.text[match.end() : match.end() + 30])
        before = _SELF.search(folded.text[max(0, match.start() - 40) : match.start()])
        if after or before:
            found.add(
                RedactedSpan(
                    start=start,
                    end=end,
                    kind="ethnicity",
                    slot="ethnicity",
                    rule="said of people",
                    sure=bool(before),
                )
            )
        elif text[start].isupper() and found.free(start, end):
            found.doubt(
                Doubt(start=start, end=end, kind="ethnicity", why="may name a race", slot="ethnicity")
            )
    for start, end, _ in folded.finditer(rf"(?<![\w-])(?:{with_american})(?![\w-])"):
        if text[start].isupper() and found.free(start, end):
            found.doubt(
                Doubt(
                    start=start,
                    end=end,
                    kind="ethnicity",
                    why="a nationality or a language",
                    slot="ethnicity",
                )
            )


@cache
def _ethnicities() -> tuple[str, str, str]:
    by_when: dict[str, list[str]] = {}
    for row in rows("ethnicities", "term", "when"):
        by_when.setdefault(row["when"], []).append(fold(row["term"]).text)
    joined = {
        when: "|".join(re.escape(t) for t in sorted(set(terms), key=lambda t: (-len(t), t)))
        for when, terms in by_when.items()
    }
    return joined["plain"], joined["with_person"], joined["with_american"]


def find_sexed(text: str, found: FoundSpans) -> None:
    """Report words that say a sex: no slot could keep the sentence's meaning."""
    for match in _SEXED.finditer(text):
        found.doubt(Doubt(start=match.start(), end=match.end(), kind="sex", why="a word that says a sex"))
