"""Do the sign-offs of a run hold: signatures, digests of all that was signed, and their order?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from audit_lib.archive.findings import EvidenceFinding, Verification
from audit_lib.archive.recompute import Recompute
from audit_lib.archive.verify import begin_verification
from audit_lib.documents.evidence import Manifest
from audit_lib.errors import AuditError, EvidenceError, StoreUnreachableError
from audit_lib.plain_text import quoted
from audit_lib.progress import ignore
from audit_lib.report.html import readable
from audit_lib.run import Run, RunKey
from audit_lib.signing.check_run import check_signatures
from audit_lib.signing.checked_run import CheckedRun, UnplannedRun
from audit_lib.signing.findings import RunSignatures
from audit_lib.signing.keys import key_id, need_extra, public_pem, read_public_pem
from audit_lib.signing.sign_run import FOLDER as SIGNATURES
from audit_lib.signing.trust import Trust
from audit_lib.signoff.envelope import unseal
from audit_lib.signoff.rejection_check import CheckedRejection, check_rejection
from audit_lib.signoff.rejection_file import FOLDER as REJECTION
from audit_lib.signoff.sign_off_files import (
    FOLDER,
    PUBLIC_KEY,
    STATEMENT,
    SignOff,
    numbers,
    read_sign_offs,
    strays,
)
from audit_lib.signoff.signed_report import check_facts, check_rendition
from audit_lib.signoff.statement_checks import check_answered, check_chain, check_record, check_subject
from audit_lib.store import Store
from audit_lib.store.versions import as_first_written
from audit_lib.window import Window

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


_NOT_RENDERED: Final = (
    f"{FOLDER}/: what was signed has the numbers of the sealed report; its words were not made again, since another "
    "version made this run"
)
_EXPECTED: Final = "no auditor has signed this run, and keys were given of those who should have"
_REJECTED: Final = "an auditor rejected this run, and keys were given of those who should have signed it"
_UNSIGNED: Final = "no sign-off: no auditor has signed this run"
_STRAY: Final = (
    "lies in no complete sign-off: its record or its statement was removed, or the folder is none that `audit sign` "
    "makes; if a signing was killed here, move the folder out of the run and sign again"
)


def _nobody(findings: Sequence[EvidenceFinding]) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOffs:
    """What was found.

    Attributes
    ----------
    lines : tuple of str
        One for each statement: who signed, when, with which key, and whether that key is trusted here.
    findings : tuple of EvidenceFinding
        What does not hold.
    keys : tuple of str
        Id of the key of each statement that holds.
    notes : tuple of str
        What a reader should know and what is no fault.
    """

    lines: tuple[str, ...]
    findings: tuple[EvidenceFinding, ...]
    keys: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything holds (also where nobody signed)."""
        return not self.findings

    def summary(self) -> str:
        """Return the findings for people."""
        head = self.lines or (() if self.findings else (_UNSIGNED,))
        return "\n".join((*head, *(f"finding: {finding}" for finding in self.findings)))


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationOptions:
    """What a verification may use, and whom it tells how far it is; nothing of it is part of the question.

    Parameters
    ----------
    processes, table_bytes : int, optional
        As `audit_lib.archive.verify.verify` takes them.
    first : callable, optional
        Told what the checks that cost little have found, before anything is computed again.
    notify : callable, optional
        Told how far it is.
    """

    processes: int | None = None
    table_bytes: int | None = None
    first: Callable[[Sequence[EvidenceFinding]], None] = _nobody
    notify: Callable[[str], None] = ignore


_USUAL: Final = VerificationOptions()


