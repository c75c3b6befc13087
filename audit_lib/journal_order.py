"""Entries that nothing in this library makes, though the chain holds: behind the newest head anybody can add some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from audit_lib.documents.journal import ENDS, JournalEntry

_WITHOUT_DIGEST = ("asked", "abandoned", "superseded")
_OUTCOMES = {"completed": ("complete",), "failed": ("failed", "stopped", "validation_failed")}


def impossible_entries(entries: Iterable[JournalEntry]) -> Iterator[tuple[JournalEntry, str]]:
    """Yield entries that cannot be there after those before them, each with the reason.

    Parameters
    ----------
    entries : iterable of JournalEntry
        In their order; all those about the runs that are in it.
    """
    before: dict[tuple[str, str], list[JournalEntry]] = {}
    for one in entries:
        own = before.setdefault((one.window, one.run), [])
        if why := _why_not(one, own):
            yield one, why
        own.append(one)


def is_sealing(entry: JournalEntry) -> bool:
    """Whether an entry says that a run's evidence was sealed."""
    return entry.event == "completed" or entry.outcome == "validation_failed"


def _why_not(one: JournalEntry, own: list[JournalEntry]) -> str:
    planned = [entry.attempt for entry in own if entry.event == "planned"]
    if (one.sealed_sha256 is None) != (one.event in _WITHOUT_DIGEST):
        return f"says {one.event}, and {'of what is missing' if one.sealed_sha256 is None else 'of a file'}"
    if one.outcome not in _OUTCOMES.get(one.event, (None,)):
        return f"says {one.event} with an outcome that is none of it"
    if (one.event == "asked" or is_sealing(one)) and not planned:
        return f"says {one.event} of a run whose plan was never entered"
    if one.event in ("planned", "asked", "completed") or is_sealing(one):
        sealed = next((entry.number for entry in own if is_sealing(entry)), None)
        if sealed is not None:
            return f"says {one.event} of a run that was sealed, as entry {sealed} says"
    ended = any(entry.event in ENDS and entry.attempt == one.attempt for entry in own)
    if one.event == "abandoned" and (ended or one.attempt not in planned):
        return "says that an attempt was abandoned that had ended, or was never entered"
    return ""
