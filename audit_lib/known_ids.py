"""The ids of a table in their order, in which others are found: no hash of all of them is ever held."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Texts: TypeAlias = "pa.Array | pa.ChunkedArray | pd.Series"

_WIDE: Final = 1 << 31
"""Bytes from which texts need wide offsets."""
_ENDING: Final = 8
"""Bytes at the end of an id by which it is dealt: where ids are numbered, these differ."""


class KnownIds:
    """All ids of a table, sorted.

    Parameters
    ----------
    ids : pyarrow.Array or ChunkedArray of str
        In the order of the table's rows, an id once or several times; rows of tables come in the order of their ids
        nearly always, and are then not sorted again.

    Examples
    --------
    >>> known = KnownIds(pa.array(["b", "a", "b"]))
    >>> known.places(pa.array(["b", "x", None, "a"])).tolist(), known.repeated
    ([1, -1, -1, 0], True)
    >>> known.arranged(pa.array([10, 20, 30])).to_pylist()
    [20, 10, 30]
    """

    def __init__(self, ids: Texts) -> None:
        held = as_texts(ids)
        self._order: pa.Array | None = None
        before, after = held.slice(0, max(len(held) - 1, 0)), held.slice(1)
        if not _all(pc.less_equal(before, after)):
            self._order = pc.sort_indices(held)
            held = held.take(self._order)
            before, after = held.slice(0, len(held) - 1), held.slice(1)
        self.ids = held
        self.repeated = not _all(pc.less(before, after))

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def come_sorted(self) -> bool:
        """Whether the table's rows come in the order of their ids."""
        return self._order is None

    def distinct(self) -> KnownIds:
        """Return the same ids, each once."""
        if not self.repeated:
            return self
        first = pc.not_equal(self.ids.slice(1), self.ids.slice(0, len(self.ids) - 1))
        return KnownIds(self.ids.filter(pa.concat_arrays([pa.array([True]), first])))

    def places(self, ids: Texts) -> NDArray[np.int64]:
        """Return where each id is, the first time that it is there; -1 where it is not."""
        sought = as_texts(ids, self.ids.type)
        if not len(self.ids):
            return np.full(len(sought), -1, np.int64)
        if not self.repeated and len(sought) and sought[0].is_valid:
            start = pc.search_sorted(self.ids, sought[0]).as_py()
            if self.ids.slice(start, len(sought)).equals(sought):  # as where a table goes on in their order
                return np.arange(start, start + len(sought))
        at = pc.fill_null(pc.search_sorted(self.ids, sought), 0).to_numpy(zero_copy_only=False)
        at = np.minimum(at.astype(np.int64), len(self.ids) - 1)
        there = pc.fill_null(pc.equal(self.ids.take(pa.array(at)), sought), fill_value=False)
        return np.where(there.to_numpy(zero_copy_only=False), at, -1)

    def arranged(self, column: pa.Array) -> pa.Array:
        """Return another column of the table in the order of the ids."""
        return column if self._order is None else column.take(self._order)


def as_texts(ids: Texts, kind: pa.DataType | None = None) -> pa.Array:
    """Return ids as one array, of `kind` or as wide as they need it together."""
    if not isinstance(ids, (pa.Array, pa.ChunkedArray)):
        ids = pa.array(ids, pa.string(), from_pandas=True)
    if kind is None:
        kind = pa.string() if ids.nbytes < _WIDE else pa.large_string()
    found = ids.cast(kind)
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def dealt(ids: Texts, parts: int) -> NDArray[np.int64]:
    """Deal ids to parts, each of which may be looked at by itself: the same id always has the same part.

    Examples
    --------
    >>> found = dealt(pa.array(["a1", "a2", "a1"]), 7)
    >>> bool(found[0] == found[2]), bool(found[0] == found[1])
    (True, False)
    """
    held = as_texts(ids)
    wide = np.int64 if pa.types.is_large_string(held.type) else np.int32
    _, offsets, content = held.buffers()
    found = np.zeros(len(held), np.uint64)
    if not len(held) or content is None:
        return found.astype(np.int64)
    ends = np.frombuffer(offsets, wide)[held.offset : held.offset + len(held) + 1].astype(np.int64)
    starts, ends = ends[:-1], ends[1:]
    letters = np.frombuffer(content, np.uint8)
    if not len(letters):
        return found.astype(np.int64)
    for back in range(1, _ENDING + 1):
        at = ends - back
        within = at >= starts
        found = found * np.uint64(31) + np.where(within, letters[np.where(within, at, 0)], 0)
    return (found % np.uint64(parts)).astype(np.int64)


def _all(found: pa.Array) -> bool:
    return pc.all(found, min_count=0).as_py() is not False
