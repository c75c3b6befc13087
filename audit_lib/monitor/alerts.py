"""What people should be told of a comparison and of a sequence, in words without any applicant's text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from audit_lib.documents.attribution import Attribution
from audit_lib.documents.drift import DriftDocument, DriftSummary, FirstRun
from audit_lib.documents.sequence_name import SequenceName
from audit_lib.documents.sequences import Alarm
from audit_lib.monitor.attribution import by_name
from audit_lib.window import Window

_MOST_NAMED: Final = 5


def alerts_of(document: DriftDocument) -> list[str]:
    """Return what was found in a comparison of two runs, as sentences; nothing where nothing happened.

    No number is among them: compared window by window, some change by chance at almost every look. What they tell over
    all looks raises alarms of its own (`alarm_line`).
    """
    said = _windows(document)
    if isinstance(document, FirstRun):
        return said
    canaries = document.canaries
    if document.answering.changed:
        named = (_named(names) for names in (document.answering.previous, document.answering.current))
        said.append(f"another model, or another version of it, answered ({' before, '.join(named)} now)")
    if document.model_changed:
        said.append("another model, or the same with other options, was asked for")
    for changed, words in (
        (canaries.text_changed, "were answered with another text"),
        (canaries.status_changed, "ended with another status"),
        (canaries.served_changed, "were served by another model id or system fingerprint"),
    ):
        if changed:
            said.append(f"{changed} of {canaries.compared} canary prompts {words}")
    if document.design_changed:
        said.append(f"the design changed: {', '.join(document.changed_sections) or 'its digest'}")
    return said


def summary_line(document: DriftDocument) -> str:
    """Return one line on a comparison: which windows, what happened, and how many numbers changed."""
    current = _days(document.current.window)
    if isinstance(document, FirstRun):
        return f"{current}: {document.reason}"
    said = "; ".join([*(alerts_of(document) or ["nothing happened"]), _numbers(document.summary)])
    return f"{current}, against {_days(document.previous.window)}: {said}"


def alarm_line(name: SequenceName, alarm: Alarm, attributions: Sequence[Attribution] = ()) -> str:
    """Return one line on an alarm: whom it is about, since when, how sure, how much, and what it is attributed to."""
    pair = f"{'+'.join(name.group.values())} and {'+'.join(name.reference.values())}"
    sure = f"evidence {_odds(alarm.log_evidence)} over all windows"
    if alarm.became_another:
        sure += f"; with that window became another: {', '.join(alarm.became_another)}"
    if alarm.kind == "below_line" or alarm.before is None or alarm.after is None:
        return (
            f"{pair}: the ratio of their selection rates has been below the line, most likely since "
            f"{_days(alarm.since)}; {sure}"
        )
    what = "selection rates" if name.quantity == "selection_rate" else "scores"
    attribution = by_name(attributions, name) if alarm.stands else None
    why = "" if attribution is None else f". {attribution.sentence.removesuffix('.')}"
    return (
        f"{pair}: the difference of their {what} changed, most likely with {_days(alarm.since)}: between "
        f"{alarm.before.low:+.3f} and {alarm.before.high:+.3f} before, between {alarm.after.low:+.3f} and "
        f"{alarm.after.high:+.3f} since; {sure}{why}"
    )


def _odds(log_evidence: float) -> str:
    odds = math.exp(min(log_evidence, 20.0))
    return "of more than a million to 1" if odds > 1e6 else f"of {odds:,.0f} to 1"


def _numbers(summary: DriftSummary) -> str:
    return (
        f"by tests of these two windows alone {summary.exceeding} of {summary.with_interval} numbers changed (about "
        f"{summary.expected_by_chance:g} do by chance), {summary.newly_flagged} impact ratios are newly below four "
        "fifths by the ratio alone, whatever their verdict"
    )


def _windows(document: DriftDocument) -> list[str]:
    missing = document.not_audited
    if not missing.windows:
        return []
    states = ", ".join(f"{number} {state}" for state, number in missing.states.items())
    return [f"windows before it that are owed were not audited: {states}"]


def _named(models: Sequence[str]) -> str:
    more = f" and {len(models) - _MOST_NAMED} more" if len(models) > _MOST_NAMED else ""
    return ", ".join(models[:_MOST_NAMED]) + more


def _days(label: str) -> str:
    window = Window.from_label(label)
    return f"{window.start:%Y-%m-%d %H:%M} to {window.end:%Y-%m-%d %H:%M}"
