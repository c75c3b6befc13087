"""What people should know of an audit: events derived from its store, and the log of who was told."""

from audit_lib.events.derive import AuditFacts, how_it_ended, open_events, read_facts
from audit_lib.events.log import (
    DueMessage,
    LoggedEvent,
    acknowledge,
    look,
    read_log,
    seen_now,
    slug,
    tell_once,
)
from audit_lib.events.message import body, head_words, signed, text, title
from audit_lib.events.policy import EventPolicy, check_severity, policy_from_environment, reaches
from audit_lib.events.verified import broken_runs, note_verification

__all__ = [
    "AuditFacts",
    "DueMessage",
    "EventPolicy",
    "LoggedEvent",
    "acknowledge",
    "body",
    "broken_runs",
    "check_severity",
    "head_words",
    "how_it_ended",
    "look",
    "note_verification",
    "open_events",
    "policy_from_environment",
    "reaches",
    "read_facts",
    "read_log",
    "seen_now",
    "signed",
    "slug",
    "tell_once",
    "text",
    "title",
]
