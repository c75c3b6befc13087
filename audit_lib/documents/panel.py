"""``panel.json``: the runs of a panel by their digests, what became of each, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from audit_lib.documents.comparison import Asked, UsedTokens
from audit_lib.documents.evidence import AttemptFault, Sha256
from audit_lib.typed_json import Typed

SCHEMA: Final = "audit-panel/1"

PanelState = Literal["sealed", "failed validation", "failed", "not run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelMember(Typed):
    """A model of the panel, and its run."""

    name: str
    """What it is called within the panel."""
    model: str
    backend: str
    revision: str | None
    audit: str
    run: str
    """The run's folder in the store."""
    spec_digest: Sha256
    state: PanelState
    faults: tuple[AttemptFault, ...]
    """Of the last attempt, where it failed; the first cause first."""
    manifest_sha256: Sha256 | None
    """Of the sealed evidence."""
    prompts_sha256: Sha256 | None
    """Of the sample; None where none was drawn."""
    variants_sha256: Sha256 | None
    asked: Asked | None
    """None where no versions were made."""
    used: UsedTokens | None
    """None where it was not asked, or nobody counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelRecord(Typed):
    """``panel.json``."""

    schema: Literal["audit-panel/1"] = SCHEMA
    audit: str
    title: str
    window: str
    panel_digest: Sha256
    design: Sha256 | None
    """Digest of the sample, its versions and the rules of measurement, which all models share; None where not all have
    versions, or they differ."""
    members: tuple[PanelMember, ...]
    comparison_sha256: Sha256 | None
    """Of ``comparison.json``."""
    why_no_comparison: str | None

    @property
    def failed(self) -> tuple[PanelMember, ...]:
        """The models that have no sealed, valid run."""
        return tuple(one for one in self.members if one.state != "sealed")
