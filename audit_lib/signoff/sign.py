"""Appending an auditor's signed statement, and the report that carries it, to a sealed run."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from audit_lib.canonical import sha256
from audit_lib.documents.sign_off import Superseded
from audit_lib.errors import ConflictError, EvidenceError, IncompleteRunError, InputError
from audit_lib.journal import enter, entries_of, read_journal
from audit_lib.large_file import sha256_of
from audit_lib.run import Run, StageOutput
from audit_lib.signing.keys import public_pem
from audit_lib.signoff.envelope import seal, unseal
from audit_lib.signoff.reject import refuse_rejected
from audit_lib.signoff.sign_off_files import (
    FOLDER,
    PUBLIC_KEY,
    STATEMENT,
    SignOff,
    next_number,
    read_sign_offs,
)
from audit_lib.signoff.signed_report import signature_of, signed_files
from audit_lib.signoff.statement import (
    AuditorAnswers,
    check_answers,
    check_text,
    make_predicate,
    make_statement,
)
from audit_lib.signoff.verification import verify_signed
from audit_lib.store import open_store
from audit_lib.windows import note_change

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_SUBJECT_STAGES = ("evidence", "report")


def sign_off(
    run: Run,
    answers: AuditorAnswers,
    key: Ed25519PrivateKey,
    *,
    supersede: str | None = None,
    corrects: Run | None = None,
    at: datetime | None = None,
) -> SignOff:
    """Sign a sealed run and render its report again with the signature.

    The evidence is verified first, with the sign-offs that are there: nobody signs what does not verify.

    Parameters
    ----------
    run : Run
        Sealed, reported, and not signed yet (or see `supersede`).
    answers : AuditorAnswers
        What the auditor says.
    key : Ed25519PrivateKey
        Of the auditor, or of the service in which the auditor answered.
    supersede : str, optional
        Why an earlier statement is superseded; needed where there is one.
    corrects : Run, optional
        An earlier signed run that this one takes the place of (a corrected audit of the same window).
    at : datetime, optional
        Time of signing; now, if not given.

    Returns
    -------
    SignOff
        ``statement.dsse.json``, ``signer.pub`` and the signed report lie in its folder.

    Raises
    ------
    InputError
        If an answer is missing, or an auditor rejected the run, or `supersede` is missing or there is nothing to
        supersede, or another run of the window took the place of this one, or of the one that it corrects, already;
        or `at` is before the seal.
    IncompleteRunError
        If the run is not sealed, or was sealed without a report.
    EvidenceError
        If the evidence or an earlier sign-off does not verify.
    ConflictError
        If another sign-off of the run was made at the same time.
    """
    check_answers(run, answers)
    check_text("the reason to supersede", (supersede or "").strip(), lines=True)
    refuse_rejected(run)
    earlier = _earlier(run, supersede, corrects)
    _check_unclaimed(run, earlier)
    for stage in _SUBJECT_STAGES:
        if not run.stage(stage).is_complete():
            raise IncompleteRunError(
                f"{run.uri}: only a sealed run with a report is signed; {stage} is not complete"
            )
    moment, number = (at or datetime.now(UTC)).astimezone(UTC), next_number(run)
    after = _no_earlier_than(run, earlier)
    if moment.replace(microsecond=0) < after:
        raise InputError(
            f"{run.uri}: to be signed at {moment.isoformat()}, which is before it was sealed, or before the statement "
            f"that it supersedes was signed ({after.isoformat()}); look at this machine's clock"
        )
    run.notify(f"sign-off: verifying {run.uri}")
    verified = verify_signed(run.uri)
    if not verified.ok:
        raise EvidenceError(f"{run.uri}: nobody signs evidence that does not verify:\n{verified.summary()}")
    predicate = make_predicate(run, answers, moment, number, _superseded(earlier, supersede))
    shown = signed_files(run, signature_of(predicate, key.public_key()))
    subject = {
        f"{stage}/{name}": entry.sha256
        for stage in _SUBJECT_STAGES
        for name, entry in run.stage(stage).success().artefacts.items()
    }
    subject |= {f"{FOLDER}/{number}/{name}": sha256_of(content) for name, content in shown.items()}
    statement = make_statement(subject, predicate)
    content = seal(statement.as_dict(), key)
    unseal(content, key.public_key(), "the new statement")
    folder = run.stage(f"{FOLDER}/{number}")
    artefacts = {STATEMENT: content, PUBLIC_KEY: public_pem(key.public_key()), **shown}
    try:
        signed_at = moment.replace(microsecond=0)  # as the statement says it
        folder.commit(StageOutput(artefacts, {"statements": 1}, signed_at), signed_at)
    except ConflictError:
        raise ConflictError(
            f"{folder.store.uri(folder.prefix)}: another sign-off was made at the same time; look at it, and if "
            "yours is still to be added, sign again"
        ) from None
    note_change(run.store, run.key.audit)
    if run.folder is None and entries_of(read_journal(run.store, run.key.audit), run.key):
        enter(run.store, run.key, 0, "signed", sealed_sha256=sha256(content))
    if corrects is not None:
        enter(corrects.store, corrects.key, 0, "superseded")
    return SignOff(number=number, digest=sha256(content), statement=statement, folder=folder)


def _no_earlier_than(run: Run, earlier: tuple[Run, SignOff] | None) -> datetime:
    sealed = run.stage("evidence").success().finished.replace(microsecond=0)
    return sealed if earlier is None else max(sealed, earlier[1].signed_at)


def _check_unclaimed(run: Run, earlier: tuple[Run, SignOff] | None) -> None:
    """Refuse where another run of the window superseded this run's statement, or the one to be superseded."""
    if earlier is None:
        return
    place, named = earlier[0].key.prefix, earlier[1]
    for sibling in _siblings(run):
        for one in read_sign_offs(sibling):
            claim = one.predicate.supersedes
            if claim is not None and claim.statement_sha256 == named.digest:
                raise InputError(
                    f"{place}/{FOLDER}/{named.number}: is superseded already, by {sibling.key.prefix}/{FOLDER}/"
                    f"{one.number}; supersede that one if it is wrong"
                )


