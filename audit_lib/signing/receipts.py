"""Receipts of a transparency service: proof that a statement's envelope is in its log.

A receipt is a COSE_Sign1 (RFC 9052) as RFC 9942 describes it: the service's signature over the root of a Merkle tree
(RFC 9162 with SHA-256, verifiable data structure 1), and the path from the entry to that root. The root itself is not
in it: whoever checks computes it from the entry, which here is the envelope's file, byte by byte.

References
----------
Steele, O. and others (2026). CBOR Object Signing and Encryption (COSE) Receipts. RFC 9942.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Final

from audit_lib.documents.trust import TrustedLog
from audit_lib.errors import AuditError, EvidenceError, InputError

_SIGN1: Final = 18
"""CBOR tag of a COSE_Sign1."""
_ALGORITHM, _CRITICAL, _STRUCTURE, _PROOFS = 1, 2, 395, 396
"""Labels of header parameters."""
_RFC9162_SHA256: Final = 1
_INCLUSION: Final = -1
_MOST: Final = 1 << 20
_LONGEST_PATH: Final = 64


@dataclass(frozen=True, slots=True)
class LogEntry:
    """Which service has the entry, and where in a log of which size."""

    name: str
    independent: bool
    index: int
    size: int


def check_receipt(content: bytes, entry: bytes, logs: Sequence[TrustedLog], where: str) -> LogEntry:
    """Check a receipt against the services that the verifier trusts.

    Parameters
    ----------
    content : bytes
        The receipt.
    entry : bytes
        What must be in the log.
    logs : sequence of TrustedLog
        Of the trust file.
    where : str
        What an error names.

    Raises
    ------
    EvidenceError
        If it is none, proves nothing about this entry, or is signed by none of them.
    """
    protected, headers, proof, signature = _decoded(content, where)
    size, index, path = proof
    root = _root(hashlib.sha256(b"\x00" + entry).digest(), size, index, path, where)
    from cbor2 import dumps

    signed = dumps(["Signature1", protected, b"", root])
    for one in logs:
        if _is_signature(one, headers[_ALGORITHM], signature, signed):
            return LogEntry(one.name, one.independent, index, size)
    names = ", ".join(one.name for one in logs) or "none"
    raise EvidenceError(
        f"{where}: no trusted service ({names}) signed a log that has this entry at place {index} of {size}"
    )


def _decoded(content: bytes, where: str) -> tuple[bytes, dict[Any, Any], tuple[int, int, list[bytes]], bytes]:
    """Return the protected header in bytes and read, the one proof of inclusion, and the signature."""
    if len(content) > _MOST:
        raise EvidenceError(f"{where}: {len(content)} bytes, more than any receipt has")
    try:
        message = _cbor(content)
        if message.tag != _SIGN1:
            raise ValueError("tag")
        protected, unprotected, payload, signature = message.value
        headers = _cbor(protected)
        if payload is not None or _CRITICAL in headers or headers[_STRUCTURE] != _RFC9162_SHA256:
            raise ValueError("payload, crit, or another structure")
        proofs = unprotected[_PROOFS][_INCLUSION]
        if len(proofs) != 1 or not isinstance(signature, bytes):
            raise ValueError("proofs")
        size, index, path = _cbor(proofs[0])
        if not all(type(one) is int for one in (size, index)) or not 0 <= index < size < 1 << 63:
            raise ValueError("place")
        if len(path) > _LONGEST_PATH or not all(type(one) is bytes and len(one) == 32 for one in path):
            raise ValueError("path")
        headers[_ALGORITHM]
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
        raise EvidenceError(
            f"{where}: no receipt of RFC 9942 with one proof of inclusion by RFC9162_SHA256 ({type(error).__name__})"
        ) from None
    return protected, headers, (size, index, list(path)), signature


def _cbor(content: bytes) -> Any:
    """Read one object that fills its bytes."""
    if find_spec("cbor2") is None:
        raise AuditError("receipts need cbor2; pip install 'audit-lib[scitt]'")
    from cbor2 import CBORDecoder

    stream = io.BytesIO(content)
    value = CBORDecoder(stream).decode()
    if stream.tell() != len(content):
        raise ValueError("more follows")
    return value


def _root(leaf: bytes, size: int, index: int, path: Sequence[bytes], where: str) -> bytes:
    """Compute the root from a leaf and its path (RFC 9162, 2.1.3.2)."""
    node, last, value = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            raise EvidenceError(f"{where}: its path is too long for a log of {size}")
        if node & 1 or node == last:
            value = hashlib.sha256(b"\x01" + sibling + value).digest()
            while node and not node & 1:
                node, last = node >> 1, last >> 1
        else:
            value = hashlib.sha256(b"\x01" + value + sibling).digest()
        node, last = node >> 1, last >> 1
    if last:
        raise EvidenceError(f"{where}: its path is too short for a log of {size}")
    return value


def _is_signature(log: TrustedLog, algorithm: Any, signature: bytes, signed: bytes) -> bool:
    """Whether a service's key made a signature by ES256, ES384 or EdDSA; any other algorithm is none."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(log.public.encode())
    except ValueError:
        raise InputError(f"the trust file: the key of {log.name} is no public key in PEM form") from None
    try:
        if isinstance(key, ed25519.Ed25519PublicKey) and algorithm in (-8, -19):
            key.verify(signature, signed)
            return True
        curves: dict[tuple[str, Any], tuple[int, hashes.HashAlgorithm]] = {
            ("secp256r1", -7): (32, hashes.SHA256()),
            ("secp256r1", -9): (32, hashes.SHA256()),
            ("secp384r1", -35): (48, hashes.SHA384()),
        }
        if not isinstance(key, ec.EllipticCurvePublicKey) or (key.curve.name, algorithm) not in curves:
            return False
        width, digest = curves[key.curve.name, algorithm]
        if len(signature) != 2 * width:
            return False
        r, s = (int.from_bytes(part, "big") for part in (signature[:width], signature[width:]))
        key.verify(encode_dss_signature(r, s), signed, ec.ECDSA(digest))
    except (InvalidSignature, TypeError):
        return False
    return True
