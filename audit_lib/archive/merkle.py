"""Merkle trees as RFC 6962, section 2.1, hashes them: a leaf after the byte 0x00, a node after 0x01, with SHA-256."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from audit_lib.errors import EvidenceError


def leaf_hash(data: bytes) -> bytes:
    """Return the hash of a leaf.

    Examples
    --------
    >>> leaf_hash(b"").hex()[:16]
    '6e340b9cffb37a98'
    """
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of a node."""
    return sha256(b"\x01" + left + right).digest()


@dataclass(frozen=True, slots=True)
class MerkleTree:
    """A tree over leaves in their order.

    Parameters
    ----------
    levels : sequence of sequence of bytes
        Hashes of the leaves first, the root alone last. A node without a neighbour goes up as it is, which gives
        the tree that the RFC describes from the top.

    Examples
    --------
    >>> tree = MerkleTree.over([b"a", b"b", b"c"])
    >>> len(tree.path(2)), tree.size
    (1, 3)
    >>> root_from(b"c", 2, 3, tree.path(2)) == tree.root
    True
    """

    levels: Sequence[Sequence[bytes]]

    @classmethod
    def over(cls, leaves: Iterable[bytes]) -> MerkleTree:
        """Return the tree over the data of leaves."""
        return cls.over_hashes(map(leaf_hash, leaves))

    @classmethod
    def over_hashes(cls, hashes: Iterable[bytes]) -> MerkleTree:
        """Return the tree over leaves of which the hashes alone are known."""
        levels = [list(hashes)]
        while len(levels[-1]) > 1:
            below = levels[-1]
            level = [node_hash(below[at], below[at + 1]) for at in range(0, len(below) - 1, 2)]
            levels.append(level + below[len(level) * 2 :])
        return cls(levels)

    @property
    def size(self) -> int:
        """How many leaves it has."""
        return len(self.levels[0])

    @property
    def root(self) -> bytes:
        """Its root hash; of a tree without leaves that of nothing."""
        return self.levels[-1][0] if self.size else sha256(b"").digest()

    def path(self, index: int) -> list[bytes]:
        """Return the audit path of a leaf: the hashes that lead from it to the root, from below."""
        found = []
        for level in self.levels[:-1]:
            if (index ^ 1) < len(level):
                found.append(level[index ^ 1])
            index >>= 1
        return found


class MerkleRoot:
    """The root of the same tree over hashes of leaves that come one by one: a hash is held for each level.

    Examples
    --------
    >>> found = MerkleRoot()
    >>> for data in (b"a", b"b", b"c"):
    ...     found.add(leaf_hash(data))
    >>> found.root() == MerkleTree.over([b"a", b"b", b"c"]).root
    True
    """

    def __init__(self) -> None:
        self.size = 0
        self._left: list[bytes] = []  # of whole subtrees, the largest first

    def add(self, own: bytes) -> None:
        """Take the next leaf's hash."""
        below = self.size
        while below % 2:
            own = node_hash(self._left.pop(), own)
            below //= 2
        self._left.append(own)
        self.size += 1

    def root(self) -> bytes:
        """Return the root over all leaves until now."""
        if not self.size:
            return sha256(b"").digest()
        *left, root = self._left
        for each in reversed(left):
            root = node_hash(each, root)
        return root


def root_from(data: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes:
    """Return the root that a leaf and its audit path lead to (RFC 9162, section 2.1.3.2).

    Raises
    ------
    EvidenceError
        If there is no such leaf, or its path has another length.
    """
    if not 0 <= index < size:
        raise EvidenceError(f"a tree of {size} leaves has no leaf {index}")
    at, last, root = index, size - 1, leaf_hash(data)
    for each in path:
        if last == 0:
            raise EvidenceError("an audit path is longer than its tree is high")
        if at % 2 or at == last:
            root = node_hash(each, root)
            while at and not at % 2:
                at, last = at >> 1, last >> 1
        else:
            root = node_hash(root, each)
        at, last = at >> 1, last >> 1
    if last:
        raise EvidenceError("an audit path is shorter than its tree is high")
    return root
