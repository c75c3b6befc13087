"""What others may say of a run's statements, next to the signature of its own key: Sigstore, a transparency service."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from audit_lib.documents.run_statement import SignedMoment
from audit_lib.errors import AuditError, ConflictError, InputError
from audit_lib.plain_text import quoted
from audit_lib.run import Run
from audit_lib.signing.checked_run import CheckedRun
from audit_lib.signing.findings import RunSignatures
from audit_lib.signing.receipts import check_receipt
from audit_lib.signing.sign_run import BUNDLE, ENVELOPE, RECEIPT, is_signed, path_of
from audit_lib.signing.signers import PAYLOAD_TYPE, signed_payload
from audit_lib.signing.sigstore_bundles import check_bundle
from audit_lib.signing.trust import Trust


def check_attestations(
    run: CheckedRun, moment: SignedMoment, there: Collection[str], trust: Trust | None, found: RunSignatures
) -> datetime | None:
    """Check the Sigstore bundle and the receipt over a statement, where they are.

    Returns
    -------
    datetime or None
        When Sigstore's log had the statement; None where that is not known.
    """
    at = None
    content = run.store.get(f"{run.prefix}/{path_of(moment, ENVELOPE)}".lstrip("/"))
    for what, named, needed in ((BUNDLE, "Sigstore bundle", "sigstore"), (RECEIPT, "receipt", "receipts")):
        path = path_of(moment, what)
        if path not in there:
            if trust is not None and needed in trust.file.required:
                found.find(path, f"the {moment} has no {named}, and the trust file requires it")
            continue
        believed = (
            () if trust is None else (trust.file.identities if what == BUNDLE else trust.file.logs) or ()
        )
        if not believed:
            found.lines.append(f"{moment}: {named} not checked: no trust file says against what")
            if trust is not None and needed in trust.file.required:
                found.find(path, f"the trust file requires a {named}, and says nothing to check it against")
            continue
        attested = run.store.get(f"{run.prefix}/{path}".lstrip("/"))
        try:
            if what == BUNDLE:
                payload = signed_payload(content, PAYLOAD_TYPE, ENVELOPE)
                assert trust is not None
                signed = check_bundle(attested, payload, trust.file.identities or (), moment, path)
                at = signed.at
                said = f"signed by {quoted(signed.name)} through Sigstore, {at:%Y-%m-%d %H:%M:%S} UTC"
            else:
                assert trust is not None
                entry = check_receipt(attested, content, trust.file.logs or (), path)
                kind = "" if entry.independent else ", not independent"
                said = f"entry {entry.index} of {entry.size} in the log of {quoted(entry.name)}{kind}"
        except AuditError as error:
            found.find(path, str(error).removeprefix(f"{path}: "))
            continue
        found.lines.append(f"{moment} {said}")
    return at


def attach(run: Run, moment: SignedMoment, content: bytes, trust: Trust) -> str:
    """Put a Sigstore bundle, or a receipt, next to the statement that it is about; return its path in the run.

    Raises
    ------
    InputError
        If the statement is not signed.
    EvidenceError
        If it does not hold under the trust file.
    ConflictError
        If another one is there.
    """
    if not is_signed(run, moment):
        raise InputError(
            f"{run.uri}: the {moment} is not signed, so nothing can be attached to its signature"
        )
    envelope = run.store.get(f"{run.prefix}/{path_of(moment, ENVELOPE)}".lstrip("/"))
    is_bundle = content.lstrip()[:1] == b"{"
    path = path_of(moment, BUNDLE if is_bundle else RECEIPT)
    if is_bundle:
        payload = signed_payload(envelope, PAYLOAD_TYPE, ENVELOPE)
        check_bundle(content, payload, trust.file.identities or (), moment, path)
    else:
        check_receipt(content, envelope, trust.file.logs or (), path)
    key = f"{run.prefix}/{path}".lstrip("/")
    if not run.store.put(key, content) and run.store.get(key) != content:
        raise ConflictError(f"{run.store.uri(key)}: another one is there already")
    return path