def verify_signed(
    uri: str,
    trusted: Sequence[Ed25519PublicKey] = (),
    *,
    trust: Trust | None = None,
    heads: Sequence[str] = (),
    recompute: Recompute | None = None,
    allow_unsigned: bool = False,
    now: datetime | None = None,
    options: VerificationOptions = _USUAL,
) -> Verification:
    """Verify a run and its sign-offs: one verdict on both.

    What costs little comes first: digests, the manifest, records, signatures and the journal.

    Parameters
    ----------
    uri : str
        The run's URI, or a copy of its folder.
    trusted : sequence of Ed25519PublicKey
        As `verify_sign_offs` takes them; with any given, a run that nobody signed is a finding too.
    trust : Trust, optional
        What the verifier believes of the keys of runs and auditors; without it no key is believed or not.
    heads : sequence of str
        Digests of entries of the audit's journal that were known earlier.
    recompute : mapping of str to callable, optional
        As `audit_lib.archive.verify.verify` takes it; with any given, the signed reports are not rendered again.
    allow_unsigned : bool
        Whether a run that nobody signed is no finding even so.
    now : datetime, optional
        As `verify_sign_offs` takes it.
    options : VerificationOptions, optional
        What it may use, and whom it tells how far it is.

    Raises
    ------
    NotFoundError
        If there is no run at `uri` at all.
    StoreError
        If the store cannot be read.
    """
    begun = begin_verification(uri, options.notify, options.table_bytes)
    where = uri.rstrip("/") or "/"
    store = as_first_written(where)[0]
    run, sealed = begun.run, begun.failed is None
    if run is None:
        try:
            run = Run.from_bundle(where, store=store)
        except StoreUnreachableError:
            raise
        except Exception:  # noqa: BLE001 - a stranger's bytes may cause anything; a finding of the evidence already
            if sealed:
                options.first(begun.work.findings)
                evidence = begun.finish(recompute, options.processes, options.notify)
                note = "the signatures cannot be checked without the design"
                return replace(evidence, notes=(*evidence.notes, note))
    own = _own_signatures(run or _unplanned(begun.manifest, store), trust, heads, sealed=sealed)
    early = [*begun.work.findings, *own.findings]
    if run is not None and sealed and numbers(run):
        early += verify_sign_offs(run, trusted, render=False, now=now).findings
    options.first(early)
    evidence = begun.finish(recompute, options.processes, options.notify)
    evidence = replace(evidence, run_signatures=tuple(own.lines))
    if run is None or not sealed:
        return replace(evidence, findings=(*evidence.findings, *own.findings))
    other_version = any(finding.kind == "version" for finding in evidence.findings)
    render = recompute is None and evidence.level != "digests" and begun.bounded and not other_version
    signed = verify_sign_offs(run, trusted, render=render, now=now)
    if other_version and signed.keys:
        signed = replace(signed, notes=(*signed.notes, _NOT_RENDERED))
    if trust is not None:
        signed = replace(signed, findings=(*signed.findings, *_not_believed(run, signed, trust)))
    unsigned = not signed.lines and not signed.findings
    rejected, faults = _rejection(run, trusted, trust, now)
    if unsigned and trusted and not allow_unsigned:
        signed = replace(signed, findings=(_finding(FOLDER, _EXPECTED if rejected is None else _REJECTED),))
    # Every file of these is checked here; that they are outside the manifest is nothing to note.
    checked = (*(f"{FOLDER}/{number}/" for number in numbers(run)), f"{REJECTION}/")
    lines = (_UNSIGNED,) if unsigned else signed.lines
    if rejected is not None:
        lines = (rejected.line,)
        signed = replace(signed, notes=(*signed.notes, *rejected.notes))
    return replace(
        evidence,
        notes=(*(note for note in evidence.notes if not note.startswith(checked)), *signed.notes),
        findings=(*evidence.findings, *signed.findings, *faults, *own.findings),
        signed=lines,
        keys=signed.keys,
        rejected=rejected is not None,
    )


def _rejection(
    run: Run, trusted: Sequence[Ed25519PublicKey], trust: Trust | None, now: datetime | None
) -> tuple[CheckedRejection | None, list[EvidenceFinding]]:
    """Check the rejection of a run; one that does not hold is a finding, and never no rejection."""
    try:
        return check_rejection(run, {key_id(key) for key in trusted}, trust, now), []
    except StoreUnreachableError:
        raise
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
        return None, [_finding(REJECTION, _words(error))]


def _unplanned(said: Manifest | None, store: Store) -> UnplannedRun | None:
    """Return a run that failed before it had a plan; None where the record of that does not say which run it is."""
    if said is None:
        return None
    try:
        return UnplannedRun(RunKey(said.audit, Window.from_label(said.window), said.spec_digest), store)
    except ValueError:
        return None


def _own_signatures(
    run: CheckedRun | None, trust: Trust | None, heads: Sequence[str], *, sealed: bool
) -> RunSignatures:
    """Check what the run's own key signed; nothing that is found here may hide what was found before."""
    try:
        if run is not None:
            return check_signatures(run, trust, heads, sealed=sealed)
        why = "the record of the attempt does not say which run it is"
    except AuditError:
        raise
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
        why = type(error).__name__
    found = RunSignatures()
    found.find(SIGNATURES, f"cannot be checked ({why})")
    return found


