"""Periods of law on the calendar, as far as the spec states the days that they start from."""

from __future__ import annotations

from datetime import date

from audit_lib.policies.clocks import add
from audit_lib.policies.pack_schema import Clock
from audit_lib.report.blocks import Cell, Column, Paragraph, Row, Section, Table, text
from audit_lib.report.content import Content
from audit_lib.report.numbers import count
from audit_lib.spec import Use

_UNITS = {"days": "day", "business_days": "business day", "months": "month", "years": "year"}


def periods(content: Content) -> Section | None:
    """Make the section; none where the spec says nothing of the tool's use."""
    if content.spec.use == Use():
        return None
    policy = content.policy
    no_audit = content.is_experiment or content.is_refused
    rows = tuple(
        Row(
            clock.what,
            (Cell(_length(clock)), Cell(_ends(clock, content)), Cell(clock.starts), Cell(_standing(clock))),
        )
        for clock in policy.clocks
        # Nobody may rely on what is no audit, so it is valid for no time.
        if not (no_audit and clock.kind == "validity")
    )
    columns = tuple(
        Column(label, numeric=False)
        for label in ("What", "Period", "Here", "Runs from", "Paragraph, standing")
    )
    lead = "How long things stay valid, posted or kept. Days follow from the dates in the spec; holidays are not known."
    if no_audit:
        lead += " This page is no bias audit and starts none of them; they bind whoever uses the tool."
    elif not content.is_audit and policy.attestations:
        lead += (
            " An audit is one once an independent auditor has signed it, and this page is not signed by one."
        )
    table = Table(f"Periods of {policy.short_law}", columns, rows)
    return Section("periods", "Until when", (Paragraph(text(lead)), table))


def _length(clock: Clock) -> str:
    if clock.amount is None or clock.unit is None:
        return "not set"
    return f"{count(clock.amount)} {_UNITS[clock.unit]}{'' if clock.amount == 1 else 's'}"


def _ends(clock: Clock, content: Content) -> str:
    use = content.spec.use
    if clock.kind == "validity":
        if content.policy.gate("validity") is None:
            return _until("until", clock, content.measured_at.date())
        if not content.is_audit:
            return "not begun by this page, which is no signed audit"
        return _until("no use after", clock, content.measured_at.date())
    if clock.kind == "posting":
        if use.last_used is None:
            return "runs on: the use has not ended (use.last_used)"
        stays = f"; stays until {use.posted_until}" if use.posted_until else ""
        return _until("until", clock, date.fromisoformat(use.last_used)) + stays
    if clock.kind == "notice":
        if use.notice is None:
            return "no notice is stated (use.notice)"
        began = f"; used from {use.notice.used_from}" if use.notice.used_from else ""
        return _until("use from", clock, date.fromisoformat(use.notice.given)) + began
    if clock.amount is None:
        return "no period"
    return f"for each {'record' if clock.kind == 'retention' else 'request'} by itself"


def _until(words: str, clock: Clock, start: date) -> str:
    end = add(clock, start)
    return "not set" if end is None else f"{words} {end}"


def _standing(clock: Clock) -> str:
    sure = {"primary": "", "secondary": "; read in an account of it", "recalled": "; to be looked up"}
    return f"{clock.cite}; {clock.status}{sure[clock.seen]}"
