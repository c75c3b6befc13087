"""Periods of law on the calendar: until when an audit may be relied on, when a notice is old enough."""

from __future__ import annotations

import calendar
from datetime import date, timedelta

from audit_lib.policies.pack_schema import Clock
from audit_lib.policies.policy import Policy

_SATURDAY = 5


def add(clock: Clock, start: date) -> date | None:
    """Return the last day of a period that starts on `start`; None where the law sets no period.

    A month or a year ends on the day of the same number, or on the month's last day where it has no such
    day. Business days are Mondays to Fridays: holidays differ by place and are not known here, so a period
    of business days is at least as long as the one returned.

    Examples
    --------
    >>> from audit_lib.policies import load_policy
    >>> pack = load_policy("nyc_ll144")
    >>> add(pack.clock("posting"), date(2026, 8, 31)), add(pack.clock("notice"), date(2026, 1, 2))
    (datetime.date(2027, 2, 28), datetime.date(2026, 1, 16))
    """
    if clock.amount is None:
        return None
    if clock.unit == "days":
        return start + timedelta(days=clock.amount)
    if clock.unit == "business_days":
        day, left = start, clock.amount
        while left:
            day += timedelta(days=1)
            left -= day.weekday() < _SATURDAY
        return day
    return months_later(start, clock.amount * (12 if clock.unit == "years" else 1))


def months_later(start: date, months: int) -> date:
    """Return the day of the same number so many months later, or that month's last day where it has no such day.

    Examples
    --------
    >>> months_later(date(2026, 8, 31), 6)
    datetime.date(2027, 2, 28)
    """
    year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
    return date(year, month + 1, min(start.day, calendar.monthrange(year, month + 1)[1]))


def valid_until(policy: Policy, audited: date) -> date:
    """Return the last day on which an audit of `audited` may be relied on.

    Examples
    --------
    >>> from audit_lib.policies import load_policy
    >>> valid_until(load_policy("nyc_ll144"), date(2027, 3, 1))
    datetime.date(2028, 3, 1)
    """
    clock = policy.clock("validity")
    return add(clock, audited) or audited


def notice_ends(policy: Policy, given: date) -> date | None:
    """Return the first day of use that a notice of `given` allows; None where no notice is asked for."""
    clock = next((clock for clock in policy.clocks if clock.kind == "notice"), None)
    return None if clock is None else add(clock, given)
