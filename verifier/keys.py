"""Public keys in PEM form, and the envelopes (DSSE) that they sign."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import Any, NamedTuple

from verifier import ed25519
from verifier.documents import decode, envelope
from verifier.strict_json import OddError

IN_TOTO = "application/vnd.in-toto+json"
_ED25519 = bytes.fromhex("302a300506032b6570032100")
"""What is before the 32 bytes of a key in its DER form (RFC 8410)."""
_PEM = re.compile(r"\s*-----BEGIN PUBLIC KEY-----\s([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----\s*")


class PublicKey(NamedTuple):
    """A key: the digest by which people compare it, and its 32 bytes; none where it is of another kind."""

    key_id: str
    ed25519: bytes


def read_key(pem: bytes) -> PublicKey:
    """Return a key.

    Raises
    ------
    OddError
        If it is none.
    """
    found = _PEM.fullmatch(pem.decode("ascii", "replace"))
    if found is None:
        raise OddError("is no public key in PEM form")
    try:
        der = base64.b64decode("".join(found[1].split()), validate=True)
    except binascii.Error:
        raise OddError("is no public key in PEM form") from None
    if der.startswith(_ED25519) and len(der) == len(_ED25519) + 32:
        raw = der[len(_ED25519) :]
        return PublicKey(hashlib.sha256(raw).hexdigest(), raw)
    return PublicKey(hashlib.sha256(der).hexdigest(), b"")


def read_archived_key(pem: bytes) -> PublicKey:
    """Return the key of a file in a run, where no signature covers that file: one key has one form.

    Raises
    ------
    OddError
        If it is none, or written otherwise.
    """
    key = read_key(pem)
    text = "".join(pem.decode("ascii").split("-----")[2].split())
    lines = [text[start : start + 64] for start in range(0, len(text), 64)]
    written = "\n".join(["-----BEGIN PUBLIC KEY-----", *lines, "-----END PUBLIC KEY-----", ""])
    if pem != written.encode():
        raise OddError("is a public key in another form than it is written in")
    return key


def open_envelope(content: bytes, payload_type: str) -> tuple[dict[str, Any], bytes]:
    """Return an envelope and its payload, whoever signed it.

    Raises
    ------
    OddError
        If it is none of this type.
    """
    found = decode(envelope, content)
    if found["payloadType"] != payload_type:
        raise OddError("is an envelope of another type")
    if len({one["keyid"] for one in found["signatures"]}) != len(found["signatures"]):
        raise OddError("holds two signatures of one key")
    return found, _decoded(found["payload"])


def is_signed_by(found: dict[str, Any], payload: bytes, key: PublicKey) -> bool:
    """Whether one of an envelope's signatures is this key's, over its type and its payload.

    Raises
    ------
    OddError
        If the key is of a kind that is not checked here.
    """
    if not key.ed25519:
        raise OddError(f"key {key.key_id[:16]} is no Ed25519 key; this program checks no others")
    kind = found["payloadType"].encode()
    message = b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)
    return any(
        ed25519.verify(key.ed25519, message, _decoded(one["sig"]))
        for one in found["signatures"]
        if one["keyid"] == key.key_id
    )


def _decoded(text: str) -> bytes:
    try:
        content = base64.b64decode(text, validate=True)
    except binascii.Error:
        raise OddError("holds no base64") from None
    if base64.b64encode(content).decode() != text:
        raise OddError("holds base64 that could be written otherwise")
    return content
