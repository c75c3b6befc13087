"""A seeded draw without replacement that keeps the strata's shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from audit_lib.seeds import generator

SampleStratum = tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """What was drawn.

    Parameters
    ----------
    units : list of str
        Ids, sorted.
    available, drawn : dict of tuple to int
        Stratum -> how many units it has, and how many of them were drawn; strata sorted.
    """

    units: list[str]
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


def draw(units: Mapping[str, SampleStratum], size: int | None, seed: int) -> Draw:
    """Draw `size` of the units, stratified; the result does not depend on their order.

    Parameters
    ----------
    units : mapping of str to tuple
        Id of each unit -> its stratum.
    size : int or None
        How many to draw; None draws all.
    seed : int
        The spec's seed. Each stratum has its own generator, so that a stratum's draw depends only
        on its own units and quota.

    Examples
    --------
    >>> units = {f"{position}{i}": (position,) for position in "ab" for i in range(4)}
    >>> draw(units, 2, seed=7).drawn
    {('a',): 1, ('b',): 1}
    """
    members: dict[SampleStratum, list[str]] = {}
    for unit in sorted(units):
        members.setdefault(units[unit], []).append(unit)
    strata = sorted(members, key=_order)
    available = {stratum: len(members[stratum]) for stratum in strata}
    quotas = allocate(list(available.values()), sum(available.values()) if size is None else size)
    chosen: list[str] = []
    for stratum, quota in zip(strata, quotas, strict=True):
        pool = members[stratum]
        if quota < len(pool):
            purpose = ("sample", *("" if value is None else f"={value}" for value in stratum))
            pool = [
                pool[index] for index in generator(seed, *purpose).choice(len(pool), quota, replace=False)
            ]
        chosen += pool
    return Draw(units=sorted(chosen), available=available, drawn=dict(zip(strata, quotas, strict=True)))


def _order(stratum: SampleStratum) -> tuple[tuple[bool, str], ...]:
    return tuple((value is None, value or "") for value in stratum)
