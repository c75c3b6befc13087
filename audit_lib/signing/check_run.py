"""Do the signatures over a run's plan and result hold, were they made in time, and is their key believed?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from audit_lib.canonical import canonical_json, sha256
from audit_lib.documents.evidence import Manifest, decode_exact
from audit_lib.documents.run_statement import (
    PLAN_PREDICATE,
    RESULT_PREDICATE,
    JournalHead,
    RunStatement,
    SignedMoment,
)
from audit_lib.errors import AuditError, EvidenceError, StoreUnreachableError
from audit_lib.plain_text import quoted
from audit_lib.signing.attestations import check_attestations
from audit_lib.signing.check_journal import check_journal
from audit_lib.signing.checked_run import CheckedRun
from audit_lib.signing.findings import RunSignatures
from audit_lib.signing.sign_run import (
    BUNDLE,
    ENVELOPE,
    FOLDER,
    PLANNED,
    PUBLIC_KEY,
    RECEIPT,
    STAMP,
    path_of,
    planned_files,
    result_files,
)
from audit_lib.signing.signers import PAYLOAD_TYPE, archived_key, signed_payload, signers_among
from audit_lib.signing.time_stamps import TimeStamp, check_stamp, claimed_stamp
from audit_lib.signing.trust import Trust

MOMENTS: Final[tuple[SignedMoment, ...]] = ("plan", "result")
_OF_STATEMENTS: Final = ("time stamps", "sigstore", "receipts")
"""What a trust file may require of each statement, so that there must be one."""
_UNKNOWN: Final = (
    "without a trust file nothing here shows that the run was not made again as a whole, with other answers; see "
    "`audit verify --trust`"
)


@dataclass(frozen=True, slots=True)
class _Signed:
    """A signature that holds: by which key, and when as far as it is known."""

    key_id: str
    claimed_at: datetime
    stamp: TimeStamp | None
    head: JournalHead | None
    own_authority: bool

    @property
    def at(self) -> datetime:
        return self.claimed_at if self.stamp is None else self.stamp.at


def check_signatures(
    run: CheckedRun, trust: Trust | None, heads: Sequence[str] = (), *, sealed: bool = True
) -> RunSignatures:
    """Check the signatures over a run's plan and result.

    A statement must be signed by the key that lies next to it, and be about every file that was there at its moment as
    it is now. With a trust file that key must be believed for this moment at the time of the signature: that of the
    time stamp, or else the time that the signer claims, which is said.

    Parameters
    ----------
    run : CheckedRun
        Also a copy of one.
    trust : Trust or None
        What the verifier believes.
    heads : sequence of str
        Digests of entries of the journal that the verifier knew earlier.
    sealed : bool
        Whether there is evidence; without it there is no result to be signed, and who requires one needs the journal.
    """
    found = RunSignatures()
    there = set(run.list(FOLDER))
    signed: dict[SignedMoment, _Signed] = {}
    logged: dict[SignedMoment, datetime] = {}
    for moment in MOMENTS if sealed else MOMENTS[:1]:
        if path_of(moment, ENVELOPE) not in there:
            for what in (PUBLIC_KEY, STAMP, BUNDLE, RECEIPT):
                if path_of(moment, what) in there:
                    found.find(path_of(moment, what), "the statement that it belongs to is gone")
            if trust is not None and (needed := {moment, *_OF_STATEMENTS} & {*trust.file.required}):
                what = "it" if moment in needed else f"{' and '.join(sorted(needed))} over it"
                found.find(
                    path_of(moment, ENVELOPE),
                    f"the {moment} is not signed, and the trust file requires {what}",
                )
            found.lines.append(f"{moment} not signed")
            continue
        try:
            signed[moment] = _check(run, moment, there, trust)
        except StoreUnreachableError:
            raise
        except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
            words = (
                str(error) if isinstance(error, AuditError) else f"cannot be checked ({type(error).__name__})"
            )
            found.find(path_of(moment, ENVELOPE), words)
            continue
        _check_believed(found, moment, signed[moment], trust)
        found.lines.append(_line(moment, signed[moment], trust))
        if (at := check_attestations(run, moment, there, trust, found)) is not None:
            logged[moment] = at
    known: list[JournalHead | str] = [*heads, *(one.head for one in signed.values() if one.head is not None)]
    required = bool(heads)
    if trust is not None:
        known += [one.head for one in trust.file.heads if one.audit == run.key.audit]
        # That an attempt failed nobody signs; the journal's heads, which are known or signed, say it.
        of_failed = not sealed and "result" in trust.file.required
        required = required or of_failed or "journal" in trust.file.required
    asked = check_journal(run, known, found, required=required)
    _check_order(found, run, {moment: one.at for moment, one in signed.items()}, asked, ENVELOPE)
    _check_order(found, run, logged, asked, BUNDLE)
    if trust is None:
        found.lines.append(_UNKNOWN)
    return found


def _check(run: CheckedRun, moment: SignedMoment, there: set[str], trust: Trust | None) -> _Signed:
    content = _read(run, path_of(moment, ENVELOPE))
    if path_of(moment, PUBLIC_KEY) not in there:
        raise EvidenceError("its public key is gone")
    key = archived_key(_read(run, path_of(moment, PUBLIC_KEY)), path_of(moment, PUBLIC_KEY))
    if not signers_among(content, PAYLOAD_TYPE, [key], ENVELOPE):
        raise EvidenceError(f"the signature is not one of key {key.keyid[:16]} over this statement")
    statement = decode_exact(
        RunStatement, signed_payload(content, PAYLOAD_TYPE, ENVELOPE), ENVELOPE, _statement_bytes
    )
    _check_subject(run, moment, statement)
    said = statement.predicate
    claimed = datetime.fromisoformat(said.claimed_at)
    return _Signed(
        key.keyid, claimed, _stamp(run, moment, there, trust), said.journal, said.own_authority is True
    )


def _statement_bytes(statement: RunStatement) -> bytes:
    return canonical_json(statement.as_dict())


def _check_subject(run: CheckedRun, moment: SignedMoment, statement: RunStatement) -> None:
    """It is a statement of this kind about this run, and each file that it names is there as it was signed."""
    said = statement.predicate
    if statement.predicateType != (PLAN_PREDICATE if moment == "plan" else RESULT_PREDICATE):
        raise EvidenceError("is a statement of another kind")
    if (said.audit, said.window, said.spec_digest) != (
        run.key.audit,
        run.key.window.label,
        run.key.spec_digest,
    ):
        raise EvidenceError("the statement is about another run")
    if moment == "result":
        manifest = run.stage("evidence").read_document(Manifest, "manifest.json")
        if said.outcome != manifest.outcome:
            raise EvidenceError("its outcome is not that of the manifest")
    signed = {one.name: one.digest.sha256 for one in statement.subject}
    there = planned_files(run) if moment == "plan" else result_files(run)
    stages = PLANNED if moment == "plan" else ("evidence",)
    there = [*there, *(path for path in run.withheld if path.split("/")[0] in stages)]
    if extra := sorted(set(there) - signed.keys()):
        raise EvidenceError(f"{', '.join(extra)} is there and was not signed")
    if missing := sorted(signed.keys() - set(there)):
        raise EvidenceError(f"signed, and not there: {', '.join(missing)}")
    for path, digest in sorted(signed.items()):
        held = run.withheld.get(path)
        if (sha256(_read(run, path)) if held is None else held.sha256) != digest:
            raise EvidenceError(f"{path} is not the file that was signed")


def _stamp(run: CheckedRun, moment: SignedMoment, there: set[str], trust: Trust | None) -> TimeStamp | None:
    path = path_of(moment, STAMP)
    if path not in there:
        return None
    content, answer = _read(run, path_of(moment, ENVELOPE)), _read(run, path)
    if trust is None:
        return TimeStamp(claimed_stamp(answer, content, path), "", independent=False)
    return check_stamp(answer, content, trust.authorities, path)


def _check_believed(found: RunSignatures, moment: SignedMoment, signed: _Signed, trust: Trust | None) -> None:
    if trust is None:
        return
    path = path_of(moment, ENVELOPE)
    if signed.stamp is None and "time stamps" in trust.file.required:
        found.find(path_of(moment, STAMP), f"the {moment} has no time stamp, and the trust file requires it")
    if why := trust.why_not(signed.key_id, moment, signed.at):
        found.find(path, why)
    elif signed.stamp is None and (revoked := trust.keys[signed.key_id].revoked) is not None:
        # Whoever has a stolen key claims any time.
        found.find(
            path,
            f"key {signed.key_id[:16]} was revoked on {revoked.at}: {revoked.reason}; that it signed before, it only "
            "claims: there is no time stamp",
        )


def _check_order(
    found: RunSignatures,
    run: CheckedRun,
    signed: Mapping[SignedMoment, datetime],
    entered: datetime | None,
    what: str,
) -> None:
    """The plan's signature before the first request, the result's after the sealing; stamps have whole seconds."""
    try:
        asked = [
            datetime.fromisoformat(run.stage(f"scores/{path.split('/')[1]}").success().started_at)
            for path in run.list("scores")
            if path.endswith("/_SUCCESS")
        ] + ([] if entered is None else [entered])
        if "plan" in signed and asked and signed["plan"] > min(asked):
            found.find(
                path_of("plan", what),
                f"the plan was signed {signed['plan']}, after the first request {min(asked)}",
            )
        if "result" in signed:
            sealed = run.stage("evidence").success().finished
            if signed["result"] < sealed.replace(microsecond=0):
                found.find(
                    path_of("result", what),
                    f"the result was signed {signed['result']}, before it was sealed",
                )
    except (AuditError, ValueError, TypeError, KeyError):
        return  # a record that is none, which is reported already


def _line(moment: SignedMoment, signed: _Signed, trust: Trust | None) -> str:
    key = f"key {signed.key_id[:16]}"
    if trust is None:
        who = f"{key} (compare its id with the one published)"
    elif signed.key_id in trust.keys:
        who = f"{key} (of {quoted(trust.keys[signed.key_id].name)})"
    else:
        who = f"{key} (not believed)"
    when = f"{signed.at:%Y-%m-%d %H:%M:%S} UTC"
    if signed.stamp is None:
        return f"{moment} signed with {who}, on {when} as it only claims: no time stamp"
    if trust is None:
        own = (
            ", and that is its signer's own by the statement, not independent" if signed.own_authority else ""
        )
        return f"{moment} signed with {who}, time stamp {when} of an authority that was not checked: no trust file{own}"
    kind = "" if signed.stamp.independent and not signed.own_authority else ", not independent"
    return f"{moment} signed with {who}, time stamp {when} of {quoted(signed.stamp.authority)}{kind}"


def _read(run: CheckedRun, path: str) -> bytes:
    return run.store.get(f"{run.prefix}/{path}".lstrip("/"))
