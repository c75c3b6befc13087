"""Texts as numbers for the text metrics, and word lists that share no word."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import InputError, LexiconError, UndefinedMetricError
from audit_lib.segmentation import DICTIONARIES, unsegmented, unspaced_script
from audit_lib.words import _word_pattern, single_words, tokenise

__all__ = [
    "Corpus",
    "TokenText",
    "_word_pattern",
    "as_words",
    "disjoint_words",
    "encode",
    "single_words",
    "tokenise",
]

#: A text, or its words where they were split by other means.
TokenText = str | Sequence[str]


def as_words(text: TokenText, where: str) -> Sequence[str]:
    """Return the words of `text`: tokenised if it is a string, as they are if it is a list of words.

    Only of texts with spaces between words: in others nobody can tell whether a word of a list stands as a word.

    Parameters
    ----------
    text : str or sequence of str
        A text, or its words.
    where : str
        Which text it is, for messages.

    Raises
    ------
    InputError
        If it is neither; `where` says which text it was.
    UndefinedMetricError
        If it is a text in a script without spaces between words: its words cannot be counted.

    Examples
    --------
    >>> as_words("The cat.", "row 0"), as_words(["The", "cat"], "row 0")
    (['the', 'cat'], ['The', 'cat'])
    """
    if isinstance(text, str) and (script := unspaced_script(text)):
        raise UndefinedMetricError(
            f"{where}: written in {script}, without spaces between words, so words of a list cannot be told from parts "
            "of other words; split it by its language's own rules and pass the list of words, or leave the metric out"
        )
    need_words(text, where)
    return tokenise(text) if isinstance(text, str) else text


def need_words(text: TokenText, where: str) -> None:
    """Refuse what is no text, and a text whose words cannot be told apart (`audit_lib.segmentation`).

    Parameters
    ----------
    text, where
        As for `as_words`.

    Raises
    ------
    InputError
        If it is neither a text nor a list of words.
    UndefinedMetricError
        If it is a text in a script without spaces that nothing here has a dictionary for.

    Examples
    --------
    >>> need_words(7, "row 3")
    Traceback (most recent call last):
    audit_lib.errors.InputError: row 3: expected a text or a list of words, got int
    """
    if isinstance(text, str):
        script = unsegmented(text)
        if script in DICTIONARIES:
            raise UndefinedMetricError(
                f"{where}: written in {script}, without spaces between words, so its words cannot be counted; "
                "pip install 'audit-lib[text]' brings ICU, which finds them; or split it by its language's own rules "
                "and pass the list of words, or leave the metric out"
            )
        if script:
            raise UndefinedMetricError(
                f"{where}: written in {script}, without spaces between words, so its words cannot be counted; "
                "split it by its language's own rules and pass the list of words, or leave the metric out"
            )
    elif not (isinstance(text, Sequence) and all(isinstance(word, str) for word in text)):
        raise InputError(f"{where}: expected a text or a list of words, got {type(text).__name__}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Corpus:
    """Texts as numbers: word `codes`, one text after another.

    Parameters
    ----------
    codes : array of int, shape (words,)
        The code of each word of each text; codes count from 0 in order of first appearance.
    starts : array of int, shape (texts + 1,)
        Where each text begins in `codes`; the last entry is the number of words.
    vocabulary : mapping of str to int
        The code of each word.
    """

    codes: NDArray[np.int64]
    starts: NDArray[np.int64]
    vocabulary: Mapping[str, int]

    @property
    def text_ids(self) -> NDArray[np.int64]:
        """The number of the text that each word stands in."""
        return np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))

    def positions_of(self, words: Iterable[str], default: int = -1) -> NDArray[np.int64]:
        """For each code of the vocabulary, the place of its word in `words`, or `default`."""
        places = np.full(len(self.vocabulary), default, dtype=np.int64)
        for place, word in enumerate(words):
            if word in self.vocabulary:
                places[self.vocabulary[word]] = place
        return places


def encode(texts: Sequence[TokenText] | Corpus, name: str = "texts") -> Corpus:
    """Tokenise `texts` and number their words; what is numbered already stays as it is.

    Parameters
    ----------
    texts : sequence of str, sequence of lists of str, or Corpus
        Texts, or their words.
    name : str
        What messages call them.

    Raises
    ------
    InputError
        If `texts` is one string, or an item of it is neither a text nor a list of words.
    UndefinedMetricError
        If a text is in a script without spaces between words.

    Examples
    --------
    >>> corpus = encode(["The cat.", "the dog"])
    >>> corpus.codes.tolist(), corpus.starts.tolist(), dict(corpus.vocabulary)
    ([0, 1, 0, 2], [0, 2, 4], {'the': 0, 'cat': 1, 'dog': 2})
    """
    if isinstance(texts, Corpus):
        return texts
    if isinstance(texts, str):
        raise InputError(f"{name}: expected a list of texts, got one text; put it into a list")
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    parts = []
    for row, text in enumerate(texts):
        words = as_words(text, f"{name}, row {row}")
        parts.append(np.fromiter(map(numbers.__getitem__, words), np.int64, len(words)))
    starts = np.concatenate(([0], np.cumsum([part.size for part in parts], dtype=np.int64)))
    codes = np.concatenate(parts) if parts else np.empty(0, np.int64)
    return Corpus(codes=codes, starts=starts, vocabulary=dict(numbers))


def disjoint_words(lists: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Return several word lists in the form of `single_words`.

    Parameters
    ----------
    lists : mapping of str to iterable of str
        Name of each list, for messages, and its words.

    Raises
    ------
    LexiconError
        If a word is in two of them, or one of them is not a word list.

    Examples
    --------
    >>> disjoint_words({"female": ["She"], "male": ["he"]})
    {'female': ['she'], 'male': ['he']}
    """
    owner: dict[str, str] = {}
    result = {}
    for name, words in lists.items():
        result[name] = single_words(words, name)
        for word in result[name]:
            if owner.setdefault(word, name) != name:
                raise LexiconError(f"{word!r} is in {owner[word]} and in {name}; leave it in one of them")
    return result
