"""Grammatical case of third-person pronouns: which of a person's pronouns a place in a sentence asks for.

English writes two cases alike: ``her`` is an object (*asked her*) and a possessive (*her class*), ``his`` a
possessive (*his class*) and a possessive pronoun (*a pupil of his*). What follows decides, and, after some verbs,
what stands before. The rules are word lists, so the same text always gives the same answer. A wrong case that nobody
looks at is the worst outcome: where the words leave it open, the likelier case comes with ``sure = False``.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from audit_lib.errors import InputError

PronounCase = Literal["subject", "object", "possessive", "possessive_pronoun", "reflexive"]

PARTS: Final[tuple[PronounCase, ...]] = ("subject", "object", "possessive", "possessive_pronoun", "reflexive")
"""Cases in the order of the columns of a pronoun lexicon."""

_PLAIN: Final[dict[str, PronounCase]] = {
    "she": "subject", "he": "subject", "they": "subject",
    "him": "object", "them": "object",
    "their": "possessive",
    "hers": "possessive_pronoun", "theirs": "possessive_pronoun",
    "herself": "reflexive", "himself": "reflexive", "themselves": "reflexive", "themself": "reflexive",
}  # fmt: skip

_WORD_AFTER: Final = re.compile(r"(?:[ \t\u00a0]*\r?\n|[ \t\u00a0]+)[ \t]*(?![\r\n])([\w'’]+(?:-[\w'’]+)*)")
_WORD_BEFORE: Final = re.compile(r"([\w'’]+)(?:[ \t\u00a0]*\r?\n)?[ \t\u00a0]*$")
_BEGINS: Final = re.compile(r"(?:^|[.!?:;,—–|\n])[\s\"“‘'(*_#>•-]*$")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that begin no noun phrase with a possessive before it: after them "her" is an object, "his" stands alone.
_ENDS: Final = _words("""
    a an the this that these those my your our its i you he she it we they me him us them
    to for in on at by with from of as into about after before and or but because when while if so than since
    until unless although though whether through during without within upon toward towards against among between
    throughout despite except beside besides behind beyond near like per regarding onto till across
    who whom whose what how why where which whatever whoever whenever wherever
    is was are were be been am would could shall should may must has had have does did do doesn't
    didn't isn't wasn't won't also here there twice instead yesterday today tomorrow tonight nor yet
    later soon afterwards together forever everywhere anywhere somewhere
    says knows comes goes agrees became went said told came saw knew took gave began wrote spoke brought grew got
    """)
_DETERMINERS: Final = _words("my your our their his its")
_POINTING: Final = _words("me him her us them you it myself")
# They end the phrase too, unless an adjective and a noun follow: "her often brilliant lessons".
_ADVERBS: Final = _words(
    "always often once then even just not never ever too again now still sometimes already"
)
# Particles, adverbs, numbers and times that also begin noun phrases: "hurt her back", "hired her last year".
_EITHER: Final = _words("""
    back over up out off down away around forward along aside past outside inside all above below home
    will might can left made found led ran kept felt held won lost met
    first last next best most many more less least better worst enough well full part half early late daily weekly
    monthly yearly alone every each no some any both other one two three four five six seven eight nine ten several few
    something anything nothing everything someone anyone everyone nobody
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays
    january february march april june july august september october november december
    spring summer fall autumn winter mornings afternoons evenings
    """)
_OWNED: Final = _words(
    "past first best many two three four five six seven eight nine ten few several will other"
)
"""Those of them that more often follow a possessive."""

_TIMES: Final = _words("""
    year years month months week weeks day days time times semester semesters term spring summer fall autumn winter
    minutes hours hour morning afternoon evening night monday tuesday wednesday thursday friday thing ago dollars
    percent
    """)
_PREPOSITIONS: Final = _words("""
    to for in on at by with from of as into about after before through during without within upon toward towards
    against among between under over throughout despite behind beside besides near around like beyond across
    """)
_AMID: Final = _words("in during of throughout since at from")
_BESIDE: Final = re.compile(
    r"\b(?:around|near|beside|behind|between|under|like|(?:next|close|thanks|due) to|because of)\s+$", re.I
)
"""After these the phrase often ends with the pronoun, and a verb follows: "pupils around her calm down"."""

_CROWD: Final = re.compile(
    r"\b(?:everyone|everybody|anyone|anybody|those|people|others|nobody)\b[^.,;!?]{0,40}$", re.I
)
_LET: Final = _words("let lets letting")
_WATCH: Final = _words("""
    see sees saw seen seeing hear hears heard hearing watch watches watched watching make makes made making
    help helps helped helping have feel felt notice noticed observe observed
    """)
_GIVE: Final = _words("""
    give gives gave given giving offer offers offered offering teach teaches taught teaching show shows showed
    send sends sent tell tells told ask asks asked award awards awarded grant grants granted hand handed lend lent
    pay pays paid bring brings brought buy bought promise promised owe owes cost costs earn earned earns win won
    wins wish wished allow allows allowed deny denied assign assigned
    """)
_JUDGE: Final = _words("""
    find finds found consider considers considered keep keeps kept call calls called deem deemed think thought
    make makes made leave leaves left prove proved render rendered declare declared name named elect elected vote
    voted appoint appointed crown crowned want wants wanted need needs needed like likes liked get gets got expect
    expected believe believed
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
    strength courage insight skills experience patience discipline respect recognition support help
    another plenty much good great valuable success luck tenure flowers
    """)
_NOUNS_IN_LY: Final = _words("family supply ally reply assembly")
_ADJECTIVE_ENDINGS: Final = ("ful", "ous", "ive", "able", "ible", "ent", "ant", "less", "ic", "ing", "ed")


def part_of(text: str, start: int, end: int) -> tuple[PronounCase, bool]:
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
        opened = re.match(r"\s*[\"“‘(\[*_$€£#]+\w", text[end : end + 12])
        return (True, False) if opened and text[end : end + 1].isspace() else (False, True)
    following = after.group(1).replace("’", "'").lower()
    before = _WORD_BEFORE.search(text, max(0, start - 40), start)
    previous = before.group(1).replace("’", "'").lower() if before else ""
    second = _next_word(text, after.end())
    closes = second is None or second in _ENDS
    personal = text[start:end].lower() == "her"
    if following == "own":
        return True, True
    begins = not previous and _BEGINS.search(text[max(0, start - 12) : start]) is not None
    # No object begins a clause, so "Her even temper" owns it; "his" may: "His was the best".
    if begins and personal and following not in _ENDS | _POINTING and not (following in _ADVERBS and closes):
        return True, True
    if following in _ENDS or following in _POINTING:
        return False, True
    if following in _ADVERBS:
        return not closes and second not in ("more", "less", "better"), closes
    introduced = begins or previous in _PREPOSITIONS
    if "-" in following or following in _EITHER or following[0].isdigit():
        if (
            previous in _AMID
            and following != "home"
            and (following == "best" or second in _TIMES or not closes)
        ):
            return True, following in _OWNED | _TIMES or following in ("last", "next") or second in _TIMES
        return _after_either(following, second, closes=closes, introduced=introduced, personal=personal)
    if _is_verb(text, start, previous, following, second):
        return False, False
    if following.endswith("ly") and len(following) > 4:
        if closes:
            return following in _NOUNS_IN_LY, following == "family" or following not in _NOUNS_IN_LY
        modifies = str(second).endswith(("ed", "ing")) and previous not in _JUDGE | _WATCH
        return previous not in _JUDGE, modifies or following == "family"
    if not personal:
        return True, not (previous in _PREPOSITIONS and _BESIDE.search(text[max(0, start - 14) : start]))
    if second in _POINTING | _DETERMINERS or _BESIDE.search(text[max(0, start - 14) : start]):
        return True, False
    if previous in _PREPOSITIONS and following.endswith("ing"):
        return True, False
    return _after_verb(after.group(1), previous, following, second, closes=closes)


def _after_either(
    following: str, second: str | None, *, closes: bool, introduced: bool, personal: bool
) -> tuple[bool, bool]:
    """Decide before words that begin a noun phrase or end the sentence: "her last class", "hired her last year"."""
    if closes or second in _TIMES:
        if closes and following == "well":
            return False, True
        return not personal and following not in ("first", "most", "best") and "-" not in following, False
    # After a preposition or at the start of a clause a noun must follow.
    plain = "-" in following or following[0].isdigit() or following in _OWNED | {"last", "next"}
    if plain and introduced:
        return True, True
    if "-" in following and not following[0].isdigit():
        return True, True
    return (not personal) or following in _OWNED or following[0].isdigit(), False


def _is_verb(text: str, start: int, previous: str, following: str, second: str | None) -> bool:
    """Tell whether what follows may be the verb of a phrase that ends in the pronoun: "working with her taught me"."""
    crowd = _CROWD.search(text[max(0, start - 60) : start])
    if following.endswith("ed") and len(following) > 4 and (second is None or second in _ENDS | _POINTING):
        return True
    if second in _POINTING and (following.endswith("s") or following == "made"):
        return True
    if crowd and not following.endswith(("ing", "ly")) and (second is None or second in _ENDS | _POINTING):
        return True
    return previous in _PREPOSITIONS and following.endswith("ed") and len(following) > 4


def _after_verb(
    shown: str, previous: str, following: str, second: str | None, *, closes: bool
) -> tuple[bool, bool]:
    """Decide for "her" where only the verb before it can tell."""
    if previous in ("call", "calls", "called", "calling", "name", "named") and shown[0].isupper():
        return False, closes
    if previous in _LET:
        return following.endswith("s"), following in _BARE_VERBS
    if previous in _WATCH and (following in _BARE_VERBS or following.endswith("ing")):
        return False, following in _BARE_VERBS
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
