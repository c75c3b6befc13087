"""What an auditor signs: which run, with what result, under which attestations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

from audit_lib.errors import InputError
from audit_lib.policies import policy_of
from audit_lib.run import Run

TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE: Final = "urn:audit-lib:sign-off:1"
Signer = Literal["auditor", "service"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
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


def check_answers(run: Run, answers: Answers) -> None:
    """Refuse answers that make no sign-off.

    Raises
    ------
    InputError
        If a name is missing, or an attestation of the policy is not affirmed; the message cites the law.
    """
    for what in ("auditor", "organisation"):
        if not getattr(answers, what).strip():
            raise InputError(f"{what}: a sign-off names who signs; it is empty")
    asked = {one.id: one for one in policy_of(run.spec).attestations}
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


def make_statement(subject: Mapping[str, str], predicate: Mapping[str, Any]) -> dict[str, Any]:
    """Return the statement: an in-toto statement whose subject is the manifest, the report, and the signed report."""
    return {
        "_type": TYPE,
        "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in sorted(subject.items())],
        "predicateType": PREDICATE,
        "predicate": dict(predicate),
    }


def make_predicate(
    run: Run, answers: Answers, at: datetime, number: int, supersedes: Mapping[str, str] | None
) -> dict[str, Any]:
    """Return what is said about the subject."""
    policy = policy_of(run.spec)
    return {
        "audit": run.key.audit,
        "window": run.key.window.label,
        "spec_digest": run.key.spec_digest,
        "number": number,
        "policy": {"name": policy.name, "version": policy.version},
        "auditor": answers.auditor.strip(),
        "organisation": answers.organisation.strip(),
        "attestations": [
            {"id": one.id, "text": one.text, "cite": one.cite}
            for one in policy.attestations
            if one.id in answers.attested
        ],
        "remarks": answers.remarks.strip(),
        "signer": answers.signer,
        "account": answers.account,
        "signed_at": at.astimezone(UTC).isoformat(timespec="seconds"),
        "supersedes": dict(supersedes) if supersedes else None,
    }
