"""How much of a ranking's attention, and of its first places, does each group get?

Sources: Singh and Joachims, "Fairness of Exposure in Rankings" (2018), arXiv:1802.07281; Geyik, Ambler and Kenthapadi,
"Fairness-Aware Ranking in Search & Recommendation Systems" (2019), arXiv:1905.01989.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics._aligned import same_rows
from audit_lib.metrics._arrays import as_codes, as_flags, as_scores
from audit_lib.metrics.selection import selection_shares
from audit_lib.metrics.standing import pool_standing

Floats = NDArray[np.float64]


def exposures(above: NDArray[Any], tied: NDArray[Any]) -> Floats:
    """Exposure of each candidate of a pool: 1 / log2(1 + place), the mean over its places where candidates tie.

    Parameters
    ----------
    above, tied : ndarray of int
        Candidates of the pool with a higher score, and with the same one (itself included), as `pool_standing` counts
        them.

    Returns
    -------
    ndarray of float
        In (0, 1]: 1 for the first place, 0.63 for the second.

    Examples
    --------
    >>> exposures(np.array([0, 1, 1]), np.array([1, 2, 2])).round(3).tolist()
    [1.0, 0.565, 0.565]
    """
    last = int((above + tied).max(initial=0))
    total = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, last + 2)))])
    own = tied == 1
    shared = (total[above + tied] - total[above]) / np.maximum(tied, 1)
    # A place of one's own is not a difference of sums, which rounds.
    return np.asarray(np.where(own, 1 / np.log2(np.asarray(above, dtype=np.float64) + 2), shared))


def exposure_gap(group_exposures: ArrayLike, reference_exposures: ArrayLike) -> float:
    """Mean exposure of the group's candidates minus that of the reference's.

    Parameters
    ----------
    group_exposures, reference_exposures : array_like, shape (n,) and (m,)
        As `exposures` gives them, each in the full pool of its round.

    Returns
    -------
    float
        In (-1, 1); 0 at parity, negative if the group stands lower.

    Raises
    ------
    UndefinedMetricError
        If a side has no candidate or a missing entry.

    Notes
    -----
    The paper constrains the exposure of groups to be equal (demographic parity of exposure); this is by how much it is
    not. Its position bias is 1 / log2(1 + place).

    Examples
    --------
    >>> round(exposure_gap([1.0, 0.5], [0.63, 0.43]), 3)
    0.22
    """
    sides = (
        as_scores(group_exposures, "group", finite=True),
        as_scores(reference_exposures, "reference", finite=True),
    )
    return float(sides[0].mean(dtype=np.float64) - sides[1].mean(dtype=np.float64))


def skew_at_k(scores: ArrayLike, rounds: ArrayLike, is_group: ArrayLike, k: int) -> float:
    """Logarithm of the group's share of the first k places over its share of the candidates.

    Parameters
    ----------
    scores : array_like, shape (n,)
        Of all candidates.
    rounds : array_like, shape (n,)
        Round of each.
    is_group : array_like of bool, shape (n,)
        Members of the group.
    k : int
        How many places count.

    Returns
    -------
    float
        0 where the group is as frequent among the first k as among all; ln 2 where it is twice as frequent.

    Raises
    ------
    InputError
        If lengths differ, or k is no quota.
    UndefinedMetricError
        If a round holds fewer than k candidates, or nobody of the group is a candidate or among the first k.

    Notes
    -----
    Of one round this is the paper's Skew@k, with the round's own shares as the desired ones; ties share their places.
    Of several rounds the places are added up before the logarithm is taken: the mean of the rounds' logarithms is
    minus infinity as soon as one round has nobody of the group among its first k.

    Examples
    --------
    >>> round(skew_at_k([4, 3, 2, 1], [0] * 4, [1, 0, 0, 1], k=1), 4)  # all of the first place, half of the candidates
    0.6931
    """
    scores, rounds, is_group = same_rows(scores=scores, rounds=rounds, is_group=is_group)
    shares = selection_shares(scores, rounds, k=k)
    mine = as_flags(is_group, "is_group", shares.size)
    _, sizes = np.unique(codes := as_codes(rounds, "rounds")[0], return_counts=True)
    return skew_of_shares(shares[mine], (k / sizes[codes])[mine], k)


def skew_of_shares(won: Floats, due: Floats, k: int) -> float:
    """Logarithm of the places won over those due by the share of candidates.

    Parameters
    ----------
    won, due : ndarray of float, shape (n,)
        Share of the first k places that each candidate of the group got, and that it was due: k over its round's size.
    k : int
        How many places count, for the messages.

    Raises
    ------
    UndefinedMetricError
        If there is nobody, or nobody got a place.

    Examples
    --------
    >>> skew_of_shares(np.array([1.0, 0.0]), np.array([0.5, 0.5]), 1)
    0.0
    """
    if won.size == 0:
        raise UndefinedMetricError(f"nobody of the group is in a round of {k} candidates or more")
    total = float(won.sum())
    if total == 0.0:
        raise UndefinedMetricError(f"nobody of the group is among the first {k}: the logarithm of 0")
    return math.log(total / float(due.sum()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergences:
    """How far the first places of each round are from its own mix of groups.

    Parameters
    ----------
    value : ndarray of float, shape (rounds,)
        NDKL of each round.
    at_random : ndarray of float, shape (rounds,)
        What it is on average where the order is drawn at random.
    ordered : int
        Rounds in which not all candidates tie.
    rounds : ndarray of int, shape (rounds,)
        The rounds that hold at least two groups, by their codes.
    """

    value: Floats
    at_random: Floats
    ordered: int
    rounds: NDArray[np.int64]


def ndkl(scores: ArrayLike, rounds: ArrayLike, groups: ArrayLike) -> float:
    """Normalised discounted Kullback-Leibler divergence of rankings, averaged over rounds.

    ``sum_i KL(shares of the first i, shares of the round) / log2(1 + i)`` over ``sum_i 1 / log2(1 + i)``, in nats;
    where candidates tie, its mean over all ways to break the tie.

    Parameters
    ----------
    scores, rounds, groups : array_like, shape (n,)
        Of each candidate; rows without a group (None) are left out.

    Returns
    -------
    float
        0 or more. It is above 0 in any order: the first place alone has one group only. So hold it against what an
        order drawn at random gives, `ndkl_at_random`.

    Raises
    ------
    InputError
        If lengths differ.
    UndefinedMetricError
        If no round holds candidates of two groups whose scores differ, or a score is missing.

    Examples
    --------
    >>> round(ndkl([4, 3, 2, 1], [0] * 4, ["a", "b", "a", "b"]), 4)
    0.2816
    >>> round(ndkl([4, 3, 2, 1], [0] * 4, ["a", "a", "b", "b"]), 4)
    0.4524
    """
    return float(_divergences(scores, rounds, groups).value.mean())


def ndkl_at_random(scores: ArrayLike, rounds: ArrayLike, groups: ArrayLike) -> float:
    """Mean of `ndkl` over all orders of the same candidates.

    Parameters
    ----------
    scores, rounds, groups
        As in `ndkl`, and so are the errors; of the scores it matters only that they are there.

    Examples
    --------
    >>> round(ndkl_at_random([4, 3, 2, 1], [0] * 4, ["a", "b", "a", "b"]), 4)
    0.3386
    """
    return float(_divergences(scores, rounds, groups).at_random.mean())


def _divergences(scores: ArrayLike, rounds: ArrayLike, groups: ArrayLike) -> Divergences:
    given: Any = same_rows(scores=scores, rounds=rounds, groups=groups)
    values = as_scores(given[0], "scores")
    codes, levels = as_codes(given[1], "rounds")[0], as_codes(given[2], "groups")[0]
    if not values.size == codes.size == levels.size:
        raise InputError(
            f"{values.size} scores, {codes.size} rounds and {levels.size} groups: one of each a candidate"
        )
    known = (levels >= 0) & (codes >= 0)
    found = divergences(*pool_standing(values[known], codes[known]), codes[known], levels[known])
    require_order(found)
    return found


def require_order(found: Divergences) -> None:
    """Refuse rankings that say nothing of groups.

    Parameters
    ----------
    found : Divergences
        Of the rounds.

    Raises
    ------
    UndefinedMetricError
        If no round holds two groups, or all candidates tie in each.

    Examples
    --------
    >>> require_order(divergences(np.array([0, 1]), np.array([1, 1]), np.zeros(2, int), np.array([0, 1])))
    """
    if found.value.size == 0:
        raise UndefinedMetricError("no round holds candidates of two groups")
    if not found.ordered:
        raise UndefinedMetricError("all candidates of each round tie: there is no order")


def divergences(
    above: NDArray[Any], tied: NDArray[Any], rounds: NDArray[Any], groups: NDArray[Any]
) -> Divergences:
    """Return the NDKL of each round that holds at least two groups, and what it is in an order drawn at random.

    Parameters
    ----------
    above, tied : ndarray of int, shape (n,)
        Standing of each candidate among those given here, as `pool_standing` counts it.
    rounds, groups : ndarray of int, shape (n,)
        Codes of each candidate's round and group, none below 0.

    Examples
    --------
    >>> found = divergences(np.array([0, 1]), np.array([1, 1]), np.zeros(2, int), np.array([0, 1]))
    >>> found.value.round(3).tolist(), found.at_random.round(3).tolist()
    ([0.425], [0.425])
    """
    order = np.lexsort((groups, above, rounds))
    ends = np.flatnonzero(np.diff(rounds[order], append=-1) != 0) + 1  # no code is below 0
    value, at_random, kept, ordered = [], [], [], 0
    for start, stop in pairwise([0, *ends.tolist()]):
        own = order[start:stop]
        _, members = np.unique(groups[own], return_inverse=True)
        counts = np.bincount(members)
        if counts.size < 2:
            continue
        blocks = tuple(int(t) for t in tied[own][np.r_[True, np.diff(above[own]) != 0]])
        ordered += len(blocks) > 1
        weights = _discounts(own.size)
        found = np.zeros(own.size)
        for number, count in enumerate(counts.tolist()):
            found += _in_order(members == number, blocks, count, own.size)
        value.append(float((found * weights).sum() / weights.sum()))
        expected = sum(_expected(own.size, count) for count in sorted(counts.tolist()))
        at_random.append(expected)
        kept.append(int(rounds[own[0]]))
    return Divergences(
        value=np.array(value, dtype=np.float64), at_random=np.array(at_random, dtype=np.float64), ordered=ordered,
        rounds=np.array(kept, dtype=np.int64),
    )  # fmt: skip


def _discounts(n: int) -> Floats:
    return np.asarray(1 / np.log2(np.arange(2, n + 2)))


def _term(counts: NDArray[Any], place: int, share: float) -> Floats:
    """Part of the divergence of one group with these counts among the first `place`."""
    own = np.asarray(counts, dtype=np.float64) / place
    return np.asarray(own * np.log(np.where(own > 0, own / share, 1.0)))


def _in_order(mine: NDArray[np.bool_], blocks: Sequence[int], count: int, n: int) -> Floats:
    """Part of one group at each place, of candidates in the order of their places; blocks of ties are averaged."""
    found = np.empty(n)
    share, at, held = count / n, 0, 0
    for size in blocks:
        inside = int(np.count_nonzero(mine[at : at + size]))
        for step in range(1, size + 1):
            chances, drawn = _hypergeometric(size, inside, step)
            found[at + step - 1] = float((chances * _term(held + drawn, at + step, share)).sum())
        at, held = at + size, held + inside
    return found


@lru_cache(maxsize=4096)
def _expected(n: int, count: int) -> float:
    """Part of a group of `count` of n candidates in the NDKL of an order drawn at random."""
    weights, found = _discounts(n), np.empty(n)
    for place in range(1, n + 1):
        chances, drawn = _hypergeometric(n, count, place)
        found[place - 1] = float((chances * _term(drawn, place, count / n)).sum())
    return float((found * weights).sum() / weights.sum())


@lru_cache(maxsize=65536)
def _hypergeometric(n: int, count: int, drawn: int) -> tuple[Floats, NDArray[np.int64]]:
    """Chances of how many of `count` among n are among `drawn` of them."""
    low, high = max(0, drawn + count - n), min(count, drawn)
    whole = np.arange(low, high + 1)
    if low == high:
        return np.ones(1), whole
    total = math.comb(n, drawn)
    return np.array(
        [math.comb(count, c) * math.comb(n - count, drawn - c) / total for c in whole.tolist()]
    ), whole
