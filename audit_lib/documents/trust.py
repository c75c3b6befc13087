"""A trust file: whose keys a verifier believes, for what, and for how long; got from elsewhere than the evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field

from audit_lib.documents.evidence import Sha256
from audit_lib.documents.run_statement import JournalHead, SignedMoment
from audit_lib.documents.sign_off import Moment, OneLine
from audit_lib.typed_json import OPTIONAL, Typed

TRUST_SCHEMA: Final = "audit-trust/1"
TRUST_PAYLOAD: Final = "application/vnd.audit-lib.trust+json"
KeyRole = Literal["root", "plan", "result", "auditor"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revocation(Typed):
    """From when a key is not believed any more, and why."""

    at: Moment
    reason: OneLine


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedKey(Typed):
    """A public key, what it may sign, and in which time."""

    name: OneLine
    public: str
    """PEM."""
    roles: Annotated[tuple[KeyRole, ...], Field(min_length=1)]
    valid_from: Moment
    valid_until: Moment
    revoked: Revocation | None = field(default=None, metadata=OPTIONAL)

    def why_not(self, role: KeyRole, at: datetime) -> str:
        """Return why the key is not believed for what was signed at `at`; empty where it is."""
        if role not in self.roles:
            return f"may sign {', '.join(self.roles)} and no {role}"
        if at < datetime.fromisoformat(self.valid_from):
            return f"is valid from {self.valid_from} on only"
        if at > datetime.fromisoformat(self.valid_until):
            return f"expired on {self.valid_until}"
        if self.revoked is not None and at >= datetime.fromisoformat(self.revoked.at):
            return f"was revoked on {self.revoked.at}: {self.revoked.reason}"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedAuthority(Typed):
    """A time stamping authority."""

    name: OneLine
    certificates: Annotated[tuple[str, ...], Field(min_length=1)]
    """PEM: the root and those between it and the authority's own."""
    independent: bool
    """Whether somebody else runs it than whoever runs the audit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedIdentity(Typed):
    """Who may sign through Sigstore, and the roots of its services."""

    name: OneLine
    identity: OneLine
    """Mail address or URI, as the certificate has it."""
    issuer: OneLine
    """The identity provider's address."""
    trusted_root: str
    """The text of Sigstore's ``trusted_root.json``."""
    roles: Annotated[tuple[SignedMoment, ...], Field(min_length=1)]
    valid_from: Moment
    valid_until: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedLog(Typed):
    """A transparency service, whose receipts are believed; a receipt has no time, so its key has none either."""

    name: OneLine
    public: str
    """PEM."""
    independent: bool
    """Whether somebody else runs it than whoever runs the audit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownHead(Typed):
    """A head of an audit's journal that the verifier saw earlier."""

    audit: OneLine
    head: JournalHead


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustFile(Typed):
    """A trust file; from version 2 on it is the payload of an envelope that the root keys of both versions signed."""

    schema: Literal["audit-trust/1"] = TRUST_SCHEMA
    version: Annotated[int, Field(ge=1)]
    expires: Moment
    root_threshold: Annotated[int, Field(ge=1)] = 1
    """How many root keys must sign the next version."""
    previous_sha256: Sha256 | None = field(default=None, metadata=OPTIONAL)
    """Of the file of the version before."""
    required: tuple[Literal["plan", "result", "time stamps", "journal", "sigstore", "receipts"], ...]
    """What a run must have to be believed."""
    keys: tuple[TrustedKey, ...]
    authorities: tuple[TrustedAuthority, ...]
    heads: tuple[KnownHead, ...]
    identities: tuple[TrustedIdentity, ...] | None = field(default=None, metadata=OPTIONAL)
    logs: tuple[TrustedLog, ...] | None = field(default=None, metadata=OPTIONAL)
