"""What is published in place of a JSON document that is withdrawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from audit_lib.typed_json import Typed


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawn(Typed):
    """The site's ``report.json`` of an audit that has no current report any more."""

    status: Literal["withdrawn"] = "withdrawn"
    reasons: tuple[str, ...]
