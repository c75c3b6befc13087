"""``privacy.json`` of a copy of a run: at which level it was handed on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from audit_lib.canonical import pretty_json
from audit_lib.typed_json import Typed

PRIVACY_SCHEMA: Final = "audit-privacy/1"
PrivacyLevel = Literal["full", "redacted", "digests"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyLabel(Typed):
    """It names the level and no files: what a level withholds is the same for everybody."""

    schema: Literal["audit-privacy/1"] = PRIVACY_SCHEMA
    level: Literal["redacted", "digests"]


def label_bytes(label: PrivacyLabel) -> bytes:
    """Return ``privacy.json`` as it is written."""
    return pretty_json(label.as_dict())
