"""Words: the one tokenisation that every part shares, and word lists brought to the same form."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import cache
from itertools import pairwise

from audit_lib.errors import LexiconError
from audit_lib.segmentation import ends

_ASCII_WORDS = bytes(c if chr(c).isascii() and chr(c).isalnum() else ord(" ") for c in range(256))


def tokenise(text: str) -> list[str]:
    """Split a text into its words: runs of letters and digits, in lower case.

    Punctuation, underscores and white space separate words and are dropped, so ``she's`` is ``she`` and
    ``s``, and a hyphenated word is several. Combining marks belong to the word that they are in. Scripts
    without spaces between words need a splitter of their own (`segmented`).

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of str
        Its words in order.

    Notes
    -----
    On ASCII text these are the words of the reference ROUGE implementation without its stemmer.

    Examples
    --------
    >>> tokenise("She's the well-known Dr. O'Neill (b. 1970).")
    ['she', 's', 'the', 'well', 'known', 'dr', 'o', 'neill', 'b', '1970']
    """
    if text.isascii():
        # The same split by a byte table, at less than half the time of the regular expression.
        return text.lower().encode().translate(_ASCII_WORDS).decode().split()
    return _word_pattern().findall(unicodedata.normalize("NFC", text).lower())


def segmented(text: str) -> list[str]:
    """Split a text in a script without spaces into its words, in lower case, by ICU's dictionaries.

    What `tokenise` would split is split here too, so that a text of two scripts has the words of both.

    Parameters
    ----------
    text : str
        Any text whose words `audit_lib.segmentation` can tell apart.

    Returns
    -------
    list of str
        Its words in order.

    Examples
    --------
    >>> segmented("優秀的護士, she's")
    ['優秀', '的', '護士', 'she', 's']
    """
    plain = unicodedata.normalize("NFC", text).lower()
    cuts = ends(plain)
    words = []
    for run in _word_pattern().finditer(plain):
        inside = cuts[bisect_right(cuts, run.start()) : bisect_left(cuts, run.end())]
        words += [plain[a:b] for a, b in pairwise([run.start(), *inside, run.end()])]
    return words


@cache
def _word_pattern() -> re.Pattern[str]:
    marks = "".join(c for c in map(chr, range(0x300, 0x110000)) if unicodedata.category(c)[0] == "M")
    return re.compile(rf"[^\W_]+(?:[{marks}]+[^\W_]*)*")


def single_words(words: Iterable[str], name: str) -> list[str]:
    """Return the distinct words of a word list, in order, as `tokenise` writes them.

    Raises
    ------
    LexiconError
        If the list is empty or is one string, or an entry is not exactly one word.

    Examples
    --------
    >>> single_words(["She", "Mrs.", "she"], "female")
    ['she', 'mrs']
    """
    if isinstance(words, str):
        raise LexiconError(f"{name}: expected a list of words, got one text; put it into a list")
    distinct: dict[str, None] = {}
    for entry in words:
        if not isinstance(entry, str) or len(found := tokenise(entry)) != 1:
            raise LexiconError(
                f"{name}: {entry!r} is not one word; list single words without hyphens or spaces"
            )
        distinct[found[0]] = None
    if not distinct:
        raise LexiconError(f"{name}: the word list is empty")
    return list(distinct)
