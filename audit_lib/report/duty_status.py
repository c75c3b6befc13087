"""The word for how a duty of law is known: the same on the page, in its PDF and in OSCAL."""

from __future__ import annotations

from typing import Final

from audit_lib.policies import Policy
from audit_lib.policies.fields import FieldCheck
from audit_lib.translation import mark, t

_WORDS: Final = {
    "computed": mark("computed"),
    "stated": mark("stated, not checked"),
    "seen": mark("seen"),
    "missing": mark("missing"),
    "not met": mark("not met"),
    "not applicable": mark("not applicable"),
}


def duty_status(policy: Policy, check: FieldCheck) -> str:
    """Return the word; who states what is stated differs by law (``wording.stated`` of the pack).

    Examples
    --------
    >>> from audit_lib.policies import load_policy
    >>> stated = FieldCheck(id="F13", duty="", cite="", where="", status="stated", found="")
    >>> [duty_status(load_policy(name), stated) for name in ("nyc_ll144", "generic")]
    ['stated by the employer, not checked', 'stated, not checked']
    """
    words = policy.wording.get("stated") if check.status == "stated" else None
    return t(words or _WORDS[check.status])
