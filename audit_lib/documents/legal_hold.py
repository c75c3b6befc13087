"""``<audit>/holds/NNNNNN.json``: who laid a legal hold on a run, or took it off, when and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field

from audit_lib.canonical import pretty_json
from audit_lib.documents.evidence import Instant
from audit_lib.typed_json import Typed

SCHEMA: Final = "audit-hold/1"
HOLDS: Final = "holds"
"""Folder of an audit's records of holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LegalHold(Typed):
    """A hold that was laid on the files of a run, or taken off."""

    schema: Literal["audit-hold/1"] = SCHEMA
    run: str
    """As ``audit/window/design``."""
    on: bool
    reason: Annotated[str, Field(min_length=1)]
    by: Annotated[str, Field(min_length=1)]
    at: Instant
    files: Annotated[int, Field(ge=1)]


def hold_bytes(hold: LegalHold) -> bytes:
    """Return a record of a hold as it is written."""
    return pretty_json(hold.as_dict())
