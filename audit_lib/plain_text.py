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

_LATIN_SHAPES: Final = dict(
    zip(
        "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bd\u03bf\u03c1\u03c5"
        "\u0405\u0406\u0408\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0430\u0435\u043e\u0440"
        "\u0441\u0443\u0445\u0455\u0456\u0458\u04bb\u04c0\u04cf\u0501\u051b\u051d"
        "\u13a0\u13a2\u13aa\u13ac\u13b3\u13b7\u13bb\u13c0\u13c3\u13d4\u13d9\u13da\u13de\u13df\u13e2",
        "ABEZHIKMNOPTYXvopuSIJABEKMHOPCTYXaeopcyxsijhIldqwDTAEWMHGZWVSLCP",
        strict=True,
    )
)
"""Letters of Greek, Cyrillic and Cherokee that have the shape of a Latin one: a part of Unicode's confusables."""
_NEARLY_LATIN: Final = dict(
    zip(
        "\u03b1\u03b3\u03b5\u03b9\u03ba\u03c4\u03c7\u03c9"
        "\u0432\u0433\u043a\u043c\u043d\u0442\u043f\u044c\u0454\u0475\u04af"
        "\u0578\u057d\u0570\u0581\u0585\u0131\u0142\u00f8\u0111\u0251\u0261\u0269\u026a",
        "ayeiktxwbrkmhtnbevynuhgoilodagii",
        strict=True,
    )
)
"""Letters that are taken for a Latin one in a word of others, and that nobody takes for it where they stand alone."""


def in_latin_letters(words: str) -> str:
    r"""Return a text with the Latin letters that its letters, and digits inside words, are or could be taken for.

    For comparing names with each other: what comes out is no spelling of anybody's name.

    Examples
    --------
    >>> in_latin_letters("\u0422\u043e\u043elmaker"), in_latin_letters("T001maker 3000")
    ('Toolmaker', 'Toolmaker 3000')
    """
    latin = "".join(_LATIN_SHAPES.get(char) or _NEARLY_LATIN.get(char, char) for char in words)
    latin = re.sub(r"(?<=[A-Za-z])0+|0+(?=[a-z])", lambda zeros: "o" * len(zeros[0]), latin)
    return re.sub(r"(?<=[A-Za-z])1|1(?=[a-z])", "l", latin)


def looks_latin(words: str) -> bool:
    r"""Whether there are letters of other scripts, and all of them have the shape of a Latin one.

    Examples
    --------
    >>> looks_latin("\u0410\u0441\u043e LLP"), looks_latin("\u0410\u0434\u0430"), looks_latin("Aco")
    (True, False, False)
    """
    others = [char for char in words if char.isalpha() and scripts(char) != ["LATIN"]]
    return bool(others) and all(char in _LATIN_SHAPES for char in others)


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
