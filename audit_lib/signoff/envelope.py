"""Signed statements as DSSE envelopes (https://github.com/secure-systems-lab/dsse)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from audit_lib.canonical import canonical_json, pretty_json, strict_json
from audit_lib.errors import EvidenceError
from audit_lib.signing.keys import key_id
from audit_lib.signing.signers import PAYLOAD_TYPE

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


def seal(statement: Mapping[str, Any], key: Ed25519PrivateKey) -> bytes:
    """Sign a statement; Ed25519 is deterministic, so the same statement and key give the same bytes."""
    from securesystemslib.dsse import Envelope
    from securesystemslib.signer import CryptoSigner

    envelope = Envelope(canonical_json(statement), PAYLOAD_TYPE, {})
    envelope.sign(CryptoSigner(key, _public(key.public_key())))
    return pretty_json(envelope.to_dict())


def unseal(content: bytes, key: Ed25519PublicKey, where: str) -> None:
    """Check that `key` signed an envelope's statement, in the bytes that this library writes.

    Raises
    ------
    EvidenceError
        If the bytes are no envelope, or the key did not sign it.
    """
    from securesystemslib.dsse import Envelope
    from securesystemslib.exceptions import VerificationError

    try:
        envelope = Envelope.from_dict(strict_json(content))
        envelope.verify([_public(key)], 1)
        if envelope.payload_type != PAYLOAD_TYPE:
            raise ValueError(envelope.payload_type)
        if envelope.payload != canonical_json(strict_json(envelope.payload)):
            raise ValueError("payload")
    except VerificationError:
        raise EvidenceError(
            f"{where}: the signature is not one of key {key_id(key)[:16]} over this statement"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EvidenceError(f"{where}: not a signed statement ({type(error).__name__})") from None


def _public(key: Ed25519PublicKey) -> Any:
    from securesystemslib.signer import SSlibKey

    return SSlibKey.from_crypto(key, keyid=key_id(key))
