"""A key for each applicant, wrapped by one key of keys, in a store of their own from which they can be erased.

============================  =========================================================================================
``AUDIT_PRIVACY_KEYS``        where the wrapped keys lie: a folder or ``s3://``, apart from the runs. Not locked and
                              without versions or backups that outlive an erasure: what is deleted there must be gone
``AUDIT_PRIVACY_KEY``         the key of keys: ``file:PATH`` or ``env:VARIABLE``, 32 bytes in base64
============================  =========================================================================================

The name of a key is a keyed digest of the application's id: who has the store and not the key of keys learns neither
ids nor keys.
"""

from __future__ import annotations

import hmac
import os
import secrets
from base64 import b64decode, b64encode
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from audit_lib.canonical import canonical_json, pretty_json
from audit_lib.documents.applicant_keys import ApplicantKey, Erasure
from audit_lib.documents.evidence import decode_exact
from audit_lib.errors import AuditError, EvidenceError, InputError
from audit_lib.store import Store, open_store

KEYS: Final = "AUDIT_PRIVACY_KEYS"
KEY: Final = "AUDIT_PRIVACY_KEY"
_SIZE: Final = 64
"""Bytes of a data key: AES-256 in its SIV mode takes two keys of 32."""


def make_key_of_keys(path: Path) -> None:
    """Write a new key of keys (mode 600).

    Raises
    ------
    InputError
        If the file is there already.
    """
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(b64encode(secrets.token_bytes(32)) + b"\n")
    except FileExistsError:
        raise InputError(f"{path}: is there already; a key is never overwritten, name another file") from None


@dataclass(frozen=True)
class ApplicantKeys:
    """The keys of one audit's applicants.

    Parameters
    ----------
    audit : str
        Name of the audit: an applicant has one key for all of its windows.
    store : Store
        Where the wrapped keys lie.
    secret : bytes
        The key of keys.
    """

    audit: str
    store: Store
    secret: bytes = field(repr=False)
    _known: dict[str, bytes | None] = field(default_factory=dict, repr=False)

    def name_of(self, application_id: str) -> str:
        """Return the name of an applicant's key."""
        own = hmac.digest(self.secret, b"audit_lib names of keys\0", "sha256")
        return hmac.digest(own, f"{self.audit}\0{application_id}".encode(), "sha256").hex()[:32]

    def key(self, name: str) -> bytes | None:
        """Return the key of that name; None where it was erased or never made.

        Raises
        ------
        EvidenceError
            If what lies there is no key, or was wrapped by another key of keys.
        """
        if name not in self._known:
            place = f"{self.audit}/{name}.json"
            self._known[name] = (
                self._unwrapped(name, self.store.get(place)) if self.store.exists(place) else None
            )
        return self._known[name]

    def make(self, name: str) -> bytes:
        """Return the key of that name, made now where there was none.

        Raises
        ------
        InputError
            If it was erased.
        """
        if (found := self.key(name)) is not None:
            return found
        if self.is_erased(name):
            raise InputError(
                f"an applicant of audit {self.audit} was erased (key {name}), and the source still holds them: take "
                "them out of the source"
            )
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce, made = secrets.token_bytes(12), secrets.token_bytes(_SIZE)
        wrapped = AESGCM(self._wrapping()).encrypt(nonce, made, self._bound_to(name))
        document = ApplicantKey(nonce=b64encode(nonce).decode(), wrapped=b64encode(wrapped).decode())
        self.store.put(f"{self.audit}/{name}.json", pretty_json(document.as_dict()))
        del self._known[name]
        kept = self.key(name)  # of two who make it at once, the first one's
        assert kept is not None
        return kept

    def names(self) -> set[str]:
        """Return the names of all keys that are there."""
        return {
            key.rsplit("/", 1)[1].removesuffix(".json")
            for key in self.store.list(self.audit)
            if key.count("/") == 1
        }

    def erasure(self, name: str) -> Erasure | None:
        """Return the record that the key of that name was erased; None where there is none.

        Raises
        ------
        EvidenceError
            If what is there was not written with the key of keys.
        """
        if not self.is_erased(name):
            return None
        place = f"{self.audit}/erased/{name}.json"
        found = decode_exact(Erasure, self.store.get(place), place, lambda one: pretty_json(one.as_dict()))
        if found.key != name or not hmac.compare_digest(found.mac, self._mac(found)):
            raise EvidenceError(f"{place}: was not written with the key of keys, or is of another erasure")
        return found

    def is_erased(self, name: str) -> bool:
        """Return whether it is recorded that the key of that name was erased; `erasure` says whether that holds."""
        return self.store.exists(f"{self.audit}/erased/{name}.json")

    def erase(self, application_id: str, reason: str) -> Erasure:
        """Erase an applicant's key: the record of it first, then the key.

        Raises
        ------
        InputError
            If there is no such key.
        EvidenceError
            If another record of it lies there, which was not written with the key of keys.
        """
        name = self.name_of(application_id)
        if self.key(name) is None and not self.is_erased(name):
            raise InputError(
                f"audit {self.audit} has no key for this application: look at the id, and at {KEYS}"
            )
        place = f"{self.audit}/erased/{name}.json"
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        made = Erasure(key=name, at=now, reason=reason, mac="0" * 64)
        self.store.put(place, pretty_json(replace(made, mac=self._mac(made)).as_dict()))
        kept = self.erasure(name)
        assert kept is not None
        self.store.delete(f"{self.audit}/{name}.json")
        self._known[name] = None
        return kept

    def _mac(self, erasure: Erasure) -> str:
        own = hmac.digest(self.secret, b"audit_lib records of erasures\0", "sha256")
        said = canonical_json(replace(erasure, mac="0" * 64).as_dict())
        return hmac.digest(own, self.audit.encode() + b"\0" + said, "sha256").hex()

    def _wrapping(self) -> bytes:
        return hmac.digest(self.secret, b"audit_lib wraps keys\0", "sha256")

    def _bound_to(self, name: str) -> bytes:
        return f"{self.audit}/{name}".encode()

    def _unwrapped(self, name: str, content: bytes) -> bytes:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        document = decode_exact(ApplicantKey, content, f"key {name}", lambda one: pretty_json(one.as_dict()))
        try:
            return AESGCM(self._wrapping()).decrypt(
                b64decode(document.nonce, validate=True),
                b64decode(document.wrapped, validate=True),
                self._bound_to(name),
            )
        except (InvalidTag, ValueError):
            raise EvidenceError(
                f"key {name} of audit {self.audit} was wrapped by another key of keys than {KEY} names"
            ) from None


