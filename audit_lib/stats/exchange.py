"""A test for pairs in clusters: what would the distance be if group and reference had changed places?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from audit_lib.results import TestResult

_EXACT = 12  # clusters up to which all exchanges are looked at

Floats = NDArray[np.float64]


def exchange_test(
    group: Floats, reference: Floats, clusters: NDArray[np.int32], units: int, resamples: int, seed: int
) -> TestResult | None:
    """Test that two sides of pairs have the same distribution, by the Wasserstein-1 distance.

    If it does not matter which side is the group's, exchanging the sides of any cluster gives a sample that
    is as likely. The p-value is the share of exchanges whose distance is at least the one seen: exact over
    all exchanges up to 12 clusters, else (1 + hits) / (1 + draws) over seeded ones.

    Parameters
    ----------
    group, reference : ndarray of float, shape (pairs,)
        Values of each pair.
    clusters : ndarray of int, shape (pairs,)
        Cluster of each pair, 0 .. units - 1.
    resamples, seed : int
        Exchanges drawn, where not all are looked at.

    Returns
    -------
    TestResult or None
        None with fewer than two clusters, or where no pair differs.

    References
    ----------
    Good, P. (2005). Permutation, Parametric and Bootstrap Tests of Hypotheses, ch. 3. Springer.

    Examples
    --------
    >>> values = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    >>> exchange_test(values, values + 0.5, np.arange(5, dtype=np.int32), 5, 999, seed=1).p_value
    0.0625
    """
    if units < 2 or np.array_equal(group, reference):
        return None
    seen = _distance(group, reference)
    # Units in the order of what they hold: draws then do not depend on how applications are called.
    held: list[list[tuple[float, float]]] = [[] for _ in range(units)]
    for code, a, b in zip(clusters.tolist(), group.tolist(), reference.tolist(), strict=True):
        held[code].append((a, b))
    order = sorted(range(units), key=lambda unit: sorted(held[unit]))
    place = np.empty(units, dtype=np.int64)
    place[order] = np.arange(units)
    own = place[clusters]
    hits = total = 0
    for exchanged in _exchanges(units, resamples, seed):
        swap = exchanged[own]
        distance = _distance(np.where(swap, reference, group), np.where(swap, group, reference))
        hits += distance >= seen - 1e-12
        total += 1
    exact = units <= _EXACT
    p_value = hits / total if exact else (1 + hits) / (1 + total)
    method = "all exchanges" if exact else f"{total} exchanges"
    return TestResult(
        name="exchange_test",
        p_value=float(p_value),
        statistic=seen,
        n=units,
        method=f"group and reference exchanged by application, {method}",
    )


def _exchanges(units: int, resamples: int, seed: int) -> Iterator[NDArray[np.bool_]]:
    if units <= _EXACT:
        for number in range(2**units):
            yield (number >> np.arange(units)) & 1 == 1
        return
    rng = np.random.Generator(np.random.PCG64(seed))
    for _ in range(resamples):
        yield rng.integers(2, size=units, dtype=np.uint8) == 1


def _distance(group: Floats, reference: Floats) -> float:
    return float(np.abs(np.sort(group) - np.sort(reference)).mean())
