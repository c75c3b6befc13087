"""Do the sign-offs of a run hold: signatures, digests of all that was signed, and their order?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from audit_lib.archive.findings import Finding, Verification
from audit_lib.archive.recompute import Recompute
from audit_lib.archive.verify import verify
from audit_lib.canonical import sha256
from audit_lib.errors import AuditError, EvidenceError, StoreUnreachableError
from audit_lib.run import SUCCESS, Run
from audit_lib.signoff.envelope import unseal
from audit_lib.signoff.keys import key_id, read_public_pem
from audit_lib.signoff.records import FOLDER, PUBLIC_KEY, STATEMENT, SignOff, read_sign_offs

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


_UNSIGNED: Final = "not signed: no auditor has signed this run"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOffs:
    """What was found.

    Attributes
    ----------
    lines : tuple of str
        One for each statement: who signed, when, with which key, and whether that key is trusted here.
    findings : tuple of Finding
        What does not hold.
    keys : tuple of str
        Id of the key of each statement that holds.
    """

    lines: tuple[str, ...]
    findings: tuple[Finding, ...]
    keys: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything holds (also where nobody signed)."""
        return not self.findings

    def summary(self) -> str:
        """Return the findings for people."""
        head = self.lines or (() if self.findings else (_UNSIGNED,))
        return "\n".join((*head, *(f"finding: {finding}" for finding in self.findings)))


def verify_signed(
    uri: str, trusted: Sequence[Ed25519PublicKey] = (), *, recompute: Recompute | None = None
) -> Verification:
    """Verify a run and its sign-offs: one verdict on both.

    Parameters
    ----------
    uri : str
        The run's URI, or a copy of its folder.
    trusted : sequence of Ed25519PublicKey
        As `verify_sign_offs` takes them.
    recompute : mapping of str to callable, optional
        As `audit_lib.archive.verify.verify` takes it.

    Raises
    ------
    NotFoundError
        If there is no run at `uri` at all.
    StoreError
        If the store cannot be read.
    """
    evidence = verify(uri, recompute=recompute)
    try:
        run = Run.from_bundle(uri.rstrip("/") or "/")
    except StoreUnreachableError:
        raise
    except AuditError:  # a finding of the evidence already
        return replace(
            evidence, notes=(*evidence.notes, "the sign-offs cannot be checked without the design")
        )
    signed = verify_sign_offs(run, trusted)
    return replace(
        evidence,
        findings=(*evidence.findings, *signed.findings),
        signed=signed.lines or (() if signed.findings else (_UNSIGNED,)),
        keys=signed.keys,
    )


def verify_sign_offs(run: Run, trusted: Sequence[Ed25519PublicKey] = ()) -> SignOffs:
    """Check every sign-off of a run.

    A statement must be signed by the key that lies beside it, be about the files that lie in this run, the signed
    report among them, and name the one before it. That the key is an auditor's nothing in the run can show:
    pass the keys that you trust.

    Parameters
    ----------
    run : Run
        A sealed run, also a copy of one.
    trusted : sequence of Ed25519PublicKey
        Keys got from the auditors themselves. With any given, a statement of another key is a finding.
    """
    ids = {key_id(key) for key in trusted}
    lines: list[str] = []
    findings: list[Finding] = []
    try:
        found = read_sign_offs(run)
    except StoreUnreachableError:
        raise
    except AuditError as error:
        return SignOffs(lines=(), findings=(_finding(FOLDER, str(error)),))
    before: SignOff | None = None
    keys: list[str] = []
    for place, one in enumerate(found, start=1):
        where = f"{FOLDER}/{one.number}"
        try:
            key = read_public_pem(one.folder.read(PUBLIC_KEY), f"{where}/{PUBLIC_KEY}")
            unseal(one.folder.read(STATEMENT), key, f"{where}/{STATEMENT}")
            _check_subject(run, one, where)
            _check_chain(run, one, before, where)
        except StoreUnreachableError:
            raise
        except AuditError as error:
            findings.append(_finding(where, str(error)))
            continue
        finally:
            before = one
        mark = key_id(key)
        keys.append(mark)
        if ids and mark not in ids:
            detail = f"signed with key {mark[:16]}, which is none of the keys given"
            findings.append(_finding(where, detail))
        trust = "a key given as trusted" if mark in ids else "compare its id with the auditor's"
        lines.append(
            f"signed by {one.predicate['auditor']}, {one.predicate['organisation']}, on "
            f"{one.signed_at:%Y-%m-%d %H:%M} UTC, key {mark[:16]} ({trust})"
            + (f"; superseded by statement {found[place].number}" if place < len(found) else "")
        )
    return SignOffs(lines=tuple(lines), findings=tuple(findings), keys=tuple(keys))


def _finding(where: str, message: str) -> Finding:
    return Finding(kind="sign-off", path=where, detail=message.removeprefix(f"{where}: "))


def _check_subject(run: Run, one: SignOff, where: str) -> None:
    """The statement is about this run, and every file that it signed is there as it was signed, with no other."""
    said = one.predicate
    identity = (run.key.audit, run.key.window.label, run.key.spec_digest)
    if (said["audit"], said["window"], said["spec_digest"]) != identity:
        raise EvidenceError(f"{where}: the statement is about another run")
    if said["number"] != one.number:
        raise EvidenceError(f"{where}: the statement is number {said['number']} of its run")
    signed = {entry["name"]: entry["digest"]["sha256"] for entry in one.statement["subject"]}
    there = {
        *(
            f"{stage}/{name}"
            for stage in ("evidence", "report")
            for name in run.stage(stage).success()["artefacts"]
        ),
        *run.list(where),
    } - {f"{where}/{name}" for name in (SUCCESS, STATEMENT, PUBLIC_KEY)}
    if extra := sorted(there - signed.keys()):
        raise EvidenceError(f"{where}: {', '.join(extra)} is there and was not signed")
    if missing := sorted(signed.keys() - there):
        raise EvidenceError(f"{where}: signed, and not there: {', '.join(missing)}")
    for path, digest in sorted(signed.items()):
        if sha256(run.store.get(f"{run.prefix}/{path}".lstrip("/"))) != digest:
            raise EvidenceError(f"{where}: {path} is not the file that was signed")


def _check_chain(run: Run, one: SignOff, before: SignOff | None, where: str) -> None:
    """Each statement names the one before it; the first of a run may name one of another run."""
    named = one.predicate["supersedes"]
    if before is not None and (named is None or named["statement_sha256"] != before.digest):
        raise EvidenceError(f"{where}: does not name statement {before.number}, which it supersedes")
    if before is None and named is not None and named["run"].startswith(f"{run.key.prefix}/"):
        raise EvidenceError(f"{where}: the statement that it supersedes ({named['run']}) is not there")
