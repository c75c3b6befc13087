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
from audit_lib.seeds import generator
from audit_lib.spec import Decision


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
            selected=self.selected[index], rank=self.rank[index], tied_at_cutoff=self.tied_at_cutoff[index]
        )


def decide(
    score: NDArray[np.float64], rounds: NDArray[Any], recorded: NDArray[Any], decision: Decision, seed: int
) -> Decisions:
    """Apply a decision rule.

    Parameters
    ----------
    score : ndarray of float, shape (n,)
        NaN where the model gave none. Rows are in the order of their variant ids: the lot depends on it.
    rounds : ndarray of int, shape (n,)
        Code of each row's round, -1 for none.
    recorded : ndarray of int, shape (n,)
        Recorded decision: 1, 0, or -1 for none.
    decision : Decision
        The rule. *top_k*: the k highest scores of each round, all of a round with fewer than k.
        *threshold*: score >= threshold. *above_median*: score > median of all scored rows.
        *recorded*: as recorded.
    seed : int
        The spec's seed; breaks ties at the last place.

    Raises
    ------
    InputError
        If rule *top_k* meets a row without a round, or *recorded* no decision at all.

    Examples
    --------
    >>> none = np.full(3, -1)
    >>> rule = Decision(rule="top_k", k=1, round="round_id")
    >>> decide(np.array([0.2, 0.9, np.nan]), np.zeros(3, int), none, rule, seed=1).selected.tolist()
    [0, 1, -1]
    """
    known = ~np.isnan(score)
    tied = np.zeros(score.size, dtype=bool)
    rank = np.zeros(score.size, dtype=np.int32)
    if decision.rule == "recorded":
        known = recorded >= 0
        if score.size and not known.any():
            raise InputError("decision.rule is `recorded`, and no row has a recorded decision; map recorded_selected")
        selected = recorded > 0
    elif decision.rule == "threshold":
        selected = score >= (np.inf if decision.threshold is None else decision.threshold)
    elif decision.rule == "above_median":
        selected = score > (np.median(score[known]) if known.any() else np.inf)
    else:
        if (rounds < 0).any():
            raise InputError("decision.rule top_k: a row has no round_id; map the column, or choose decision.round")
        selected, tied, rank = _top_k(score, rounds, decision.k or 1, seed)
    return Decisions(selected=np.where(known, selected, -1).astype(np.int8), rank=rank, tied_at_cutoff=tied)


def _top_k(
    score: NDArray[np.float64], rounds: NDArray[Any], k: int, seed: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int32]]:
    if score.size == 0:
        return np.zeros(0, bool), np.zeros(0, bool), np.zeros(0, np.int32)
    scored = ~np.isnan(score)
    lot = generator(seed, "ties").random(score.size)
    # Rows without a score sort last and never take a place.
    order = np.lexsort((lot, np.where(scored, -score, np.inf), rounds))
    by_round, by_score = rounds[order], score[order]
    new_round = np.r_[True, np.diff(by_round) != 0]
    start = np.maximum.accumulate(np.where(new_round, np.arange(order.size), 0))
    new_score = new_round | np.r_[True, np.diff(by_score) != 0]
    first_of_tie = np.maximum.accumulate(np.where(new_score, np.arange(order.size), 0))
    last_of_tie = np.r_[np.flatnonzero(new_score)[1:], order.size][np.cumsum(new_score) - 1]
    place = np.arange(order.size) - start
    first, last = first_of_tie - start, last_of_tie - start
    chosen = np.empty(order.size, dtype=bool)
    tied = np.empty(order.size, dtype=bool)
    rank = np.empty(order.size, dtype=np.int32)
    chosen[order] = (place < k) & scored[order]
    # A tie that straddles the last place: some of it goes in, some stays out.
    tied[order] = (first < k) & (last > k) & scored[order]
    rank[order] = np.where(scored[order], first + 1, 0)
    return chosen, tied, rank
