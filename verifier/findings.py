"""What the checks find and what they could not look at, and the verdict that follows."""

from __future__ import annotations

from typing import Any, NamedTuple

from verifier import VERSION
from verifier.strict_json import pretty

SCHEMA = "audit-verification/1"
CODES = {"verified": 0, "not verified": 1, "not decided": 2}

NOT_CHECKED = (
    "the Parquet tables: that scores.csv, questions and the tree of records agree with them",
    "intervals, p-values, verdicts, and metrics other than counts, rates, impact ratios, medians and mean scores",
    "the words and numbers of the pages (.html, .pdf): only that they are the files that were sealed",
    "the signature of a time stamping authority: only that its stamp is over this signature, and which time it says",
    "what the tool really answered: whoever asked it is believed",
)
"""What this program does not look at. `audit verify` does, but for the last."""


class Finding(NamedTuple):
    """Something that does not hold: what kind of thing, where, and how."""

    kind: str
    path: str
    detail: str

    def __str__(self) -> str:
        return printable(f"{self.path}: {self.detail} [{self.kind}]")


class Verdict:
    """Everything that is said of a run."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.identity: dict[str, str] = {"audit": "", "window": "", "design": "", "outcome": ""}
        self.failed_attempt = ""
        self.manifest_sha256 = ""
        self.level, self.withheld = "full", 0
        self.files = 0
        self.recounted: list[str] = []
        self.findings: list[Finding] = []
        self.undecided: list[str] = []
        self.signatures: list[str] = []
        self.notes: list[str] = []
        self.not_checked = list(NOT_CHECKED)

    def find(self, kind: str, path: str, detail: str) -> None:
        """Take note of what does not hold."""
        self.findings.append(Finding(kind, path, detail))

    @property
    def word(self) -> str:
        """The verdict."""
        if self.findings:
            return "not verified"
        return "not decided" if self.undecided else "verified"

    @property
    def code(self) -> int:
        """The exit code: 0, 1 where something does not hold, 2 where it could not be decided here."""
        return CODES[self.word]

    def as_text(self) -> str:
        """Return it for people."""
        number = len(self.findings)
        head = {
            "verified": "VERIFIED, as far as this program looks",
            "not verified": f"NOT VERIFIED: {number} finding{'s' * (number != 1)}",
            "not decided": "NOT DECIDED HERE",
        }[self.word]
        said = self.identity
        lines = [
            f"{head}  {self.where}",
            f"  audit {said['audit'] or '?'}, window {said['window'] or '?'}, outcome {said['outcome'] or '?'}",
            f"  design {said['design'] or '?'}",
            f"  {self.files} files hashed; counted again: {', '.join(self.recounted) or 'nothing'}",
            f"  manifest SHA-256 {self.manifest_sha256 or '?'} (compare with the published one)",
        ]
        if self.level != "full":
            lines.append(
                f"  a copy of level {self.level}: {self.withheld} files are withheld; the manifest has their digests"
            )
        if self.failed_attempt:
            lines.append(f"  {self.failed_attempt}")
        lines += [f"  finding: {one}" for one in self.findings]
        lines += [f"  not decided: {one}" for one in self.undecided]
        lines += [f"  {one}" for one in self.signatures]
        lines += [f"  note: {one}" for one in self.notes]
        lines += [f"  not checked here: {one}" for one in self.not_checked]
        return "\n".join(printable(line) for line in lines) + "\n"

    def as_json(self) -> str:
        """Return it for programs."""
        document: dict[str, Any] = {
            "schema": SCHEMA,
            "program": {"name": "verify.pyz", "version": VERSION},
            "verdict": self.word,
            "where": self.where,
            **self.identity,
            "failed_attempt": self.failed_attempt,
            "manifest_sha256": self.manifest_sha256,
            "level": self.level,
            "withheld": self.withheld,
            "files": self.files,
            "computed_again": self.recounted,
            "findings": [one._asdict() for one in self.findings],
            "undecided": self.undecided,
            "signatures": self.signatures,
            "notes": self.notes,
            "not_checked": self.not_checked,
        }
        return pretty(_printable_parts(document)).decode()


def printable(said: str) -> str:
    """Return a text in which nothing steers a terminal: paths come from whoever wrote the evidence."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in said
    )


def _printable_parts(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {name: _printable_parts(one) for name, one in value.items()}
    return [_printable_parts(one) for one in value] if isinstance(value, (list, tuple)) else value
