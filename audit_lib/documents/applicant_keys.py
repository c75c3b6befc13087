"""Files of the store of applicants' keys: a wrapped key, or the record that it was erased."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field

from audit_lib.documents.evidence import Instant, Sha256
from audit_lib.typed_json import Typed

KEY_SCHEMA: Final = "audit-applicant-key/1"
ERASURE_SCHEMA: Final = "audit-erasure/1"
KeyId = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicantKey(Typed):
    """A data key, encrypted with the key of keys (AES-256-GCM); base64."""

    schema: Literal["audit-applicant-key/1"] = KEY_SCHEMA
    nonce: str
    wrapped: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure(Typed):
    """That a key was erased: nothing in it tells whose it was to who lacks the key of keys."""

    schema: Literal["audit-erasure/1"] = ERASURE_SCHEMA
    key: KeyId
    at: Instant
    reason: str
    mac: Sha256
    """HMAC-SHA-256 of the rest by the key of keys: who lacks that erases nobody by deleting a key."""
