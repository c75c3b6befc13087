"""The auditor's signature as a report prints it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Who signed a report, when, and what they attested.

    Attributes
    ----------
    number : int
        Of the run's statements; 1 is the first.
    key_id : str
        SHA-256 of the public key that made the signature.
    by_service : bool
        Whether the service's key signed for an auditor who answered there under `account`.
    attestations : tuple of (str, str)
        Sentence and paragraph of the law.
    supersedes : mapping or None
        ``statement_sha256``, ``run`` and ``reason`` of the earlier statement.
    """

    auditor: str
    organisation: str
    signed_at: datetime
    number: int
    key_id: str
    by_service: bool
    account: str | None
    attestations: tuple[tuple[str, str], ...]
    remarks: str
    supersedes: Mapping[str, str] | None
