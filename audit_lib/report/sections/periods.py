"""Periods of law on the calendar, as far as the spec states the days that they start from."""

from __future__ import annotations

from datetime import date
from typing import Final

from audit_lib.policies.clocks import add
from audit_lib.policies.pack_schema import Clock
from audit_lib.report.blocks import Cell, Column, Paragraph, Row, Section, Table, text
from audit_lib.report.content import Content
from audit_lib.report.numbers import count
from audit_lib.spec import Use
from audit_lib.translation import Filled, archived, mark, t, tn, tp

_SURE: Final = {
    "primary": mark("{cite}; {status}"),
    "secondary": mark("{cite}; {status}; read in an account of it"),
    "recalled": mark("{cite}; {status}; to be looked up"),
}


def periods(content: Content) -> Section | None:
    """Make the section; none where the spec says nothing of the tool's use."""
    if content.spec.use == Use():
        return None
    policy = content.policy
    no_audit = content.is_experiment or content.is_refused
    rows = tuple(
        Row(
            t(clock.what),
            (
                Cell(length(clock)),
                Cell(_ends(clock, content)),
                Cell(t(clock.starts)),
                Cell(t(_SURE[clock.seen], cite=archived(clock.cite), status=t(clock.status))),
            ),
        )
        for clock in policy.clocks
        # Nobody may rely on what is no audit, so it is valid for no time.
        if not (no_audit and clock.kind == "validity")
    )
    columns = tuple(
        Column(label, numeric=False)
        for label in (t("What"), t("Period"), t("Here"), t("Runs from"), t("Paragraph, standing"))
    )
    lead = [
        t(
            "How long things stay valid, posted or kept. Days follow from the dates in the spec; holidays are not "
            "known."
        )
    ]
    if no_audit:
        lead.append(t("This page is no bias audit and starts none of them; they bind whoever uses the tool."))
    elif not content.is_audit and policy.attestations:
        lead.append(
            t(
                "An audit is one once an independent auditor has signed it, and this page is not signed by one."
            )
        )
    table = Table(t("Periods of {law}", law=t(policy.short_law)), columns, rows)
    return Section("periods", t("Until when"), (Paragraph(text(Filled(" ").join(lead))), table))


def length(clock: Clock) -> str:
    """Say how long a period is."""
    match clock.amount, clock.unit:
        case int(n), "days":
            return tn("{n} day", "{n} days", n, n=count(n))
        case int(n), "business_days":
            return tn("{n} business day", "{n} business days", n, n=count(n))
        case int(n), "months":
            return tn("{n} month", "{n} months", n, n=count(n))
        case int(n), "years":
            return tn("{n} year", "{n} years", n, n=count(n))
    return tp("of a period", "not set")


def _ends(clock: Clock, content: Content) -> str:
    use = content.spec.use
    if clock.kind == "validity":
        if content.policy.gate("validity") is None:
            return _until(_UNTIL, clock, content.measured_at.date())
        if not content.is_audit:
            return t("not begun by this page, which is no signed audit")
        return _until(_NO_USE_AFTER, clock, content.measured_at.date())
    if clock.kind == "posting":
        if use.last_used is None:
            return t("runs on: the use has not ended (use.last_used)")
        stays = [t("stays until {day}", day=use.posted_until)] if use.posted_until else []
        return Filled("; ").join([_until(_UNTIL, clock, date.fromisoformat(use.last_used)), *stays])
    if clock.kind == "notice":
        if use.notice is None:
            return t("no notice is stated (use.notice)")
        began = [t("used from {day}", day=use.notice.used_from)] if use.notice.used_from else []
        return Filled("; ").join([_until(_USE_FROM, clock, date.fromisoformat(use.notice.given)), *began])
    if clock.amount is None:
        return t("no period")
    return t("for each record by itself") if clock.kind == "retention" else t("for each request by itself")


_UNTIL: Final = mark("until {day}")
_NO_USE_AFTER: Final = mark("no use after {day}")
_USE_FROM: Final = mark("use from {day}")


def _until(words: str, clock: Clock, start: date) -> str:
    end = add(clock, start)
    return tp("of a period", "not set") if end is None else t(words, day=end)
