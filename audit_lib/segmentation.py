"""Words in scripts that put no space between them: which script it is, and where ICU's dictionaries end a word."""

from __future__ import annotations

import importlib.util
import unicodedata
from collections import Counter
from functools import cache, lru_cache
from typing import Final

_UNSPACED: Final = {
    "CJK": "Chinese characters", "IDEOGRAPHIC": "Chinese characters", "BOPOMOFO": "Bopomofo",
    "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "THAI": "Thai", "LAO": "Lao", "KHMER": "Khmer",
    "MYANMAR": "Burmese", "TIBETAN": "Tibetan", "JAVANESE": "Javanese", "BALINESE": "Balinese",
    "SUNDANESE": "Sundanese", "TAI": "Tai", "NEW": "New Tai Lue", "YI": "Yi", "NUSHU": "Nushu", "TANGUT": "Tangut",
}  # fmt: skip
"""First word of a letter's Unicode name -> script, for scripts that put no space between words."""

_FIRST_UNSPACED: Final = "\u0e00"
"""No letter before this one is of such a script."""

DICTIONARIES: Final = ("Chinese characters", "Japanese", "Thai", "Lao", "Khmer", "Burmese")
"""The scripts that ICU has a dictionary of words for."""

MOST_OTHER: Final = 0.1
"""Share of a text's letters that may be of another script: a name, or a term, in a text that can be read."""


@lru_cache(8192)
def script(letter: str) -> str:
    """Return the first word of a letter's Unicode name, which for letters of a script is the script's.

    Examples
    --------
    >>> script("я"), script("李")
    ('CYRILLIC', 'CJK')
    """
    return (
        unicodedata.name(letter, "UNKNOWN").replace("HALFWIDTH ", "").replace("FULLWIDTH ", "").split(" ")[0]
    )


def letters(text: str) -> Counter[str]:
    """Count a text's letters, and the signs that stand for one, by `script`.

    Examples
    --------
    >>> letters("a я!")
    Counter({'CYRILLIC': 1, 'LATIN': 1})
    """
    return Counter(
        script(c) for c in text if not c.isascii() and unicodedata.category(c)[0] in "L"
    ) + Counter({"LATIN": sum(c.isascii() and c.isalpha() for c in text)})


def unspaced_script(text: str) -> str:
    """Return the script of a text that has no spaces between its words, or nothing.

    A tenth of the letters may be of such a script: a name in a text that has spaces.

    Examples
    --------
    >>> unspaced_script("很好的候选人"), unspaced_script("A good candidate (李) for the job")
    ('Chinese characters', '')
    """
    if text.isascii() or max(text) < _FIRST_UNSPACED:
        return ""
    counted = letters(text)
    found = Counter({script: n for script, n in counted.items() if script in _UNSPACED})
    if not found or found.total() <= MOST_OTHER * counted.total():
        return ""
    if found["HIRAGANA"] + found["KATAKANA"]:
        return "Japanese"
    return _UNSPACED[max(sorted(found), key=lambda script: found[script])]


@cache
def segmenter() -> str:
    """Return what ends words here in scripts without spaces, with its version; nothing where it is not installed.

    The dictionaries come with ICU, so that another version may end words elsewhere.
    """
    if importlib.util.find_spec("icu4py") is None:
        return ""
    import icu4py

    return f"ICU {icu4py.icu_version}"


def unsegmented(text: str) -> str:
    """Return the script of a text whose words cannot be told apart here, or nothing.

    Examples
    --------
    >>> unsegmented("She is a nurse."), unsegmented("བོད་སྐད་ཡིན།")
    ('', 'Tibetan')
    """
    found = unspaced_script(text)
    return "" if found in DICTIONARIES and segmenter() else found


def ends(text: str) -> list[int]:
    """Return where words begin and end in a text by ICU's dictionaries, which have to be installed.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    list of int
        Places between characters in order, 0 and the length among them.

    Notes
    -----
    A pronoun and the verb behind it may be one word of the dictionary: what is looked for in such a text can stand
    inside a word (`WholeWords.segmented`).

    References
    ----------
    Unicode Standard Annex 29, Unicode text segmentation: word boundaries, which ICU tailors by its dictionaries.

    Examples
    --------
    >>> ends("She is.")
    [0, 3, 4, 6, 7]
    """
    from icu4py.breakers import WordBreaker

    return [0, *(stop for _, stop in WordBreaker(text, "en").segments())]
