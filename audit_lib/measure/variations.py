"""Rows beside the ordinary ones: controls, other formats, prompts and tasks, and manipulation checks.

The column ``variation`` of the variants says what a row is: ``none`` or nothing for the ordinary ones, else
``control``, ``format:NAME``, ``prompt:NAME``, ``task:NAME`` or ``check:ATTRIBUTE``. Every ordinary metric sees the
ordinary rows alone: a control is nobody who was assessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from audit_lib.records import VARIATION as COLUMN

if TYPE_CHECKING:
    from audit_lib.measure.rows import Rows

NONE: Final = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Varied:
    """The rows beside the ordinary ones.

    Parameters
    ----------
    rows : Rows
        Their column ``variation`` says what each is. Nobody is selected among them.
    twin : ndarray of float, shape (rows,)
        Mean score of the ordinary rows about the same prompt with the same edits; NaN without one.
    """

    rows: Rows
    twin: NDArray[np.float64]

    def names(self) -> list[str]:
        """Return the variations that occur, sorted."""
        column = self.rows.columns[COLUMN]
        labels = column.labels
        return sorted(labels[code] for code in np.unique(column.codes).tolist() if code >= 0)

    def only(self, name: str) -> Varied:
        """Return the rows of one variation."""
        column = self.rows.columns[COLUMN]
        places = [code for code, label in enumerate(column.labels) if label == name]
        return self._take(np.isin(column.codes, places), self.rows.levels)

    def of(self, levels: Mapping[str, str]) -> Varied:
        """Return the rows of a stratum, such as ``{"position": "retail"}``."""
        kept = np.ones(len(self.rows), dtype=bool)
        for name, label in levels.items():
            column = self.rows.columns[name]
            if label == "unknown" and label not in column.labels:
                kept &= column.codes < 0
            else:
                kept &= np.isin(column.codes, [i for i, own in enumerate(column.labels) if own == label])
        return self._take(kept, levels)

    def _take(self, kept: NDArray[np.bool_], levels: Mapping[str, str]) -> Varied:
        index = np.flatnonzero(kept)
        return Varied(rows=self.rows.take(index, levels), twin=self.twin[index])


def ordinary(variants: pa.Table) -> pa.ChunkedArray:
    """Return which rows of the table of variants are ordinary ones."""
    if COLUMN not in variants.column_names:
        return pa.chunked_array([pa.array(np.ones(len(variants), dtype=bool))])
    return pc.equal(pc.fill_null(variants[COLUMN].cast(pa.string()), NONE), NONE)


def twins(rows: Rows, varied: Varied, variants: pa.Table) -> Varied:
    """Find the ordinary score beside each varied one: that of the same prompt with the same edits.

    Parameters
    ----------
    rows : Rows
        The ordinary rows of the whole audit.
    varied : Varied
        All others.
    variants : Table
        ``variant_id``, ``variation``, ``prompt_id`` and ``edits`` of all of them.
    """
    variants = variants.sort_by("variant_id")
    ours, edits = (variants[name].cast(pa.string()) for name in ("prompt_id", "edits"))
    key = pc.binary_join_element_wise(ours, edits, "\n")
    codes = key.combine_chunks().dictionary_encode().indices.to_numpy()
    usual = ordinary(variants).to_numpy()
    scores = np.full(int(usual.sum()), np.nan)
    scores[rows.place] = rows.score
    known = np.isfinite(scores)
    own, size = codes[usual][known], int(codes.max(initial=-1)) + 1
    count = np.bincount(own, minlength=size)
    with np.errstate(invalid="ignore"):
        mean = np.where(count > 0, np.bincount(own, scores[known], size) / np.maximum(count, 1), np.nan)
    return Varied(rows=varied.rows, twin=mean[codes[~usual]][varied.rows.place])
