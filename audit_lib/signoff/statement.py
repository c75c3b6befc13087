"""What an auditor signs: which run, with what result, under which attestations."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

from audit_lib.errors import InputError
from audit_lib.policies import Policy, policy_of
from audit_lib.policies.audit_claim import not_independent, why_no_audit
from audit_lib.run import Run
from audit_lib.spec import AuditSpec

TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE: Final = "urn:audit-lib:sign-off:1"
Signer = Literal["auditor", "service"]
_NO_TEXT: Final = ("Cc", "Cf", "Cs", "Zl", "Zp")
_INVISIBLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u2065\u2800\u3164\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
)
"""Letters, marks and unassigned codes that are drawn as nothing (Default_Ignorable_Code_Point, less what scripts
need: joiners and variation selectors), and the blank of Braille."""
_JOINERS: Final = "\u200c\u200d"  # Persian and Sinhala names, among others, are spelled with them


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


def is_text(words: str, *, lines: bool = False) -> bool:
    r"""Whether `words` show as they are read: no control, nothing that turns or hides what stands beside it.

    Such characters can make a name on a screen or page another one, or write a verdict over a terminal.

    Parameters
    ----------
    words : str
        Any text.
    lines : bool
        Whether it may have several lines.

    Examples
    --------
    >>> is_text("K\u00f6chin \u53a8\u5e08"), is_text("Ann\x1b[2J"), is_text("Ann\u3164")
    (True, False, False)
    >>> is_text("a\nb"), is_text("a\nb", lines=True)
    (False, True)
    """
    allowed = _JOINERS + ("\n" if lines else "")
    return _INVISIBLE.search(words) is None and all(
        char in allowed or unicodedata.category(char) not in _NO_TEXT for char in words
    )


def is_named(words: str) -> bool:
    r"""Whether there is a letter or a digit in `words`, so that something is named.

    Examples
    --------
    >>> is_named("Ada"), is_named(" \u200d"), is_named("-")
    (True, False, False)
    """
    return any(unicodedata.category(char)[0] in "LN" for char in words)


def quoted(words: str) -> str:
    r"""Put a name in quotes that it cannot end, so that what it says is not taken for what the checker says.

    Examples
    --------
    >>> quoted('Ada", key checked')
    '"Ada\\", key checked"'
    """
    return json.dumps(words, ensure_ascii=False)


def check_text(what: str, words: str, *, lines: bool = False) -> None:
    """Refuse words that would not show as they are.

    Raises
    ------
    InputError
        If a control, formatting or invisible character is in `words`.
    """
    if not is_text(words, lines=lines):
        raise InputError(f"{what}: holds a control, formatting or invisible character; write plain text")


def check_answers(run: Run, answers: Answers) -> None:
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
    if asked and (who := not_independent(run.spec.use, answers.organisation)):
        cites = ", ".join(dict.fromkeys(one.cite for one in asked.values()))
        raise InputError(f"organisation: it is {who}, and an independent auditor signs this run ({cites})")
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


def why_no_audit_of(policy: Policy, spec: AuditSpec, predicate: Mapping[str, Any] | None) -> str | None:
    """Return why a run whose last statement says `predicate` is no audit of its law; None where it is one."""
    if predicate is None:
        return why_no_audit(policy, spec, None, ())
    attested = {one["id"] for one in predicate["attestations"] if one in attestations_of(policy)}
    return why_no_audit(policy, spec, predicate["organisation"], attested)


def attestations_of(policy: Policy) -> list[dict[str, str]]:
    """Return a policy's attestations as a statement holds them; `check_answers` lets none be left out."""
    return [{"id": one.id, "text": one.text, "cite": one.cite} for one in policy.attestations]


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
        "attestations": attestations_of(policy),
        "remarks": answers.remarks.strip(),
        "signer": answers.signer,
        "account": answers.account,
        "signed_at": at.astimezone(UTC).isoformat(timespec="seconds"),
        "supersedes": dict(supersedes) if supersedes else None,
    }
