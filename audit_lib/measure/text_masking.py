"""Protected words: found as whole words, and replaced before texts are compared."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from audit_lib.errors import InputError, LexiconError
from audit_lib.measure.text_extra import text_extra

# What is written in several ways: a word's last sigma, apostrophes, white space.
_ALIKE: Final = {
    ord("\u03c2"): "\u03c3",
    ord("\u2019"): "'",
    **{place: " " for place in range(sys.maxunicode + 1) if chr(place).isspace()},
}

#: Protected words, or word lists by group.
Lexicon = Mapping[str, Iterable[str]] | Iterable[str]


def mask_protected_words(texts: Sequence[str], lexicon: Lexicon, mask: str = "[MASK]") -> list[str]:
    """Replace each protected word by `mask`, and leave everything else as it is.

    A protected word is found in any case, and only as a whole word: next to it stands no letter, digit or
    combining mark. Entries may hold spaces and punctuation ("African American", "Mr."). Accented letters
    are found in one piece or as letter and mark, apostrophes straight or curly, and a space stands for any
    run of white space, line breaks included. Where entries overlap, the leftmost is taken, of those the
    longest.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    lexicon : sequence of str, or mapping of str to sequence of str
        The protected words, all groups together or by group. All groups get the same mask, so that two
        texts which differ by group alone become equal.
    mask : str
        What replaces a protected word; for the similarities it counts as one word.

    Returns
    -------
    list of str
        The masked texts.

    Raises
    ------
    InputError
        If `texts` is one string or holds something else than texts.
    LexiconError
        If the lexicon has no word or holds an empty one.

    Notes
    -----
    LangFair replaces gender words by neutral ones and only some race words by a mask, and does so in some
    of its entry points only.

    Examples
    --------
    >>> mask_protected_words(["She told HER sister there."], {"female": ["she", "her"], "male": ["he"]})
    ['[MASK] told [MASK] sister there.']
    """
    return masked_texts(texts, lexicon, mask)


def masked_texts(
    texts: Sequence[str], lexicon: Lexicon, mask: str = "[MASK]", name: str = "texts", first_row: int = 0
) -> list[str]:
    """Mask texts that are rows `first_row`, ... of what messages call `name`."""
    finder = _Finder(lexicon)
    masked = []
    for text in _checked(texts, name, first_row):
        spans = finder.spans(text)
        end = 0
        pieces = []
        for start, stop in spans:
            pieces += [text[end:start], mask]
            end = stop
        masked.append("".join([*pieces, text[end:]]) if spans else text)
    return masked


def mentions_protected_words(texts: Sequence[str], lexicon: Lexicon) -> list[bool]:
    """Say of each text whether it holds a protected word; words are found as by `mask_protected_words`.

    Fairness through unawareness (FTU) holds where no prompt does: ``not any(...)``. LangFair's flag of
    that name says the opposite.

    Examples
    --------
    >>> mentions_protected_words(["Ask her.", "Ask there."], ["her"])
    [True, False]
    """
    finder = _Finder(lexicon)
    return [bool(finder.spans(text)) for text in _checked(texts)]


def _checked(texts: Sequence[str], name: str = "texts", first_row: int = 0) -> Sequence[str]:
    if isinstance(texts, str):
        raise InputError(f"{name}: expected a list of texts, got one text; put it into a list")
    for row, text in enumerate(texts, first_row):
        if not isinstance(text, str):
            raise InputError(
                f"{name}, row {row}: expected a text, got {type(text).__name__}; mask before splitting"
            )
    return texts


class _Finder:
    """Finds whole words of a lexicon in a text."""

    def __init__(self, lexicon: Lexicon) -> None:
        if isinstance(lexicon, str):
            raise LexiconError("lexicon: expected a list of words, got one text; put it into a list")
        lists = lexicon.values() if isinstance(lexicon, Mapping) else [lexicon]
        words: dict[str, None] = {}
        for entries in lists:
            if isinstance(entries, str):
                raise LexiconError("lexicon: a group's words are one text; put it into a list")
            for entry in entries:
                if not isinstance(entry, str) or not entry.strip():
                    raise LexiconError("lexicon: an entry is empty or not a text; remove it")
                words[_fold(" ".join(entry.split()))[0]] = None
        if not words:
            raise LexiconError("lexicon: it has no word")
        self._automaton: Any = text_extra("ahocorasick_rs").AhoCorasick(list(words))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end of each protected word, in order and without overlap."""
        folded, places = _fold(text)
        hits = [
            (start, -end)
            for _, start, end in self._automaton.find_matches_as_indexes(folded, overlapping=True)
            if not _inside_word(folded, start) and not _inside_word(folded, end)
        ]
        taken: list[tuple[int, int]] = []
        for start, negative_end in sorted(hits):
            if not taken or start >= taken[-1][1]:
                taken.append((start, -negative_end))
        return taken if places is None else [(places[start], places[end]) for start, end in taken]


def _fold(text: str) -> tuple[str, list[int] | None]:
    """Bring a text to the form that is compared, and say where in `text` each of its characters began.

    The places are None where they are the same in both, as in nearly every text.
    """
    if unicodedata.is_normalized("NFC", text):
        folded = _lower(text)
        if "  " not in folded:
            return folded, None
    pieces: list[str] = []
    places: list[int] = []
    start = 0
    while start < len(text):
        stop = start + 1
        piece = _lower(text[start])
        while stop < len(text):
            joined = _lower(unicodedata.normalize("NFC", text[start : stop + 1]))
            # The next character belongs here if it is a mark, joins its predecessors or is white space too.
            if piece == " ":
                if not text[stop].isspace():
                    break
            elif unicodedata.category(text[stop])[0] != "M" and joined == piece + _lower(text[stop]):
                break
            else:
                piece = joined
            stop += 1
        pieces.append(piece := unicodedata.normalize("NFC", piece))
        places += [start] * len(piece)
        start = stop
    return "".join(pieces), [*places, len(text)]


def _lower(text: str) -> str:
    """Lower case, straight apostrophes and plain spaces, in as many characters."""
    lowered = text.lower()
    if len(lowered) != len(text):
        # A few letters grow in lower case; left as they are, places in both texts stay the same.
        lowered = "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)
    return lowered.translate(_ALIKE)


def _inside_word(text: str, place: int) -> bool:
    if place == 0 or place == len(text):
        return False
    before, after = text[place - 1], text[place]
    if unicodedata.category(after)[0] == "M":
        return True
    # A word may end in a combining mark: what counts is the letter it sits on.
    while place > 1 and unicodedata.category(before)[0] == "M":
        place -= 1
        before = text[place - 1]
    return before.isalnum() and after.isalnum()
