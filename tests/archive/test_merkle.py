"""The tree against another that is written from the RFC's own words, from the top down."""

from __future__ import annotations

import contextlib
from hashlib import sha256

import pytest

from audit_lib.archive.merkle import MerkleRoot, MerkleTree, leaf_hash, root_from
from audit_lib.errors import EvidenceError


def split(n: int) -> int:
    """The largest power of two smaller than n."""
    k = 1
    while k * 2 < n:
        k *= 2
    return k


def mth(d: list[bytes]) -> bytes:
    """MTH of RFC 6962, section 2.1."""
    if not d:
        return sha256().digest()
    if len(d) == 1:
        return sha256(b"\x00" + d[0]).digest()
    k = split(len(d))
    return sha256(b"\x01" + mth(d[:k]) + mth(d[k:])).digest()


def path(m: int, d: list[bytes]) -> list[bytes]:
    """PATH of RFC 6962, section 2.1.1."""
    if len(d) == 1:
        return []
    k = split(len(d))
    return [*path(m, d[:k]), mth(d[k:])] if m < k else [*path(m - k, d[k:]), mth(d[:k])]


@pytest.mark.parametrize("size", [*range(18), 31, 32, 33, 100])
def test_roots_and_paths_are_those_of_the_rfc(size: int) -> None:
    leaves = [f"leaf {number}".encode() for number in range(size)]
    tree = MerkleTree.over(leaves)
    assert tree.root == mth(leaves) and tree.size == size
    one_by_one = MerkleRoot()
    for leaf in leaves:
        one_by_one.add(leaf_hash(leaf))
    assert (one_by_one.root(), one_by_one.size) == (tree.root, size)
    for number, leaf in enumerate(leaves):
        assert tree.path(number) == path(number, leaves)
        assert root_from(leaf, number, size, path(number, leaves)) == tree.root


def test_known_roots() -> None:
    """Test vectors of the Certificate Transparency project (merkle_tree_test)."""
    inputs = [
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    ]
    leaves = [bytes.fromhex(each) for each in inputs]
    roots = {
        0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    }
    for size, root in roots.items():
        assert MerkleTree.over(leaves[:size]).root.hex() == root


def test_another_leaf_place_size_or_path_leads_elsewhere() -> None:
    leaves = [bytes([number]) for number in range(13)]
    tree = MerkleTree.over(leaves)
    for number, leaf in enumerate(leaves):
        own = tree.path(number)
        assert root_from(leaf + b"x", number, 13, own) != tree.root
        for wrong in (own[:-1], [*own, own[0]]):
            with pytest.raises(EvidenceError, match="path"):
                root_from(leaf, number, 13, wrong)
        flipped = [own[0][:-1] + bytes([own[0][-1] ^ 1]), *own[1:]]
        assert root_from(leaf, number, 13, flipped) != tree.root
        for place in set(range(13)) - {number}:
            with contextlib.suppress(EvidenceError):
                assert root_from(leaf, place, 13, own) != tree.root
    with pytest.raises(EvidenceError, match="no leaf 13"):
        root_from(b"", 13, 13, [])


def test_a_node_is_not_taken_for_a_leaf() -> None:
    tree = MerkleTree.over([b"a", b"b", b"c", b"d"])
    left, right = tree.levels[1]
    assert MerkleTree.over([left, right]).root != tree.root
