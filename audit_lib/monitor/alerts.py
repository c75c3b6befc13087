"""What of a comparison people should be told, in words without any applicant's text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from audit_lib.documents.drift import DriftDocument, FirstRun
from audit_lib.window import Window

_MOST_NAMED: Final = 5


def alerts_of(document: DriftDocument) -> list[str]:
    """Return what was found in a comparison, as sentences; nothing where nothing is beyond chance.

    A changed number alone is none: among m of them without any real change about m x (1 - level) exceed by chance.
    """
    said = _windows(document)
    if isinstance(document, FirstRun):
        return said
    summary, canaries = document.summary, document.canaries
    if summary.exceeding > summary.expected_by_chance:
        said.append(
            f"{summary.exceeding} of {summary.with_interval} numbers changed by more than both intervals "
            f"explain (by chance about {summary.expected_by_chance:g})"
        )
    if summary.newly_flagged:
        said.append(f"{summary.newly_flagged} impact ratios are newly below four fifths")
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
    """Return one line on a comparison: which windows, and what was found."""
    current = _days(document.current.window)
    if isinstance(document, FirstRun):
        return f"{current}: {document.reason}"
    said = "; ".join(alerts_of(document)) or "nothing beyond what chance explains"
    return f"{current}, against {_days(document.previous.window)}: {said}"


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
