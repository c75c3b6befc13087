"""Whether the store locks the evidence, and for how long."""

from __future__ import annotations

from datetime import timedelta

from audit_lib.policies.clocks import add
from audit_lib.policies.retention import longest
from audit_lib.report.content import Content
from audit_lib.report.numbers import count
from audit_lib.report.sections.periods import length
from audit_lib.translation import t, tn


def store_words(content: Content) -> str | None:
    """Say whether the store locks what is put into it; None where nobody looked."""
    found = content.store_lock
    if found is None:
        return None
    if found.kind == "folder":
        return t("a folder, which locks nothing: that a file was changed is found, and not prevented")
    if not found.locked:
        return t(
            "a bucket that locks nothing, as the spec lets it: that a file was changed is found, and not prevented"
        )
    return t(
        "a bucket that locks its files: tried before the model was asked, it refused to delete one, to change one, "
        "and to lock one for less time. Each is locked for {period} at least",
        period=_period(content),
    )


def _period(content: Content) -> str:
    planned, days = content.planned_at.date(), content.spec.retention.days
    clock = longest(content.policy, planned)
    ends = planned if clock is None else add(clock, planned) or planned
    if days is not None and planned + timedelta(days=days) > ends:
        return tn("{n} day", "{n} days", days, n=count(days))
    if clock is not None:
        return length(clock)
    rule = "" if content.store_lock is None else content.store_lock.default_retention
    return t("the time of the bucket's own rule ({rule})", rule=rule or "")
