"""Signing a plan before the first request and a result when it is sealed, with time stamps where an authority is set.

::

    <run>/signatures/{plan,result}.{dsse.json,pub,tsr,sigstore.json,receipt.cbor}

The last two are options (`audit_lib.signing.attestations`). Each file is written once. No digest in the manifest covers
them: the result's statement names the first three of the plan.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from typing import Final

from audit_lib.archive.entering import was_asked
from audit_lib.canonical import canonical_json
from audit_lib.digesting_stream import digest_of
from audit_lib.documents.evidence import Manifest
from audit_lib.documents.journal import JournalEntry, head_of
from audit_lib.documents.run_statement import (
    PLAN_PREDICATE,
    RESULT_PREDICATE,
    RunPredicate,
    RunStatement,
    SignedMoment,
)
from audit_lib.documents.sign_off import Subject, SubjectDigest
from audit_lib.errors import BackendError, InputError
from audit_lib.run import Run
from audit_lib.signing.checked_run import CheckedRun
from audit_lib.signing.signers import (
    PAYLOAD_TYPE,
    SIGNER,
    RunSigner,
    configured_signer,
    sign_payload,
    signed_payload,
)
from audit_lib.signing.sigstore_bundles import make_bundle, wants_bundle
from audit_lib.signing.time_stamps import AUTHORITY, OWN, ask_for_stamp, claimed_stamp

FOLDER: Final = "signatures"
REQUIRED: Final = "AUDIT_PLAN_SIGNATURE"
"""Environment variable that is ``required`` where nothing may be asked without a signed plan."""
ENVELOPE, PUBLIC_KEY, STAMP = "dsse.json", "pub", "tsr"
BUNDLE, RECEIPT = "sigstore.json", "receipt.cbor"
PLANNED: Final = ("plan", "sample", "variants")
"""Stages that are there before the model is asked."""
_PATIENCE_S: Final = 15.0
_PAUSE_S: Final = 0.5


def path_of(moment: SignedMoment, what: str) -> str:
    """Return the path in a run of an envelope, its public key or its time stamp."""
    return f"{FOLDER}/{moment}.{what}"


def sign_plan(run: Run, entry: JournalEntry | None = None) -> None:
    """Sign a run's plan, with its entry in the journal, if a signer is configured and the model was not asked yet.

    Raises
    ------
    InputError
        If a signed plan is required and there is none, or the signer cannot be used.
    BackendError
        If the time stamping authority does not answer, or its clock and this machine's differ.
    """
    signer = configured_signer()  # also where the plan is signed: the result will need it
    if _is_done(run, "plan"):
        return
    asked = was_asked(run)  # before the next line: another shard's task may be signing now
    if is_signed(run, "plan") and asked:
        return
    if asked or signer is None:
        why = "the model was asked before" if asked else f"there is no signer; set {SIGNER}"
        if _is_set(REQUIRED, "required"):
            raise InputError(f"{run.uri}: {REQUIRED}=required, and the plan is not signed: {why}")
        if not asked:
            run.notify(f"plan: not signed: {why}")
        return
    _sign(run, "plan", signer, entry)
    run.notify(f"plan: signed before the first request ({run.uri}/{path_of('plan', ENVELOPE)})")


def sign_result(run: Run, entry: JournalEntry | None = None) -> None:
    """Sign a run's sealed evidence, with its entry in the journal, if a signer is configured.

    Raises
    ------
    InputError, BackendError
        As `sign_plan`.
    """
    if _is_done(run, "result"):
        return
    signer = configured_signer()
    if signer is None:
        return
    _sign(run, "result", signer, entry)
    run.notify(f"result: signed ({run.uri}/{path_of('result', ENVELOPE)})")


def planned_files(run: CheckedRun) -> list[str]:
    """Return the paths that a plan's signature is about: all that is there before the model is asked."""
    return sorted(path for stage in PLANNED for path in run.list(stage))


def result_files(run: CheckedRun) -> list[str]:
    """Return the paths that a result's signature is about: the sealing, and the plan's signature."""
    of_plan = (path_of("plan", what) for what in (ENVELOPE, PUBLIC_KEY, STAMP))
    there = set(run.list(FOLDER))
    return sorted([*run.list("evidence"), *(path for path in of_plan if path in there)])


