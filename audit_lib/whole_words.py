"""Words and phrases of a list, found in texts as whole words: one rule for masking, swapping and counting."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from audit_lib.errors import AuditError, LexiconError
from audit_lib.segmentation import ends, unspaced_script

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick, BytesAhoCorasick

_LAST_SPACE: Final = 0x3000
# What is written in several ways: a word's last sigma, apostrophes, white space.
_ALIKE: Final = {
    ord("\u03c2"): "\u03c3",
    ord("\u2019"): "'",
    **{place: " " for place in range(_LAST_SPACE + 1) if chr(place).isspace()},
}
_WORDS_ONLY: Final = bytes(
    ord(chr(c).lower()) if c < 128 and chr(c).isalnum() else ord(" ") for c in range(256)
)
_FIRST_WORD: Final = re.compile(r"[0-9a-z]+")


Hit = tuple[int, int, int]
"""Where an entry stands, from which character of the text to which, and its place in the list of entries."""


class WholeWords:
    r"""Finds entries of a list in texts, in any case and only as whole words.

    Next to an entry stands no letter, digit or combining mark. Entries may hold spaces and punctuation
    ("African American", "Mr."). Accented letters are found in one piece or as letter and mark, apostrophes
    straight or curly, and a space stands for any run of white space, line breaks included.

    Parameters
    ----------
    entries : iterable of str
        Words and phrases. Entries that this rule cannot tell apart count as one.

    Raises
    ------
    LexiconError
        If there is no entry, or an empty one.

    Attributes
    ----------
    entries : list of str
        As they are compared: `folded`, each once.

    Examples
    --------
    >>> words = WholeWords(["she", "African American"])
    >>> [(start, end, words.entries[entry]) for start, end, entry in words.find("She, an African\nAmerican, usher")]
    [(0, 3, 'she'), (8, 24, 'african american')]
    """

    def __init__(self, entries: Iterable[str]) -> None:
        distinct: dict[str, None] = {}
        for entry in entries:
            if not isinstance(entry, str) or not entry.strip():
                raise LexiconError("lexicon: an entry is empty or not a text; remove it")
            distinct[folded(entry)] = None
        if not distinct:
            raise LexiconError("lexicon: it has no word")
        try:
            from ahocorasick_rs import AhoCorasick, BytesAhoCorasick
        except ModuleNotFoundError:
            raise AuditError("finding words needs ahocorasick_rs; pip install 'audit-lib[text]'") from None
        self.entries = list(distinct)
        self._automaton: AhoCorasick = AhoCorasick(self.entries)
        # An ASCII text, as nearly every one is, is searched for first words between blanks: hardly a false hit.
        self._alone: list[int | None] = []  # the entry that a first word is, where it begins no other
        self._by_word: list[list[tuple[int, re.Pattern[str] | None]]] = []
        firsts: dict[str, list[int]] = {}
        self._words_first = True
        for number, entry in enumerate(self.entries):
            if not entry.isascii():
                continue
            first = _FIRST_WORD.match(entry)
            if first is None:
                self._words_first = False  # such as ".net"
                break
            firsts.setdefault(first[0], []).append(number)
        self._first_words: BytesAhoCorasick | None = None
        if self._words_first and firsts:
            self._first_words = BytesAhoCorasick([f" {word} ".encode() for word in firsts])
            for word, numbers in firsts.items():
                longest_first = sorted(numbers, key=lambda n: -len(self.entries[n]))
                self._by_word.append([(n, _rest(self.entries[n], len(word))) for n in longest_first])
                self._alone.append(
                    numbers[0] if self.entries[numbers[0]] == word and len(numbers) == 1 else None
                )

    def hits(self, text: str) -> list[Hit]:
        """Return where entries stand, overlapping ones too: from the left, the longest first."""
        if self._words_first and text.isascii():
            return self._ascii_hits(text)
        plain, places = _fold(text)
        found = sorted(
            (start, -end, entry)
            for entry, start, end in self._automaton.find_matches_as_indexes(plain, overlapping=True)
            if not _inside_word(plain, start) and not _inside_word(plain, end)
        )
        if places is None:
            return [(start, -end, entry) for start, end, entry in found]
        return [(places[start], places[-end], entry) for start, end, entry in found]

    def find(self, text: str) -> list[Hit]:
        """Return where entries stand, without overlap: the leftmost, of those the longest."""
        taken: list[Hit] = []
        behind = 0
        for hit in self.hits(text):
            if hit[0] >= behind:
                taken.append(hit)
                behind = hit[1]
        return taken

    def segmented(self, text: str) -> tuple[list[Hit], list[str]]:
        """Return where entries stand in a text in a script without spaces, and those of which that cannot be said.

        An entry stands as a word where ICU begins and ends one. Where one of its ends is inside a word, it may be part
        of that word, as "he" is of "other" in Chinese, or ICU has joined it with its neighbour: nobody can tell.

        Parameters
        ----------
        text : str
            The text; `audit_lib.segmentation` can tell its words apart.

        Returns
        -------
        list of Hit
            Without overlap: the leftmost, of those the longest.
        list of str
            The entries that stand inside other words, outside of these hits; each once, in order.

        Examples
        --------
        >>> WholeWords(["Emily"]).segmented("Emily是護士")
        ([(0, 5, 0)], [])
        """
        plain, places = _fold(text)
        cuts = set(ends(plain))
        found = sorted(
            (start, -end, entry)
            for entry, start, end in self._automaton.find_matches_as_indexes(plain, overlapping=True)
        )
        taken: list[Hit] = []
        covered: set[int] = set()
        for start, stop, entry in found:
            if start in cuts and -stop in cuts and start not in covered:
                taken.append((start, -stop, entry))
                covered.update(range(start, -stop))
        unsure = dict.fromkeys(
            self.entries[entry]
            for start, stop, entry in found
            if not covered.issuperset(range(start, -stop))
            and not (_spelled(plain, start) or _spelled(plain, -stop))
        )
        if places is not None:
            taken = [(places[start], places[stop], entry) for start, stop, entry in taken]
        return taken, list(unsure)

    def _ascii_hits(self, text: str) -> list[Hit]:
        if self._first_words is None:
            return []
        words = b" %b " % text.encode().translate(_WORDS_ONLY)
        found: list[Hit] = []
        for number, start, end in self._first_words.find_matches_as_indexes(words, overlapping=True):
            if (alone := self._alone[number]) is not None:
                found.append((start, end - 2, alone))
                continue
            for entry, rest in self._by_word[number]:
                if rest is None:
                    found.append((start, end - 2, entry))
                elif match := rest.match(text, end - 2):
                    found.append((start, match.end(), entry))
        return found


def folded(entry: str) -> str:
    """Return a word or phrase in the form in which entries and texts are compared.

    Examples
    --------
    >>> folded("O\u2019Neill  JR.")
    "o'neill jr."
    """
    return _fold(" ".join(entry.split()))[0]


def _rest(entry: str, at: int) -> re.Pattern[str] | None:
    """Return what has to follow an entry's first word; None for nothing."""
    if at == len(entry):
        return None
    rest = r"\s+".join(re.escape(part) for part in entry[at:].split(" "))
    return re.compile(rest + (r"(?![0-9A-Za-z])" if entry[-1].isalnum() else ""), re.IGNORECASE)


def _fold(text: str) -> tuple[str, list[int] | None]:
    """Bring a text to the form that is compared, and say where in `text` each of its characters began.

    The places are None where they are the same in both, as in nearly every text.
    """
    if unicodedata.is_normalized("NFC", text):
        plain = _lower(text)
        if "  " not in plain:
            return plain, None
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


def _spelled(text: str, place: int) -> bool:
    """Say whether a place is inside a word of a script that has spaces: what stands there is no word of its own."""
    return _inside_word(text, place) and not any(unspaced_script(c) for c in text[place - 1 : place + 1])


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
