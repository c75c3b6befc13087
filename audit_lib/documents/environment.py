"""``evidence/environment.json``: what the machine that sealed a run had installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from audit_lib.canonical import pretty_json
from audit_lib.documents.evidence import Sha256
from audit_lib.typed_json import Typed

SCHEMA: Final = "audit-environment/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution(Typed):
    """An installed Python distribution."""

    name: str
    version: str
    record_sha256: Sha256 | None
    """Of its RECORD, which has the digest of each of its files; None where its installer left none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment(Typed):
    """``environment.json``."""

    schema: Literal["audit-environment/1"] = SCHEMA
    python: str
    code_sha256: Sha256
    """Of the path and digest of each of the library's files, as they ran; of an editable installation too."""
    revision: str | None
    """Of the code, as `AUDIT_REVISION` or the installer's record says."""
    container: str | None
    """Digest of the container image, as `AUDIT_CONTAINER_DIGEST` says."""
    lock_sha256: Sha256 | None
    """Of the lock file that `AUDIT_LOCK` names."""
    models: Mapping[str, str]
    """Shard -> fingerprint of the model that answered there."""
    distributions: tuple[Distribution, ...]


def environment_bytes(environment: Environment) -> bytes:
    """Return ``environment.json`` as it is written."""
    return pretty_json(environment.as_dict())
