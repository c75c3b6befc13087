"""Trust files: whose keys are believed, for what and when; each version must follow from the one before."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any, Sequence

from verifier import shapes as s
from verifier.documents import HEAD
from verifier.keys import PublicKey, is_signed_by, open_envelope, read_key
from verifier.shapes import instant_of
from verifier.strict_json import OddError, canonical, read

_PAYLOAD = "application/vnd.audit-lib.trust+json"
_SHAPE = s.fields(
    {
        "schema": s.one_of("audit-trust/1"),
        "version": s.whole(1),
        "expires": s.moment,
        "required": s.listing(s.one_of("plan", "result", "time stamps", "journal", "sigstore", "receipts")),
        "keys": s.listing(
            s.fields(
                {
                    "name": s.ANY,
                    "public": s.ANY,
                    "roles": s.listing(s.one_of("root", "plan", "result", "auditor"), 1),
                    "valid_from": s.moment,
                    "valid_until": s.moment,
                },
                {"revoked": s.fields({"at": s.moment, "reason": s.ANY})},
            )
        ),
        "authorities": s.listing(
            s.fields({"name": s.ANY, "certificates": s.listing(s.ANY, 1), "independent": s.boolean})
        ),
        "heads": s.listing(s.fields({"audit": s.ANY, "head": HEAD})),
    },
    {
        "root_threshold": s.whole(1),
        "previous_sha256": s.SHA256,
        "identities": s.listing(s.mapping(s.ANY, lambda value, where: None)),
        "logs": s.listing(s.mapping(s.ANY, lambda value, where: None)),
    },
)


class Trust:
    """What the verifier believes: a trust file's newest version, or auditors' bare keys."""

    def __init__(self) -> None:
        self.file: dict[str, Any] = {}
        self.keys: dict[str, dict[str, Any]] = {}
        self.gone: dict[str, str] = {}
        self.auditors: dict[str, PublicKey] = {}

    @property
    def required(self) -> Sequence[str]:
        """What a run must have."""
        found: Sequence[str] = self.file.get("required", ())
        return found

    def heads(self, audit: str) -> list[dict[str, Any]]:
        """Return the heads of an audit's journal that the file holds."""
        return [one["head"] for one in self.file.get("heads", ()) if one["audit"] == audit]

    def why_not(self, key_id: str, role: str, at: datetime) -> str:
        """Return why a key is not believed for what was signed at a time; empty where it is."""
        short = f"key {key_id[:16]}"
        if key_id in self.gone:
            return f"{short} ({self.gone[key_id]}) was rotated out: version {self.file['version']} has it no more"
        if key_id not in self.keys:
            return f"{short} is none of the trust file"
        key = self.keys[key_id]
        short = f"{short} ({key['name']})"
        if role not in key["roles"]:
            return f"{short} may sign {', '.join(key['roles'])} and no {role}"
        if at < instant_of(key["valid_from"]):
            return f"{short} is valid from {key['valid_from']} on only"
        if at > instant_of(key["valid_until"]):
            return f"{short} expired on {key['valid_until']}"
        revoked = key.get("revoked")
        if revoked and at >= instant_of(revoked["at"]):
            return f"{short} was revoked on {revoked['at']}: {revoked['reason']}"
        return ""


def read_trust(contents: Sequence[bytes], now: datetime) -> Trust:
    """Return what is believed: of versions of a trust file, the oldest first, or of bare public keys.

    The first version is believed as it is: you got it from elsewhere. Each later one must be signed by enough root
    keys of the one before, and by enough of its own.

    Raises
    ------
    OddError
        If a version is none, does not follow from the one before, or the newest has expired.
    """
    trust = Trust()
    if not contents:
        return trust
    if contents[0].lstrip()[:1] != b"{":
        keys = [read_key(content) for content in contents]
        trust.auditors = {key.key_id: key for key in keys}
        return trust
    before: dict[str, Any] = {}
    for place, content in enumerate(contents):
        found = _version(content)
        if place:
            _check_follows(content, found, before, contents[place - 1])
            trust.gone.update({key_id: key["name"] for key_id, key in _by_id(before).items()})
        before = found
    if now > instant_of(before["expires"]):
        raise OddError(f"version {before['version']} expired on {before['expires']}; get the next one")
    trust.file, trust.keys = before, _by_id(before)
    trust.gone = {key_id: name for key_id, name in trust.gone.items() if key_id not in trust.keys}
    return trust


def _version(content: bytes) -> dict[str, Any]:
    document = read(content)
    if isinstance(document, dict) and "payload" in document:
        document = read(open_envelope(content, _PAYLOAD)[1])
    _SHAPE(document, "the trust file")
    _by_id(document)
    found: dict[str, Any] = document
    return found


def _by_id(file: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = {read_key(one["public"].encode()).key_id: one for one in file["keys"]}
    if len(found) != len(file["keys"]):
        raise OddError("the trust file lists a key twice, so what it says of it is not one thing")
    return found


def _check_follows(content: bytes, new: dict[str, Any], old: dict[str, Any], old_content: bytes) -> None:
    follows = new["version"] == old["version"] + 1
    if not follows or new.get("previous_sha256") != hashlib.sha256(old_content).hexdigest():
        raise OddError(
            f"version {new['version']} does not follow from version {old['version']} that was given"
        )
    envelope, payload = open_envelope(content, _PAYLOAD)
    if payload != canonical(new):
        raise OddError(f"version {new['version']} is written in another form than the library's")
    for file in (old, new):
        roots = {one.key_id: one for one in _roots(file)}
        signed = sum(is_signed_by(envelope, payload, key) for key in roots.values() if key.ed25519)
        needed = file.get("root_threshold", 1)
        if signed < needed:
            raise OddError(
                f"version {new['version']}: {signed} root keys of version {file['version']} signed it, {needed} must"
            )


def _roots(file: dict[str, Any]) -> list[PublicKey]:
    """Return the root keys; a version has no time, so one that was revoked may have signed it at any."""
    believed = [one for one in file["keys"] if "root" in one["roles"] and "revoked" not in one]
    return [read_key(one["public"].encode()) for one in believed]
