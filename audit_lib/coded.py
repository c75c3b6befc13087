"""Columns of few different values: each value held once, and of each row its number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class CodedTexts:
    """A column of texts, some of which may be missing.

    Attributes
    ----------
    codes : array of int
        Of each row, the place of its text in `words`.
    words : list of str or None
        The texts, all different.
    """

    codes: NDArray[Any]
    words: list[str | None]

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> CodedTexts:
        """Code a column of Arrow.

        Examples
        --------
        >>> CodedTexts.of(pa.chunked_array([["a", None], ["b", "a"]])).counts()
        Counter({'a': 2, None: 1, 'b': 1})
        """
        coding = Coding()
        for part in column.chunks:
            coding.add(part)
        return coding.coded()

    @classmethod
    def from_values(cls, values: Iterable[str | None]) -> CodedTexts:
        """Code values as they come."""
        known: dict[str | None, int] = {}
        codes = np.fromiter((known.setdefault(value, len(known)) for value in values), np.int32)
        return cls(codes, [*known])

    def mapped(self, meant: Callable[[str | None], str | None]) -> CodedTexts:
        """Return the column of what each text means, asked once of each that a row has."""
        known: dict[str | None, int] = {}
        numbers = np.zeros(len(self.words), np.int64)
        for code in np.flatnonzero(self._numbers()):
            numbers[code] = known.setdefault(meant(self.words[code]), len(known))
        return CodedTexts(numbers.astype(np.min_scalar_type(len(known)))[self.codes], [*known])

    def take(self, rows: NDArray[np.int64]) -> CodedTexts:
        """Return some of the rows."""
        return CodedTexts(self.codes[rows], self.words)

    def counts(self) -> Counter[str | None]:
        """Return how many rows have each text, of those that any has."""
        numbers = self._numbers().tolist()
        return Counter({word: n for word, n in zip(self.words, numbers, strict=True) if n})

    def array(self, rows: NDArray[np.int64]) -> pa.Array:
        """Return some of the rows as Arrow has them."""
        return pa.array(self.words, pa.string()).take(pa.array(self.codes[rows]))

    def equal(self, word: str | None) -> NDArray[np.bool_]:
        """Return which rows have a text."""
        found: NDArray[np.bool_] = np.array([one == word for one in self.words], np.bool_)[self.codes]
        return found

    def pairs(self, other: CodedTexts) -> set[tuple[str | None, str | None]]:
        """Return the different pairs of texts that rows have in this column and another one."""
        both = np.unique(self.codes.astype(np.int64) * len(other.words) + other.codes)
        return {
            (self.words[one // len(other.words)], other.words[one % len(other.words)])
            for one in both.tolist()
        }

    def _numbers(self) -> NDArray[np.int64]:
        return np.bincount(self.codes, minlength=len(self.words))


class Coding:
    """Codes a column part by part; a code takes as many bytes as the number of texts so far asks for."""

    def __init__(self) -> None:
        self._known: dict[str | None, int] = {}
        self._parts: list[NDArray[Any]] = []

    def add(self, column: pa.Array) -> None:
        """Code further rows."""
        part = column.dictionary_encode()
        known = self._known
        numbers = [known.setdefault(word, len(known)) for word in part.dictionary.to_pylist()]
        if part.null_count:
            numbers.append(known.setdefault(None, len(known)))
        places = pc.fill_null(part.indices, len(part.dictionary)).to_numpy()
        self._parts.append(np.array(numbers, np.min_scalar_type(len(known)))[places])

    def coded(self) -> CodedTexts:
        """Return all rows."""
        codes = np.concatenate(self._parts) if self._parts else np.empty(0, np.uint8)
        return CodedTexts(codes, [*self._known])


def numbered(rows: int) -> tuple[NDArray[np.int32], int]:
    """Return a number of its own for each row, and how many there are: what `unit_codes` does where all differ."""
    return np.arange(rows, dtype=np.int32), rows


def first_rows(codes: NDArray[np.int32], number: int) -> NDArray[np.int64]:
    """Return the first row of each of `number` codes, in their order; -1: no row has it.

    Examples
    --------
    >>> first_rows(np.array([2, 0, 2]), 3)
    array([ 1, -1,  0])
    """
    found = np.full(number, -1, np.int64)
    found[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return found


def unit_codes(column: pa.ChunkedArray) -> tuple[NDArray[np.int32], int]:
    """Number the different texts of a column that has none missing; return each row's number and how many there are.

    Where all texts differ, as ids do, none is kept: their hashes tell, and only where two are equal are texts compared.

    Examples
    --------
    >>> unit_codes(pa.chunked_array([["b", "a"], ["b"]]))
    (array([0, 1, 0], dtype=int32), 2)
    """
    hashes = np.empty(len(column), np.int64)
    at = 0
    for part in column.chunks:
        hashes[at : at + len(part)] = np.fromiter(map(hash, part.to_pylist()), np.int64, len(part))
        at += len(part)
    hashes.sort()
    if bool((hashes[1:] != hashes[:-1]).all()):
        return numbered(len(column))
    del hashes
    found = CodedTexts.of(column)
    return found.codes.astype(np.int32, copy=False), len(found.words)
