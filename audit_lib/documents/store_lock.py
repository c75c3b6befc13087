"""``store/lock.json``: what was found of the store before the model was asked: does it lock what is put into it?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from audit_lib.canonical import pretty_json
from audit_lib.documents.evidence import Instant
from audit_lib.typed_json import OPTIONAL, Typed

SCHEMA: Final = "audit-store/1"
STORE_LOCK: Final = "store/lock.json"
"""Its place in a run."""

BehaviourName = Literal[
    "conditional_create",
    "checksum_checked",
    "lock_kept",
    "extension",
    "shortening_refused",
    "weakening_refused",
    "removal_refused",
    "deletion_refused",
    "overwriting_keeps",
    "marker_keeps",
    "parts_locked",
    "legal_hold",
    "deletion_after",
]
LOCKING: Final[tuple[BehaviourName, ...]] = (
    "lock_kept",
    "extension",
    "shortening_refused",
    "weakening_refused",
    "removal_refused",
    "deletion_refused",
    "overwriting_keeps",
    "marker_keeps",
    "parts_locked",
)
"""All that a store must do to lock evidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour(Typed):
    """Something that was tried: whether the store did as it should, and what it said."""

    name: BehaviourName
    held: bool
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreLock(Typed):
    """``lock.json``."""

    schema: Literal["audit-store/1"] = SCHEMA
    kind: Literal["folder", "s3"]
    asked: Literal["required", "buckets", "none"] | None = field(default=None, metadata=OPTIONAL)
    """What the spec asks of the store; None where a store was probed without a spec."""
    locked: bool
    """Whether everything held that locks evidence."""
    server: str | None = field(default=None, metadata=OPTIONAL)
    """What the store calls itself."""
    default_retention: str | None = field(default=None, metadata=OPTIONAL)
    """The bucket's own rule, such as ``COMPLIANCE, 365 days``."""
    probed_at: Instant | None = field(default=None, metadata=OPTIONAL)
    behaviours: tuple[Behaviour, ...] = ()

    @property
    def failed(self) -> tuple[Behaviour, ...]:
        """What did not hold of what locks evidence."""
        return tuple(one for one in self.behaviours if one.name in LOCKING and not one.held)


def store_lock_bytes(found: StoreLock) -> bytes:
    """Return ``lock.json`` as it is written."""
    return pretty_json(found.as_dict())
