"""A transparency service of a test: its log as a Merkle tree by recursion, and receipts in CBOR written by hand.

It shares no code with what checks receipts: no CBOR library, and the tree by its definition (RFC 9162, 2.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

Key = ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey


def pem(key: Key) -> str:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def tree(entries: Sequence[bytes]) -> bytes:
    """The root over entries."""
    if len(entries) == 1:
        return sha256(b"\x00" + entries[0]).digest()
    half = _half(len(entries))
    return sha256(b"\x01" + tree(entries[:half]) + tree(entries[half:])).digest()


def path(index: int, entries: Sequence[bytes]) -> list[bytes]:
    """The siblings from an entry to the root."""
    if len(entries) == 1:
        return []
    half = _half(len(entries))
    if index < half:
        return [*path(index, entries[:half]), tree(entries[half:])]
    return [*path(index - half, entries[half:]), tree(entries[:half])]


def _half(size: int) -> int:
    half = 1
    while half * 2 < size:
        half *= 2
    return half


def head(major: int, value: int) -> bytes:
    if value < 24:
        return bytes([major << 5 | value])
    for code, width in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if value < 1 << 8 * width:
            return bytes([major << 5 | code]) + value.to_bytes(width, "big")
    raise ValueError(value)


def cbor(value: Any) -> bytes:
    if value is None:
        return b"\xf6"
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(map(cbor, value))
    if isinstance(value, dict):
        return head(5, len(value)) + b"".join(cbor(part) for pair in value.items() for part in pair)
    raise TypeError(value)


def receipt(
    entries: Sequence[bytes],
    index: int,
    key: Key,
    *,
    algorithm: int | None = None,
    structure: int = 1,
    critical: bool = False,
    payload: bytes | None = None,
    proof: bytes | None = None,
) -> bytes:
    """A receipt that the entry at a place is in the log."""
    eddsa = isinstance(key, ed25519.Ed25519PrivateKey)
    headers: dict[int, Any] = {
        1: algorithm if algorithm is not None else (-8 if eddsa else -7),
        395: structure,
    }
    if critical:
        headers[2] = [395]
    protected = cbor(headers)
    signed = cbor(["Signature1", protected, b"", tree(entries)])
    if isinstance(key, ed25519.Ed25519PrivateKey):
        signature = key.sign(signed)
    else:
        r, s = decode_dss_signature(key.sign(signed, ec.ECDSA(hashes.SHA256())))
        signature = r.to_bytes(32, "big") + s.to_bytes(32, "big")
    if proof is None:
        proof = cbor([len(entries), index, path(index, entries)])
    return head(6, 18) + cbor([protected, {396: {-1: [proof]}}, payload, signature])
