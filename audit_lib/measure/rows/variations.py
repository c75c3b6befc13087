"""Rows beside the ordinary ones: controls, other formats, prompts and tasks, and manipulation checks.

The column ``variation`` of the variants says what a row is: ``none`` or nothing for the ordinary ones, else
``control``, ``format:NAME``, ``prompt:NAME``, ``task:NAME`` or ``check:ATTRIBUTE``. Every ordinary metric sees the
ordinary rows alone: a control is nobody who was assessed.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit_lib.measure.rows.scored import Rows, Varied
from audit_lib.records import VARIATION as COLUMN

NONE: Final = "none"
PROMPT: Final = "prompt_id"
"""Column of the prompt that a row is a version of, read where versions are held against each other."""


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
