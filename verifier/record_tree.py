"""The tree over people's records, as RFC 6962 hashes it: its root from all leaves, or from one and its path."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Sequence

from verifier.strict_json import OddError

SALTED_LEAVES = "evidence/salted_leaves.txt"
_HIGHEST = 64


def check_root(content: bytes, tree: dict[str, Any]) -> None:
    """Hold a list of leaves against what the manifest says of the tree.

    Raises
    ------
    OddError
        If it is no such list, or leads to another root.
    """
    count = tree["applications"]
    if len(content) != 65 * count or content[64::65] != b"\n" * count:
        raise OddError(f"has no line of 64 digits for each of {count} applications")
    digits = content.replace(b"\n", b"")
    if not re.fullmatch(rb"[0-9a-f]*", digits) or len(digits) != 64 * count:
        raise OddError("holds what is no digest")
    packed = bytes.fromhex(digits.decode())
    leaves = [packed[at : at + 32] for at in range(0, len(packed), 32)]
    if len(set(leaves)) != count:
        raise OddError("holds a leaf twice")
    if root_over(leaves).hex() != tree["root"]:
        raise OddError("its leaves do not lead to the root in the manifest")


def root_over(leaves: Sequence[bytes]) -> bytes:
    """Return the root over hashes of leaves: whole trees are put together as soon as two are of one size."""
    whole: list[tuple[int, bytes]] = []
    for leaf in leaves:
        size, node = 1, leaf
        while whole and whole[-1][0] == size:
            size, node = 2 * size, _node(whole.pop()[1], node)
        whole.append((size, node))
    root = whole.pop()[1]
    while whole:
        root = _node(whole.pop()[1], root)
    return root


def root_of(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes:
    """Return the root that the hash of a leaf and its path lead to.

    Raises
    ------
    OddError
        If a tree of that size has no such leaf, or its path has another length.
    """
    if len(path) > _HIGHEST:
        raise OddError("has a path that is longer than that of any tree")
    if index >= size:
        raise OddError("is a leaf that the tree has no place for")
    if size == 1:
        if path:
            raise OddError("has a path of another length than its tree is high")
        return leaf
    if not path:
        raise OddError("has a path of another length than its tree is high")
    half = 1 << ((size - 1).bit_length() - 1)
    if index < half:
        return _node(root_of(leaf, index, half, path[:-1]), path[-1])
    return _node(path[-1], root_of(leaf, index - half, size - half, path[:-1]))


def leaf_of(proof: dict[str, Any]) -> bytes:
    """Return the hash of a leaf from its two digests, each salted first where its salt is told."""
    digests = {}
    for name in ("application", "records"):
        digest, salt = proof[f"{name}_sha256"], proof.get(f"{name}_salt")
        if salt is not None:
            digest = hashlib.sha256(bytes.fromhex(salt + digest)).hexdigest()
        digests[name] = digest
    said = f'{{"application_sha256":"{digests["application"]}","records_sha256":"{digests["records"]}"}}'
    return hashlib.sha256(b"\0" + said.encode()).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()
