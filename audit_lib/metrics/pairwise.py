"""Scores, wins and consistency from answers to "which of these two is better?".

Every pair of candidates is asked in both orders. Source of the definitions: Chen, Ji and Evans,
arXiv:2408.01285; where the paper is silent, the choice is stated and the cases are counted.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import DuplicateIdError, InputError, MissingColumnError, UndefinedMetricError
from audit_lib.metrics._arrays import as_codes
from audit_lib.pairs import ANSWERS, FIRST, SECOND, TIE, UNPARSED, pair_points


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseScores:
    """Scores of candidates from pairwise answers; one entry a candidate in every tuple.

    Parameters
    ----------
    candidates : tuple
        Candidate ids, sorted.
    points : tuple of float
        Sum over the candidate's pairs; a pair deals out exactly one point.
    pairs : tuple of int
        Pairs that the candidate is in.
    scores : tuple of float
        ``points / pairs``, in [0, 1]: 1 if it won every pair in both orders.
    mixed : int
        Pairs with a win in one order and a tie in the other.
    unparsed : int
        Pairs with at least one answer that could not be parsed.
    """

    candidates: tuple[Hashable, ...]
    points: tuple[float, ...]
    pairs: tuple[int, ...]
    scores: tuple[float, ...]
    mixed: int
    unparsed: int


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


def pairwise_scores(answers: Mapping[str, ArrayLike]) -> PairwiseScores:
    """Score candidates by pairwise answers.

    Of the one point of a pair, a consistent win gives 1 to the winner; winners that differ between the
    orders give 0.5 to both; "both equally good" gives 0.25 to both for each prompt that says so.

    Parameters
    ----------
    answers : mapping of str to array_like
        A data frame, or any mapping, with three columns of one length, one row a prompt: ``first`` and
        ``second``, the ids of the candidates in the order shown, and ``answer``, one of ``first``,
        ``second`` (the candidate in that place was named), ``tie`` and ``unparsed``. Each pair must be
        there exactly once in each order; give candidates of another position or repeat ids of their own.

    Returns
    -------
    PairwiseScores
        Points and mean points of each candidate, with counts of the cases below.

    Raises
    ------
    MissingColumnError, InputError
        If a column is missing or holds something else, or a pair was asked in one order only.
    DuplicateIdError
        If a pair was asked twice in one order.
    UndefinedMetricError
        If there are no answers.

    Notes
    -----
    The paper is silent on two cases. A win in one order and a tie in the other gives 0.75 and 0.25: half
    of a win and half of a tie. An answer that could not be parsed counts as a tie, since it favours
    nobody; leaving the pair out would rank by how often a candidate's answers parse. Both are counted.
    The published code credits candidate 1 twice on ties.

    Examples
    --------
    >>> table = {"first": ["a", "b"], "second": ["b", "a"], "answer": ["first", "tie"]}
    >>> pairwise_scores(table).scores
    (0.75, 0.25)
    """
    pairs = paired(answers)
    low = pair_points(pairs.low_shown_first, pairs.high_shown_first)
    n = pairs.ids.size
    points = np.bincount(pairs.low, low, n) + np.bincount(pairs.high, 1 - low, n)
    count = np.bincount(pairs.low, minlength=n) + np.bincount(pairs.high, minlength=n)
    statistics = _statistics(pairs)
    return PairwiseScores(
        candidates=tuple(pairs.ids.tolist()),
        points=tuple(points.tolist()),
        pairs=tuple(count.tolist()),
        scores=tuple((points / count).tolist()),
        mixed=statistics.mixed,
        unparsed=int(np.count_nonzero(_has(pairs, UNPARSED))),
    )


def pairwise_win_share(
    answers: Mapping[str, ArrayLike], group: Collection[Hashable], reference: Collection[Hashable]
) -> float:
    """Share of pairs (one of the group, one of the reference) that the group wins in both orders.

    Parameters
    ----------
    answers : mapping of str to array_like
        As in `pairwise_scores`.
    group, reference : collection of ids
        Candidates of the two groups, without overlap; pairs within a group are ignored.

    Returns
    -------
    float
        In [0, 1], and at most 0.5 at parity. Pairs that nobody wins in both orders, for whatever
        reason, stay in the denominator.

    Raises
    ------
    InputError
        If a candidate is on both sides, or the answers are not as `pairwise_scores` asks.
    UndefinedMetricError
        If no pair has one candidate on each side.

    Examples
    --------
    >>> table = {"first": ["a", "b"], "second": ["b", "a"], "answer": ["first", "second"]}
    >>> pairwise_win_share(table, group=["a"], reference=["b"])
    1.0
    """
    wins, _, total = _wins(answers, group, reference)
    return wins / total


def pairwise_win_gap(
    answers: Mapping[str, ArrayLike], group: Collection[Hashable], reference: Collection[Hashable]
) -> float:
    """Consistent wins of the group minus those of the reference, over all pairs of both.

    ``pairwise_win_share(answers, group, reference) - pairwise_win_share(answers, reference, group)``.

    Parameters
    ----------
    answers, group, reference
        As in `pairwise_win_share`.

    Returns
    -------
    float
        In [-1, 1]; 0 at parity.

    Raises
    ------
    InputError, UndefinedMetricError
        As `pairwise_win_share` does.

    Notes
    -----
    The published code's net win rate counts the winners of order-inconsistent answers too.

    Examples
    --------
    >>> table = {"first": ["a", "b"], "second": ["b", "a"], "answer": ["second", "first"]}
    >>> pairwise_win_gap(table, group=["a"], reference=["b"])
    -1.0
    """
    wins, losses, total = _wins(answers, group, reference)
    return (wins - losses) / total


def pairwise_output_statistics(answers: Mapping[str, ArrayLike]) -> PairwiseStatistics:
    """Count regular, tied and unparsed answers per prompt, flipped and inconsistent ones per pair.

    Parameters
    ----------
    answers : mapping of str to array_like
        As in `pairwise_scores`.

    Returns
    -------
    PairwiseStatistics
        Counts, with shares as properties.

    Raises
    ------
    InputError, UndefinedMetricError
        As `pairwise_scores` does.

    Examples
    --------
    >>> table = {"first": ["a", "b"], "second": ["b", "a"], "answer": ["first", "first"]}
    >>> pairwise_output_statistics(table).flipped_share
    1.0
    """
    return _statistics(paired(answers))


class Pairs(NamedTuple):
    """One row a pair: the candidate with the lower code, the other, and the answer in each order."""

    ids: NDArray[Any]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    low_shown_first: NDArray[np.int64]
    high_shown_first: NDArray[np.int64]


def paired(answers: Mapping[str, ArrayLike]) -> Pairs:
    """Put the two answers about each pair side by side; `pairwise_scores` says what is asked of a table."""
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
    return Pairs(ids, low[::2], high[::2], answer[::2], answer[1::2])


def _has(pairs: Pairs, answer: int) -> NDArray[np.bool_]:
    return np.asarray((pairs.low_shown_first == answer) | (pairs.high_shown_first == answer))


def _statistics(pairs: Pairs) -> PairwiseStatistics:
    return statistics(pairs.low_shown_first, pairs.high_shown_first)


def statistics(low_shown_first: NDArray[np.int64], high_shown_first: NDArray[np.int64]) -> PairwiseStatistics:
    """Count codes of answers: of each pair, that with one candidate shown first and with the other."""
    both = np.concatenate([low_shown_first, high_shown_first])
    counts = np.bincount(both, minlength=4)
    named = (low_shown_first <= SECOND) & (high_shown_first <= SECOND)
    # The same place named in both orders is another candidate each time.
    flipped = named & (low_shown_first == high_shown_first)
    tied = (low_shown_first == TIE) | (high_shown_first == TIE)
    mixed = tied & ((low_shown_first <= SECOND) | (high_shown_first <= SECOND))
    return PairwiseStatistics(
        prompts=int(both.size),
        regular=int(counts[FIRST] + counts[SECOND]),
        tie=int(counts[TIE]),
        unparsed=int(counts[UNPARSED]),
        pairs=int(low_shown_first.size),
        flipped=int(np.count_nonzero(flipped)),
        inconsistent=int(low_shown_first.size - np.count_nonzero(named & ~flipped)),
        mixed=int(np.count_nonzero(mixed)),
    )


def _wins(
    answers: Mapping[str, ArrayLike], group: Collection[Hashable], reference: Collection[Hashable]
) -> tuple[int, int, int]:
    """Consistent wins of the group, of the reference, and all pairs between the two."""
    for name, side in (("group", group), ("reference", reference)):
        if isinstance(side, str):
            raise InputError(
                f"{name}: expected a collection of candidate ids, got one text; put it into a list"
            )
    ours, theirs = set(group), set(reference)
    if ours & theirs:
        raise InputError(f"{len(ours & theirs)} candidates are in the group and in the reference")
    pairs = paired(answers)
    side = np.array([1 if c in ours else -1 if c in theirs else 0 for c in pairs.ids.tolist()])
    between = side[pairs.low] * side[pairs.high] == -1
    total = int(np.count_nonzero(between))
    if total == 0:
        raise UndefinedMetricError("no pair has one candidate of the group and one of the reference")
    low_wins = between & (pairs.low_shown_first == FIRST) & (pairs.high_shown_first == SECOND)
    high_wins = between & (pairs.low_shown_first == SECOND) & (pairs.high_shown_first == FIRST)
    group_low = side[pairs.low] == 1
    wins = np.count_nonzero(np.where(group_low, low_wins, high_wins))
    losses = np.count_nonzero(np.where(group_low, high_wins, low_wins))
    return int(wins), int(losses), total
