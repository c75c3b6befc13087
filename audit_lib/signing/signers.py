"""Keys that sign runs, by URI: a file, a variable of the environment, or a key that a service or a device keeps.

==========================  ===========================================================================================
``file:KEY.pem``            a private key, encrypted if `AUDIT_SIGNING_PASSPHRASE` is set
``env:VARIABLE``            the same, its PEM in a variable
``awskms:``, ``gcpkms:``,   securesystemslib's, where the packages that it needs for them are installed. ``pkcs11:`` is
``azurekms:``, ``hv:``,     its ``hsm:``, whose PIN is `AUDIT_SIGNING_PASSPHRASE`. `AUDIT_SIGNER_PUBLIC` names the file
``pkcs11:``                 of the public key.
==========================  ===========================================================================================
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from audit_lib.canonical import sha256
from audit_lib.errors import BackendError, EvidenceError, InputError
from audit_lib.signing.keys import PASSPHRASE, key_id, need_extra

if TYPE_CHECKING:
    from securesystemslib.signer import Signer, SSlibKey

SIGNER: Final = "AUDIT_SIGNER"
"""Environment variable with the URI of the key that signs plans and results."""
PUBLIC: Final = "AUDIT_SIGNER_PUBLIC"
PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
"""Of envelopes that hold an in-toto statement."""
_KEPT: Final = {"awskms": "awskms", "gcpkms": "gcpkms", "azurekms": "azurekms", "hv": "hv", "pkcs11": "hsm"}
"""What securesystemslib calls each kind of key that is not here."""


@dataclass(frozen=True, slots=True)
class RunSigner:
    """A key that signs runs."""

    signer: Signer
    public_pem: bytes
    uri: str
    """Where the key is kept, for people to read."""


def configured_signer() -> RunSigner | None:
    """Return the signer that the environment names; None where it names none.

    Raises
    ------
    InputError
        If it cannot be used; the message holds no secret.
    AuditError
        If the extra ``sign`` is not installed.
    """
    uri = os.environ.get(SIGNER, "").strip()
    return open_signer(uri) if uri else None


def open_signer(uri: str) -> RunSigner:
    """Return the signer at a URI; see `configured_signer`."""
    need_extra()
    scheme, _, rest = uri.partition(":")
    if scheme == "file":
        try:
            return _of_pem(Path(rest).read_bytes(), uri)
        except OSError as error:
            raise InputError(f"{SIGNER}={uri}: the key cannot be read ({error.strerror})") from None
    if scheme == "env":
        pem = os.environ.get(rest)
        if not pem:
            raise InputError(f"{SIGNER}={uri}: the variable {rest} is not set")
        return _of_pem(pem.encode(), uri)
    if scheme not in _KEPT:
        known = ", ".join(f"{name}:" for name in ("file", "env", *_KEPT))
        raise InputError(f"{SIGNER}: no signer is known for {scheme[:40]!r}; use {known}")
    return _kept(uri, scheme, rest)


def public_key(content: bytes, where: str) -> SSlibKey:
    """Return a public key of any kind from PEM; its id is the digest by which people compare keys.

    Raises
    ------
    InputError
        If it is none.
    """
    need_extra()
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from securesystemslib.signer import SSlibKey

    try:
        key: Any = form.load_pem_public_key(content)
        if isinstance(key, Ed25519PublicKey):
            return SSlibKey.from_crypto(key, keyid=key_id(key))
        der = key.public_bytes(form.Encoding.DER, form.PublicFormat.SubjectPublicKeyInfo)
        return SSlibKey.from_crypto(key, keyid=sha256(der))
    except Exception as error:  # noqa: BLE001 - cryptography raises of many kinds on a stranger's bytes
        raise InputError(f"{where}: not a public key in PEM form ({type(error).__name__})") from None


def archived_key(content: bytes, where: str) -> SSlibKey:
    """Return the public key of a file in a run, where no signature covers that file: one key has one form.

    Raises
    ------
    EvidenceError
        If it is a key, written otherwise than keys are written here.
    InputError
        If it is none.
    """
    key = public_key(content, where)
    if _plain_pem(content) != content:
        raise EvidenceError(f"{where}: a public key in another form than it is written in")
    return key


def _plain_pem(content: bytes) -> bytes:
    from cryptography.hazmat.primitives import serialization as form

    key: Any = form.load_pem_public_key(content)
    written: bytes = key.public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    return written


def _of_pem(content: bytes, uri: str) -> RunSigner:
    from cryptography.hazmat.primitives import serialization as form
    from securesystemslib.signer import CryptoSigner

    phrase = os.environ.get(PASSPHRASE)
    try:
        key: Any = form.load_pem_private_key(content, phrase.encode() if phrase else None)
        pem = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
        return RunSigner(CryptoSigner(key, public_key(pem, uri)), pem, uri)
    except InputError:
        raise
    except TypeError:
        raise InputError(
            f"{SIGNER}={uri}: {PASSPHRASE} must be set for an encrypted key, and unset for a plain one"
        ) from None
    except Exception as error:  # noqa: BLE001 - of many kinds; none of their messages is repeated
        raise InputError(
            f"{SIGNER}={uri}: not a private key in PEM form, or another passphrase ({type(error).__name__}); "
            "`audit keygen` makes a key"
        ) from None


def _kept(uri: str, scheme: str, rest: str) -> RunSigner:
    """Open a key that is not here."""
    from securesystemslib.signer import SIGNER_FOR_URI_SCHEME

    kinds: dict[str, Any] = SIGNER_FOR_URI_SCHEME
    path = os.environ.get(PUBLIC)
    if not path:
        raise InputError(f"{SIGNER}={uri}: {PUBLIC} must name the file of its public key, in PEM form")
    try:
        pem = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{PUBLIC}={path}: cannot be read ({error.strerror})") from None
    key = public_key(pem, path)
    pin = os.environ.get(PASSPHRASE)
    if scheme == "pkcs11" and not pin:
        raise InputError(f"{SIGNER}={uri}: {PASSPHRASE} must be the PIN of the device")
    kind = _KEPT[scheme]
    try:
        signer = kinds[kind].from_priv_key_uri(f"{kind}:{rest}", key, lambda _: pin or "")
        return RunSigner(signer, _plain_pem(pem), uri)
    except Exception as error:  # noqa: BLE001 - each service has its own kinds
        raise InputError(_unusable(uri, error)) from None


def _unusable(uri: str, error: Exception) -> str:
    said = str(error).strip().partition("\n")[0][:200]
    kind = _KEPT.get(uri.partition(":")[0])
    extra = (
        f"is 'securesystemslib[{kind}]' installed, and are its credentials and {PUBLIC} right?"
        if kind
        else ""
    )
    said = f"({type(error).__name__}{f': {said}' if said else ''})"
    return f"{SIGNER}={uri}: cannot be used {said}" + (f"; {extra}" if extra else "")


def sign_payload(payload: bytes, payload_type: str, signers: list[RunSigner]) -> bytes:
    """Return a DSSE envelope over `payload`, each of whose signatures was verified.

    Raises
    ------
    BackendError
        If a service or device does not sign.
    InputError
        If it signs with another key than it is said to have.
    """
    from securesystemslib.dsse import Envelope

    from audit_lib.canonical import pretty_json

    envelope = Envelope(payload, payload_type, {})
    for each in signers:
        try:
            envelope.sign(each.signer)
        except Exception as error:  # noqa: BLE001 - each service and device has its own kinds
            raise BackendError(_unusable(each.uri, error)) from None
        key = public_key(each.public_pem, each.uri)
        if not signers_among(pretty_json(envelope.to_dict()), payload_type, [key], each.uri):
            raise InputError(
                f"{SIGNER}={each.uri}: what it signs does not verify with the key that {PUBLIC} names"
            )
    content: bytes = pretty_json(envelope.to_dict())
    return content


def signed_payload(content: bytes, payload_type: str, where: str) -> bytes:
    """Return an envelope's payload, whoever signed it.

    Raises
    ------
    EvidenceError
        If it is no envelope of this kind.
    """
    payload: bytes = _envelope(content, payload_type, where).payload
    return payload


def signers_among(content: bytes, payload_type: str, keys: list[SSlibKey], where: str) -> set[str]:
    """Return the ids of those keys that signed an envelope's payload."""
    from securesystemslib.exceptions import VerificationError

    envelope = _envelope(content, payload_type, where)
    found = set()
    for key in keys:
        try:
            envelope.verify([key], 1)
        except VerificationError:
            continue
        found.add(key.keyid)
    return found


def _envelope(content: bytes, payload_type: str, where: str) -> Any:
    from securesystemslib.dsse import Envelope

    from audit_lib.canonical import pretty_json, strict_json

    try:
        envelope = Envelope.from_dict(strict_json(content))
        if envelope.payload_type != payload_type:
            raise ValueError("payload type")
        if pretty_json(envelope.to_dict()) != content:
            raise ValueError("other bytes")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EvidenceError(f"{where}: not a signed statement ({type(error).__name__})") from None
    return envelope
