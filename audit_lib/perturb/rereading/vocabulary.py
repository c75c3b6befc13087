"""Words that say who somebody is, by a list in several languages; a capitalised one takes its phrase along."""

# ruff: noqa: E501  (one pattern a line)

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from audit_lib.perturb.rereading.findings import GONE, LeftPassage, listed, plain

_PHRASE: Final = frozenset({"religion", "ethnicity", "sex", "organisation", "kin", "military", "union", "orientation",
                            "health", "nationality", "parental", "age"})  # fmt: skip
_WORD: Final = r"[A-ZÀ-ÞĀ-Ž0-9][\w'’&.\-]*"
_LINK: Final = r"(?:of|the|and|for|in|de|del|la|des|du|&|at|on|ni|y|e|to|a)"
_BEHIND: Final = re.compile(rf"(?:{_WORD}[ ]|{_LINK}[ ]){{1,8}}$")
_AHEAD: Final = re.compile(rf"(?:['’]s?)?(?:[ ](?:{_WORD}|{_LINK}(?=[ ](?:{_LINK}[ ])?{_WORD}))){{1,8}}")
_SCHOOL: Final = re.compile(
    rf"(?:{_WORD}[ ](?:{_LINK}[ ])?){{1,6}}(?:University|College|School|Academy|Institute|Seminary|Convent|Lisesi|Gymnasium|Primary|"
    rf"Secondary|Lyc[ée]e|High|Prep|Polytechnic)\b(?:[ ]{_LINK}(?:[ ]{_WORD}){{1,4}})?"
    rf"|(?:Coll[eè]ge|Lyc[ée]e|Universit[éày]\w*|École|Escuela|Colegio|Instituto|Ysgol|Coláiste|Scoil|Liceo|Madrasah|SMA|SMK)[ ]{_WORD}(?:[ -]{_WORD}){{0,4}}"
    rf"|state academy for the \w+|(?i:\b(?:women's|girls'|boys'|men's|catholic|christian) (?:university|college|school))"
)
_THEY: Final = re.compile(
    r"(?<![\w'’])(?:they|them|their|theirs|themsel(?:f|ves))(?:['’](?:re|ve|d|ll))?(?![\w'’])", re.I
)

_STATED: Final = re.compile(
    rf"(?i)\bthemself\b|(?:\b(?:they|she|he|ze|xe)|{GONE})\s?/\s?(?:[a-z]{{2,6}}|{GONE}+)(?:\s?/\s?\w+)?"
)
_CLAUSE: Final = frozenset({"parental", "health", "military", "visa", "age", "union", "organisation", "religion", "photo",
                            "language", "sex"})  # fmt: skip
"""Kinds that a single word may tell in part only: the clause around it is shown."""

_MINE: Final = re.compile(
    r"(?i)\b(?:my|our|her|his|their)[ ](?:late[ ]|old[ ]|dear[ ])?(?P<it>pop|nan|gran|oma|opa|lola|lolo|folks|family|old man|other half|"
    r"better half|in-laws|eldest|youngest|twin|little one|people|household)\b"
)
_FARTHEST: Final = 60


def find_words(left: str) -> Iterator[LeftPassage]:
    """Yield listed words that are left."""
    read = plain(left)
    pattern, kinds, capital = _terms()
    for match in pattern.finditer(read):
        term = re.sub(r"\s+", " ", match.group())
        shown = left[match.start() : match.end()]
        if term in capital and not shown[:1].isupper():
            continue
        kind = kinds[term]
        start, end = match.span()
        if kind in _PHRASE and shown[:1].isupper():
            start, end = _phrase(left, start, end)
        if kind in _CLAUSE:
            start, end = _clause(left, start, end)
        yield LeftPassage(start=start, end=end, kind=kind, why="a word that tells who somebody is")
    for match in _MINE.finditer(left):
        yield LeftPassage(
            start=match.start("it"), end=match.end("it"), kind="kin", why="a relation, as it seems"
        )
    for match in _SCHOOL.finditer(left):
        yield LeftPassage(start=match.start(), end=match.end(), kind="college", why="a school or college")


def find_they(left: str, *, others_only: bool) -> Iterator[LeftPassage]:
    """Yield *they* and its forms, which may be one person's pronouns.

    Parameters
    ----------
    others_only : bool
        Whether the applicant goes by *she* or *he*: then only *themself* and stated pronouns are found.
    """
    for shape in (_STATED,) if others_only else (_STATED, _THEY):
        for match in shape.finditer(left):
            yield LeftPassage(
                start=match.start(), end=match.end(), kind="pronoun", why="maybe one person's pronoun"
            )


def find_beside(left: str, removed: Sequence[tuple[int, int]]) -> Iterator[LeftPassage]:
    """Yield the capitalised words beside a removed word that tells a group: the rest of an organisation's name."""
    for start, end in removed:
        first, last = _phrase(left, start, end)
        if named := re.match(rf",[ ]{_WORD}(?:[ ]{_WORD})*", left[end:]):  # "my {{spouse}}, Tess,"
            last = max(last, end + named.end())
        if (first, last) != (start, end):
            yield LeftPassage(
                start=first, end=last, kind="organisation", why="the rest of a name that was removed in part"
            )


def _clause(left: str, start: int, end: int) -> tuple[int, int]:
    """Return the clause around a place: to a comma or a stop, to the value behind a colon, or to a bracket's end."""
    behind = re.search(rf"[^,.;:!?()\[\]\n\t|{GONE}]{{0,{_FARTHEST}}}\Z", left[:start])
    ahead = re.match(
        rf"[^,.;:!?()\[\]\n\t|{GONE}]{{0,{_FARTHEST}}}(?:\([^)\n]{{0,40}}\))?(?::[ \t]*[^\n\t|{GONE}]{{1,80}})?",
        left[end:],
    )
    if behind and "  " not in behind.group().strip():
        start -= len(behind.group().lstrip())
    if ahead:
        end += len(ahead.group().split("   ")[0].rstrip())
    opened = max(
        left.rfind("[", max(0, start - 80), start + 1), left.rfind("(", max(0, start - 80), start + 1)
    )
    closed = re.match(r"[^\n()\[\]]{0,80}[)\]]", left[end:])
    if closed and opened >= 0 and not re.search(r"[\n)\]]", left[opened:start]):
        return opened, end + closed.end()
    return start, end


def _phrase(left: str, start: int, end: int) -> tuple[int, int]:
    """Return the capitalised phrase around a word."""
    line = left.rfind("\n", 0, start) + 1
    if behind := _BEHIND.search(left[line:start]):
        words = behind.group()
        while (cut := re.match(rf"{_LINK}[ ]", words)) is not None:
            words = words[cut.end() :]
        start -= len(words)
    ahead = _AHEAD.match(left, end)
    return start, ahead.end() if ahead else end


@cache
def _terms() -> tuple[re.Pattern[str], dict[str, str], frozenset[str]]:
    kinds: dict[str, str] = {}
    capital = set()
    for kind, term in listed("words"):
        kinds.setdefault(plain(term), kind)
        if term[:1].isupper():
            capital.add(plain(term))
    terms = sorted(kinds, key=lambda term: (-len(term), term))
    joined = "|".join(re.escape(term).replace(r"\ ", r"\s+") for term in terms)
    return re.compile(rf"(?<![^\W_])(?:{joined})(?![^\W_])"), kinds, frozenset(capital)