def _sign(run: Run, moment: SignedMoment, signer: RunSigner, entry: JournalEntry | None) -> None:
    files = planned_files(run) if moment == "plan" else result_files(run)
    manifest = run.stage("evidence").read_document(Manifest, "manifest.json") if moment == "result" else None
    head = None if entry is None else head_of(entry)
    if not is_signed(run, moment):
        statement = RunStatement(
            subject=tuple(
                Subject(name=path, digest=SubjectDigest(sha256=digest_of(run.store, _key(run, path))[0]))
                for path in files
            ),
            predicateType=PLAN_PREDICATE if moment == "plan" else RESULT_PREDICATE,
            predicate=RunPredicate(
                audit=run.key.audit,
                window=run.key.window.label,
                spec_digest=run.key.spec_digest,
                outcome=None if manifest is None else manifest.outcome,
                journal=head,
                own_authority=True if _wants_stamp() and _is_set(OWN, "yes") else None,
                claimed_at=datetime.now(UTC).isoformat(timespec="seconds"),
            ),
        )
        envelope = sign_payload(canonical_json(statement.as_dict()), PAYLOAD_TYPE, [signer])
        # The key first: whoever finds the envelope finds its key. Of two that sign at once the first stays.
        run.store.put(_key(run, path_of(moment, PUBLIC_KEY)), signer.public_pem)
        run.store.put(_key(run, path_of(moment, ENVELOPE)), envelope)
    if _wants_stamp() and not _has(run, moment, STAMP):
        envelope = run.store.get(_key(run, path_of(moment, ENVELOPE)))
        stamp = _stamp_of_now(run, moment, envelope, manifest)
        run.store.put(_key(run, path_of(moment, STAMP)), stamp)
    if wants_bundle() and not _has(run, moment, BUNDLE):
        envelope = run.store.get(_key(run, path_of(moment, ENVELOPE)))
        bundle = make_bundle(signed_payload(envelope, PAYLOAD_TYPE, ENVELOPE))
        run.store.put(_key(run, path_of(moment, BUNDLE)), bundle)


def _stamp_of_now(run: Run, moment: SignedMoment, envelope: bytes, manifest: Manifest | None) -> bytes:
    """Return a stamp whose time is where it belongs: not after now for a plan, not before the sealing for a result.

    Clocks differ by fractions of a second, which is waited for; where they differ by more nothing is stamped.
    """
    sealed = (
        None if manifest is None or manifest.sealed_at is None else datetime.fromisoformat(manifest.sealed_at)
    )

    def holds(at: datetime) -> bool:
        if sealed is None:
            return at <= datetime.now(UTC)
        return at >= sealed.replace(microsecond=0)

    until = time.monotonic() + _PATIENCE_S
    stamp = ask_for_stamp(envelope)
    while not holds(at := claimed_stamp(stamp, envelope, AUTHORITY)):
        if time.monotonic() > until:
            raise BackendError(
                f"{AUTHORITY}: the authority's clock says {at.isoformat()}, which is not the {moment}'s time by this "
                "machine's clock; set that right"
            )
        time.sleep(_PAUSE_S)
        if sealed is not None:
            stamp = ask_for_stamp(envelope)
    return stamp


def _is_set(variable: str, word: str) -> bool:
    """Whether a variable holds the one word that it may hold; another would be a wish that nobody heeds."""
    said = os.environ.get(variable, "").strip()
    if said not in ("", word):
        raise InputError(f"{variable}={said}: is {word}, or not set")
    return said == word


def _wants_stamp() -> bool:
    return bool(os.environ.get(AUTHORITY, "").strip())


def is_signed(run: Run, moment: SignedMoment) -> bool:
    """Whether a run's plan or result is signed."""
    return _has(run, moment, ENVELOPE)


def _is_done(run: Run, moment: SignedMoment) -> bool:
    """Whether it is signed, and has all that the environment asks for besides."""
    return (
        is_signed(run, moment)
        and (_has(run, moment, STAMP) or not _wants_stamp())
        and (_has(run, moment, BUNDLE) or not wants_bundle())
    )


def _has(run: Run, moment: SignedMoment, what: str) -> bool:
    return run.store.exists(_key(run, path_of(moment, what)))


def _key(run: Run, path: str) -> str:
    return f"{run.prefix}/{path}".lstrip("/")
