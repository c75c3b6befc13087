"""Text that shows as it is read, and names that name somebody."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Final

_NO_TEXT: Final = ("Cc", "Cf", "Cs", "Zl", "Zp")
_INVISIBLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u2065\u2800\u3164\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
)
"""Letters, marks and unassigned codes that are drawn as nothing (Default_Ignorable_Code_Point, less what scripts
need: joiners and variation selectors), and the blank of Braille."""
_WRITTEN_TOGETHER: Final = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "MODIFIER"})
"""Scripts that one word may have letters of."""
_JOINERS: Final = "\u200c\u200d"  # Persian and Sinhala names, among others, are spelled with them


def is_text(words: str, *, lines: bool = False) -> bool:
    r"""Whether `words` show as they are read: no control, nothing that turns or hides what is next to it.

    Such characters can make a name on a screen or page another one, or write a verdict over a terminal.

    Parameters
    ----------
    words : str
        Any text.
    lines : bool
        Whether it may have several lines.

    Examples
    --------
    >>> is_text("K\u00f6chin \u53a8\u5e08"), is_text("Ann\x1b[2J"), is_text("Ann\u3164")
    (True, False, False)
    >>> is_text("a\nb"), is_text("a\nb", lines=True)
    (False, True)
    """
    allowed = _JOINERS + ("\n" if lines else "")
    return _INVISIBLE.search(words) is None and all(
        char in allowed or unicodedata.category(char) not in _NO_TEXT for char in words
    )


def is_named(words: str) -> bool:
    r"""Whether there is a letter or a digit in `words`, so that something is named.

    Examples
    --------
    >>> is_named("Ada"), is_named(" \u200d"), is_named("-")
    (True, False, False)
    """
    return any(unicodedata.category(char)[0] in "LN" for char in words)


def quoted(words: str) -> str:
    r"""Put a name in quotes that it cannot end, so that what it says is not taken for what the checker says.

    Examples
    --------
    >>> quoted('Ada", key checked')
    '"Ada\\", key checked"'
    """
    return json.dumps(words, ensure_ascii=False)


def look_alikes(words: str) -> list[str]:
    r"""Return what makes a text look like another one: words of letters of several scripts, and letters in disguise.

    A word with letters of two scripts is named (an o of Cyrillic among Latin letters), and so is a letter that stands
    for another one (full width, mathematical bold, ligatures). A whole word in one script is as its people write it,
    and is no fault, even where it looks like one of another script: `scripts` tells.

    Parameters
    ----------
    words : str
        A name.

    Examples
    --------
    >>> look_alikes("Zoë Müller"), look_alikes("厨师 Ltd")
    ([], [])
    >>> look_alikes("Ac\u043ce")
    ["'Ac\\u043ce' has letters of CYRILLIC and LATIN"]
    >>> look_alikes("\uff21cme")
    ["'\\uff21cme' is 'Acme' in other letters"]
    """
    found = []
    for word in re.findall(r"[^\W\d_]+", words):
        plain = unicodedata.normalize("NFKC", word)
        if plain != unicodedata.normalize("NFC", word):
            found.append(f"{word!a} is {plain!a} in other letters")
        elif len(mixed := scripts(word)) > 1 and not set(mixed) <= _WRITTEN_TOGETHER:
            found.append(f"{word!a} has letters of {' and '.join(mixed)}")
    return found


def scripts(words: str) -> list[str]:
    r"""Return the scripts of the letters in a text, sorted, by the first word of their names in Unicode.

    Examples
    --------
    >>> scripts("Ada 7"), scripts("\u0410\u0434\u0430")
    (['LATIN'], ['CYRILLIC'])
    """
    letters = (char for char in words if unicodedata.category(char)[0] == "L")
    return sorted({unicodedata.name(char, "UNNAMED").split()[0].split("-")[0] for char in letters})
