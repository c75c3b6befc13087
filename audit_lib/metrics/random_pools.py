"""What share of a place a candidate can expect where its rivals are drawn at random."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from audit_lib.errors import InputError

__all__ = ["expected_shares"]

Floats = NDArray[np.float64]


def expected_shares(above: ArrayLike, tied: ArrayLike, pool: int, size: int, k: int) -> Floats:
    r"""Return each candidate's expected share of the k places of a round drawn at random, with it in.

    The other ``size - 1`` are drawn from the ``pool - 1`` others without replacement: X of those above and Y of those
    tied with it come in, by the multivariate hypergeometric distribution, and its share is
    :math:`(k - X) / (1 + Y)`, kept within [0, 1]. The mean over all rounds that could be drawn, where
    `audit_lib.metrics.selection_shares` gives that of one.

    Parameters
    ----------
    above, tied : array_like of int, shape (n,)
        Candidates of the whole pool with a higher score, and with the same one, itself included.
    pool : int
        Candidates of the pool.
    size : int
        Candidates of a round.
    k : int
        Places of a round.

    Returns
    -------
    ndarray of float, shape (n,)
        In [0, 1].

    Raises
    ------
    InputError
        If the round is larger than the pool, or a candidate's standing does not fit into it.

    References
    ----------
    Chen, Ji and Evans (2024), arXiv:2408.01285, which draws such rounds for its essays.

    Examples
    --------
    Two of three candidates with different scores compete for one place: the best one always gets it, the second
    against the third only.

    >>> expected_shares([0, 1, 2], [1, 1, 1], pool=3, size=2, k=1).round(6).tolist()
    [1.0, 0.5, 0.0]
    """
    a, t = np.asarray(above, dtype=np.int64), np.asarray(tied, dtype=np.int64)
    if not 1 <= size <= pool or k < 1:
        raise InputError(
            f"{k} places in rounds of {size} out of {pool} candidates: no such round can be drawn"
        )
    if a.shape != t.shape or a.ndim != 1 or (a < 0).any() or (t < 1).any() or (a + t > pool).any():
        raise InputError("above and tied must say where each candidate stands among those of the pool")
    if not a.size:
        return np.zeros(0)
    pairs, place = np.unique(np.stack([a, t]), axis=1, return_inverse=True)
    a, t = pairs
    below, others = pool - a - t, size - 1
    found = np.zeros(a.size)
    for x in range(min(k, others + 1)):
        for y in range(min(others - x, int(t.max()) - 1) + 1):
            chance = np.exp(
                _choose(a, x) + _choose(t - 1, y) + _choose(below, others - x - y) - _choose(pool - 1, others)
            )
            found += chance * min(1.0, (k - x) / (1 + y))
    return np.clip(found, 0.0, 1.0)[place.ravel()]


def _choose(n: ArrayLike, k: int) -> Floats:
    """Logarithm of n over k; minus infinity where k is more than n."""
    of = np.asarray(n, dtype=np.float64)
    fits = of >= k
    known = np.where(fits, of, float(k))
    return np.where(fits, gammaln(known + 1) - gammaln(k + 1) - gammaln(known - k + 1), -np.inf)
