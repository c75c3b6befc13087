"""The process that verifies: one run at a time, told by lines of JSON, in memory that is bounded.

``python -m audit_lib.verify_all.worker``. A run that makes it hang, grow or crash ends this process and no other;
`audit_lib.verify_all.processes` starts the next one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from audit_lib.store import open_store
from audit_lib.store.versions import as_first_written
from audit_lib.worker_processes import LONGEST, Jobs, answer_to, serve

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from audit_lib.archive.findings import EvidenceFinding, Verification
    from audit_lib.journal import ReadJournals
    from audit_lib.signing.trust import Trust

__all__ = ["Verifier", "answer_to"]

SHOWN: Final = 20
"""Findings of a run that are handed on; the others are counted."""


class Verifier:
    """What one process does.

    Parameters
    ----------
    root : str
        Of the store.
    trust : sequence of str
        Paths of trust files or keys.
    """

    def __init__(self, root: str, trust: Sequence[str], journals: ReadJournals) -> None:
        self._root, self._store, self._journals = root, open_store(root), journals
        self._trusted: list[Ed25519PublicKey] = []
        self._trust: Trust | None = None
        if trust:
            from audit_lib.signing.trust import read_trusted

            self._trusted, self._trust = read_trusted([Path(one) for one in trust], datetime.now(UTC))

    def look(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """Read all files of a run, and return the digest over them."""
        from audit_lib.archive.bundle_digest import bundle_digest

        return bundle_digest(as_first_written(self._store.uri(job["name"]))[0])._asdict()

    def verify(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """Verify a run in full."""
        found = self._verified(job["name"])
        audit = str(job["name"]).split("/")[0]
        if any(one.kind == "journal" for one in found.findings) and self._journals.forget_if_grown(
            self._store, audit
        ):
            found = self._verified(job["name"])  # it was entered since the journal was read
        verdict = "verified" if found.ok else "does not verify"
        return {
            "verdict": "could not be checked" if found.unchecked else verdict,
            "sha256": found.bundle_sha256 if found.ok else None,
            "files": found.files,
            "bytes": found.bytes,
            **_said(found.findings),
        }

    def journal(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """Check the journal of an audit against itself, heads that were known, and all that was sealed."""
        from audit_lib.documents.journal import entry_digest
        from audit_lib.signing.check_journal import check_all

        heads = list(job["heads"])
        if self._trust is not None:
            heads += [one.head.sha256 for one in self._trust.file.heads if one.audit == job["name"]]
        entries, found = check_all(as_first_written(self._root)[0], job["name"], heads)
        head = entry_digest(entries[-1]) if entries else None
        return {"entries": len(entries), "head": head, **_said(found.findings)}

    def _verified(self, name: str) -> Verification:
        from audit_lib.signoff import VerificationOptions, verify_signed

        return verify_signed(
            self._store.uri(name),
            self._trusted,
            trust=self._trust,
            now=datetime.now(UTC),
            # The memory of this process is bounded.
            options=VerificationOptions(processes=1, table_bytes=sys.maxsize),
        )


def _said(findings: Sequence[EvidenceFinding]) -> dict[str, Any]:
    """Return findings in words, and as kinds and places alone; not all where they are many."""
    return {
        "findings": [str(one)[:LONGEST] for one in findings[:SHOWN]],
        "places": [f"{one.kind}: {one.path}"[:LONGEST] for one in findings[:SHOWN]],
        "more": max(len(findings) - SHOWN, 0),
    }


@contextmanager
def _opened(settings: Mapping[str, Any]) -> Iterator[Jobs]:
    from audit_lib.journal import journals_read_once

    with journals_read_once() as journals:
        does = Verifier(settings["root"], settings["trust"], journals)
        yield {"look": does.look, "verify": does.verify, "journal": does.journal}


if __name__ == "__main__":
    serve(_opened)
