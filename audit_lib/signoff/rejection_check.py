"""Does the rejection of a run hold: its signature, the manifest that it is about, and that nobody signed the run?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from audit_lib.canonical import sha256
from audit_lib.documents.evidence import check_instant
from audit_lib.documents.plan import Plan
from audit_lib.errors import EvidenceError
from audit_lib.plain_text import quoted
from audit_lib.run import SUCCESS, Run
from audit_lib.signing.keys import key_id, need_extra, public_pem, read_public_pem
from audit_lib.signing.trust import Trust
from audit_lib.signoff.envelope import unseal
from audit_lib.signoff.reject import MANIFEST
from audit_lib.signoff.rejection_file import FOLDER, Rejection, read_rejection
from audit_lib.signoff.sign_off_files import PUBLIC_KEY, STATEMENT, numbers

if TYPE_CHECKING:
    from collections.abc import Collection

_FILES: Final = {f"{FOLDER}/{name}" for name in (STATEMENT, PUBLIC_KEY, SUCCESS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRejection:
    """A rejection that holds.

    Attributes
    ----------
    line : str
        Who rejected the run, when, with which key, and why.
    notes : tuple of str
        What a reader should know and what is no fault.
    """

    line: str
    notes: tuple[str, ...] = ()


def check_rejection(
    run: Run, trusted: Collection[str], trust: Trust | None, now: datetime | None
) -> CheckedRejection | None:
    """Check the rejection of a sealed run; None where there is none.

    Parameters
    ----------
    run : Run
        Also a copy.
    trusted : collection of str
        Ids of keys got from the auditors themselves; with any given, another key is refused.
    trust : Trust, optional
        What the verifier believes of keys.
    now : datetime, optional
        Time of the check.

    Raises
    ------
    EvidenceError
        If it does not hold.
    AuditError
        If there is one, and the extra ``sign`` is not installed.
    """
    there = set(run.list(FOLDER))
    if not there:
        return None
    need_extra()
    if there != _FILES:
        odd = ", ".join(sorted(there ^ _FILES))
        raise EvidenceError(f"a rejection has {', '.join(sorted(_FILES))}; differs in {odd}")
    found = read_rejection(run)
    assert found is not None, "its record is there"
    archived = found.folder.read(PUBLIC_KEY)
    key = read_public_pem(archived, PUBLIC_KEY)
    if public_pem(key) != archived:
        raise EvidenceError(f"{PUBLIC_KEY}: a public key in another form than it is written in")
    unseal(found.folder.read(STATEMENT), key, STATEMENT)
    _check_said(run, found)
    mark, said, at = key_id(key), found.predicate, found.rejected_at
    if trusted and mark not in trusted:
        raise EvidenceError(f"signed with key {mark[:16]}, which is none of the keys given")
    if trust is not None:
        _check_believed(mark, trust, at)
    notes = (
        (f"{FOLDER}: says that it was signed {at}, which is after this machine's clock",)
        if now is not None and at > now
        else ()
    )
    believed = "a key given as trusted" if mark in trusted else "compare its id with the auditor's"
    line = (
        f"REJECTED by {quoted(said.auditor)}, {quoted(said.organisation)}, on {at:%Y-%m-%d %H:%M} UTC, "
        f"key {mark[:16]} ({believed}): {quoted(said.reason)}"
    )
    return CheckedRejection(line=line, notes=notes)


def _check_said(run: Run, found: Rejection) -> None:
    """It is about this run as it was sealed, later than the seal, and nobody signed the run."""
    said, at = found.predicate, found.rejected_at
    identity = (run.key.audit, run.key.window.label, run.key.spec_digest)
    if (said.audit, said.window, said.spec_digest) != identity:
        raise EvidenceError("the statement is about another run")
    (subject,) = found.statement.subject
    manifest = run.store.get(f"{run.prefix}/{MANIFEST}".lstrip("/"))
    if (subject.name, subject.digest.sha256) != (MANIFEST, sha256(manifest)):
        raise EvidenceError("the statement is about another manifest")
    archived = run.stage("plan").read_document(Plan, "plan.json").policy
    if (said.policy.name, said.policy.version) != (archived.name, archived.version):
        raise EvidenceError("was made under another policy than the run's")
    sealed = run.stage("evidence").success().finished.replace(microsecond=0)
    if at < sealed:
        raise EvidenceError(f"says that it was signed {at}, before the run was sealed ({sealed})")
    record = found.folder.success()
    started = datetime.fromisoformat(check_instant(record.started_at))
    if not started == record.finished == at:
        raise EvidenceError("its record has another time than the statement")
    if numbers(run):
        raise EvidenceError(
            "the run was rejected, and it was signed as well: one of the two is not to be here"
        )


def _check_believed(mark: str, trust: Trust, at: datetime) -> None:
    why = trust.why_not(mark, "auditor", at)
    if not why and (revoked := trust.keys[mark].revoked) is not None:
        why = f"key {mark[:16]} was revoked on {revoked.at}: {revoked.reason}; when it signed, it only claims"
    if why:
        raise EvidenceError(why)
