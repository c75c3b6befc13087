"""What of a statement must hold in addition to its signature: its subject, its place among the others, its answers."""

from __future__ import annotations

from datetime import datetime

from audit_lib.canonical import sha256
from audit_lib.documents.evidence import Manifest
from audit_lib.documents.plan import Plan
from audit_lib.errors import EvidenceError
from audit_lib.policies import policy_of
from audit_lib.privacy.levels import is_withheld
from audit_lib.privacy.withheld_files import level_of
from audit_lib.run import SUCCESS, Run
from audit_lib.signoff.sign_off_files import FOLDER, PUBLIC_KEY, STATEMENT, SignOff
from audit_lib.signoff.statement import attestations_of


def check_subject(run: Run, one: SignOff) -> None:
    """The statement is about this run, and every file that it signed is there as it was signed, with no other.

    Of a file that a copy's level withholds, the digest that the sealing recorded must be the one that was signed.

    Raises
    ------
    EvidenceError
        If not.
    """
    said, where = one.predicate, f"{FOLDER}/{one.number}"
    identity = (run.key.audit, run.key.window.label, run.key.spec_digest)
    if (said.audit, said.window, said.spec_digest) != identity:
        raise EvidenceError("the statement is about another run")
    if said.number != one.number:
        raise EvidenceError(f"the statement is number {said.number} of its run")
    level = level_of(run.store, run.prefix)
    signed = {entry.name: entry.digest.sha256 for entry in one.statement.subject}
    recorded = {
        f"{stage}/{name}": artefact.sha256
        for stage in ("evidence", "report", where)
        for name, artefact in run.stage(stage).success().artefacts.items()
    }
    for name in (STATEMENT, PUBLIC_KEY):
        recorded.pop(f"{where}/{name}", None)
    there = {*run.list(where)} - {f"{where}/{name}" for name in (SUCCESS, STATEMENT, PUBLIC_KEY)}
    if extra := sorted((recorded.keys() | there) - signed.keys()):
        raise EvidenceError(f"{', '.join(extra)} is there and was not signed")
    lost = {name for name in signed if name.startswith(f"{where}/")} - there
    if missing := sorted((signed.keys() - recorded.keys()) | lost):
        raise EvidenceError(f"signed, and not there or not in the record: {', '.join(missing)}")
    for path, digest in sorted(signed.items()):
        key = f"{run.prefix}/{path}".lstrip("/")
        is_here = not is_withheld(path, level) or run.store.exists(key)
        if (sha256(run.store.get(key)) if is_here else recorded[path]) != digest:
            raise EvidenceError(f"{path} is not the file that was signed")


def check_record(run: Run, one: SignOff) -> None:
    """The record of a sign-off has no time but the one that was signed; those of runs of format 1 have others.

    Raises
    ------
    EvidenceError
        If not.
    """
    if run.stage("evidence").read_document(Manifest, "manifest.json").is_first_format:
        return
    record = one.folder.success()
    if not datetime.fromisoformat(record.started_at) == record.finished == one.signed_at:
        raise EvidenceError("its record has another time than the statement")


def check_chain(run: Run, one: SignOff, before: SignOff | None) -> None:
    """Each statement is later than the seal and names the one before it; a run's first may name another run's.

    Raises
    ------
    EvidenceError
        If not.
    """
    named = one.predicate.supersedes
    sealed = run.stage("evidence").success().finished.replace(microsecond=0)
    if one.signed_at < sealed:
        raise EvidenceError(f"says that it was signed {one.signed_at}, before the run was sealed ({sealed})")
    if before is None:
        if named is not None and named.run.startswith(f"{run.key.prefix}/"):
            raise EvidenceError(f"the statement that it supersedes ({named.run}) is not there")
        return
    expected = (before.digest, f"{run.key.prefix}/{FOLDER}/{before.number}")
    if named is None or (named.statement_sha256, named.run) != expected:
        raise EvidenceError(f"does not name statement {before.number}, which it supersedes")
    if one.signed_at < before.signed_at:
        raise EvidenceError(f"says that it was signed before statement {before.number}, which it supersedes")


def check_answered(run: Run, one: SignOff) -> list[str]:
    """The statement was made under the run's policy, with every attestation that it asks for, in its words.

    Returns
    -------
    list of str
        That the attestations cannot be checked here, where the pack is of another version by now.

    Raises
    ------
    EvidenceError
        If not.
    """
    said, archived = one.predicate, run.stage("plan").read_document(Plan, "plan.json").policy
    if (said.policy.name, said.policy.version) != (archived.name, archived.version):
        raise EvidenceError("was made under another policy than the run's")
    policy = policy_of(run.spec)
    if (archived.name, archived.version) != (policy.name, policy.version):
        here = f"{policy.name} {policy.version}"
        return [f"{FOLDER}/{one.number}: its attestations cannot be checked: the policy pack here is {here}"]
    if said.attestations != attestations_of(policy):
        raise EvidenceError("does not hold the attestations that the policy asks for, each in its words")
    return []
