"""Designs: which groups each application is shown in, and how evenly that came out.

*Full* shows every application in every group. *Balanced incomplete* shows it in a block of some groups, so that
every group, and every pair of groups, is met equally often; comparisons stay within applications. *Two-sample*
shows it in one group only, dealt evenly over applications and positions, as where a second version would be
noticed. An allocation is a seeded shuffle of applications; what could not be made even is counted.

Source: Fisher and Yates, Statistical Tables (1938), on balanced incomplete blocks; cyclic development of blocks:
Bose, "On the construction of balanced incomplete block designs", Annals of Eugenics 9 (1939).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from math import comb
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.design import Dealt
from audit_lib.errors import SpecError
from audit_lib.seeds import generator

DesignKind = Literal["full", "balanced_incomplete", "two_sample"]

_MOST_BLOCKS: Final = 20_000
_MOST_SWAPPED: Final = 64  # blocks between which groups are exchanged; more are nearly even by themselves
DesignBlock = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """How evenly groups were dealt.

    Parameters
    ----------
    applications : tuple of int
        For each group the applications that are shown in it.
    concurrence : tuple of tuple of int
        For each two groups the applications that are shown in both; a group with itself, as `applications`.
    exact : bool
        Whether every group, and every pair of groups, is met equally often.
    by_position : mapping of str to tuple of int
        The same as `applications`, for each position.
    """

    applications: tuple[int, ...]
    concurrence: tuple[tuple[int, ...], ...]
    exact: bool
    by_position: Mapping[str, tuple[int, ...]]


def allocate(
    applications: Mapping[str, str], groups: int, kind: DesignKind, block_size: int | None, seed: int
) -> dict[str, DesignBlock]:
    """Return the groups that each application is shown in.

    Parameters
    ----------
    applications : mapping of str to str
        Application -> position.
    groups : int
        How many there are.
    kind : str
        The design.
    block_size : int or None
        Groups that an application is shown in, in a balanced incomplete design.
    seed : int
        The audit's.

    Returns
    -------
    dict
        Application -> numbers of its groups, rising.

    Raises
    ------
    SpecError
        If the block size does not fit the number of groups.

    Examples
    --------
    >>> dealt = allocate({f"a{i}": "cook" for i in range(6)}, 3, "balanced_incomplete", 2, seed=7)
    >>> sorted(dealt.values())
    [(0, 1), (0, 1), (0, 2), (0, 2), (1, 2), (1, 2)]
    """
    if kind == "full":
        return dict.fromkeys(sorted(applications), tuple(range(groups)))
    order = []
    for position in sorted(set(applications.values())):
        members = sorted(a for a, where in applications.items() if where == position)
        shuffled = generator(seed, "design", position).permutation(len(members)).tolist()
        order += [members[place] for place in shuffled]
    relabelled = generator(seed, "design", "groups").permutation(groups).tolist()
    if kind == "two_sample":
        # Dealt round: of any stretch, and so of any position, groups differ by one application at most.
        return {application: (relabelled[place % groups],) for place, application in enumerate(order)}
    blocks = _dealt(len(order), groups, check_block(block_size, groups), seed)
    return {
        application: tuple(sorted(relabelled[group] for group in block))
        for application, block in zip(order, blocks, strict=True)
    }


def balance(dealt: Mapping[str, DesignBlock], applications: Mapping[str, str], groups: int) -> Balance:
    """Count how often groups, and pairs of them, are met.

    Examples
    --------
    >>> found = balance({"a": (0, 1), "b": (1,)}, {"a": "cook", "b": "cook"}, 2)
    >>> found.applications, found.concurrence, found.exact
    ((1, 2), ((1, 1), (1, 2)), False)
    """
    shown = np.zeros((len(dealt), groups), dtype=np.int64)
    positions = sorted(set(applications.values()))
    by_position = {position: np.zeros(groups, dtype=np.int64) for position in positions}
    for row, (application, block) in enumerate(sorted(dealt.items())):
        shown[row, list(block)] = 1
        by_position[applications[application]] += shown[row]
    together = shown.T @ shown
    pairs = together[~np.eye(groups, dtype=bool)]
    counts = np.diag(together)
    return Balance(
        applications=tuple(counts.tolist()),
        concurrence=tuple(map(tuple, together.tolist())),
        exact=bool(np.ptp(counts) == 0 and (pairs.size == 0 or np.ptp(pairs) == 0)),
        by_position={position: tuple(found.tolist()) for position, found in by_position.items()},
    )


def design_report(
    kind: DesignKind, block_size: int | None, found: Balance, cells: Sequence[Mapping[str, str]]
) -> Dealt:
    """Return the design for ``design.json``."""
    return Dealt(
        kind=kind,
        block_size=block_size,
        exactly_balanced=found.exact,
        groups=tuple(dict(cell) for cell in cells),
        applications_by_group=found.applications,
        concurrence=found.concurrence,
        applications_by_position=found.by_position,
    )


def smallest_replicate(groups: int, block_size: int) -> tuple[DesignBlock, ...]:
    """Return a small set of blocks in which every pair of groups is met equally often.

    Blocks are developed by turning the groups round a circle, all of them or all but one. The fewest blocks of up to
    three such orbits that meet all pairs equally often are taken, and all blocks of that size where there are none.

    Examples
    --------
    >>> smallest_replicate(7, 3)
    ((0, 1, 3), (0, 2, 6), (0, 4, 5), (1, 2, 4), (1, 5, 6), (2, 3, 5), (3, 4, 6))
    """
    return _replicate(groups, block_size)


@cache
def _replicate(groups: int, block_size: int) -> tuple[DesignBlock, ...]:
    everything = list(combinations(range(groups), block_size))
    best: tuple[int, list[DesignBlock]] = len(everything), everything
    for moved in (groups, groups - 1):  # all groups turn round, or all but the last
        orbits = _orbits(everything, moved)
        met = np.array([_met(orbit, groups) for orbit in orbits])
        for number in (1, 2, 3):
            if len(orbits) ** number > 200_000:
                break
            for chosen in combinations(range(len(orbits)), number):
                size = sum(len(orbits[place]) for place in chosen)
                if size < best[0] and np.ptp(met[list(chosen)].sum(axis=0)) == 0:
                    best = size, [block for place in chosen for block in orbits[place]]
    return tuple(sorted(best[1]))


def _orbits(blocks: Sequence[DesignBlock], moved: int) -> list[list[DesignBlock]]:
    """Split blocks into sets that ``g -> g + 1 mod moved`` turns into themselves."""
    orbits: list[list[DesignBlock]] = []
    seen: set[DesignBlock] = set()
    for block in blocks:
        if block not in seen:
            turned = (
                tuple(sorted((g + shift) % moved if g < moved else g for g in block))
                for shift in range(moved)
            )
            orbits.append(sorted(set(turned)))
            seen |= set(orbits[-1])
    return orbits


def _met(blocks: Sequence[DesignBlock], groups: int) -> NDArray[np.int64]:
    """Count in how many blocks each pair of groups stands."""
    member = np.zeros((len(blocks), groups), dtype=np.int64)
    np.put_along_axis(member, np.array(blocks), 1, axis=1)
    together = member.T @ member
    return np.asarray(together[np.triu_indices(groups, 1)])


def _dealt(applications: int, groups: int, block_size: int, seed: int) -> list[DesignBlock]:
    """Return a block for each application: whole replicates, shuffled, then those that keep it most even."""
    whole = _replicate(groups, block_size)
    rng = generator(seed, "design", "blocks")
    blocks: list[DesignBlock] = []
    for _ in range(applications // len(whole)):
        blocks += [whole[place] for place in rng.permutation(len(whole)).tolist()]
    left = applications - len(blocks)
    if left == 0:
        return blocks
    pool = np.array(list(combinations(range(groups), block_size)))
    pool = pool[rng.permutation(len(pool))]
    member = np.zeros((len(pool), groups), dtype=np.int64)
    np.put_along_axis(member, pool, 1, axis=1)
    met = np.zeros((groups, groups), dtype=np.int64)
    for _ in range(left):
        often = member @ np.diag(met)  # a group that was met less goes first, then a pair that was
        together = np.einsum("bi,ij,bj->b", member, met - np.diag(np.diag(met)), member)
        chosen = int(np.lexsort((together, often))[0])
        blocks.append(tuple(pool[chosen].tolist()))
        met += np.outer(member[chosen], member[chosen])
    rest = blocks[-left:]
    # The whole replicates meet all pairs alike, so only the rest can be uneven.
    return blocks[:-left] + (_swapped(rest, groups) if left <= _MOST_SWAPPED else rest)


def _swapped(blocks: Sequence[DesignBlock], groups: int) -> list[DesignBlock]:
    """Exchange groups between two blocks as long as that evens out how often pairs meet; groups stay as often met."""
    member = np.zeros((len(blocks), groups), dtype=np.int64)
    np.put_along_axis(member, np.array(blocks), 1, axis=1)
    met = member.T @ member
    np.fill_diagonal(met, 0)
    off = ~np.eye(groups, dtype=bool)
    better = True
    while better and np.ptp(met[off]) > 1:
        better = False
        for one, other in combinations(range(len(blocks)), 2):
            for a, b in product(np.flatnonzero(member[one] > member[other]).tolist(),
                                np.flatnonzero(member[other] > member[one]).tolist()):  # fmt: skip
                if not (member[one, a] and member[other, b]):
                    continue  # changed since
                after = member[[one, other]]
                after[:, [a, b]] = after[:, [b, a]]
                change = after.T @ after - member[[one, other]].T @ member[[one, other]]
                np.fill_diagonal(change, 0)
                # Twice the sum of products plus the squares: how the sum of squared meetings changes.
                if int((2 * met * change + change * change).sum()) < 0:
                    member[[one, other]], met, better = after, met + change, True
    return [tuple(np.flatnonzero(row).tolist()) for row in member]


def check_block(block_size: int | None, groups: int) -> int:
    """Return the block size, and refuse one that does not fit the number of groups.

    Raises
    ------
    SpecError
        If it is none, less than 2, not below the number of groups, or has too many blocks.

    Examples
    --------
    >>> check_block(4, 8)
    4
    """
    if block_size is None or not 2 <= block_size < groups:
        raise SpecError(
            f"perturb.block_size: a balanced incomplete design of {groups} groups needs a block of 2 to {groups - 1} "
            f"groups, has {block_size}; choose such a block, or `design: full`"
            if groups > 2
            else f"perturb.design: {groups} groups have no incomplete blocks; use `design: full` or `two_sample`"
        )
    if comb(groups, block_size) > _MOST_BLOCKS:
        raise SpecError(
            f"perturb.block_size: {groups} groups have {comb(groups, block_size)} blocks of {block_size}; "
            "choose a smaller block"
        )
    return block_size
