"""What a verification finds, and what its checks share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, Literal

from audit_lib.documents.privacy import PrivacyLevel
from audit_lib.errors import is_out_of_memory
from audit_lib.large_file import Content
from audit_lib.privacy.vault import Vault
from audit_lib.store import Store

EvidenceFindingKind = Literal[
    "missing",
    "changed",
    "extra",
    "record",
    "manifest",
    "design",
    "recomputation",
    "version",
    "sign-off",
    "signature",
    "journal",
    "age",
    "level",
    "overwritten",
    "deleted",
    "lock",
    "stopped",
]
TAMPERED: Final = {"overwritten", "deleted"}
"""Kinds of what came over evidence that is there as it was first written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceFinding:
    """Something that does not verify: what kind of thing, where, and how."""

    kind: EvidenceFindingKind
    path: str
    detail: str

    def __str__(self) -> str:
        said = f"{self.path}: {self.detail} [{self.kind}]"
        return _printable(said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was checked, and what did not hold.

    Parameters
    ----------
    uri : str
        Where the run was read.
    audit, window, spec_digest, outcome : str
        What the manifest says it is; empty where there is no readable manifest.
    failed : str
        Where and why the last attempt failed, for a run that was never archived.
    manifest_sha256 : str
        Digest of the manifest itself: compare it with the one published elsewhere.
    files : int
        Files whose digest was computed.
    bytes : int
        Their size.
    bundle_sha256 : str
        Digest over the digests of all of them (`bundle_digest.digest_over`).
    recomputed : tuple of str
        Stages that were computed again.
    level : str
        At which level this copy was handed on; ``full`` in the store itself.
    withheld : int
        Files that the manifest lists and that this copy was handed on without.
    encrypted : str
        Of a run whose rows are encrypted person by person: how many people there are, and how many were erased.
    not_recomputable : int
        Score records that cannot be followed here from question to answer to score.
    unrecomputed : tuple of str
        Stages that cannot be computed again here, since what they follow from is withheld.
    not_computed : bool
        Whether nothing was computed again, since that was asked for: it is no verification then.
    findings : tuple of EvidenceFinding
        Empty if, and only if, what was checked holds.
    notes : tuple of str
        What a reader should know and what is no fault.
    signed : tuple of str
        A line a sign-off that was checked: who signed, when, and with which key; or that nobody did.
    keys : tuple of str
        Id of the key of each.
    rejected : bool
        Whether an auditor rejected the run; `signed` says who, when and why.
    run_signatures : tuple of str
        What of the run its own key signed, when, and what nobody can know without a trust file.
    """

    uri: str
    audit: str = ""
    window: str = ""
    spec_digest: str = ""
    outcome: str = ""
    failed: str = ""
    manifest_sha256: str = ""
    files: int = 0
    bytes: int = 0
    bundle_sha256: str = ""
    recomputed: tuple[str, ...] = ()
    level: PrivacyLevel = "full"
    withheld: int = 0
    encrypted: str = ""
    not_recomputable: int = 0
    unrecomputed: tuple[str, ...] = ()
    not_computed: bool = False
    findings: tuple[EvidenceFinding, ...] = ()
    notes: tuple[str, ...] = ()
    signed: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    rejected: bool = False
    run_signatures: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything that was checked holds."""
        return not self.findings

    @property
    def unchecked(self) -> bool:
        """Whether there is no verdict here.

        All that does not hold may come from the version that made the run, or something was not checked at all.
        """
        kinds = {finding.kind for finding in self.findings}
        return kinds == {"stopped"} or (
            "version" in kinds and kinds <= {"version", "recomputation", "stopped"}
        )

    def summary(self) -> str:
        """Return the result as text for a terminal."""
        number = len(self.findings)
        held = "VERIFIED, no sign-off" if self.signed and not self.keys else "VERIFIED"
        if self.rejected:
            held = "VERIFIED, rejected by its auditor"
        if self.not_computed:
            held = "NOTHING COMPUTED AGAIN, and the files are those that were sealed"
        elif self.failed:
            held = "VERIFIED evidence of a failed attempt"
        if self.level != "full":
            held += f" at level {self.level}"
        verdict = held if self.ok else f"NOT VERIFIED: {number} finding{'s' * (number != 1)}"
        if self.findings and {finding.kind for finding in self.findings} <= TAMPERED:
            verdict += "; what was written first verifies"
        if self.unchecked:
            other = any(finding.kind == "version" for finding in self.findings)
            verdict = f"COULD NOT BE CHECKED: {'made by another version' if other else 'a check did not end'}"
        lines = [
            f"{verdict}  {self.uri}",
            f"  audit {self.audit or '?'}, window {self.window or '?'}, outcome {self.outcome or '?'}",
            f"  design {self.spec_digest or '?'}",
            f"  {self.files} files hashed; computed again: {', '.join(self.recomputed) or 'nothing'}",
            f"  manifest SHA-256 {self.manifest_sha256 or '?'} (compare with the published one)",
        ]
        if self.level != "full":
            lines.append(f"  {self.withheld} files are withheld, and the manifest has their digests")
        if self.encrypted:
            lines.append(f"  {self.encrypted}")
        if self.not_recomputable or self.unrecomputed:
            lines.append(
                f"  not recomputable: {self.not_recomputable} score record{'s' * (self.not_recomputable != 1)}; "
                "not computed again: "
                f"{', '.join(self.unrecomputed)}"
            )
        if self.failed:
            lines.append(f"  {_printable(self.failed)}")
        lines += [f"  finding: {finding}" for finding in self.findings]
        lines += [f"  {line}" for line in (*self.run_signatures, *self.signed)]
        lines += [f"  note: {_printable(note)}" for note in self.notes]
        return "\n".join(lines)


def _printable(said: str) -> str:
    """Paths come from whoever wrote the store: nothing of theirs may steer a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in said)


@dataclass(slots=True)
class Work:
    """What the checks share while they run."""

    store: Store
    findings: list[EvidenceFinding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)  # of the files that are there
    sizes: dict[str, int] = field(default_factory=dict)
    recomputed: list[str] = field(default_factory=list)
    level: PrivacyLevel = "full"
    withheld: set[str] = field(default_factory=set)  # of which `digests` and `sizes` are as the manifest says
    unrecomputed: list[str] = field(default_factory=list)
    readable: PrivacyLevel = (
        "full"  # as much as this level shows: what is withheld, or encrypted and without a key
    )
    encrypted: str = ""
    followed: int = 0  # score records that were followed from question to score though others were erased
    vault: Vault | None = None
    numbers: str = ""  # of the metrics, where they do not come out again as a whole: how many of them do

    def part(self) -> Work:
        """Return the same files, for a check that takes note of what it finds by itself."""
        return replace(self, findings=[], notes=[], recomputed=[], unrecomputed=[])

    def as_stored(self, path: str, content: Content) -> Content:
        """Return an artefact as the store has it."""
        return content if self.vault is None else self.vault.seal(path, content)

    def as_made(self, path: str) -> bytes:
        """Return an artefact of the store as its stage made it."""
        content = self.store.get(path)
        return content if self.vault is None else self.vault.open(path, content)

    def find(self, kind: EvidenceFindingKind, path: str, detail: str) -> None:
        """Take note of what does not hold."""
        self.findings.append(EvidenceFinding(kind=kind, path=path, detail=detail))

    def find_error(self, kind: EvidenceFindingKind, path: str, what: str, error: Exception) -> None:
        """Take note of an error that a check ended with; that memory ran out here says nothing of the evidence."""
        if is_out_of_memory(error):
            self.find("stopped", path, "was not checked: memory ran out; verify where there is more")
        else:
            self.find(kind, path, f"{what} ({type(error).__name__})")
