"""A proof that one person's score records are in a run's evidence, or that there are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from pydantic import Field, JsonValue

from audit_lib.documents.evidence import Sha256
from audit_lib.typed_json import OPTIONAL, Count, Typed

RECORD_PROOF_SCHEMA: Final = "audit-record-proof/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafProof(Typed):
    """A leaf of the tree over applications, and the hashes that lead from it to the root."""

    index: Count
    application_sha256: Sha256
    records_sha256: Sha256
    path: tuple[Sha256, ...]
    application_salt: Sha256 | None = field(default=None, metadata=OPTIONAL)
    """Where leaves are salted: what the digest of the id is salted with."""
    records_salt: Sha256 | None = field(default=None, metadata=OPTIONAL)
    """The same of the records; without it `records_sha256` is salted already, and shows nothing of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordProof(Typed):
    """The file of `audit prove`."""

    schema: Literal["audit-record-proof/1"] = RECORD_PROOF_SCHEMA
    application: str
    manifest: str
    """``evidence/manifest.json``, whole: it holds digests and no person's data."""
    records: tuple[Mapping[str, JsonValue], ...]
    """All of the application's score records; empty where it has none."""
    proofs: Annotated[tuple[LeafProof, ...], Field(max_length=2)]
    """Its own leaf; of an application that has none, the leaves between which it would lie."""
