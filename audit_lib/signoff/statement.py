"""What an auditor signs: which run, with what result, under which attestations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from audit_lib.documents.sign_off import (
    Attestation,
    Predicate,
    SignedPolicy,
    SignedStatement,
    Signer,
    Subject,
    SubjectDigest,
    Superseded,
)
from audit_lib.errors import InputError
from audit_lib.plain_text import is_named, is_text
from audit_lib.policies import Policy, policy_of
from audit_lib.policies.audit_claim import why_no_audit
from audit_lib.policies.independence import is_another, not_independent
from audit_lib.policies.timeline import Timeline
from audit_lib.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditorAnswers:
    """What the auditor says.

    Attributes
    ----------
    auditor, organisation : str
        Who signs, in full.
    attested : tuple of str
        Ids of the policy's attestations that the auditor affirms; all of them are needed.
    remarks : str
        Printed in the signed report.
    signer : {"auditor", "service"}
        Whose key it is: the auditor's own, or that of the service in which the auditor answered.
    account : str or None
        The account that answered, where a service signs.
    """

    auditor: str
    organisation: str
    attested: tuple[str, ...]
    remarks: str = ""
    signer: Signer = "auditor"
    account: str | None = None


def attestations(run: Run) -> Mapping[str, str]:
    """Return what the run's policy asks an auditor to attest: id -> sentence."""
    policy = policy_of(run.spec)
    return {one.id: one.text for one in policy.attestations}


def check_text(what: str, words: str, *, lines: bool = False) -> None:
    """Refuse words that would not show as they are.

    Raises
    ------
    InputError
        If a control, formatting or invisible character is in `words`.
    """
    if not is_text(words, lines=lines):
        raise InputError(f"{what}: holds a control, formatting or invisible character; write plain text")


def check_answers(run: Run, answers: AuditorAnswers) -> None:
    """Refuse answers that make no sign-off.

    Raises
    ------
    InputError
        If a name is missing, a text holds control characters, an attestation of the policy is not affirmed, or the
        organisation is the employer's or the vendor's of the spec; the message cites the law.
    """
    for what in ("auditor", "organisation"):
        check_text(what, getattr(answers, what).strip())
        if not is_named(getattr(answers, what)):
            raise InputError(f"{what}: a sign-off names who signs; there is no letter in it")
    check_text("account", answers.account or "")
    check_text("remarks", answers.remarks.strip(), lines=True)
    asked = {one.id: one for one in policy_of(run.spec).attestations}
    cites = ", ".join(dict.fromkeys(one.cite for one in asked.values()))
    for what in ("organisation", "auditor"):
        if asked and (who := not_independent(run.spec.use, getattr(answers, what))):
            raise InputError(f"{what}: it is {who}, and an independent auditor signs this run ({cites})")
    named = (run.spec.report.auditor or "").strip()
    if is_another(named, answers.auditor, answers.organisation):
        raise InputError(
            f"auditor: report.auditor of the spec is {named}, and {answers.auditor}, {answers.organisation}, would "
            "sign; run the audit again with the auditor who signs in report.auditor, or with none there"
        )
    for given in answers.attested:
        if given not in asked:
            raise InputError(
                f"attestation {given!r} is not one of the policy's: {', '.join(asked) or 'none'}"
            )
    for name, one in asked.items():
        if name not in answers.attested:
            raise InputError(
                f"not attested: {name}: {one.text} ({one.cite}). Without it nobody signs this run"
            )


def why_no_audit_of(times: Timeline, predicate: Predicate | None) -> str | None:
    """Return why a run whose last statement says `predicate` is no audit of its law; None where it is one."""
    if predicate is None:
        return why_no_audit(times, ())
    attested = {one.id for one in predicate.attestations if one in attestations_of(times.policy)}
    return why_no_audit(times, attested)


def attestations_of(policy: Policy) -> tuple[Attestation, ...]:
    """Return a policy's attestations as a statement holds them; `check_answers` lets none be left out."""
    return tuple(Attestation(id=one.id, text=one.text, cite=one.cite) for one in policy.attestations)


def make_statement(subject: Mapping[str, str], predicate: Predicate) -> SignedStatement:
    """Return the statement: an in-toto statement whose subject is the manifest, the report, and the signed report."""
    return SignedStatement(
        subject=tuple(
            Subject(name=name, digest=SubjectDigest(sha256=digest))
            for name, digest in sorted(subject.items())
        ),
        predicate=predicate,
    )


def make_predicate(
    run: Run, answers: AuditorAnswers, at: datetime, number: int, supersedes: Superseded | None
) -> Predicate:
    """Return what is said about the subject."""
    policy = policy_of(run.spec)
    return Predicate(
        audit=run.key.audit,
        window=run.key.window.label,
        spec_digest=run.key.spec_digest,
        number=number,
        policy=SignedPolicy(name=policy.name, version=policy.version),
        auditor=answers.auditor.strip(),
        organisation=answers.organisation.strip(),
        attestations=attestations_of(policy),
        remarks=answers.remarks.strip(),
        signer=answers.signer,
        account=answers.account,
        signed_at=at.astimezone(UTC).isoformat(timespec="seconds"),
        supersedes=supersedes,
    )
