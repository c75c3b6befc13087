"""Ed25519 keys of auditors, as PEM files."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from audit_lib.canonical import sha256
from audit_lib.errors import AuditError, InputError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

PASSPHRASE = "AUDIT_SIGNING_PASSPHRASE"
"""Environment variable with the passphrase of an encrypted private key."""


def generate_key(path: Path) -> Path:
    """Make a key pair: the private key at `path` (mode 600), the public one next to it as ``.pub``.

    The private key is encrypted if AUDIT_SIGNING_PASSPHRASE is set. Nothing is overwritten.

    Returns
    -------
    Path
        Of the public key.

    Raises
    ------
    InputError
        If a file is there already.
    AuditError
        If the extra ``sign`` is not installed.
    """
    need_extra()
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    public = path.with_name(path.name + ".pub")
    for taken in (path, public):
        if taken.exists():
            raise InputError(f"{taken}: is there already; a key is never overwritten, name another file")
    key = Ed25519PrivateKey.generate()
    passphrase = _passphrase()
    locked: form.KeySerializationEncryption = (
        form.NoEncryption() if passphrase is None else form.BestAvailableEncryption(passphrase)
    )
    content = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, locked)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        stream.write(content)
    public.write_bytes(public_pem(key.public_key()))
    return public


def load_private_key(path: Path) -> Ed25519PrivateKey:
    """Read a private key.

    Raises
    ------
    InputError
        If the file is not there, is no Ed25519 key, or its passphrase is missing or wrong.
    AuditError
        If the extra ``sign`` is not installed.
    """
    need_extra()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(_read(path), _passphrase())
    except TypeError:
        raise InputError(
            f"{path}: {PASSPHRASE} must be set for an encrypted key, and unset for a plain one"
        ) from None
    except ValueError:
        raise InputError(
            f"{path}: not a private key in PEM form, or another passphrase; `audit keygen` makes a key"
        ) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"{path}: not an Ed25519 key; `audit keygen` makes one")
    return key


def load_public_key(path: Path) -> Ed25519PublicKey:
    """Read a public key.

    Raises
    ------
    InputError
        If the file is not there, or is no public Ed25519 key.
    """
    return read_public_pem(_read(path), str(path))


def read_public_pem(content: bytes, where: str) -> Ed25519PublicKey:
    """Read a public key from PEM bytes; `where` is what an error names."""
    need_extra()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    if b"PRIVATE KEY-----" in content:
        raise InputError(
            f"{where}: is a private key, which nobody else should have; give the .pub file next to it"
        )
    try:
        key = load_pem_public_key(content)
    except ValueError:
        raise InputError(
            f"{where}: not a public key in PEM form; it is the .pub file of `audit keygen`"
        ) from None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError(f"{where}: not an Ed25519 key; `audit keygen` makes one")
    return key


def public_pem(key: Ed25519PublicKey) -> bytes:
    """Return a public key as PEM."""
    from cryptography.hazmat.primitives import serialization as form

    return key.public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)


def key_id(key: Ed25519PublicKey) -> str:
    """Return the SHA-256 of the key's 32 bytes, by which people compare keys."""
    return sha256(key.public_bytes_raw())


def need_extra() -> None:
    """Refuse to handle keys where the packages for it are missing: no key, no signature and no check of one.

    Raises
    ------
    AuditError
        If the extra ``sign`` is not installed.
    """
    if lacking := [name for name in ("cryptography", "securesystemslib") if find_spec(name) is None]:
        raise AuditError(f"signatures need {' and '.join(lacking)}; pip install 'audit-lib[sign]'")


def _passphrase() -> bytes | None:
    text = os.environ.get(PASSPHRASE)
    return text.encode() if text else None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: the key cannot be read ({error.strerror})") from None
