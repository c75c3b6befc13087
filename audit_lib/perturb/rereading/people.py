"""Names of people without a model: after a title or a word for a relation, at the end of a letter, alone on a line."""

# ruff: noqa: E501  (one pattern a line)

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from audit_lib.perturb.rereading.findings import GONE, LeftPassage, listed, plain, words

_CAP: Final = r"(?:[A-ZÀ-ÞĀ-ŽŞŠ][\w'’‘]*\.?(?:-[\w'’]+)*)"
_LINK: Final = r"(?:van|von|der|den|de|da|di|del|la|le|bin|binti|bint|ibn|al|el|ap|ole|arap|wa|Uí|Ní|Mac|Ó)"
_NAME: Final = rf"{_CAP}(?:[ ]?(?:[ ]{_LINK}){{0,2}}[ ]{_CAP}){{0,4}}"
_AFTER_WORD: Final = re.compile(
    r"\b(?i:manager|supervisor|supervised by|reports? to|reporting to|boss|mentor|contact|referee|reference|coach|foreman|director|"
    r"principal|professor|prof\.|dr\.|eng\.|barr\.|judge|engineer|with|signed|sincerely|faithfully|regards|yours|best|thanks|thx|cheers|"
    r"love|dear|hi|hello|to|from|cc|attn|named|called|name is|known as|goes by|aka|née|nee|colleague|friend|partner|owner|editor|"
    r"neighbou?r|tutor|teacher|nurse|doctor|wife|husband|son|daughter|brother|sister|mother|father|mum|dad|nan|uncle|aunt|aunty|aka|by|and|ask|call|ring|"
    r"thank|hired|met|late|my|wife's|is|was|are|were|beside|read|under|than|of|when|as|said|both)"
    rf"[ \t]*[,:]?[ \t\r\n]+[\"“(]?(?P<it>{_NAME})"
)
_NOT_NAMES: Final = words(
    "i the a an in on at my we our his her their january february march april may june july august "
    "september october november december monday tuesday wednesday thursday friday saturday sunday english "
    "python java sql excel word microsoft google amazon university college school department office team "
    "hiring committee manager human resources sir madam all whom present references referees education "
    "experience skills languages interests awards yes no north south east west and or for to from with by "
    "of it this that he she they you excel linux windows aws"
)
_LONE: Final = re.compile(
    rf"[\"“(*_\- \t]*(?P<it>{_CAP}(?:[ ](?:{_LINK}[ ])?{_CAP}){{0,4}})[\"”)*_,.\- \t\r]*"
)
_UNREAD: Final = re.compile(
    r"[^\W\d_A-Za-zªº\u00c0-\u024f\u1e00-\u1eff](?:[^\n\ufffcA-Za-z]*[^\W\d_A-Za-z\u00c0-\u024f\u1e00-\u1eff\s])?"
)
_SIGNS: Final = re.compile(r"[♀♂⚥☪☦✝✡🕉☸🧕👳👰🤵🤰🤱👩👨👧👦👶👴👵🏳🌈🇦-🇿]+")


def find_people(left: str) -> Iterator[LeftPassage]:
    """Yield what may be somebody's name."""
    titles = _titles()
    for match in re.finditer(
        rf"(?<![\w])(?P<title>[^\W\d_]{{1,9}})(?P<gap>\.?(?:[ \t]+|[ \t]*\r?\n[ \t]*))(?=[\"“]?{_CAP}|{GONE})",
        left,
    ):
        if plain(match["title"]) in titles and match["title"][0].isupper():
            yield LeftPassage(
                start=match.start("title"), end=match.end("title"), kind="title", why="a title before a name"
            )
            if name := re.match(_NAME, left[match.end() :]):
                end = match.end() + name.end()
                yield LeftPassage(start=match.end(), end=end, kind="name", why="a name after a title")
    for match in re.finditer(r"(?m)^[ \t]*[\"“(]?(?P<title>[^\W\d_]{2,9})\.?[)\"”]?[ \t\r]*$", left):
        if plain(match["title"]) in titles:
            yield LeftPassage(
                start=match.start("title"),
                end=match.end("title"),
                kind="title",
                why="a title on its own line",
            )
    for match in _AFTER_WORD.finditer(left):
        yield from _name(match.group("it"), match.start("it"), "after a word that introduces a person")
    at, referees = 0, False
    for line in left.split("\n"):
        referees = referees or bool(re.match(r"(?i)\W*(?:\w\W+)?refer[ea]", line))
        for match in re.finditer(rf"(?<![\w]){_CAP}(?:[ ](?:{_LINK}[ ])?{_CAP})+", line) if referees else ():
            yield from _name(match.group(), at + match.start(), "among the references")
        if (lone := _LONE.fullmatch(line)) and len(line.strip()) < 48:
            yield from _name(lone.group("it"), at + lone.start("it"), "alone on its line: maybe a name")
        at += len(line) + 1
    initial = rf"(?<![\w.])(?:[A-Z]\.[ ]?){{1,3}}(?:{_LINK}[ ])?{_CAP}|{_CAP}[ ](?:[A-Z]\.[ ]?){{1,2}}{_CAP}|{_CAP}[ ][A-Z]\.(?!\w)"
    beside = rf"(?<=[{GONE}])[ ,]{{1,2}}(?P<a>(?:[A-Z]{{1,2}}\.[ -]?){{1,3}})|(?<![\w.])(?P<b>(?:[A-Z]\.[ -]?){{1,3}}(?:{_LINK}[ ]){{0,3}})(?={GONE})"
    for match in re.finditer(beside, left):
        group = match.lastgroup or "a"
        yield LeftPassage(
            start=match.start(group), end=match.end(group), kind="name", why="initials beside a removed name"
        )
    for match in re.finditer(initial, left):
        yield LeftPassage(start=match.start(), end=match.end(), kind="name", why="initials and a name")
    for match in re.finditer(rf"(?<![\w]){_CAP}(?:[ ]{_LINK}|[ ]{_CAP}){{0,2}}[ ]?-[ ]?{_CAP}", left):
        yield from _name(match.group(), match.start(), "hyphenated capitals: maybe a name")
    for match in _UNREAD.finditer(left):
        why = "in a script that this reader has no words of"
        yield LeftPassage(start=match.start(), end=match.end(), kind="unread", why=why)
    for match in _SIGNS.finditer(left):
        yield LeftPassage(start=match.start(), end=match.end(), kind="sex", why="a sign or picture of people")


def _name(shown: str, start: int, why: str) -> Iterator[LeftPassage]:
    words = [plain(word).strip(".") for word in shown.split()]
    if words and shown[:1].isupper() and not all(word in _NOT_NAMES for word in words):
        yield LeftPassage(start=start, end=start + len(shown), kind="name", why=why)


@cache
def _titles() -> frozenset[str]:
    return frozenset(plain(term) for kind, term in listed("words") if kind == "title")
