"""Where each candidate stands in its pool: how many rank above it, and how many tie with it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics._aligned import same_rows
from audit_lib.metrics._arrays import as_codes, as_numbers, is_missing

# Up to this many candidates a pool, comparing all pairs is faster than sorting.
_SMALL_POOL = 24


class Standing(NamedTuple):
    """Where each candidate stands in its pool; integer arrays in the shape of the scores."""

    above: NDArray[Any]
    """Candidates of the pool with a strictly higher score."""
    tied: NDArray[Any]
    """Candidates of the pool with the same score, the candidate itself included."""


def pool_standing(scores: ArrayLike, rounds: ArrayLike | None = None) -> Standing:
    """Count, for each candidate, those above it and those tied with it in its round's full pool.

    Parameters
    ----------
    scores : array_like
        Shape (rounds, candidates) without `rounds`; shape (n,) with it. NaN (unranked or missing) ranks
        below every score, and all NaN of a pool tie with each other.
    rounds : array_like, shape (n,), optional
        Round of each candidate, where pools are of different sizes or stored row by row.

    Returns
    -------
    Standing
        Counts in the shape of the scores.

    Raises
    ------
    InputError
        If shapes do not fit or a round label is missing.
    UndefinedMetricError
        If there is no candidate, or a round holds no score at all.

    Examples
    --------
    >>> above, tied = pool_standing([[0.9, 0.4, 0.4]])
    >>> above.tolist(), tied.tolist()
    ([[0, 1, 1]], [[1, 2, 2]])
    """
    values, codes = as_pools(scores, rounds)
    above, tied = standing_of(values, codes)
    shape = np.shape(scores)
    return Standing(above.reshape(shape), tied.reshape(shape))


def as_pools(scores: ArrayLike, rounds: ArrayLike | None) -> tuple[NDArray[Any], NDArray[np.int64] | None]:
    """Return the scores as (rounds, candidates), or row by row with the number of each row's round.

    Parameters
    ----------
    scores, rounds
        As in `pool_standing`.

    Raises
    ------
    InputError
        If shapes do not fit or a round label is missing.
    UndefinedMetricError
        If there is no candidate.

    Examples
    --------
    >>> values, codes = as_pools([0.9, 0.4, 0.7], ["x", "y", "x"])
    >>> codes.tolist()
    [0, 1, 0]
    """
    if rounds is not None:
        scores, rounds = same_rows(scores=scores, rounds=rounds)
    values = as_numbers(np.asarray(scores) if rounds is None else scores, "scores")
    expected = 2 if rounds is None else 1
    if values.ndim != expected:
        form = "(rounds, candidates)" if rounds is None else "(n,), since rounds are given"
        raise InputError(f"scores: expected shape {form}, got {values.shape}")
    if values.size == 0:
        raise UndefinedMetricError("scores: no candidates")
    if rounds is None:
        return values, None
    codes, _ = as_codes(rounds, "rounds")
    if codes.size != values.size:
        raise InputError(f"rounds: {codes.size} labels for {values.size} scores")
    unlabelled = np.flatnonzero(codes < 0)
    if unlabelled.size:
        raise InputError(f"rounds, row {unlabelled[0]}: no round")
    n_rounds = int(codes.max()) + 1
    if codes.size % n_rounds == 0:
        # Rounds of one size stored one after the other are a table, which is handled much faster.
        blocks = codes.reshape(n_rounds, -1)
        if (blocks == blocks[:, :1]).all():
            return values.reshape(blocks.shape), None
    return values, codes


def standing_of(values: NDArray[Any], codes: NDArray[np.int64] | None) -> Standing:
    """Return the standing in pools as `as_pools` gives them.

    Parameters
    ----------
    values : ndarray
        Scores, of shape (rounds, candidates) where `codes` is None, else (n,).
    codes : ndarray of int, shape (n,), or None
        Round of each row: 0, 1, ...

    Raises
    ------
    UndefinedMetricError
        If a round holds no score at all.

    Examples
    --------
    >>> standing_of(*as_pools([[0.9, 0.4, 0.4]], None)).above.tolist()
    [[0, 1, 1]]
    """
    scored = ~is_missing(values)
    complete = bool(scored.all())
    if codes is None:
        if complete and values.shape[1] <= _SMALL_POOL:
            return _standing_by_pairs(values)
        codes = np.repeat(np.arange(values.shape[0]), values.shape[1])
    if not complete:
        n_scored = np.bincount(codes, weights=scored.ravel())
        empty = np.flatnonzero(n_scored == 0)
        if empty.size:
            row = int(np.flatnonzero(codes == empty[0])[0])
            raise UndefinedMetricError(f"{empty.size} rounds (the first at row {row}) hold no score at all")
    above, tied = _standing_by_sort(values.ravel(), codes)
    return Standing(above.reshape(values.shape), tied.reshape(values.shape))


def _standing_by_pairs(values: NDArray[Any]) -> Standing:
    n_rounds, width = values.shape
    columns = np.ascontiguousarray(values.T)
    above = np.zeros((width, n_rounds), np.uint8)
    tied = np.ones((width, n_rounds), np.uint8)
    higher, equal = np.empty(n_rounds, bool), np.empty(n_rounds, bool)
    for i in range(width):
        for j in range(i + 1, width):
            np.greater(columns[j], columns[i], out=higher)
            np.equal(columns[j], columns[i], out=equal)
            above[i] += higher.view(np.uint8)
            tied[i] += equal.view(np.uint8)
            tied[j] += equal.view(np.uint8)
            # Neither higher nor equal: i stands above j.
            np.logical_or(higher, equal, out=higher)
            np.logical_not(higher, out=higher)
            above[j] += higher.view(np.uint8)
    return Standing(above.T, tied.T)


def _standing_by_sort(values: NDArray[Any], codes: NDArray[np.int64]) -> Standing:
    numbers = values.astype(np.int64) if values.dtype.kind == "b" else values
    # Ascending by round and score, NaN last; read from the end it is the ranking, but for NaN.
    order = np.lexsort((numbers, codes))
    s, r = numbers[order], codes[order]
    new_round = np.append(True, r[1:] != r[:-1])
    same = (s[1:] == s[:-1]) | ((s[1:] != s[1:]) & (s[:-1] != s[:-1]))
    new_block = new_round | np.append(True, ~same)
    starts = np.flatnonzero(new_block)
    block = np.cumsum(new_block) - 1
    sizes = np.diff(np.append(starts, s.size))
    scored = ~is_missing(s)
    n_scored = np.bincount(r, weights=scored).astype(np.int64)
    # Position within the round, counted from the lowest score.
    round_start = np.flatnonzero(new_round)
    position = starts[block] - round_start[np.cumsum(new_round) - 1]
    above_sorted = np.where(scored, n_scored[r] - position - sizes[block], n_scored[r])
    above, tied = np.empty(s.size, np.int64), np.empty(s.size, np.int64)
    above[order], tied[order] = above_sorted, sizes[block]
    return Standing(above, tied)
