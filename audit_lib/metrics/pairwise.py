"""Wins and consistency from answers to "which of these two is better?".

Every pair of candidates is asked in both orders. Source of the definitions: Chen, Ji and Evans,
arXiv:2408.01285; where the paper is silent, the choice is stated and the cases are counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import DuplicateIdError, InputError, MissingColumnError, UndefinedMetricError
from audit_lib.metrics._arrays import as_codes
from audit_lib.pairs import ANSWERS, FIRST, SECOND, TIE, UNPARSED


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseStatistics:
    """Counts of what pairwise answers look like (the paper's Table 2), and their shares.

    Parameters
    ----------
    prompts, regular, tie, unparsed : int
        Prompts, and those that name one candidate, call both equally good, or could not be parsed;
        the last three add up to the first.
    pairs : int
        Pairs, each asked in both orders.
    flipped : int
        Pairs with a named winner in both orders, but not the same one.
    inconsistent : int
        Pairs without the same named winner in both orders: flipped, tied or unparsed in an order.
    mixed : int
        Pairs with a named winner in one order and a tie in the other.
    """

    prompts: int
    regular: int
    tie: int
    unparsed: int
    pairs: int
    flipped: int
    inconsistent: int
    mixed: int

    @property
    def regular_share(self) -> float:
        """Prompts that name one candidate, over all prompts."""
        return self.regular / self.prompts

    @property
    def tie_share(self) -> float:
        """Prompts that call both equally good, over all prompts."""
        return self.tie / self.prompts

    @property
    def unparsed_share(self) -> float:
        """Prompts whose answer could not be parsed, over all prompts."""
        return self.unparsed / self.prompts

    @property
    def flipped_share(self) -> float:
        """Flipped pairs over all pairs."""
        return self.flipped / self.pairs

    @property
    def inconsistent_share(self) -> float:
        """Inconsistent pairs over all pairs."""
        return self.inconsistent / self.pairs


def consistent_winner(one_shown_first: ArrayLike, other_shown_first: ArrayLike) -> NDArray[np.int64]:
    """Tell who won each pair in both orders.

    Parameters
    ----------
    one_shown_first, other_shown_first : array_like of int, shape (pairs,)
        Code of the answer (`audit_lib.pairs.ANSWERS`) with the one candidate shown first, and with the other.

    Returns
    -------
    ndarray of int, shape (pairs,)
        1 where the one won in both orders, -1 where the other did, else 0: not the same winner, a tie, or an
        answer that could not be parsed.

    Examples
    --------
    >>> consistent_winner([FIRST, SECOND, FIRST, TIE], [SECOND, FIRST, FIRST, SECOND]).tolist()
    [1, -1, 0, 0]
    """
    one, other = np.asarray(one_shown_first), np.asarray(other_shown_first)
    won = (one == FIRST) & (other == SECOND)
    lost = (one == SECOND) & (other == FIRST)
    return np.asarray(won.astype(np.int64) - lost.astype(np.int64))


def pairwise_win_gap(outcomes: ArrayLike) -> float:
    """Consistent wins of the group minus those of the reference, over all pairs of one candidate of each.

    Parameters
    ----------
    outcomes : array_like of int, shape (pairs,)
        Of each pair, seen from the group: 1, -1 or 0, as `consistent_winner` gives it. Pairs that nobody wins in
        both orders, for whatever reason, stay in the denominator.

    Returns
    -------
    float
        In [-1, 1]; 0 at parity.

    Raises
    ------
    InputError
        If an outcome is something else.
    UndefinedMetricError
        If there is no pair.

    Notes
    -----
    The published code's net win rate counts the winners of order-inconsistent answers too.

    Examples
    --------
    >>> pairwise_win_gap([1, 0, 0, -1, 1])
    0.2
    """
    won = np.asarray(outcomes)
    if won.size == 0:
        raise UndefinedMetricError("no pair has one candidate of the group and one of the reference")
    if not np.isin(won, (-1, 0, 1)).all():
        raise InputError("outcomes: expected 1, 0 or -1 for each pair")
    return int(won.sum()) / won.size


def pairwise_output_statistics(
    one_shown_first: NDArray[np.int64], other_shown_first: NDArray[np.int64]
) -> PairwiseStatistics:
    """Count regular, tied and unparsed answers per prompt, flipped and inconsistent ones per pair.

    Parameters
    ----------
    one_shown_first, other_shown_first : ndarray of int, shape (pairs,)
        As in `consistent_winner`.

    Returns
    -------
    PairwiseStatistics
        Counts, with shares as properties.

    Examples
    --------
    >>> pairwise_output_statistics(np.array([FIRST]), np.array([FIRST])).flipped_share
    1.0
    """
    both = np.concatenate([one_shown_first, other_shown_first])
    counts = np.bincount(both, minlength=4)
    named = (one_shown_first <= SECOND) & (other_shown_first <= SECOND)
    # The same place named in both orders is another candidate each time.
    flipped = named & (one_shown_first == other_shown_first)
    tied = (one_shown_first == TIE) | (other_shown_first == TIE)
    mixed = tied & ((one_shown_first <= SECOND) | (other_shown_first <= SECOND))
    return PairwiseStatistics(
        prompts=int(both.size),
        regular=int(counts[FIRST] + counts[SECOND]),
        tie=int(counts[TIE]),
        unparsed=int(counts[UNPARSED]),
        pairs=int(one_shown_first.size),
        flipped=int(np.count_nonzero(flipped)),
        inconsistent=int(one_shown_first.size - np.count_nonzero(named & ~flipped)),
        mixed=int(np.count_nonzero(mixed)),
    )


class PairedAnswers(NamedTuple):
    """One row a pair: the candidate with the lower code, the other, and the answer in each order."""

    ids: NDArray[Any]
    """Of the candidates, sorted; a candidate's code is its place here."""
    low: NDArray[np.int64]
    """Code of one candidate of each pair, the lower."""
    high: NDArray[np.int64]
    """Code of the other."""
    low_shown_first: NDArray[np.int64]
    """Answer where the candidate with the lower code was shown first: its place in `ANSWERS`."""
    high_shown_first: NDArray[np.int64]
    """Answer where the other was."""


def paired_answers(answers: Mapping[str, ArrayLike]) -> PairedAnswers:
    """Put the two answers about each pair into one row.

    Parameters
    ----------
    answers : mapping of str to array_like
        A data frame, or any mapping, with three columns of one length, one row a prompt: ``first`` and
        ``second``, the ids of the candidates in the order shown, and ``answer``, one of ``first``,
        ``second`` (the candidate in that place was named), ``tie`` and ``unparsed``. Each pair must be
        there exactly once in each order; give candidates of another position or repeat ids of their own.

    Returns
    -------
    PairedAnswers
        Pairs in the order of the ids.

    Raises
    ------
    MissingColumnError, InputError
        If a column is missing or holds something else, or a pair was asked in one order only.
    DuplicateIdError
        If a pair was asked twice in one order.
    UndefinedMetricError
        If there are no answers.

    Examples
    --------
    >>> pairs = paired_answers({"first": ["a", "b"], "second": ["b", "a"], "answer": ["first", "tie"]})
    >>> pairs.ids.tolist(), pairs.low_shown_first.tolist(), pairs.high_shown_first.tolist()
    (['a', 'b'], [0], [2])
    """
    for column in ("first", "second", "answer"):
        if column not in answers:
            raise MissingColumnError(f"answers: no column {column!r}; expected first, second and answer")
    table: Mapping[str, Any] = answers
    shown = [list(table[column]) for column in ("first", "second")]
    said: NDArray[Any] = np.array(list(table["answer"]), dtype=object)
    n = len(shown[0])
    if len(shown[1]) != n or said.size != n:
        raise InputError(f"answers: columns of {n}, {len(shown[1])} and {said.size} rows")
    if n == 0:
        raise UndefinedMetricError("answers: no prompts")
    answer = np.full(n, -1, np.int64)
    codes_of = {name: code for code, name in enumerate(ANSWERS)}
    answer[:] = [codes_of.get(text, -1) if isinstance(text, str) else -1 for text in said]
    if answer.min() < 0:
        raise InputError(f"answers, row {int(np.argmin(answer))}: answer is none of {', '.join(ANSWERS)}")
    codes, ids = as_codes(shown[0] + shown[1], "answers")
    if codes.min() < 0:
        raise InputError(f"answers, row {int(np.argmin(codes)) % n}: no candidate id")
    first, second = codes[:n], codes[n:]
    if (first == second).any():
        raise InputError(f"answers, row {int(np.argmax(first == second))}: a candidate is paired with itself")
    low, high = np.minimum(first, second), np.maximum(first, second)
    order = np.lexsort((first > second, high, low))
    low, high, late, answer = low[order], high[order], (first > second)[order], answer[order]
    pair = low * ids.size + high
    twice = np.flatnonzero((pair[1:] == pair[:-1]) & (late[1:] == late[:-1]))
    if twice.size:
        raise DuplicateIdError(
            f"answers, row {order[twice[0] + 1]}: this pair was asked in this order before"
        )
    _, start, size = np.unique(pair, return_index=True, return_counts=True)
    single = np.flatnonzero(size == 1)
    if single.size:
        row = order[start[single[0]]]
        raise InputError(
            f"answers, row {row}: this pair was asked in one order only ({single.size} such pairs)"
        )
    return PairedAnswers(ids, low[::2], high[::2], answer[::2], answer[1::2])
