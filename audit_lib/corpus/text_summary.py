"""A sweep in a few lines, for a terminal or a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from audit_lib.corpus.tallies import COUNTED, TITLES, marks_of, ordered_changes, sharing
from audit_lib.documents.published_pages import PageChange, PageSweep, SeenPage
from audit_lib.report.html import readable

_NAMED = 40


def news(sweep: PageSweep) -> list[tuple[SeenPage, PageChange]]:
    """Return what is new since the sweep before, and needs a look: every change that is no note."""
    if sweep.earlier is None:
        return []
    return [(row, one) for row, one in ordered_changes(sweep) if one.severity != "note"]


def summary_text(sweep: PageSweep) -> str:
    """Return what was found, and what is new; nothing of it can steer a terminal."""
    return readable("\n".join(_lines(sweep)) + "\n")


def _lines(sweep: PageSweep) -> Iterator[str]:
    shared = sharing(sweep)
    counts = Counter(mark.name for row in sweep.pages for mark in marks_of(row, shared))
    yield f"{sweep.name}: {len(sweep.pages)} pages, for {sweep.as_of}, held against {sweep.policy}"
    for name, words in COUNTED.items():
        if counts[name]:
            yield f"  {counts[name]:>5}  {words}"
    if sweep.shared:
        yield f"  {len(sweep.shared):>5}  groups of employers with the same counts"
    yield ""
    if sweep.earlier is None:
        yield "The first look: nothing to compare with"
    else:
        found = news(sweep)
        yield f"New since {sweep.earlier[:16]}: {len(found) or 'nothing that needs a look'}"
        for row, one in found[:_NAMED]:
            yield f"  {row.listed.employer}: {TITLES[one.kind]}"
            yield f"    {row.listed.page}"
            yield f"    {one.message}"
        if len(found) > _NAMED:
            yield f"  and {len(found) - _NAMED} more"
    for state in ("not reached", "not read"):
        rows = [row for row in sweep.pages if row.state == state]
        if rows:
            yield ""
            yield f"{state.capitalize()} ({len(rows)})"
        yield from (f"  {row.listed.employer}, {row.listed.page}: {row.why}" for row in rows[:_NAMED])
    unread = [row for row in sweep.pages if row.state == "seen" and row.unchecked]
    if unread:
        yield ""
        yield f"Could not be checked ({len(unread)})"
    yield from (f"  {row.listed.employer}, {row.listed.page}: {row.unchecked}" for row in unread[:_NAMED])
    if sweep.told:
        yield ""
        yield "To know"
        yield from (f"  {line}" for line in sweep.told[:_NAMED])
        if len(sweep.told) > _NAMED:
            yield f"  and {len(sweep.told) - _NAMED} more, in sweep.json"
