"""Packs: requests that are computed together, fixed over the whole run before it is cut into shards.

A batch's size and neighbours change the last digits of a score. With packs that never depend on
shards, one shard and 64 give the same bytes. That holds for one set of requests: another sample makes other packs,
and so other last digits (up to 3e-6 in probability was seen).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

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
    packs: list[Pack] = []
    ordered = sorted(requests, key=lambda r: (r.section, r.family, r.key))
    for _, section in groupby(ordered, key=lambda r: r.section):
        filling: list[Request] = []
        for _, members in groupby(section, key=lambda r: r.family):
            family = list(members)
            if filling and len(filling) + len(family) > size:
                packs.append(tuple(filling))
                filling = []
            filling += family
            while len(filling) > size:
                packs.append(tuple(filling[:size]))
                filling = filling[size:]
        if filling:
            packs.append(tuple(filling))
    return packs


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
    total = sum(len(p) for p in packs)
    dealt: dict[int, list[Pack]] = {}
    before = begun = 0
    section = None
    for p in packs:
        if not whole_sections or p[0].section != section:
            begun, section = before, p[0].section
        dealt.setdefault(begun * shards // total, []).append(p)
        before += len(p)
    return dealt
