"""The events of an audit, derived from its store: a function of what is there and of the instant that is asked about.

Nothing is remembered between two looks: whoever looks at the same store at the same instant finds the same events with
the same keys, so that two schedulers cannot tell one thing as two.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from audit_lib.archive.attempts import read_attempts
from audit_lib.canonical import canonical_json, sha256
from audit_lib.documents.events import Event, EventKind
from audit_lib.documents.sequences import Alarm, FollowedSequence, Sequences
from audit_lib.errors import BudgetReachedError
from audit_lib.events.policy import EventPolicy
from audit_lib.events.verified import broken_runs
from audit_lib.events.words import ago, days
from audit_lib.monitor.alerts import alarm_line
from audit_lib.policies import policy_of
from audit_lib.policies.clocks import add
from audit_lib.results import Undefined
from audit_lib.run import SUCCESS, Run, StageFolder
from audit_lib.spec import AuditSpec
from audit_lib.store import Store
from audit_lib.typed_json import decode
from audit_lib.window import Window
from audit_lib.windows import BegunRun, OwedWindow, begun_runs, late_at, missed_notes, owed_windows

_LONGEST: Final = 300
_SEQUENCES: Final = "monitor/sequences.json"
_CERTAIN: Final = "certain: it is in the store"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFacts:
    """What events are derived from.

    Parameters
    ----------
    store, audit, at, policy : Store, str, datetime, EventPolicy
        What is asked about, and when.
    spec : AuditSpec or None
        None where no run has a plan: then nothing is owed.
    begun, owed : sequence
        Its runs, and its windows with their states.
    """

    store: Store
    audit: str
    at: datetime
    policy: EventPolicy
    spec: AuditSpec | None
    begun: Sequence[BegunRun]
    owed: Sequence[OwedWindow]

    @property
    def states(self) -> dict[str, str]:
        """Label of a window -> its state; of runs outside the schedule what became of them."""
        found: dict[str, str] = {}
        for one in self.begun:
            if found.get(one.window.label) != "audited":
                found[one.window.label] = "audited" if one.outcome == "complete" else one.outcome
        return found | {one.window.label: one.state for one in self.owed}

    def link(self, path: str) -> str:
        """Return where one reads more: on the published site if there is one, else in the store."""
        return f"{self.policy.site}/{path}" if self.policy.site else self.store.uri(path)


def read_facts(
    store: Store, audit: str, at: datetime, policy: EventPolicy, spec: AuditSpec | None = None
) -> AuditFacts:
    """Read what the events of an audit are derived from.

    Parameters
    ----------
    store, audit : Store, str
        Where its runs are, and its name.
    at : datetime
        The instant that is asked about.
    policy : EventPolicy
        When people are told.
    spec : AuditSpec, optional
        As it is now, for its schedule; by default that of the latest run with a plan.
    """
    begun = begun_runs(store, audit)
    if spec is None:
        planned = [one for one in begun if store.exists(f"{one.prefix}/plan/{SUCCESS}")]
        spec = Run.load(store.uri(planned[-1].prefix)).spec if planned else None
    owed = owed_windows(spec, begun, at) if spec is not None else []
    return AuditFacts(store=store, audit=audit, at=at, policy=policy, spec=spec, begun=begun, owed=owed)


def open_events(facts: AuditFacts) -> list[Event]:
    """Return all that is so now and that somebody should know, in a fixed order.

    Raises
    ------
    EvidenceError
        If a document that says so cannot be read.
    """
    found = [
        *_alarms(facts),
        *_failed(facts),
        *_missed(facts),
        *_late(facts),
        *_broken(facts),
        *_sign_off(facts),
        *_validity(facts),
    ]
    return sorted(found, key=lambda one: (one.kind, one.key))


def is_unclear(event: Event, facts: AuditFacts) -> bool:
    """Tell whether nobody can say now if an event is over: an alarm, where no baseline can be used."""
    if event.kind != "alarm":
        return False
    document = _followed(facts)
    return document is None or isinstance(document.baseline, Undefined)


def how_it_ended(event: Event, facts: AuditFacts) -> tuple[bool, str]:
    """Return whether an event that is no longer so has recovered, and what became of it, in words."""
    if event.kind == "alarm":
        return (
            True,
            "the evidence over all windows does not tell it any more, or another baseline was decided",
        )
    if event.kind == "evidence_broken":
        return True, "the run verifies again"
    if event.kind == "sign_off_due":
        signed = event.subject in _signed(facts)
        if any(one.prefix == event.subject and one.rejected for one in facts.begun):
            return False, "its auditor rejected it"
        return signed, "it was signed" if signed else "a later run is waiting for its sign-off now"
    if event.kind == "validity_ending":
        last = _last_day(facts)
        renewed = last is not None and last[1] > facts.at.date() + timedelta(days=facts.policy.validity_days)
        return renewed, "a later audit is valid" if renewed else "its period of validity is over"
    states = [facts.states.get(label, "not owed any more") for label in event.windows]
    said = ", ".join(sorted(set(states)))
    return all(state == "audited" for state in states), f"windows: {said}"


def _event(
    facts: AuditFacts, kind: EventKind, about: Sequence[str], *, severity: str | None = None, **fields: Any
) -> Event:
    standard = facts.policy.severities[kind]
    return Event(
        audit=facts.audit,
        kind=kind,
        key=sha256(canonical_json([facts.audit, kind, *about]))[:16],
        severity="critical" if severity == "critical" else standard,
        **({"sure": _CERTAIN, "affected": "everybody in these windows"} | fields),
    )


def _alarms(facts: AuditFacts) -> Iterator[Event]:
    """Yield one event for each group, reference and kind of alarm that stands, whatever quantities tell it."""
    key, document = f"{facts.audit}/{_SEQUENCES}", _followed(facts)
    if document is None or isinstance(document.baseline, Undefined):
        return
    standing: dict[tuple[str, str, str], list[tuple[FollowedSequence, Alarm]]] = {}
    for one in document.sequences:
        for alarm in one.alarms:
            if alarm.stands:
                pair = (_cell(one.group), _cell(one.reference), alarm.kind)
                standing.setdefault(pair, []).append((one, alarm))
    for (group, reference, kind), told in sorted(standing.items()):
        first = min(alarm.since for _, alarm in told)
        odds = math.exp(min(max(alarm.log_evidence for _, alarm in told), 20.0))
        yield _event(
            facts,
            "alarm",
            [str(document.baseline.number), group, reference, kind],
            subject=f"{group} and {reference}",
            since=_start(first),
            moved="; ".join(alarm_line(one, alarm, document.attributions) for one, alarm in told),
            sure=f"evidence of at least {odds:,.0f} to 1, over all windows, groups and looks; at most "
            f"{document.baseline.settings.false_alarms:g} of audits without a change ever raise an alarm",
            affected=f"{group}, against {reference}",
            link=facts.link(f"{facts.audit}/monitor.html" if facts.policy.site else key),
            windows=tuple(sorted({alarm.told_in for _, alarm in told})),
        )


def _followed(facts: AuditFacts) -> Sequences | None:
    key = f"{facts.audit}/{_SEQUENCES}"
    if not facts.store.exists(key):
        return None
    return decode(Sequences, facts.store.get(key), facts.store.uri(key))


def _failed(facts: AuditFacts) -> Iterator[Event]:
    states = facts.states
    by_window: dict[str, BegunRun] = {}
    for one in facts.begun:
        if one.outcome in ("failed", "not verified") and states[one.window.label] in (
            "failed",
            "not verified",
        ):
            by_window[one.window.label] = one
    for label, run in sorted(by_window.items()):
        kind, moved, since = _how_it_failed(facts, run)
        yield _event(
            facts,
            kind,
            [label],
            subject=f"window {days(label)}",
            since=since,
            moved=moved,
            link=facts.store.uri(run.prefix),
            windows=(label,),
        )


def _how_it_failed(facts: AuditFacts, run: BegunRun) -> tuple[EventKind, str, str]:
    sealed = StageFolder(facts.store, f"{run.prefix}/evidence")
    if sealed.is_complete():
        return (
            "failed",
            "the audit failed its validation; its evidence is sealed",
            _iso(sealed.success().finished),
        )
    last = read_attempts(facts.store, run.prefix)[-1]
    since = _iso(last.finished_at or last.started_at or run.window.end)
    if not last.faults:
        return "failed", "the attempt left no record of its end", since
    first = last.faults[0]
    said = f"attempt {last.number} ended in {first.stage} ({first.type}): {first.message}"[:_LONGEST]
    reached = any(one.type == BudgetReachedError.__name__ for one in last.faults)
    return ("budget_reached" if reached else "failed"), said, since


def _missed(facts: AuditFacts) -> Iterator[Event]:
    """Yield one event for all windows that were found missed at once."""
    missed = [one.window.label for one in facts.owed if one.state == "missed"]
    if not missed:
        return
    notes = missed_notes(facts.store, facts.audit)
    noted = [note.windows for note in notes if set(note.windows) & set(missed)]
    known = {label for note in notes for label in note.windows}
    new = tuple(label for label in missed if label not in known)
    for labels in [*noted, *([new] if new else [])]:
        left = [label for label in labels if label in missed]
        number = f"{len(left)} windows" if len(left) > 1 else "a window"
        yield _event(
            facts,
            "missed",
            labels,
            subject=f"{len(labels)} windows, the first {days(labels[0])}, the last {days(labels[-1])}"
            if len(labels) > 1
            else f"window {days(labels[0])}",
            since=_iso(Window.from_label(labels[0]).end),
            moved=f"{number} not audited in time, and too old to be made up: `audit status {facts.audit}` lists them, "
            "`audit run` makes one by hand",
            link=facts.store.uri(facts.audit),
            windows=tuple(labels),
        )


def _late(facts: AuditFacts) -> Iterator[Event]:
    """Yield one event for all windows that are late: what holds one up holds up those after it."""
    late = [one for one in facts.owed if one.state == "late"]
    if not late:
        return
    first = late[0]
    more = ", and a window after it" if len(late) == 2 else f", and {len(late) - 1} windows after it"
    yield _event(
        facts,
        "late",
        [],
        subject=f"window {days(first.window.label)}",
        since=_iso(late_at(first.window)),
        moved=f"ended {ago(facts.at - first.window.end)} ago and is not sealed{more if len(late) > 1 else ''}",
        link=facts.store.uri(first.runs[-1] if first.runs else facts.audit),
        windows=(first.window.label,),
    )


def _broken(facts: AuditFacts) -> Iterator[Event]:
    for note in broken_runs(facts.store, facts.audit):
        yield _event(
            facts,
            "evidence_broken",
            [note.run],
            subject=f"run {note.run}" if note.is_of_a_run else "the journal of attempts",
            since=note.noted_at,
            moved=f"archived evidence does not verify: {'; '.join(note.findings)}"[:_LONGEST],
            sure="certain: digests or recomputed numbers differ from what was sealed",
            affected="everybody who relies on this run"
            if note.is_of_a_run
            else "everybody who relies on this audit",
            link=facts.store.uri(note.run),
            windows=tuple(note.run.split("/")[1:2]) if note.is_of_a_run else (),
        )


def _sign_off(facts: AuditFacts) -> Iterator[Event]:
    """Yield the latest run if its law asks for a sign-off that is due."""
    complete = [one for one in facts.begun if one.outcome == "complete"]
    if not complete or facts.spec is None or not policy_of(facts.spec).attestations:
        return
    latest = max(complete, key=lambda one: (one.window.end, one.window.start, one.prefix))
    sealed = StageFolder(facts.store, f"{latest.prefix}/evidence").success().finished
    due = sealed + timedelta(days=facts.policy.sign_off_days)
    if facts.at >= due and not (latest.signed or latest.rejected):
        yield _event(
            facts,
            "sign_off_due",
            [latest.prefix],
            subject=latest.prefix,
            since=_iso(due),
            moved=f"sealed {facts.policy.sign_off_days} days ago or earlier, and no auditor has signed it",
            affected="everybody who is to rely on it",
            link=facts.link(f"{latest.prefix}/report.html")
            if facts.policy.site
            else facts.store.uri(latest.prefix),
            windows=(latest.window.label,),
        )


def _validity(facts: AuditFacts) -> Iterator[Event]:
    found = _last_day(facts)
    if found is None:
        return
    run, last = found
    today = facts.at.astimezone(UTC).date()
    if today < last - timedelta(days=facts.policy.validity_days):
        return
    past = today > last
    yield _event(
        facts,
        "validity_ending",
        [run.prefix, "past" if past else "ending"],
        severity="critical" if past else None,
        subject=run.prefix,
        since=(last + timedelta(days=1 if past else -facts.policy.validity_days)).isoformat(),
        moved=f"nobody may rely on this audit after {last}" + (", and that day is over" if past else ""),
        affected="everybody whom the tool decides about",
        link=facts.store.uri(run.prefix),
        windows=(run.window.label,),
    )


def _last_day(facts: AuditFacts) -> tuple[BegunRun, date] | None:
    """Return the audit that may be relied on longest, and until when; signed ones alone where a law asks for that."""
    complete = [one for one in facts.begun if one.outcome == "complete"]
    if facts.spec is None:
        return None
    policy = policy_of(facts.spec)
    if policy.attestations:
        signed = _signed(facts)
        complete = [one for one in complete if one.prefix in signed]
    if not complete:
        return None
    latest = max(complete, key=lambda one: (one.window.end, one.window.start, one.prefix))
    measured = StageFolder(facts.store, f"{latest.prefix}/metrics").success().finished
    last = add(policy.clock("validity"), measured.date())
    return None if last is None else (latest, last)


def _signed(facts: AuditFacts) -> set[str]:
    return {one.prefix for one in facts.begun if one.signed}


def _cell(levels: Mapping[str, str]) -> str:
    return "+".join(levels.values())


def _start(label: str) -> str:
    return _iso(Window.from_label(label).start)


def _iso(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat(timespec="seconds")
