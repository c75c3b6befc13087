"""What is known of the files that a copy was handed on without."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from audit_lib.documents.evidence import FailedAttempt, Manifest, decode_exact, sealed_bytes
from audit_lib.documents.privacy import PrivacyLabel, PrivacyLevel, label_bytes
from audit_lib.errors import EvidenceError
from audit_lib.privacy.levels import LABEL, REDACTED, is_withheld
from audit_lib.store import Store

_MANIFEST: Final = "manifest.json"


@dataclass(frozen=True, slots=True)
class WithheldFile:
    """A file that the manifest lists and this copy does not hold.

    Parameters
    ----------
    sha256 : str
        Its digest, as the manifest says.
    bytes : int
        Its size, as the manifest says.
    instead : (str, str) or None
        Key in the store and digest of the redacted table in place of it; None where there is none.
    """

    sha256: str
    bytes: int
    instead: tuple[str, str] | None = None


def level_of(store: Store, prefix: str) -> PrivacyLevel:
    """Return the level that a run or a copy of one says it has.

    Raises
    ------
    EvidenceError
        If its label is none.
    """
    key = f"{prefix}/{LABEL}".lstrip("/")
    if not store.exists(key):
        return "full"
    return decode_exact(PrivacyLabel, store.get(key), LABEL, label_bytes).level


def withheld_files(store: Store, prefix: str) -> dict[str, WithheldFile]:
    """Return what a copy's level withholds of what its manifest lists, by the path in the run; nothing of a full one.

    Raises
    ------
    EvidenceError
        If its label or its manifest is none.
    """
    level = level_of(store, prefix)
    return {} if level == "full" else files_withheld(store, prefix, level)


def files_withheld(store: Store, prefix: str, level: PrivacyLevel) -> dict[str, WithheldFile]:
    """Return what a level withholds of what a sealed run's manifest lists, by the path in the run.

    Raises
    ------
    EvidenceError
        If the run is not sealed, or its manifest is none.
    """
    root = f"{prefix}/" if prefix else ""
    listed, redacted = _listed(store, root)
    held = {path: one for path, one in listed.items() if is_withheld(path, level)}
    instead = {path: one for path, one in redacted.items() if not is_withheld(path, level)}
    return {
        path: WithheldFile(
            digest,
            size,
            (f"{root}{REDACTED}{path}", instead[f"{REDACTED}{path}"][0])
            if f"{REDACTED}{path}" in instead
            else None,
        )
        for path, (digest, size) in held.items()
    }


def _listed(store: Store, root: str) -> tuple[Mapping[str, tuple[str, int]], Mapping[str, tuple[str, int]]]:
    """Return digest and size of each file that is sealed, and of the redacted tables among them."""
    sealed = f"{root}evidence/{_MANIFEST}"
    if store.exists(sealed):
        manifest = decode_exact(Manifest, store.get(sealed), _MANIFEST, sealed_bytes)
        redacted = {one.path: (one.sha256, one.bytes) for one in manifest.redacted or ()}
        return {one.path: (one.sha256, one.bytes) for one in manifest.artefacts} | redacted, redacted
    failed = [key for key in store.list(f"{root}attempts") if key.endswith(f"/{_MANIFEST}")]
    if not failed:
        raise EvidenceError(
            f"{store.uri(root.rstrip('/'))}: is not sealed, so nothing says what a copy lacks"
        )
    last = max(failed, key=lambda key: int(key.rsplit("/", 2)[1]))
    record = decode_exact(FailedAttempt, store.get(last), _MANIFEST, sealed_bytes)
    return {one.path: (one.sha256, one.bytes) for one in record.artefacts}, {}
