"""Adding an auditor's signed rejection, with its reason, to a sealed run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from audit_lib.canonical import sha256
from audit_lib.documents.rejection import RejectionPredicate, RejectionStatement
from audit_lib.documents.sign_off import SignedPolicy, Signer, Subject, SubjectDigest
from audit_lib.errors import ConflictError, IncompleteRunError, InputError
from audit_lib.journal import enter, entries_of, read_journal
from audit_lib.plain_text import is_named
from audit_lib.policies import policy_of
from audit_lib.run import Run, StageOutput
from audit_lib.signing.keys import public_pem
from audit_lib.signoff.envelope import seal, unseal
from audit_lib.signoff.rejection_file import FOLDER, Rejection, read_rejection
from audit_lib.signoff.sign_off_files import PUBLIC_KEY, STATEMENT, read_sign_offs
from audit_lib.signoff.statement import check_text
from audit_lib.windows import note_change

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

MANIFEST = "evidence/manifest.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectionAnswers:
    """What an auditor says who rejects a run.

    Attributes
    ----------
    auditor, organisation : str
        Who rejects it, in full.
    reason : str
        Why. It is printed wherever the run is shown.
    signer : {"auditor", "service"}
        Whose key it is: the auditor's own, or one that the service keeps for the auditor who answered there.
    account : str or None
        The account that answered, where a service signs.
    """

    auditor: str
    organisation: str
    reason: str
    signer: Signer = "auditor"
    account: str | None = None


def reject(
    run: Run, answers: RejectionAnswers, key: Ed25519PrivateKey, *, at: datetime | None = None
) -> Rejection:
    """Reject a sealed run for good: nobody can sign it any more.

    The evidence need not verify: that it does not is a reason to reject it.

    Parameters
    ----------
    run : Run
        Sealed, and neither signed nor rejected.
    answers : RejectionAnswers
        What the auditor says.
    key : Ed25519PrivateKey
        Of the auditor, or of the service in which the auditor answered.
    at : datetime, optional
        Time of signing; now, if not given.

    Raises
    ------
    InputError
        If a name or the reason is missing, a text holds control characters, the run was signed or rejected before,
        or `at` is before the seal.
    IncompleteRunError
        If the run is not sealed.
    ConflictError
        If another auditor rejected it at the same time.
    """
    _check(answers)
    if not run.stage("evidence").is_complete():
        raise IncompleteRunError(f"{run.uri}: only a sealed run is rejected; evidence is not complete")
    refuse_rejected(run)
    if signed := read_sign_offs(run):
        last = signed[-1]
        raise InputError(
            f"{run.uri}: {last.predicate.auditor} signed it on {last.signed_at:%Y-%m-%d}. A signed report is not "
            "rejected; it is superseded: `audit sign --supersede`, or --corrects with a corrected run"
        )
    moment = (at or datetime.now(UTC)).astimezone(UTC).replace(microsecond=0)
    sealed = run.stage("evidence").success().finished.replace(microsecond=0)
    if moment < sealed:
        raise InputError(
            f"{run.uri}: to be rejected at {moment.isoformat()}, which is before it was sealed ({sealed.isoformat()}); "
            "look at this machine's clock"
        )
    manifest = run.store.get(f"{run.prefix}/{MANIFEST}".lstrip("/"))
    policy = policy_of(run.spec)
    statement = RejectionStatement(
        subject=(Subject(name=MANIFEST, digest=SubjectDigest(sha256=sha256(manifest))),),
        predicate=RejectionPredicate(
            audit=run.key.audit,
            window=run.key.window.label,
            spec_digest=run.key.spec_digest,
            policy=SignedPolicy(name=policy.name, version=policy.version),
            auditor=answers.auditor.strip(),
            organisation=answers.organisation.strip(),
            reason=answers.reason.strip(),
            signer=answers.signer,
            account=answers.account,
            rejected_at=moment.isoformat(timespec="seconds"),
        ),
    )
    content = seal(statement.as_dict(), key)
    unseal(content, key.public_key(), "the new statement")
    folder = run.stage(FOLDER)
    artefacts = {STATEMENT: content, PUBLIC_KEY: public_pem(key.public_key())}
    try:
        folder.commit(StageOutput(artefacts, {"statements": 1}, moment), moment)
    except ConflictError:
        raise ConflictError(
            f"{folder.store.uri(folder.prefix)}: another rejection was made at the same time, or one was killed here; "
            "look at it"
        ) from None
    note_change(run.store, run.key.audit)
    if run.folder is None and entries_of(read_journal(run.store, run.key.audit), run.key):
        enter(run.store, run.key, 0, "rejected", sealed_sha256=sha256(content))
    return Rejection(digest=sha256(content), statement=statement, folder=folder)


def refuse_rejected(run: Run) -> None:
    """Refuse a run that an auditor rejected, or that somebody began to reject.

    Raises
    ------
    InputError
        If it was; the message says who did, when and why.
    """
    found = read_rejection(run)
    if found is not None:
        said = found.predicate
        raise InputError(
            f"{run.uri}: {said.auditor}, {said.organisation}, rejected it on {found.rejected_at:%Y-%m-%d}: "
            f"{said.reason}. That stands for good; correct what was wrong, run the audit again and sign that run"
        )
    if run.list(FOLDER):
        raise InputError(
            f"{run.uri}/{FOLDER}: holds a rejection that was not finished; if it was killed there, move the folder "
            "out of the run and answer again"
        )


def _check(answers: RejectionAnswers) -> None:
    for what in ("auditor", "organisation"):
        check_text(what, getattr(answers, what).strip())
        if not is_named(getattr(answers, what)):
            raise InputError(f"{what}: a rejection names who rejects; there is no letter in it")
    check_text("account", answers.account or "")
    check_text("reason", answers.reason.strip(), lines=True)
    if not is_named(answers.reason):
        raise InputError("reason: a rejection says why; write what is wrong with the run")
