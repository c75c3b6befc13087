"""Grammatical case of third-person pronouns: which of a person's pronouns a place in a sentence asks for.

English writes two cases alike: ``her`` is an object (*asked her*) and a possessive (*her class*), ``his`` a
possessive (*his class*) and a possessive pronoun (*a pupil of his*). What follows decides, and, after some verbs,
what stands before. The rules are word lists, so the same text always gives the same answer; where the words leave
it open, the likelier case comes with ``sure = False``.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from audit_lib.errors import InputError

Part = Literal["subject", "object", "possessive", "possessive_pronoun", "reflexive"]

PARTS: Final[tuple[Part, ...]] = ("subject", "object", "possessive", "possessive_pronoun", "reflexive")
"""Cases in the order of the columns of a pronoun lexicon."""

_PLAIN: Final[dict[str, Part]] = {
    "she": "subject", "he": "subject", "they": "subject",
    "him": "object", "them": "object",
    "their": "possessive",
    "hers": "possessive_pronoun", "theirs": "possessive_pronoun",
    "herself": "reflexive", "himself": "reflexive", "themselves": "reflexive", "themself": "reflexive",
}  # fmt: skip

_WORD_AFTER: Final = re.compile(r"(?:[ \t\u00a0]*\r?\n|[ \t\u00a0]+)[ \t]*(?![\r\n])([\w'’]+(?:-[\w'’]+)*)")
_WORDS_BEFORE: Final = re.compile(r"([\w'’]+)[\s]+$")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that begin no noun phrase with a possessive before it: after them "her" is an object, "his" stands alone.
_ENDS: Final = _words("""
    a an the this that these those my your our its i you he she it we they me him us them
    to for in on at by with from of as into about after before and or but because when while if so than then since
    until unless although though whether through during without within upon toward towards against among between
    who whom whose what how why where which
    is was are were be been am will would can could shall should may might must has had have does did do doesn't
    didn't isn't wasn't won't not never always often again too also here there once twice instead even just
    yesterday today tomorrow nor yet whenever wherever
    """)
# Particles and adverbs that also are nouns or adjectives: "called her back" and "hurt her back".
_EITHER: Final = _words(
    "back over up out off down away around forward along aside through past outside inside all"
)
_CAUSE: Final = _words("let lets letting")
_WATCH: Final = _words("""
    see sees saw seen seeing hear hears heard hearing watch watches watched watching make makes made making
    help helps helped helping have feel felt notice noticed
    """)
_GIVE: Final = _words("""
    give gives gave given giving offer offers offered offering teach teaches taught teaching show shows showed
    send sends sent tell tells told ask asks asked award awards awarded grant grants granted hand handed lend lent
    pay pays paid bring brings brought buy bought promise promised owe owes cost costs earn earned earns win won
    wins wish wished allow allows allowed deny denied assign assigned
    """)
_JUDGE: Final = _words("""
    find finds found consider considers considered keep keeps kept call calls called deem deemed think thought
    make makes made leave leaves left prove proved render rendered declare declared name named
    """)
_BARE_VERBS: Final = _words("""
    go come feel look think want realise realize believe seem do stay stand know see hear understand become be
    keep get grow learn speak choose decide succeed thrive shine develop find earn overcome achieve improve
    """)
_ADJECTIVES: Final = _words("""
    proud happy sad angry famous nervous calm ready busy late early strong weak kind polite bright smart clear
    patient prepared engaged motivated humble eager easy hard fit safe warm quiet alone aware able unable
    """)
_THINGS: Final = _words("""
    feedback credit permission time advice praise confidence money responsibility responsibilities access hope
    strength courage insight skills experience patience discipline respect recognition support help more less
    another everything something nothing anything plenty much many several enough half good great valuable
    """)
_ADJECTIVE_ENDINGS: Final = ("ful", "ous", "ive", "able", "ible", "ent", "ant", "less", "ic", "ing")


def part_of(text: str, start: int, end: int) -> tuple[Part, bool]:
    """Return the case of the pronoun ``text[start:end]``, and whether the rules were sure of it.

    Raises
    ------
    InputError
        If no third-person pronoun stands there.

    Examples
    --------
    >>> part_of("I asked her.", 8, 11), part_of("her class", 0, 3), part_of("told her to go", 5, 8)
    (('object', True), ('possessive', True), ('object', True))
    >>> part_of("a friend of his.", 12, 15), part_of("His class", 0, 3), part_of("saw her work", 4, 7)
    (('possessive_pronoun', True), ('possessive', True), ('possessive', False))
    """
    word = text[start:end].lower()
    if word in _PLAIN:
        return _PLAIN[word], True
    if word not in ("her", "his"):
        raise InputError(f"no third-person pronoun from character {start} to {end}; its case is not defined")
    has_noun, sure = _owns_what_follows(text, start, end)
    if has_noun:
        return "possessive", sure
    return ("object" if word == "her" else "possessive_pronoun"), sure


def _owns_what_follows(text: str, start: int, end: int) -> tuple[bool, bool]:
    """Tell whether a noun phrase follows that the pronoun owns."""
    after = _WORD_AFTER.match(text, end)
    if after is None:
        opened = re.match(r"\s*[\"“‘(\[*_]+\w", text[end : end + 12])
        return (True, False) if opened and text[end : end + 1].isspace() else (False, True)
    following = after.group(1).replace("’", "'").lower()
    before = _WORDS_BEFORE.search(text, max(0, start - 40), start)
    previous = before.group(1).replace("’", "'").lower() if before else ""
    personal = text[start:end].lower() == "her"
    if "-" in following or following in ("own", "first", "last", "next", "best", "most", "many"):
        return True, True
    if following in _ENDS:
        return False, True
    if following in _EITHER:
        return not personal, False
    second = _next_word(text, after.end())
    if following.endswith("ly") and len(following) > 4:
        if second is None or second in _ENDS:
            return following in ("family", "supply", "ally", "reply"), following in ("family",)
        return True, second.endswith(("ed", "ing")) or following == "family"
    if not personal:
        return True, True
    if previous in ("call", "calls", "called", "calling", "name", "named") and after.group(1)[0].isupper():
        return False, True
    if previous in _CAUSE:
        return False, True
    if previous in _WATCH and (following in _BARE_VERBS or following.endswith("ing")):
        return False, following in _BARE_VERBS
    closes = second is None or second in _ENDS
    if previous in _JUDGE and closes:
        if following in _ADJECTIVES:
            return False, True
        if following.endswith(_ADJECTIVE_ENDINGS):
            return False, False
    if previous in _GIVE and following in _THINGS and closes:
        return False, False
    return True, previous not in _WATCH | _GIVE | _JUDGE


def _next_word(text: str, at: int) -> str | None:
    found = _WORD_AFTER.match(text, at)
    return found.group(1).replace("’", "'").lower() if found else None
