"""Evidence that another version of this library made: what differs here may come from that, and is no verdict."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from audit_lib.archive.findings import Work
from audit_lib.archive.software import software
from audit_lib.canonical import canonical_json, sha256, strict_json
from audit_lib.documents.evidence import Manifest
from audit_lib.documents.plan import Plan
from audit_lib.errors import AuditError, GateError, SpecError
from audit_lib.run import Run
from audit_lib.typed_json import LATER

_PLAN, _SPEC = "plan/plan.json", "plan/spec.json"
_CHECK = "check it with the version that made it"


def _later(kind: type[Any]) -> list[str]:
    """Return the keys that documents of earlier versions lack."""
    return [one.name for one in fields(kind) if one.metadata == LATER]


def digest_of_design(work: Work) -> str:
    """Return the digest of the archived spec and the files that it names, from their bytes.

    Not through AuditSpec: a later version of it may know further keys.
    """
    inputs = {
        path.removeprefix("plan/inputs/"): digest
        for path, digest in work.digests.items()
        if path.startswith("plan/inputs/")
    }
    return sha256(work.store.get(_SPEC) + canonical_json(inputs))


def find_refused(work: Work, manifest: Manifest | None, error: AuditError) -> bool:
    """Find a design that is whole and that this version refuses; return whether it is one.

    What an earlier version let pass is no fault of the evidence, and nothing can be computed from it here.
    """
    if not isinstance(error, (SpecError, GateError)):
        return False
    try:
        said = strict_json(work.store.get(_PLAN))["spec_digest"]
        whole = bool(digest_of_design(work) == said == (said if manifest is None else manifest.spec_digest))
    except (AuditError, ValueError, KeyError, TypeError):
        return False
    if whole:
        work.find(
            "version",
            _SPEC,
            f"is the design whose digest names the run, and this version refuses it, so nothing was computed again; "
            f"{_CHECK}: {error}",
        )
    return whole


def find_other_version(work: Work, run: Run, manifest: Manifest | None) -> None:
    """Find that another version made the run, where something did not come out again."""
    if not any(finding.kind == "recomputation" for finding in work.findings):
        return
    from audit_lib.policies import policy_of

    try:
        plan = run.stage("plan").read_json("plan.json")
        made = plan["policy"]["version"]
        policy = policy_of(run.spec)
    except (AuditError, ValueError, KeyError, TypeError):
        return
    name = "audit-lib"
    pairs = {
        f"the pack {policy.name}": (made, policy.version),
        name: ((None if manifest is None else manifest.software.get(name)), software()[name]),
    }
    other = [f"{what} {there} there, {here} here" for what, (there, here) in pairs.items() if there != here]
    other += [f"its plan has no {key}, which is written here" for key in _later(Plan) if key not in plan]
    if other:
        work.find(
            "version",
            _PLAN,
            f"another version made this run ({'; '.join(other)}): what does not come out again may come from that; "
            f"{_CHECK}{'; ' if work.numbers else ''}{work.numbers}",
        )
