"""A verification for programs, in the form that ``verify.pyz`` has too (``audit-verification/1``)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from audit_lib import __version__
from audit_lib.archive.findings import Verification
from audit_lib.canonical import pretty_json

SCHEMA: Final = "audit-verification/1"
NOT_CHECKED: Final = ("what the tool really answered: whoever asked it is believed",)


def verification_json(found: Verification) -> str:
    """Return a verification as JSON.

    Examples
    --------
    >>> '"verdict": "verified"' in verification_json(Verification(uri="run"))
    True
    """
    undecided = [str(one) for one in found.findings] if found.unchecked else []
    held = "not computed again" if found.not_computed else "verified"
    verdict = held if found.ok else "not verified"
    document = {
        "schema": SCHEMA,
        "program": {"name": "audit", "version": __version__},
        "verdict": "not decided" if found.unchecked else verdict,
        "where": found.uri,
        "audit": found.audit,
        "window": found.window,
        "design": found.spec_digest,
        "outcome": found.outcome,
        "failed_attempt": found.failed,
        "manifest_sha256": found.manifest_sha256,
        "level": found.level,
        "withheld": found.withheld,
        "files": found.files,
        "computed_again": list(found.recomputed),
        "findings": [] if found.unchecked else [asdict(one) for one in found.findings],
        "undecided": undecided,
        "signatures": [*found.run_signatures, *found.signed],
        "notes": list(found.notes),
        "not_checked": [
            *(("every number: nothing was computed again",) if found.not_computed else ()),
            *(f"{stage}: not computed again" for stage in found.unrecomputed),
            *NOT_CHECKED,
        ],
    }
    return pretty_json(document).decode()
