"""What the checks need to know of all variants while the scores go by: their requests and their groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from audit_lib.known_ids import KnownIds, as_texts
from audit_lib.records import VARIATION

if TYPE_CHECKING:
    import pandas as pd

VariantLevels = tuple[str | None, ...]
"""Of a variant on each attribute; None where it is not known. Of one beside the groups its variation comes first."""


class VariantFacts:
    """The variants of a run, or those beside the groups, gathered some at a time.

    Parameters
    ----------
    axes : sequence of str
        Attributes.
    """

    def __init__(self, axes: Sequence[str]) -> None:
        self._axes = list(axes)
        self._parts: list[tuple[pa.Array, pa.Array]] = []
        self._cells: list[NDArray[np.int32]] = []
        self._numbers: dict[VariantLevels, int] = {}
        self.variations: set[str] = set()

    def add(self, variants: pa.Table) -> None:
        """Take rows of the table of variants."""
        if not len(variants):
            return
        ids, requests = (
            variants[name].combine_chunks().cast(pa.string()) for name in ("variant_id", "request_id")
        )
        self._parts.append((ids, ids if requests.equals(ids) else requests))
        varied = VARIATION in variants.column_names and variants[VARIATION].null_count < len(variants)
        columns = [VARIATION, *self._axes] if varied else self._axes
        if varied:
            self.variations.update(pc.unique(variants[VARIATION]).to_pylist())
        coded = [variants[name].combine_chunks().dictionary_encode() for name in columns]
        codes = np.stack([pc.fill_null(one.indices, -1).to_numpy(zero_copy_only=False) for one in coded])
        kinds, own = np.unique(codes, axis=1, return_inverse=True)
        levels = [[*one.dictionary.to_pylist(), None] for one in coded]  # -1 is the last
        numbers = [
            self._numbers.setdefault(
                tuple(level[code] for level, code in zip(levels, kind, strict=True)), len(self._numbers)
            )
            for kind in kinds.T
        ]
        self._cells.append(np.array(numbers, np.int32)[own.ravel()])

    def close(self) -> None:
        """Sort what was taken."""
        ids = pa.chunked_array([one for one, _ in self._parts], pa.string())
        self.ids = KnownIds(ids)
        self._requests: pa.Array | None = None
        if any(own is not request for own, request in self._parts):
            requests = pa.chunked_array([request for _, request in self._parts], pa.string())
            self._requests = self.ids.arranged(as_texts(requests))
        cells = np.concatenate([np.empty(0, np.int32), *self._cells])
        self._cell = self.ids.arranged(pa.array(cells)).to_numpy()
        self.levels: list[VariantLevels] = [*self._numbers]
        self._parts, self._cells = [], []

    def requests(self, places: NDArray[np.int64], index: pd.Index) -> pd.Series:
        """Return the request of each variant by its place; null where there is none."""
        import pandas as pd

        known = pa.array(places, mask=places < 0)
        requests = self.ids.ids if self._requests is None else self._requests
        found = requests.take(known).to_pandas()
        found.index = index
        return pd.Series(found)

    def cells(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where in `levels` those of each variant are, by its place; -1 where there is none."""
        if not len(self._cell):
            return np.full(len(places), -1, np.int64)
        return np.where(places >= 0, self._cell[places], -1).astype(np.int64)
