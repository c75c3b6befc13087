"""An auditor's rejection as a report prints it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedBy:
    """Who rejected a run, when and why.

    Attributes
    ----------
    key_id : str
        SHA-256 of the public key that signed the rejection.
    by_service : bool
        Whether a key of the service signed for an auditor who answered there under `account`.
    """

    auditor: str
    organisation: str
    rejected_at: datetime
    reason: str
    key_id: str
    by_service: bool
    account: str | None
