"""How long evidence is kept: by the longest period of retention of its policy, or longer where the spec says so."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

from audit_lib.policies.clocks import add
from audit_lib.policies.pack_schema import Clock
from audit_lib.policies.policy import Policy

if TYPE_CHECKING:
    from audit_lib.spec import AuditSpec

_DAY = timedelta(days=1)


def longest(policy: Policy, start: date) -> Clock | None:
    """Return the policy's period of retention that ends last; None where it sets none.

    Examples
    --------
    >>> from audit_lib.policies import load_policy
    >>> clock = longest(load_policy("eu_ai_act_annex_iii"), date(2026, 11, 23))
    >>> clock.name, clock.amount, clock.unit
    ('documentation', 10, 'years')
    >>> longest(load_policy("generic"), date(2026, 11, 23)) is None
    True
    """
    set_ones = [one for one in policy.clocks if one.kind == "retention" and one.amount is not None]
    return max(set_ones, key=lambda one: add(one, start) or start, default=None)


def kept_until(policy: Policy, spec: AuditSpec, at: datetime) -> datetime | None:
    """Return until when what is written `at` is kept: the end of the last day; None where nothing sets a period.

    Most periods of law begin with the record, or with something later that is not known when it is written: then
    the lock is extended (`audit store extend`), or held (`audit store hold`).
    """
    start = at.astimezone(UTC).date()
    clock = longest(policy, start)
    ends = [
        *([] if clock is None else [add(clock, start) or start]),
        *([] if spec.retention.days is None else [start + spec.retention.days * _DAY]),
    ]
    return datetime.combine(max(ends) + _DAY, time(), UTC) if ends else None
