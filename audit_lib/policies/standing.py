"""Since when a law applies, whether it did on a day, and whether its pack was looked at lately."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

from audit_lib.policies.pack_schema import Clock, Duty, RequiredField
from audit_lib.policies.policy import Policy
from audit_lib.translation import t

REVIEWED_WITHIN: Final = timedelta(days=90)
"""A pack whose sources were looked at longer ago is old: law moves."""


def since(policy: Policy, part: Clock | Duty | RequiredField | None = None) -> date | None:
    """Return the first day on which a law, or one part of it, applies; None where its pack does not say.

    Examples
    --------
    >>> from audit_lib.policies import load_policy
    >>> connecticut = load_policy("connecticut_sb5")
    >>> notice = next(duty for duty in connecticut.duties if duty.id == "notice")
    >>> since(connecticut), since(connecticut, notice)
    (datetime.date(2026, 10, 1), datetime.date(2027, 10, 1))
    """
    if part is not None and part.since is not None:
        return part.since
    return None if policy.in_force is None else policy.in_force.since


def not_yet(
    policy: Policy, day: date | None, part: Clock | Duty | RequiredField | None = None
) -> date | None:
    """Return since when a law, or one part of it, applies where that is after `day`; None where it is not.

    Examples
    --------
    >>> from audit_lib.policies import load_policy
    >>> colorado = load_policy("colorado_sb26_189")
    >>> not_yet(colorado, date(2026, 12, 31)), not_yet(colorado, date(2027, 1, 1))
    (datetime.date(2027, 1, 1), None)
    """
    first = since(policy, part)
    return first if first is not None and day is not None and day < first else None


def standing(policy: Policy, day: date, part: Clock | Duty | RequiredField | None = None) -> str:
    """Say whether a law, or one part of it, is in force on a day.

    Examples
    --------
    >>> from audit_lib.policies import load_policy
    >>> standing(load_policy("colorado_sb26_189"), date(2026, 12, 31))
    'not in force yet on 2026-12-31: applies from 2027-01-01'
    >>> standing(load_policy("texas_hb149"), date(2026, 12, 31))
    'in force on 2026-12-31, since 2026-01-01'
    """
    first = since(policy, part)
    if first is None:
        return t("since when it applies is not stated")
    if day < first:
        return t("not in force yet on {day}: applies from {since}", day=day, since=first)
    return t("in force on {day}, since {since}", day=day, since=first)


def review_due(policy: Policy, today: date) -> str | None:
    """Say that a pack's sources were looked at too long ago; None where they were not.

    `today` is an input of a command. It never gets into what is sealed.

    Examples
    --------
    >>> from audit_lib.policies import load_policy
    >>> pack = load_policy("texas_hb149")
    >>> review_due(pack, date(2027, 2, 20)) is None
    True
    >>> review_due(pack, date(2027, 2, 21))
    'the pack texas_hb149 was last reviewed on 2026-11-22, 91 days before 2027-02-21: look up what changed since'
    """
    if today - policy.as_of <= REVIEWED_WITHIN:
        return None
    return (
        f"the pack {policy.name} was last reviewed on {policy.as_of}, {(today - policy.as_of).days} days before "
        f"{today}: look up what changed since"
    )
