"""Packs are fixed before sharding."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from audit_lib.score.packs import cut, pack
from audit_lib.score.requests import Candidate, Request

sizes = st.lists(st.tuples(st.integers(1, 12), st.sampled_from("abc")), min_size=1, max_size=20)


def _requests(families: list[tuple[int, str]]) -> list[Request]:
    return [
        Request(
            request_id=f"{f:02}/{i:02}",
            section=section,
            family=f"{f:02}",
            candidates=(Candidate(variant_id=f"{f:02}/{i:02}"),),
        )
        for f, (size, section) in enumerate(families)
        for i in range(size)
    ]


@given(sizes, st.integers(1, 10), st.randoms(use_true_random=False))
def test_packs_hold_each_request_once_and_ignore_the_order(families, size, random):
    requests = _requests(families)
    packs = pack(requests, size)
    shuffled = list(requests)
    random.shuffle(shuffled)
    assert pack(shuffled, size) == packs
    assert sorted(r.key for p in packs for r in p) == sorted(r.key for r in requests)
    assert all(1 <= len(p) <= size for p in packs)
    assert all(len({r.section for r in p}) == 1 for p in packs)


@given(sizes, st.integers(1, 10))
def test_a_family_that_fits_is_never_cut(families, size):
    packs = pack(_requests([(min(n, size), section) for n, section in families]), size)
    where: dict[str, set[int]] = {}
    for number, p in enumerate(packs):
        for r in p:
            where.setdefault(r.family, set()).add(number)
    assert all(len(numbers) == 1 for numbers in where.values())


@given(sizes, st.integers(1, 10), st.integers(1, 64))
def test_shards_hold_the_same_packs_in_the_same_order(families, size, shards):
    packs = pack(_requests(families), size)
    dealt = cut(packs, shards)
    assert [p for number in sorted(dealt) for p in dealt[number]] == packs
    assert all(0 <= number < shards and held for number, held in dealt.items())


def test_equal_packs_are_dealt_out_evenly():
    dealt = cut(pack(_requests([(4, "a")] * 16), 4), 4)
    assert {number: len(held) for number, held in dealt.items()} == {0: 4, 1: 4, 2: 4, 3: 4}
