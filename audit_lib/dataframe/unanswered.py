"""What a frame does not call by a verdict: groups of which one is answered much less often than another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit_lib.documents.metrics import Metrics
from audit_lib.results import Estimate, Verdict
from audit_lib.translation import mark

_APART: Final = mark(
    "the share of rows with an answer is {low} in one group and {high} in another; at most {most} may lie between "
    "(checks.maximum_answered_gap), since answers that are missing in one group can make groups equal, or differ"
)


def without_verdicts(metrics: Metrics, reason: str) -> Metrics:
    """Leave every comparison undecided, with the reason: a run of these rows would have stopped."""

    def undecided(one: Estimate) -> Estimate:
        return one if one.verdict is None else replace(one, verdict=Verdict(kind="undecided", reason=reason))

    tables = (
        replace(
            table, rows=tuple(replace(row, impact_ratio=undecided(row.impact_ratio)) for row in table.rows)
        )
        for table in metrics.tables
    )
    return replace(metrics, tables=tuple(tables), estimates=tuple(map(undecided, metrics.estimates)))


def unevenly_answered(
    columns: Mapping[str, pa.Array], groups: Sequence[str], answers: Sequence[pa.Array], most: float
) -> str | None:
    """Say that shares of answers of the known groups lie too far apart; None where they do not.

    Parameters
    ----------
    columns : mapping of str to Array
        Of the table.
    groups : sequence of str
        Columns of the attributes: a group has a level of each.
    answers : sequence of Array
        What is compared, missing where there is no answer: decisions, scores, or both.
    most : float
        How far apart they may lie, as in a run.

    Examples
    --------
    >>> sex = pa.array(["f", "f", "m", "m"])
    >>> unevenly_answered({"sex": sex}, ["sex"], [pa.array([1, None, 0, 1])], 0.05)[:74]
    'the share of rows with an answer is 50% in one group and 100% in another; '
    >>> unevenly_answered({"sex": sex}, ["sex"], [pa.array([1, None, None, 1])], 0.05)
    """
    known = np.logical_and.reduce([pc.is_valid(columns[name]).to_numpy(False) for name in groups])
    cells = np.zeros(known.size, dtype=np.int64)
    for name in groups:
        codes = pc.fill_null(columns[name].dictionary_encode().indices, 0).to_numpy(False)
        cells = np.unique(cells * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1]
    for column in answers:
        there = pc.is_valid(column).to_numpy(False)[known]
        people = np.bincount(cells[known])
        share = np.bincount(cells[known], there)[people > 0] / people[people > 0]
        if share.size and share.max() - share.min() > most:
            return _APART.format(low=f"{share.min():.0%}", high=f"{share.max():.0%}", most=f"{most:.0%}")
    return None
