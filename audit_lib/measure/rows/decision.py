"""Who is selected: the spec's decision rule, applied to the scores, as whole numbers.

A statutory count needs a whole person selected or not. Where candidates tie at the last place of a
round, the place goes to one of them by the spec's seed, and the round is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import InputError
from audit_lib.measure.rows.constant import constant, taken
from audit_lib.measure.rows.pools import Pools
from audit_lib.metrics.median import Median
from audit_lib.seeds import generator
from audit_lib.spec import RECORDED, Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """One decision a row.

    Parameters
    ----------
    selected : ndarray of int8
        1, 0, or -1 where there is no decision: the model gave no score, or none was recorded.
    rank : ndarray of int32
        Place in the round by score, 1 the best, ties sharing the smallest; 0 for none.
    tied_at_cutoff : ndarray of bool
        Rows whose selection was drawn by lot.
    """

    selected: NDArray[np.int8]
    rank: NDArray[np.int32]
    tied_at_cutoff: NDArray[np.bool_]

    def take(self, index: NDArray[Any]) -> Decisions:
        """Return the decisions of some of the rows."""
        return Decisions(
            selected=taken(self.selected, index),
            rank=taken(self.rank, index),
            tied_at_cutoff=taken(self.tied_at_cutoff, index),
        )


def decide(
    score: NDArray[np.float64],
    rounds: NDArray[Any],
    pools: Pools,
    recorded: NDArray[Any],
    decision: Decision,
    seed: int,
) -> Decisions:
    """Apply a decision rule.

    Parameters
    ----------
    score : ndarray of float, shape (n,)
        NaN where the model gave none. Rows are in the order of their variant ids: the lot depends on it.
    rounds : ndarray of int, shape (n,)
        Code of each row's round, -1 for none.
    pools : Pools
        Where each row stands in its round.
    recorded : ndarray of int, shape (n,)
        Recorded decision: 1, 0, or -1 for none.
    decision : Decision
        The rule. *top_k*: the k highest scores of each round, all of a round with fewer than k.
        *threshold*: score >= threshold. *above_median*: score > median of all scored rows.
        *recorded*: as recorded. *none*: nobody is selected, nobody is not.
    seed : int
        The spec's seed; breaks ties at the last place.

    Raises
    ------
    InputError
        If rule *top_k* meets a row without a round, or *recorded* no decision at all.

    Examples
    --------
    >>> score, rounds, none = np.array([0.2, 0.9, np.nan]), np.zeros(3, int), np.full(3, -1)
    >>> rule = Decision(rule="top_k", k=1, round="round_id")
    >>> decide(score, rounds, Pools.of(score, rounds), none, rule, seed=1).selected.tolist()
    [0, 1, -1]
    """
    known = ~np.isnan(score)
    tied, rank = constant(False, score.size, np.bool_), constant(0, score.size, np.int32)
    if decision.rule == RECORDED:
        known = recorded >= 0
        if score.size and not known.any():
            raise InputError(
                "decision.rule is `recorded`, and no row has a recorded decision; map recorded_selected"
            )
        selected = recorded > 0
    elif decision.rule == "threshold":
        selected = score >= (np.inf if decision.threshold is None else decision.threshold)
    elif decision.rule == "above_median":
        selected = Median.of(score[known]).above(score) if known.any() else known
    elif decision.rule == "none":
        selected, known = known, np.zeros(score.size, dtype=bool)
    else:
        if (rounds < 0).any():
            raise InputError(
                "decision.rule top_k: a row has no round_id; map the column, or choose decision.round"
            )
        selected, tied, rank = _top_k(rounds, pools, decision.k or 1, seed)
        known = known | ((pools.places > 0) & (pools.places >= (decision.k or 1)))
    return Decisions(selected=np.where(known, selected, -1).astype(np.int8), rank=rank, tied_at_cutoff=tied)


def _top_k(
    rounds: NDArray[Any], pools: Pools, k: int, seed: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int32]]:
    scored = pools.size > 0
    # A tie that straddles the last place: some of it goes in, some stays out, and a round has one at most.
    tied = scored & (pools.above < k) & (pools.above + pools.tied > k)
    chosen = scored & (pools.above < k) & ~tied
    rows = np.flatnonzero(tied)
    if rows.size:
        lot = generator(seed, "ties").random(rounds.size)[rows]
        rows = rows[np.lexsort((lot, rounds[rows]))]
        start = np.flatnonzero(np.r_[True, np.diff(rounds[rows]) != 0])
        place = np.arange(rows.size) - np.repeat(start, np.diff(np.r_[start, rows.size]))
        chosen[rows] = pools.above[rows] + place < k
    return chosen, tied, np.where(scored, pools.above + 1, 0).astype(np.int32)
