"""Which sealed run a document of the monitor is about."""

from __future__ import annotations

from audit_lib.canonical import sha256
from audit_lib.documents.drift import RunIdentity
from audit_lib.run import Run


def identity_of(run: Run) -> RunIdentity:
    """Return a sealed run's window, design, and the digest of its manifest.

    Raises
    ------
    IncompleteRunError
        If it is not sealed.
    """
    return RunIdentity(
        window=run.key.window.label,
        spec_digest=run.key.spec_digest,
        manifest_sha256=sha256(run.stage("evidence").read("manifest.json")),
    )
