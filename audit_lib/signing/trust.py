"""Trust files: read, each version checked against the one before, and asked whether a key may have signed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from audit_lib.canonical import canonical_json, sha256, strict_json
from audit_lib.documents.trust import TRUST_PAYLOAD, KeyRole, TrustedAuthority, TrustedKey, TrustFile
from audit_lib.errors import EvidenceError, InputError
from audit_lib.signing.keys import load_public_key
from audit_lib.signing.signers import RunSigner, public_key, sign_payload, signed_payload, signers_among
from audit_lib.typed_json import decode

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from securesystemslib.signer import SSlibKey


@dataclass(frozen=True, slots=True)
class Trust:
    """What a verifier believes.

    Parameters
    ----------
    file : TrustFile
        The newest version that was given.
    keys : mapping of str to TrustedKey
        By id.
    gone : mapping of str to str
        Id -> name of keys of earlier versions that the newest does not have: rotated out.
    """

    file: TrustFile
    keys: dict[str, TrustedKey]
    gone: dict[str, str] = field(default_factory=dict)

    @property
    def authorities(self) -> Sequence[TrustedAuthority]:
        """Time stamping authorities."""
        return self.file.authorities

    def public_keys(self) -> list[SSlibKey]:
        """Return every key of the newest version."""
        return [public_key(one.public.encode(), one.name) for one in self.file.keys]

    def why_not(self, key_id: str, role: KeyRole, at: datetime) -> str:
        """Return why a key is not believed for what was signed at `at`; empty where it is."""
        short = key_id[:16]
        if key_id in self.gone:
            return f"key {short} ({self.gone[key_id]}) was rotated out: version {self.file.version} has it no more"
        if key_id not in self.keys:
            return f"key {short} is none of the trust file"
        one = self.keys[key_id]
        why = one.why_not(role, at)
        return f"key {short} ({one.name}) {why}" if why else ""


def read_trust(paths: Sequence[Path], now: datetime) -> Trust:
    """Read a trust file, or several versions of it, the oldest first.

    The first is believed as it is: the verifier got it from elsewhere. Each later one must be signed by enough root
    keys of the one before, and by enough of its own; one that was revoked there does not count.

    Raises
    ------
    InputError
        If one cannot be read, does not follow from the one before, or the newest has expired.
    """
    versions: list[tuple[TrustFile, bytes]] = []
    gone: dict[str, str] = {}
    for path in paths:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from None
        try:
            found = _read(content, str(path))
            if versions:
                _check_follows(content, found, versions[-1], str(path))
                gone |= {name: one.name for name, one in _by_id(versions[-1][0]).items()}
        except EvidenceError as error:
            raise InputError(str(error)) from None
        versions.append((found, content))
    newest = versions[-1][0]
    if now > datetime.fromisoformat(newest.expires):
        raise InputError(
            f"{paths[-1]}: version {newest.version} expired on {newest.expires}; get the next one"
        )
    keys = _by_id(newest)
    return Trust(newest, keys, {name: who for name, who in gone.items() if name not in keys})


def read_trusted(paths: Sequence[Path], now: datetime) -> tuple[list[Ed25519PublicKey], Trust | None]:
    """Read what a verifier was given: public keys of auditors, or a trust file in one or several versions.

    Raises
    ------
    InputError
        As `read_trust` and `load_public_key` do.
    """
    if not paths:
        return [], None
    if is_trust_file(paths[0]):
        return [], read_trust(paths, now)
    return [load_public_key(path) for path in paths], None


def is_trust_file(path: Path) -> bool:
    """Whether a file is one, and not a public key in PEM form."""
    try:
        return path.read_bytes().lstrip()[:1] == b"{"
    except OSError:
        return False


def trust_bytes(file: TrustFile) -> bytes:
    """Return a trust file as it is written."""
    return canonical_json(file.as_dict())


def sign_trust(file: TrustFile, roots: Sequence[RunSigner]) -> bytes:
    """Return a version of a trust file in an envelope that root keys signed."""
    return sign_payload(trust_bytes(file), TRUST_PAYLOAD, list(roots))


def _read(content: bytes, where: str) -> TrustFile:
    try:
        document = strict_json(content)
    except ValueError as error:
        raise EvidenceError(f"{where}: {error}") from None
    # People write the first version by hand, in any form of JSON; later ones are in an envelope.
    enveloped = isinstance(document, dict) and "payload" in document
    payload = signed_payload(content, TRUST_PAYLOAD, where) if enveloped else content
    try:
        strict_json(payload)
    except ValueError as error:
        raise EvidenceError(f"{where}: {error}") from None
    found = decode(TrustFile, payload, where)
    _by_id(found)
    return found


def _by_id(file: TrustFile) -> dict[str, TrustedKey]:
    try:
        found = {public_key(one.public.encode(), one.name).keyid: one for one in file.keys}
    except InputError as error:
        raise EvidenceError(f"the trust file: {error}") from None
    if len(found) != len(file.keys):
        raise EvidenceError("the trust file: lists a key twice, so what it says of it is not one thing")
    return found


def _check_follows(content: bytes, new: TrustFile, before: tuple[TrustFile, bytes], where: str) -> None:
    old, old_bytes = before
    if new.version != old.version + 1 or new.previous_sha256 != sha256(old_bytes):
        raise EvidenceError(
            f"{where}: version {new.version} does not follow from version {old.version} that was given"
        )
    for file in (old, new):
        # A version has no time, so a revoked key may have signed it at any.
        believed = [one for one in file.keys if "root" in one.roles and one.revoked is None]
        roots = [public_key(one.public.encode(), one.name) for one in believed]
        signed = signers_among(content, TRUST_PAYLOAD, roots, where)
        if len(signed) < file.root_threshold:
            raise EvidenceError(
                f"{where}: {len(signed)} root keys of version {file.version} signed it, {file.root_threshold} must"
            )