def combined(keys: list[bytes]) -> bytes:
    """Return the key of a row that is about several people: without any one of theirs it cannot be made."""
    if len(keys) == 1:
        return keys[0]
    joined = sha256(b"audit_lib row of several people\0" + b"".join(keys)).digest()
    return b"".join(hmac.digest(joined, half, "sha256") for half in (b"first", b"second"))


def configured_keys(audit: str) -> ApplicantKeys | None:
    """Return the keys that the environment names; None where it names none.

    Raises
    ------
    InputError
        If the key of keys cannot be used; the message holds no secret.
    """
    root, uri = os.environ.get(KEYS, "").strip(), os.environ.get(KEY, "").strip()
    if not root and not uri:
        return None
    if not root or not uri:
        raise InputError(f"{KEYS} and {KEY} are needed both: where the keys lie, and the key that wraps them")
    if find_spec("cryptography") is None:
        raise AuditError("encryption needs the extra `sign`: pip install 'audit-lib[sign]'")
    return ApplicantKeys(audit, open_store(root), _secret(uri))


def _secret(uri: str) -> bytes:
    scheme, _, rest = uri.partition(":")
    if scheme == "file":
        try:
            text = Path(rest).read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{KEY}={uri}: cannot be read ({type(error).__name__})") from None
    elif scheme == "env":
        text = os.environ.get(rest, "")
    else:
        raise InputError(
            f"{KEY}: write file:PATH or env:VARIABLE; keys that a service keeps are not supported"
        )
    try:
        found = b64decode(text.strip(), validate=True)
    except ValueError:
        found = b""
    if len(found) != 32:
        raise InputError(f"{KEY}={uri}: is not 32 bytes in base64; `audit keygen --privacy FILE` makes one")
    return found
