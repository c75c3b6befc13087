"""How many answers to each prompt an estimate rests on, where it grows with them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import numpy as np

from audit_lib.documents.parameters import GENERATIONS, GENERATIONS_MOST
from audit_lib.measure.metric import record_of
from audit_lib.measure.rows.scored import Floats, Rows
from audit_lib.measure.rows.texts import TextRows
from audit_lib.results import Estimate

FEW_GENERATIONS: Final = "few_generations"
"""Flag of an estimate that rests on fewer answers to a prompt than its metric's definition takes."""


def with_generations(
    estimates: Iterable[Estimate], rows: Rows, texts: TextRows, scores: Floats
) -> list[Estimate]:
    """Add the fewest and the most answers with a score of any prompt behind each estimate; flag those with too few.

    Parameters
    ----------
    estimates : iterable of Estimate
        Of one metric, and its differences.
    rows : Rows
        The stratum.
    texts : TextRows
        Its answers.
    scores : ndarray of float, shape (answers,)
        What a classifier says of each; NaN for nothing.
    """
    answers = np.bincount(texts.row[~np.isnan(scores)], minlength=len(rows))
    found = []
    for e in estimates:
        mine = rows.members(e.group)
        if e.reference:
            mine |= rows.members(e.reference)
        counts = answers[mine & (answers > 0)]
        if not counts.size:
            found.append(e)
            continue
        fewest, most = int(counts.min()), int(counts.max())
        few = (FEW_GENERATIONS,) if fewest < record_of(e.metric).generations else ()
        found.append(
            replace(
                e,
                parameters={**e.parameters, GENERATIONS: fewest, GENERATIONS_MOST: most},
                flags=(*e.flags, *few),
            )
        )
    return found