def verify_sign_offs(
    run: Run,
    trusted: Sequence[Ed25519PublicKey] = (),
    *,
    render: bool = True,
    now: datetime | None = None,
) -> SignOffs:
    """Check every sign-off of a run.

    A statement must be signed by the key that lies next to it; be about the files that lie in this run, with every
    attestation that the policy asks for; name the one before it and be later than that and than the seal; and the
    report that it signs must be the one that follows from the evidence. The time is the signer's own: that a
    statement was not dated forward nothing in the run can show. Nor that the key is an auditor's: pass the keys that
    you trust.

    Parameters
    ----------
    run : Run
        A sealed run, also a copy of one.
    trusted : sequence of Ed25519PublicKey
        Keys got from the auditors themselves. With any given, a statement of another key is a finding.
    render : bool
        Whether each signed report is rendered again and compared whole. Otherwise its numbers, as tables and as
        JSON, are held against those of the sealed report, which no later version of the library changes.
    now : datetime, optional
        Time of the check; that a statement says it was signed later is noted.

    Raises
    ------
    AuditError
        If there is a sign-off, and the extra ``sign`` is not installed: what cannot be checked is no finding.
    """
    if numbers(run):
        need_extra()
    ids = {key_id(key) for key in trusted}
    lines: list[str] = []
    notes: list[str] = []
    findings = [_finding(path, _STRAY) for path in strays(run)]
    try:
        found = read_sign_offs(run)
    except StoreUnreachableError:
        raise
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
        return SignOffs(lines=(), findings=(*findings, _finding(FOLDER, _words(error))))
    before: SignOff | None = None
    keys: list[str] = []
    for place, one in enumerate(found, start=1):
        where = f"{FOLDER}/{one.number}"
        try:
            archived = one.folder.read(PUBLIC_KEY)
            key = read_public_pem(archived, PUBLIC_KEY)
            if public_pem(key) != archived:
                raise EvidenceError(f"{PUBLIC_KEY}: a public key in another form than it is written in")
            unseal(one.folder.read(STATEMENT), key, STATEMENT)
            check_subject(run, one)
            check_chain(run, one, before)
            check_record(run, one)
            notes += check_answered(run, one)
            if render:
                notes += check_rendition(run, one, key)
            else:
                check_facts(run, one)
        except StoreUnreachableError:
            raise
        except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
            findings.append(_finding(where, _words(error)))
            continue
        finally:
            before = one
        mark = key_id(key)
        keys.append(mark)
        if ids and mark not in ids:
            detail = f"signed with key {mark[:16]}, which is none of the keys given"
            findings.append(_finding(where, detail))
        if now is not None and one.signed_at > now:
            notes.append(
                f"{where}: says that it was signed {one.signed_at}, which is after this machine's clock"
            )
        trust = "a key given as trusted" if mark in ids else "compare its id with the auditor's"
        lines.append(
            f"signed by {quoted(one.predicate.auditor)}, {quoted(one.predicate.organisation)}, on "
            f"{one.signed_at:%Y-%m-%d %H:%M} UTC, key {mark[:16]} ({trust})"
            + (f"; superseded by statement {found[place].number}" if place < len(found) else "")
        )
    return SignOffs(lines=tuple(lines), findings=tuple(findings), keys=tuple(keys), notes=tuple(notes))


def _not_believed(run: Run, signed: SignOffs, trust: Trust) -> list[EvidenceFinding]:
    """Find the sign-offs of keys that the trust file does not believe; their time is the signer's own."""
    found = []
    for one in read_sign_offs(run) if signed.keys else ():
        mark = key_id(read_public_pem(one.folder.read(PUBLIC_KEY), PUBLIC_KEY))
        why = trust.why_not(mark, "auditor", one.signed_at)
        if not why and (revoked := trust.keys[mark].revoked) is not None:
            why = f"key {mark[:16]} was revoked on {revoked.at}: {revoked.reason}; when it signed, it only claims"
        if why:
            found.append(_finding(f"{FOLDER}/{one.number}", why))
    return found


def _finding(where: str, message: str) -> EvidenceFinding:
    return EvidenceFinding(kind="sign-off", path=readable(where), detail=readable(message))


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, AuditError) else f"cannot be checked ({type(error).__name__})"
