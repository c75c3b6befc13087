"""An event in words, and the signature of a message that is sent to an address on the network."""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime
from typing import Any, Final

from audit_lib.canonical import canonical_json
from audit_lib.events.log import DueMessage

TIMESTAMP: Final = "X-Audit-Timestamp"
SIGNATURE: Final = "X-Audit-Signature"
EVENT_ID: Final = "X-Audit-Event"
_TITLES: Final = {
    "alarm": "alarm",
    "failed": "an audit failed",
    "missed": "windows were missed",
    "late": "an audit is late",
    "evidence_broken": "evidence does not verify",
    "sign_off_due": "a sign-off is due",
    "validity_ending": "an audit's validity ends",
    "budget_reached": "the budget is used up",
}
_STAGES: Final = {"opened": "", "escalated": "not acknowledged: ", "recovered": "recovered: "}


def title(due: DueMessage) -> str:
    """Return what happened in a few words."""
    return f"{_STAGES[due.stage]}{_TITLES[due.logged.opened.event.kind]}"


def text(due: DueMessage) -> str:
    """Return what moved, by how much, since when, how sure that is, who is affected, and where one reads more."""
    opened, closed = due.logged.opened, due.logged.closed
    event = opened.event
    over = f" It is over: {closed.how}." if closed is not None else ""
    nobody = (
        f" Nobody has acknowledged it since {opened.opened_at}: `audit acknowledge {opened.id} --by NAME --note TEXT`."
        if due.stage == "escalated"
        else ""
    )
    return (
        f"[{event.severity}] {event.subject}: {event.moved}. Since {event.since}. How sure: {event.sure}. Affected: "
        f"{event.affected}.{over}{nobody} More: {event.link} (event {opened.id})"
    )


def head_words(due: DueMessage) -> str:
    """Return the head of the journal of attempts, and what somebody outside is to do with it; empty without one."""
    if due.head is None:
        return ""
    audit, head = due.logged.opened.event.audit, due.head
    return (
        f"Head of the journal of attempts of {audit}: entry {head.number}, {head.sha256}. Keep this message where "
        "whoever runs the audit cannot change it. Whoever has it can show later that no attempt entered until now was "
        f"changed or dropped: `audit journal {audit} --head {head.sha256}` in the store, or `audit verify-journal "
        f"journal.jsonl --audit {audit} --from {head.sha256}` with the file of the published site."
    )


def body(due: DueMessage) -> dict[str, Any]:
    """Return the message as JSON for a program: `id` and `stage` together are sent once."""
    opened, closed = due.logged.opened, due.logged.closed
    return {
        **opened.event.as_dict(),
        "id": opened.id,
        "stage": due.stage,
        "opened_at": opened.opened_at,
        "event": title(due),
        "text": " ".join(part for part in (text(due), head_words(due)) if part),
        **({} if closed is None else {"closed": closed.as_dict()}),
        **({} if due.head is None else {"journal": due.head.as_dict()}),
    }


def signed(content: dict[str, Any], secret: str, at: datetime) -> tuple[bytes, dict[str, str]]:
    """Return the bytes of a message and the headers that sign them: HMAC-SHA256 over time stamp, a dot, and the bytes.

    Without a secret there is no signature.

    Examples
    --------
    >>> from datetime import UTC
    >>> sent, headers = signed({"id": "a"}, "secret", datetime(2026, 1, 5, tzinfo=UTC))
    >>> sent, headers["X-Audit-Timestamp"], headers["X-Audit-Signature"][:12]
    (b'{"id":"a"}', '1767571200', 'sha256=e57d6')
    """
    sent = canonical_json(content)
    headers = {"Content-Type": "application/json"}
    if "id" in content:
        headers[EVENT_ID] = f"{content['id']}/{content.get('stage', 'opened')}"
    if secret:
        stamp = str(int(at.timestamp()))
        digest = hmac.new(secret.encode(), stamp.encode() + b"." + sent, hashlib.sha256).hexdigest()
        headers |= {TIMESTAMP: stamp, SIGNATURE: f"sha256={digest}"}
    return sent, headers
