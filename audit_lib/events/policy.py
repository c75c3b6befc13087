"""When people are told, and how loudly: sane defaults that the environment changes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, get_args

from audit_lib.documents.events import EventKind, EventSeverity
from audit_lib.errors import InputError
from audit_lib.registry import did_you_mean

KINDS: Final[tuple[EventKind, ...]] = get_args(EventKind)
SEVERITIES: Final[tuple[EventSeverity, ...]] = get_args(EventSeverity)
DEFAULTS: Final[Mapping[EventKind, EventSeverity]] = {
    "alarm": "critical",
    "failed": "warning",
    "missed": "warning",
    "late": "warning",
    "evidence_broken": "critical",
    "sign_off_due": "info",
    "validity_ending": "warning",
    "budget_reached": "warning",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPolicy:
    """When people are told.

    Parameters
    ----------
    severities : mapping of str to str
        Kind of event -> its severity.
    sign_off_days : int
        After sealing until a sign-off that the law asks for is due.
    validity_days : int
        Before the last day of an audit's validity from which on people are told.
    escalate_hours : float
        Without an acknowledgement until others are told.
    site : str
        Address of the published site; empty: links name the store.
    """

    severities: Mapping[EventKind, EventSeverity] = field(default_factory=lambda: dict(DEFAULTS))
    sign_off_days: int = 14
    validity_days: int = 30
    escalate_hours: float = 24.0
    site: str = ""


def policy_from_environment(variables: Mapping[str, str] | None = None) -> EventPolicy:
    """Read the policy from ``AUDIT_EVENT_SEVERITY``, ``AUDIT_ESCALATE_HOURS`` and the others.

    Raises
    ------
    InputError
        If a variable says something else than it can.

    Examples
    --------
    >>> found = policy_from_environment({"AUDIT_EVENT_SEVERITY": "missed:critical", "AUDIT_ESCALATE_HOURS": "6"})
    >>> found.severities["missed"], found.severities["late"], found.escalate_hours
    ('critical', 'warning', 6.0)
    """
    read = os.environ if variables is None else variables
    standard = EventPolicy()
    severities = dict(DEFAULTS)
    for one in (part.strip() for part in read.get("AUDIT_EVENT_SEVERITY", "").split(",")):
        if one:
            kind, _, severity = (part.strip() for part in one.partition(":"))
            if kind not in KINDS:
                raise InputError(
                    f"AUDIT_EVENT_SEVERITY: {kind!r} is no event{did_you_mean(kind, list(KINDS))}"
                )
            severities[kind] = check_severity(severity, "AUDIT_EVENT_SEVERITY")
    return EventPolicy(
        severities=severities,
        sign_off_days=int(_number(read, "AUDIT_SIGN_OFF_DUE_DAYS", standard.sign_off_days)),
        validity_days=int(_number(read, "AUDIT_VALIDITY_DAYS", standard.validity_days)),
        escalate_hours=_number(read, "AUDIT_ESCALATE_HOURS", standard.escalate_hours),
        site=read.get("AUDIT_SITE_URL", "").rstrip("/"),
    )


def check_severity(text: str, where: str) -> EventSeverity:
    """Return a severity by its name, or raise InputError."""
    found = next((one for one in SEVERITIES if one == text), None)
    if found is None:
        raise InputError(f"{where}: {text!r} is no severity; write {', '.join(SEVERITIES)}")
    return found


def reaches(severity: EventSeverity, least: EventSeverity) -> bool:
    """Tell whether a severity is at least another.

    Examples
    --------
    >>> reaches("critical", "warning"), reaches("info", "warning")
    (True, False)
    """
    return SEVERITIES.index(severity) >= SEVERITIES.index(least)


def _number(read: Mapping[str, str], name: str, standard: float) -> float:
    text = read.get(name, "").strip()
    try:
        value = float(text) if text else float(standard)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise InputError(f"{name}: {text!r} is no number of at least 0")
    return value
