"""A column of labels as integer codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from audit_lib.measure.rows.constant import constant, taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Coded:
    """A column of labels: ``labels[codes[i]]`` is row i's, and -1 stands for unknown.

    Parameters
    ----------
    codes : ndarray of int32
        One a row; of int8 where `narrow` found that it holds them.
    dictionary : Array of str
        The labels, sorted: millions of them where they are ids.
    """

    codes: NDArray[Any]
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
    def of_sorted(cls, parts: Iterable[pa.Array], size: int) -> Coded | None:
        """Code strings that come in their order, so many at a time; None where they do not, or one is null.

        No look-up of all labels is made for it, as of ids that few rows share it would be larger than they are.

        Examples
        --------
        >>> column = Coded.of_sorted([pa.array(["a", "a"]), pa.array(["a", "b"])], 4)
        >>> column.codes.tolist(), column.labels
        ([0, 0, 0, 1], ('a', 'b'))
        >>> Coded.of_sorted([pa.array(["b"]), pa.array(["a"])], 2) is None
        True
        """
        codes, firsts, last = np.empty(size, dtype=np.int32), list[pa.Array](), None
        start = count = 0
        for part in parts:
            if part.null_count:
                return None
            new = np.ones(len(part), dtype=bool)
            new[1:] = pc.not_equal(part[1:], part[:-1]).to_numpy(zero_copy_only=False)
            new[:1] = last is None or last != part[0].as_py()
            own = part.filter(pa.array(new))
            if not pc.all(pc.less(own[:-1], own[1:]), min_count=0).as_py():
                return None
            if last is not None and len(own) and own[0].as_py() < last:
                return None
            codes[start : start + len(part)] = np.cumsum(new, dtype=np.int32) + np.int32(count - 1)
            firsts.append(own)
            start, count, last = start + len(part), count + len(own), part[-1].as_py()
        return cls(codes=codes, dictionary=pa.concat_arrays(firsts or [pa.array([], pa.string())]))

    @classmethod
    def of_few(cls, parts: Iterable[Coded], size: int) -> Coded:
        """Put parts of a column one after another, with codes that are no wider than their labels need.

        Examples
        --------
        >>> parts = [Coded.encode(pa.chunked_array([part])) for part in (["b", None], ["a"])]
        >>> column = Coded.of_few(parts, 3)
        >>> column.codes.tolist(), column.labels, column.codes.dtype.name
        ([1, -1, 0], ('a', 'b'), 'int8')
        """
        codes: NDArray[Any] = np.full(size, -1, dtype=np.int8)
        known: dict[str, int] = {}
        start = 0
        for part in parts:
            own = [known.setdefault(label, len(known)) for label in part.labels]
            codes = codes.astype(
                np.promote_types(codes.dtype, np.min_scalar_type(-len(known) - 1)), copy=False
            )
            codes[start : start + part.codes.size] = np.array([*own, -1], dtype=codes.dtype)[part.codes]
            start += part.codes.size
        return cls.relabelled(codes, [*known])

    @classmethod
    def relabelled(cls, codes: NDArray[Any], labels: Sequence[str]) -> Coded:
        """Take codes of labels in any order, each of which occurs.

        Examples
        --------
        >>> column = Coded.relabelled(np.array([0, -1, 1], dtype=np.int32), ["b", "a"])
        >>> column.codes.tolist(), column.labels
        ([1, -1, 0], ('a', 'b'))
        """
        ordered = sorted(labels)
        place = np.array([*map(ordered.index, labels), -1], dtype=codes.dtype)
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

    def narrow(self) -> Coded:
        """Return the same with codes of one byte, where these hold all labels and one more on either side.

        Of no label at all one code is held.
        """
        if not len(self.dictionary):
            return Coded(codes=constant(-1, self.codes.size, np.int8), dictionary=self.dictionary)
        if len(self.dictionary) >= np.iinfo(np.int8).max:
            return self
        return Coded(codes=self.codes.astype(np.int8, copy=False), dictionary=self.dictionary)

    def code(self, label: str) -> int:
        """Return a label's code; -2, which no row has, for a label that no row has."""
        found = pc.index(self.dictionary, label).as_py()
        return -2 if found < 0 else int(found)

    def take(self, index: NDArray[Any]) -> Coded:
        """Return the column of some of the rows."""
        return Coded(codes=taken(self.codes, index), dictionary=self.dictionary)
