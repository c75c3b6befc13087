"""Packs: requests that are computed together, fixed over the whole run before it is cut into shards.

A batch's size and neighbours change the last digits of a score. With packs that never depend on
shards, one shard and 64 give the same bytes. That holds for one set of requests: another sample makes other packs,
and so other last digits (up to 3e-6 in probability was seen).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby, pairwise
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from audit_lib.score.requests import Request

Pack = tuple[Request, ...]


def pack(requests: Sequence[Request], size: int) -> list[Pack]:
    """Cut requests into packs of at most `size`, versions of one prompt together.

    Families (versions of one prompt) of one section fill a pack while they fit as a whole; only a
    family larger than `size` is cut. Packs never cross sections.

    Parameters
    ----------
    requests : sequence of Request
        In any order; packs depend on the set only.
    size : int
        Most requests in a pack.

    Examples
    --------
    >>> from audit_lib.score.requests import Candidate
    >>> def ask(i, family):
    ...     return Request(request_id=i, section="retail", family=family, candidates=(Candidate(variant_id=i),))
    >>> packs = pack([ask("d", "y"), ask("a", "x"), ask("b", "x"), ask("c", "y"), ask("e", "z")], size=4)
    >>> [[request.request_id for request in p] for p in packs]
    [['a', 'b', 'c', 'd'], ['e']]
    """
    ordered = sorted(requests, key=lambda r: (r.section, r.family, r.key))
    ends = pack_ends(((r.section, r.family) for r in ordered), size)
    return [tuple(ordered[start:end]) for start, end in pairwise([0, *ends])]


def pack_ends(keys: Iterable[tuple[str, str]], size: int) -> list[int]:
    """Return where each pack ends, counted in requests: what `pack` cuts by.

    Parameters
    ----------
    keys : iterable of (str, str)
        Section and family of each request, sorted.
    size : int
        Most requests in a pack.

    Examples
    --------
    >>> pack_ends([("retail", "x"), ("retail", "x"), ("retail", "y"), ("retail", "y"), ("retail", "z")], 4)
    [4, 5]
    """
    ends: list[int] = []
    for _, section in groupby(keys, key=itemgetter(0)):
        start = ends[-1] if ends else 0
        families = accumulate(sum(1 for _ in members) for _, members in groupby(section, key=itemgetter(1)))
        ends += (start + end for end in ends_of_packs([*families], size))
    return ends


def ends_of_packs(families: Sequence[int] | NDArray[np.int64], size: int) -> Iterator[int]:
    """Yield where the packs of one section end: with the last family that still fits, or within one that does not.

    Parameters
    ----------
    families : sequence or array of int
        Where each family ends, ascending.
    size : int
        Most requests in a pack.

    Examples
    --------
    >>> list(ends_of_packs([2, 4, 11], 4))
    [4, 8, 11]
    """
    at, total = 0, int(families[-1])
    while at < total:
        last = bisect_right(families, at + size) - 1
        fits = int(families[last]) if last >= 0 else 0
        at = fits if fits > at else at + size
        yield at


def cut(packs: Sequence[Pack], shards: int, *, whole_sections: bool = False) -> dict[int, list[Pack]]:
    """Deal whole packs out to shards in contiguous runs of about equal numbers of requests.

    Parameters
    ----------
    packs : sequence of Pack
        As `pack` gives them.
    shards : int
        Most shards.
    whole_sections : bool
        Whether all packs of a section must be in one shard.

    Returns
    -------
    dict
        Shard number -> its packs; shards without any are left out.
    """
    sizes = [(len(p), p[0].section) for p in packs]
    dealt: dict[int, list[Pack]] = {}
    for p, shard in zip(packs, deal(sizes, shards, whole_sections=whole_sections), strict=True):
        dealt.setdefault(shard, []).append(p)
    return dealt


def deal(packs: Sequence[tuple[int, str]], shards: int, *, whole_sections: bool = False) -> list[int]:
    """Return the shard of each pack, given by its size and section: what `cut` deals by.

    Examples
    --------
    >>> deal([(4, "hr"), (4, "hr"), (4, "retail"), (2, "retail")], 2)
    [0, 0, 1, 1]
    """
    total = sum(size for size, _ in packs)
    dealt: list[int] = []
    before = begun = 0
    last: str | None = None
    for size, section in packs:
        if not whole_sections or section != last:
            begun, last = before, section
        dealt.append(begun * shards // total)
        before += size
    return dealt
