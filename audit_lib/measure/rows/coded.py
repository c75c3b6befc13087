"""A column of labels as integer codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Coded:
    """A column of labels: ``labels[codes[i]]`` is row i's, and -1 stands for unknown.

    Parameters
    ----------
    codes : ndarray of int32
        One a row.
    dictionary : Array of str
        The labels, sorted: millions of them where they are ids.
    """

    codes: NDArray[np.int32]
    dictionary: pa.Array

    @classmethod
    def encode(cls, column: pa.ChunkedArray) -> Coded:
        """Code a column of strings by their sorted order.

        Examples
        --------
        >>> column = Coded.encode(pa.chunked_array([["b", None, "a", "b"]]))
        >>> column.codes.tolist(), column.labels
        ([1, -1, 0, 1], ('a', 'b'))
        """
        if not pa.types.is_dictionary(column.type):
            # Each piece by itself: together, each would bring the whole dictionary along.
            pieces = [piece.dictionary_encode() for piece in column.chunks]
            column = pa.chunked_array(pieces, pa.dictionary(pa.int32(), pa.string()))
        encoded = column.unify_dictionaries().combine_chunks()
        indices = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
        # Only labels that occur: a shard's dictionary may hold more. Sorted by bytes, which is by code point.
        used = np.zeros(len(encoded.dictionary) + 1, dtype=bool)
        used[indices] = True
        labels = encoded.dictionary
        if used[:-1].all() and pc.all(pc.less(labels[:-1], labels[1:]), min_count=0).as_py():
            return cls(codes=indices, dictionary=labels)  # as it is
        order = pc.sort_indices(labels).to_numpy()
        order = order[used[order]]
        rank = np.full(len(labels) + 1, -1, dtype=np.int32)
        rank[order] = np.arange(order.size, dtype=np.int32)
        return cls(codes=rank[indices], dictionary=labels.take(pa.array(order)))

    @classmethod
    def relabelled(cls, codes: NDArray[np.int32], labels: Sequence[str]) -> Coded:
        """Take codes of labels in any order, each of which occurs.

        Examples
        --------
        >>> column = Coded.relabelled(np.array([0, -1, 1], dtype=np.int32), ["b", "a"])
        >>> column.codes.tolist(), column.labels
        ([1, -1, 0], ('a', 'b'))
        """
        ordered = sorted(labels)
        place = np.array([*map(ordered.index, labels), -1], dtype=np.int32)
        return cls(
            codes=codes if ordered == [*labels] else place[codes], dictionary=pa.array(ordered, pa.string())
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels as Python strings; for columns with few."""
        return tuple(self.dictionary.to_pylist())

    def as_arrow(self) -> pa.ChunkedArray:
        """Return the column as codes of its labels."""
        codes = pa.array(self.codes, mask=self.codes < 0)
        return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, self.dictionary)])

    def code(self, label: str) -> int:
        """Return a label's code; -2, which no row has, for a label that no row has."""
        found = pc.index(self.dictionary, label).as_py()
        return -2 if found < 0 else int(found)

    def take(self, index: NDArray[Any]) -> Coded:
        """Return the column of some of the rows."""
        return Coded(codes=self.codes[index], dictionary=self.dictionary)