def _siblings(run: Run) -> list[Run]:
    """Return the signed runs of the same audit and window that lie in the same store; none next to a copy."""
    if not run.uri.endswith(f"/{run.key.prefix}"):
        return []
    store = open_store(run.uri.removesuffix(f"/{run.key.prefix}"))
    keys = store.list(run.key.prefix.rsplit("/", 1)[0])
    signed = {key.split(f"/{FOLDER}/")[0] for key in keys if key.endswith(f"/{STATEMENT}")}
    return [Run.load(store.uri(prefix)) for prefix in sorted(signed)]


def _superseded(earlier: tuple[Run, SignOff] | None, why: str | None) -> Superseded | None:
    if earlier is None:
        return None
    run, one = earlier
    place = f"{run.key.prefix}/{FOLDER}/{one.number}"
    return Superseded(statement_sha256=one.digest, run=place, reason=(why or "").strip())


def _earlier(run: Run, supersede: str | None, corrects: Run | None) -> tuple[Run, SignOff] | None:
    """Return the statement that the new one supersedes, and the run that it is of."""
    own = read_sign_offs(run)
    other = read_sign_offs(corrects) if corrects is not None else []
    if own and corrects is not None:
        raise InputError(f"{run.uri}: is signed already; it cannot also take the place of another run")
    if corrects is not None and not other:
        raise InputError(f"{corrects.uri}: is not signed, so there is nothing to supersede")
    if corrects is not None and (corrects.key.audit, corrects.key.window) != (run.key.audit, run.key.window):
        raise InputError(
            f"{corrects.uri}: is of another audit or window; only a run of {run.key.audit} over the same window can "
            "be superseded"
        )
    found = own or other
    if found and not (supersede or "").strip():
        raise InputError(
            f"{run.uri}: statement {found[-1].number} was signed by {found[-1].predicate.auditor} on "
            f"{found[-1].signed_at:%Y-%m-%d}. A signed report is never changed; to supersede it, give the reason"
        )
    if not found and supersede:
        raise InputError(f"{run.uri}: is not signed, so there is nothing to supersede")
    if not found:
        return None
    return (corrects if corrects is not None else run), found[-1]
