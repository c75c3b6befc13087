"""Every part of the given names, however it is written: spaced, cut, in any case, without accents, misread."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from audit_lib.perturb.rereading.findings import GONE, LeftPassage, plain, words

_HIDDEN: Final = "[\u00ad\u200b-\u200f\u2060\ufeff\u0300-\u036f]*"
_SPACED: Final = r"[\s.\-_·*\u00a0\u00ad]{1,4}"
_MISREAD: Final = str.maketrans("01i!|35$84@", "olllleSsba" + "a")
_COMMON: Final = words(
    "will may so an in do to de da di al el la le van von der den dos das the a and or of on at be it he "
    "we me my i no am as if by up us ma"
)
"""Words that a short name may be: in lower case they are no name."""


def find_given(left: str, names: Collection[str]) -> Iterator[LeftPassage]:
    """Yield every place where a part of a name is left.

    Parameters
    ----------
    left : str
        The result, with `GONE` for what was removed.
    names : collection of str
        All that is known: full names, parts, nicknames, former names.
    """
    parts = {part for name in names for part in _parts(name)}
    read = plain(left)
    misread = read.translate(_MISREAD)
    for word in sorted(parts, key=lambda word: (-len(word), word)):
        for start, end, why in _places(left, read, misread, word):
            yield LeftPassage(start=start, end=end, kind="name", why=why)
    for name in names:
        yield from _initials(left, name)


def _parts(name: str) -> Iterator[str]:
    """Yield the words of a name, and those of a hyphenated one as one word too."""
    for run in re.findall(r"[^\W\d_]+(?:['\-][^\W\d_]+)*", plain(name)):
        pieces = re.findall(r"[^\W\d_]+", run)
        yield from (piece for piece in pieces if len(piece) > 1 or not piece.isascii())
        if len(pieces) > 1:
            yield "".join(pieces)


def _places(left: str, read: str, misread: str, word: str) -> Iterator[tuple[int, int, str]]:
    letters = [re.escape(letter) for letter in word]
    if not word.isascii():
        for match in re.finditer(r"[\s\u00a0]{0,3}".join(letters), read):
            yield *match.span(), "a part of the name, in its own letters"
        return
    bounds = (r"(?<![^\W\d_])", r"(?![^\W\d_])")
    whole = bounds[0] + _HIDDEN.join(letters) + "(?:'?s)?" + bounds[1]
    for match in re.finditer(whole, read):
        shown = left[match.start() : match.end()]
        if shown.islower() and (word in _COMMON or len(word) < 3):
            continue
        yield *match.span(), "a part of the name"
    if len(word) > 2:
        for match in re.finditer(rf"(?<![^\W_]){_SPACED.join(letters)}(?![^\W_])", read):
            yield *match.span(), "a part of the name, letter by letter"
    if len(word) < 4:
        return
    for match in re.finditer(rf"{bounds[0]}{'[ ]?'.join(letters)}{bounds[1]}", read):
        if " " in match.group():
            yield *match.span(), "a part of the name, with spaces in it"
    for match in re.finditer(_HIDDEN.join(letters), read):
        yield *match.span(), "a part of the name, inside a word"
    garbled = [re.escape(letter) for letter in word.translate(_MISREAD)]
    for match in re.finditer("".join(garbled), misread):
        if read[match.start() : match.end()] != word:
            yield *match.span(), "a part of the name, misread"
    for cut in range(1, len(word)):
        ahead, rest = "".join(letters[:cut]), "".join(letters[cut:])
        broken = rf"{bounds[0]}{ahead}[-\u00ad]?[ \t]*\r?\n\s*{rest}{bounds[1]}"
        for match in re.finditer(broken, read):
            yield *match.span(), "a part of the name, cut by a line break"
        if cut > 1:  # in two columns the rest stands elsewhere
            for match in re.finditer(rf"{bounds[0]}{ahead}[-\u00ad](?=[ \t]*(?:\r?\n|[ \t]{{2}}|$))", read):
                yield *match.span(), "the beginning of the name, cut by a hyphen"
                follows = re.search(rf"{bounds[0]}{rest}{bounds[1]}", read[match.end() : match.end() + 400])
                if follows:
                    at = match.end() + follows.end()
                    yield at - (len(word) - cut), at, "the end of the name, cut by a hyphen"


def _initials(left: str, name: str) -> Iterator[LeftPassage]:
    """Yield dotted initials of a whole name: ``A. R.``, ``A.M.R.``."""
    letters = [word[0] for word in re.findall(r"[^\W\d_]+", name)]
    for letter in {one.upper() for one in letters}:
        for match in re.finditer(rf"(?m)^[ \t\-–—~]*(?P<it>{re.escape(letter)}\.?)[ \t\r]*$", left):
            yield LeftPassage(
                start=match.start("it"), end=match.end("it"), kind="name", why="an initial alone on its line"
            )
    if len(letters) < 2:
        return
    for chosen in {tuple(letters), (letters[0], letters[-1])}:
        dotted = r"\.[ \t-]?".join(re.escape(letter.upper()) for letter in chosen) + r"\.?"
        for match in re.finditer(rf"(?<![\w.]){dotted}(?!\w)", left):
            if "." in match.group() and GONE not in match.group():
                yield LeftPassage(
                    start=match.start(), end=match.end(), kind="name", why="initials of the name"
                )
