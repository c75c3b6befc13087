"""A seeded draw without replacement that keeps the strata's shares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audit_lib.seeds import generator

SampleStratum = tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """What was drawn.

    Parameters
    ----------
    units : array of int, optional
        The numbers of the units, ascending; None: all.
    available, drawn : dict of tuple to int
        Stratum -> how many units it has, and how many of them were drawn; strata sorted.
    """

    units: NDArray[np.int64] | None
    available: dict[SampleStratum, int]
    drawn: dict[SampleStratum, int]


def allocate(available: Sequence[int], size: int) -> list[int]:
    """Share `size` out in proportion to `available`, by the largest remainder, in whole numbers.

    Equal remainders go to the earlier stratum. No stratum gets more than it has, and if `size` is
    more than there is, each gets all.

    References
    ----------
    .. [1] A. Hamilton's method of apportionment: Balinski and Young, *Fair Representation*, 1982.

    Examples
    --------
    >>> allocate([50, 30, 20], 7)
    [4, 2, 1]
    >>> allocate([3, 3, 3], 4)
    [2, 1, 1]
    """
    total = sum(available)
    if size >= total:
        return list(available)
    shares = [divmod(size * count, total) for count in available]
    quotas = [whole for whole, _ in shares]
    by_remainder = sorted(range(len(shares)), key=lambda index: (-shares[index][1], index))
    for index in by_remainder[: size - sum(quotas)]:
        quotas[index] += 1
    return quotas


def draw(
    stratum_of_unit: NDArray[np.int64],
    strata: Sequence[SampleStratum],
    by_id: Callable[[], NDArray[np.int64]],
    size: int | None,
    seed: int,
) -> Draw:
    """Draw `size` of the units, stratified; the result does not depend on their order.

    Parameters
    ----------
    stratum_of_unit : array of int
        The place of each unit's stratum in `strata`.
    strata : sequence of tuple
        The strata, all different.
    by_id : callable
        Returns the numbers of the units in the order of their ids; called where not all are drawn.
    size : int or None
        How many to draw; None draws all.
    seed : int
        The spec's seed. Each stratum has its own generator, so that a stratum's draw depends only
        on its own units and quota.

    Examples
    --------
    >>> strata = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> draw(strata, [("a",), ("b",)], lambda: np.arange(8), 2, seed=7).drawn
    {('a',): 1, ('b',): 1}
    """
    numbers = np.bincount(stratum_of_unit, minlength=len(strata)).tolist()
    there = sorted((place for place, n in enumerate(numbers) if n), key=lambda place: _order(strata[place]))
    available = {strata[place]: numbers[place] for place in there}
    quotas = allocate(list(available.values()), sum(available.values()) if size is None else size)
    drawn = dict(zip(available, quotas, strict=True))
    if drawn == available:
        return Draw(units=None, available=available, drawn=drawn)
    units = by_id()
    stratum = stratum_of_unit[units]
    chosen = []
    for place, quota in zip(there, quotas, strict=True):
        pool = units[stratum == place]
        if quota < len(pool):
            purpose = ("sample", *("" if value is None else f"={value}" for value in strata[place]))
            pool = pool[generator(seed, *purpose).choice(len(pool), quota, replace=False)]
        chosen.append(pool)
    return Draw(units=np.sort(np.concatenate(chosen)), available=available, drawn=drawn)


def _order(stratum: SampleStratum) -> tuple[tuple[bool, str], ...]:
    return tuple((value is None, value or "") for value in stratum)
