"""How many pages of each vendor, auditor, employer and year have what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from audit_lib.documents.published_pages import ChangeKind, PageChange, PageSweep, SeenPage

NOT_GIVEN: Final = "not given"
NO_DAY: Final = "no day found"

TITLES: Final[Mapping[ChangeKind, str]] = {
    "taken_down": "Taken down",
    "numbers_changed_silently": "Numbers changed, the audit's day did not move",
    "date_moved_without_numbers": "The audit's day moved, no number changed",
    "no_longer_readable": "No summary can be read any more",
    "over_a_year_old": "Over a year old",
    "audit_in_the_future": "Audit in the future",
    "numbers_changed_with_date": "Numbers changed, and the audit's day moved",
    "not_reached": "Not reached",
    "came_back": "Came back",
    "readable_again": "A summary can be read now",
    "leads_elsewhere": "The address leads elsewhere",
    "laid_out_anew": "Laid out anew, the same numbers printed",
    "other_words": "Other words, same numbers",
}
"""What a reader is told that each kind of change is, in the order in which they are told."""


def ordered_changes(sweep: PageSweep) -> list[tuple[SeenPage, PageChange]]:
    """Return what is new, the kinds that weigh most first, and then by page."""
    found = [(row, one) for row in sweep.pages for one in row.changes if one.is_new]
    return sorted(found, key=lambda one: (one[1].severity == "note", list(TITLES).index(one[1].kind)))


class PageMark(NamedTuple):
    """What can be said of a page in two words: a name, the words, and how it is shown."""

    name: str
    words: str
    tone: str


def marks_of(row: SeenPage, shared: frozenset[tuple[str, str]]) -> list[PageMark]:
    """Return what a page is marked with, the heaviest first.

    Parameters
    ----------
    row : SeenPage
        The page.
    shared : frozenset of (str, str)
        Employers and pages that share counts with others.
    """
    found: list[PageMark] = []
    if row.state != "seen":
        found.append(
            PageMark(row.state.replace(" ", "_"), row.state, "flag" if row.state == "taken down" else "plain")
        )
    found += [
        PageMark(one.kind, TITLES[one.kind], "flag" if one.severity == "warning" else "plain")
        for one in row.changes
        if one.kind not in ("taken_down", "not_reached")
    ]
    if row.unchecked:
        found.append(PageMark("unchecked", "could not be checked", "plain"))
    if row.errors:
        found.append(PageMark("errors", "errors", "flag"))
    if row.warnings:
        found.append(PageMark("warnings", "warnings", "plain"))
    if (row.listed.employer, row.listed.page) in shared:
        found.append(PageMark("shared_counts", "same counts as another employer", "plain"))
    return found or [PageMark("nothing", "nothing found", "plain")]


def sharing(sweep: PageSweep) -> frozenset[tuple[str, str]]:
    """Return the employers and pages that share counts with others."""
    return frozenset((page.employer, page.page) for one in sweep.shared for page in one.pages)


def year_of(row: SeenPage) -> str:
    """Return the year of a page's audit."""
    return row.audited[:4] if row.audited else NO_DAY


COUNTED: Final[Mapping[str, str]] = {
    "taken_down": "taken down",
    "not_reached": "not reached",
    "not_read": "not read",
    "unchecked": "could not be checked",
    "errors": "with errors",
    "warnings": "with warnings",
    "over_a_year_old": "over a year old",
    "numbers_changed_silently": "changed silently",
    "date_moved_without_numbers": "day moved alone",
    "shared_counts": "same counts",
}
"""Marks that are counted, and the heads of their columns."""


class PageTally(NamedTuple):
    """A line: what pages are taken together by, which, how many there are, and how many have each mark of `COUNTED`."""

    by: str
    name: str
    pages: int
    counts: tuple[int, ...]


def tallies(sweep: PageSweep) -> Iterator[PageTally]:
    """Yield a line for each vendor, auditor, year and employer."""
    shared = sharing(sweep)
    marked = [(row, {mark.name for mark in marks_of(row, shared)}) for row in sweep.pages]
    names: dict[str, Callable[[SeenPage], str]] = {
        "vendor": lambda row: row.listed.vendor or NOT_GIVEN,
        "auditor": lambda row: row.listed.auditor or NOT_GIVEN,
        "year": year_of,
        "employer": lambda row: row.listed.employer,
    }
    for by, name_of in names.items():
        groups: dict[str, list[set[str]]] = {}
        for row, marks in marked:
            groups.setdefault(name_of(row), []).append(marks)
        for name, some in sorted(
            groups.items(), key=lambda one: (one[0] in (NOT_GIVEN, NO_DAY), one[0].casefold())
        ):
            yield PageTally(by, name, len(some), tuple(sum(mark in one for one in some) for mark in COUNTED))
