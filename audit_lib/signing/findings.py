"""What the checks of a run's own signatures and of its journal find."""

from __future__ import annotations

from dataclasses import dataclass, field

from audit_lib.archive.findings import EvidenceFinding, EvidenceFindingKind


@dataclass(slots=True)
class RunSignatures:
    """What was found.

    Attributes
    ----------
    lines : list of str
        For people: what is signed with which key and when, and what is not signed or not known.
    findings : list of EvidenceFinding
        What does not hold.
    """

    lines: list[str] = field(default_factory=list)
    findings: list[EvidenceFinding] = field(default_factory=list)

    def find(self, path: str, detail: str, kind: EvidenceFindingKind = "signature") -> None:
        """Take note of what does not hold."""
        self.findings.append(EvidenceFinding(kind=kind, path=path, detail=detail))
