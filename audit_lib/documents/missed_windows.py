"""The note in the store of windows that were missed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from audit_lib.typed_json import Typed

SCHEMA: Final = "audit-missed-windows/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedWindows(Typed):
    """``missed/TIME.json``: windows that were found missed at that time, and not before."""

    schema: Literal["audit-missed-windows/1"] = SCHEMA
    audit: str
    noted_at: str
    windows: tuple[str, ...]
    """Labels, the oldest first."""
