"""Counterfactual pairs of answers: which are the answers to two versions of one prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.rows.texts import TextRows


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Counterfactual pairs: answer ``group[i]`` and answer ``reference[i]``.

    Parameters
    ----------
    group, reference : ndarray of int
        Places among the answers.
    unpaired : int
        Answers of both groups without a counterpart.
    """

    group: NDArray[np.int64]
    reference: NDArray[np.int64]
    unpaired: int


def text_pairs(rows: Rows, texts: TextRows, group: Mapping[str, str], reference: Mapping[str, str]) -> Pairs:
    """Pair the answers of a group with those of its reference.

    A pair answers versions of one prompt (same replicate, same repeat) that differ in the compared
    attributes alone: all others are known and the same.
    """
    key = texts.sibling.copy()
    known = np.ones(len(texts), dtype=bool)
    for axis, levels in rows.attributes.items():
        if axis in group:
            continue
        places = {level: number for number, level in enumerate(levels)}
        own = np.array([*(places.get(label, -1) for label in rows.columns[axis].labels), -1])
        codes = own[rows.columns[axis].codes][texts.row]
        known &= codes >= 0
        key = key * len(levels) + codes
    sides = [np.flatnonzero(rows.members(cell)[texts.row] & known) for cell in (group, reference)]
    _, a, b = np.intersect1d(key[sides[0]], key[sides[1]], return_indices=True)
    unpaired = sum(side.size for side in sides) - 2 * a.size
    return Pairs(group=sides[0][a], reference=sides[1][b], unpaired=unpaired)
