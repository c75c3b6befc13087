"""What stands around a mention of a group: an article that goes with it, an address that it is a part of."""

from __future__ import annotations

import re
from typing import Final

_DOMAINS: Final = (".com", ".org", ".net", ".edu", ".gov", ".io", "www.")
_LEFT: Final = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://|www\.)\S+"  # links
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # e-mail addresses
    r"|(?<![\w.])@\w+"  # accounts
    r"|(?<![\w.-])[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|edu|gov|io)(?![\w-])(?:/\S*)?"  # links without a scheme
    r"|(?<![\w/])(?:s/he|\(s\)he)(?!\w)",
    re.IGNORECASE,
)
_BEFORE_SPACE: Final = frozenset("aAnN \t\r\n\u00a0")
_ARTICLE: Final = re.compile(r"(?<!\w)an?(?=\s+\Z)", re.IGNORECASE)
_NO_VOWEL: Final = re.compile(
    r"eu|uni(?!n|m)|us(?:e|u|a\b|\b)|uk\b|one\b|once\b|ukr|uganda|uru|uz", re.IGNORECASE
)
_VOWEL: Final = re.compile(r"hour|heir|honest|hono[u]?r|8|11\b|18\b|[aeiou]", re.IGNORECASE)


def left_alone(text: str) -> list[tuple[int, int]]:
    """Return the stretches of a text in which nothing is exchanged: links, addresses, accounts, ``s/he``.

    Examples
    --------
    >>> [text[a:b] for text in ("she@x.org, see https://x.com/she?he=1 or s/he",) for a, b in left_alone(text)]
    ['she@x.org', 'https://x.com/she?he=1', 's/he']
    """
    # Nearly every text has nothing of the kind, and plain searches are the fastest way to know.
    if not (
        "@" in text
        or "/" in text
        or ("." in text and any(domain in text for domain in _DOMAINS))
        or "(s)he" in text
    ):
        return []
    return [match.span() for match in _LEFT.finditer(text)]


def takes_an(word: str) -> bool:
    """Tell whether the article before a word is *an*.

    Examples
    --------
    >>> [takes_an(word) for word in ("Asian", "European", "uncle", "heir", "Black", "unicorn", "US")]
    [True, False, True, True, False, False, False]
    """
    return not _NO_VOWEL.match(word) and _VOWEL.match(word) is not None


def article_before(text: str, behind: int, start: int) -> int:
    """Return where an article begins that stands right before a word, and not before `behind`; else `start`.

    Examples
    --------
    >>> article_before("Not an Asian", 0, 7), article_before("ban Asian", 0, 4), article_before("X. A  man", 0, 6)
    (4, 4, 3)
    """
    if text[start - 2 : start - 1] not in _BEFORE_SPACE or not text[start - 1 : start].isspace():
        return start  # nearly always
    found = _ARTICLE.search(text, max(behind, start - 12), start)
    return found.start() if found else start


def with_article(led: str, own: str, word: str) -> str:
    """Return a word with the article that it takes, written as `led`, an article with the space behind it, is.

    Examples
    --------
    >>> with_article("An ", "Asian", "Black"), with_article("a  ", "Black", "Asian"), with_article("A ", "MAN", "AUNT")
    ('A Black', 'an  Asian', 'AN AUNT')
    """
    article = "an" if takes_an(word) else "a"
    if led[0].isupper():
        article = article.upper() if own.isupper() and len(own) > 1 else article.capitalize()
    return f"{article}{led[len(led.rstrip()) :]}{word}"
