"""Protected words: found as whole words, and replaced before texts are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from audit_lib.errors import InputError, LexiconError, UndefinedMetricError
from audit_lib.metrics.text.tokens import need_words
from audit_lib.segmentation import unspaced_script
from audit_lib.whole_words import Hit, WholeWords

#: Protected words, or word lists by group.
MaskedWords = Mapping[str, Iterable[str]] | Iterable[str]


def mask_protected_words(texts: Sequence[str], lexicon: MaskedWords, mask: str = "[MASK]") -> list[str]:
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
    UndefinedMetricError
        If a text is in a script without spaces between words, and a protected word may be part of another one.

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
    texts: Sequence[str], lexicon: MaskedWords, mask: str = "[MASK]", name: str = "texts", first_row: int = 0
) -> list[str]:
    """Mask texts that are rows `first_row`, ... of what messages call `name`.

    Parameters
    ----------
    texts, lexicon, mask
        As in `mask_protected_words`.
    name : str
        What messages call the texts.
    first_row : int
        Number of the first text, for messages.

    Examples
    --------
    >>> masked_texts(["Ask her."], ["her"])
    ['Ask [MASK].']
    """
    finder = _finder(lexicon)
    masked = []
    for row, text in enumerate(_checked(texts, name, first_row), first_row):
        spans = _found(finder, text, f"{name}, row {row}")
        end = 0
        pieces = []
        for start, stop, _ in spans:
            pieces += [text[end:start], mask]
            end = stop
        masked.append("".join([*pieces, text[end:]]) if spans else text)
    return masked


def mentions_protected_words(texts: Sequence[str], lexicon: MaskedWords) -> list[bool]:
    """Say of each text whether it holds a protected word; words are found as by `mask_protected_words`.

    Fairness through unawareness (FTU) holds where no prompt does: ``not any(...)``. LangFair's flag of
    that name says the opposite.

    Parameters
    ----------
    texts, lexicon
        As in `mask_protected_words`.

    Returns
    -------
    list of bool
        One of each text.

    Raises
    ------
    InputError, LexiconError, UndefinedMetricError
        As `mask_protected_words` does.

    Examples
    --------
    >>> mentions_protected_words(["Ask her.", "Ask there."], ["her"])
    [True, False]
    """
    finder = _finder(lexicon)
    return [bool(_found(finder, text, f"texts, row {row}")) for row, text in enumerate(_checked(texts))]


def _found(finder: WholeWords, text: str, where: str) -> list[Hit]:
    if not (script := unspaced_script(text)):
        return finder.find(text)
    need_words(text, where)
    spans, unsure = finder.segmented(text)
    if unsure:
        raise UndefinedMetricError(
            f"{where}: written in {script}, without spaces between words, and {_some(unsure)} may be a word of its own "
            f"or a part of another one: mask it before, or leave the metric out"
        )
    return spans


def _some(entries: Sequence[str]) -> str:
    return ", ".join(repr(entry) for entry in entries[:3]) + (" and others" if len(entries) > 3 else "")


def _checked(texts: Sequence[str], name: str = "texts", first_row: int = 0) -> Sequence[str]:
    if isinstance(texts, str):
        raise InputError(f"{name}: expected a list of texts, got one text; put it into a list")
    for row, text in enumerate(texts, first_row):
        if not isinstance(text, str):
            raise InputError(
                f"{name}, row {row}: expected a text, got {type(text).__name__}; mask before splitting"
            )
    return texts


def _finder(lexicon: MaskedWords) -> WholeWords:
    if isinstance(lexicon, str):
        raise LexiconError("lexicon: expected a list of words, got one text; put it into a list")
    lists = list(lexicon.values()) if isinstance(lexicon, Mapping) else [lexicon]
    if any(isinstance(entries, str) for entries in lists):
        raise LexiconError("lexicon: a group's words are one text; put it into a list")
    return WholeWords(entry for entries in lists for entry in entries)
