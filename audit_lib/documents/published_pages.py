"""What is kept of other people's published summaries: what each says, and what became of it since it was last seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Final, Literal

from pydantic import AfterValidator

from audit_lib.documents.evidence import Instant, Sha256
from audit_lib.typed_json import Count, Typed

FACTS_SCHEMA: Final = "audit-page-facts/1"
SWEEP_SCHEMA: Final = "audit-page-sweep/1"


def _check_day(words: str) -> str:
    if date.fromisoformat(words).isoformat() != words:
        raise ValueError("is not a day such as 2026-01-31")
    return words


Day = Annotated[str, AfterValidator(_check_day)]
PageState = Literal["seen", "taken down", "not reached", "not read"]
"""``not read``: the operator's list or folder names it in a way that was refused, or its file cannot be read."""
Severity = Literal["error", "warning", "note"]
ChangeKind = Literal[
    "taken_down",
    "not_reached",
    "came_back",
    "numbers_changed_silently",
    "numbers_changed_with_date",
    "date_moved_without_numbers",
    "no_longer_readable",
    "readable_again",
    "over_a_year_old",
    "audit_in_the_future",
    "leads_elsewhere",
    "laid_out_anew",
    "other_words",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedNumber(Typed):
    """A number that a summary prints, and where."""

    table: str
    """What tells the table from the others of the page; empty for a number in the words."""
    row: str
    column: str
    value: str
    """As a plain decimal number with its printed digits; a percentage is divided by 100."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedTable(Typed):
    """The counts of one table, as a digest that equal counts share."""

    table: str
    sha256: Sha256
    people: Count
    rows: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFinding(Typed):
    """What ``audit check-report`` found."""

    id: str
    severity: Severity
    message: str
    table: str
    row: str
    column: str
    printed: str
    recomputed: str
    rule: str
    unsure: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFacts(Typed):
    """``checks/<checker>/<sha256>.json``: what one snapshot says, as one version of the checker reads it."""

    snapshot: Sha256
    checker: Sha256
    format: str | None
    """Null where it could not be read."""
    unchecked: str
    """Why it could not be read or checked; empty where it was."""
    stopped: bool
    """Whether that says nothing of the page: its reading took too long, or its process ended."""
    policy: str
    audited: Day | None
    """The latest day that words call the audit's; a month without a day is its last day."""
    tables: tuple[str, ...]
    rebuilt: Count
    printed: Count
    """Rates and ratios that it prints, of which so many were rebuilt."""
    findings: tuple[PageFinding, ...]
    not_checked: tuple[str, ...]
    numbers: tuple[PrintedNumber, ...]
    unsure: bool
    """Whether its numbers were read from where words stand, or from pictures, and may be in wrong places."""
    figures: Mapping[str, Count]
    """Every number that is printed anywhere, without its place, and how often."""
    digits: Mapping[str, Count]
    """The same of single digits."""
    overprinted: bool
    """Whether words and numbers lie over each other, so that their letters and digits come mixed."""
    counted: tuple[CountedTable, ...]
    words: Sha256
    """Digest of its visible words, without white space."""
    schema: Literal["audit-page-facts/1"] = FACTS_SCHEMA


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSnapshot(Typed):
    """A page's bytes as they were once, in the store."""

    key: str
    """In the store of the sweeps."""
    sha256: Sha256
    bytes: Count
    taken_at: Instant
    """When these bytes were first had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAnswer(Typed):
    """What a server said, and what it may be asked next time."""

    status: int | None
    """Null where none came."""
    redirects: tuple[str, ...]
    """Each as ``status address``, in order."""
    etag: str
    last_modified: str
    in_full_at: Instant | None
    """When it last sent the whole page, and not only that nothing had changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedPageNumber(Typed):
    """A number that is another one, is gone or is new."""

    table: str
    row: str
    column: str
    before: str | None
    now: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageChange(Typed):
    """What became of a page since it was last seen, or what its age says."""

    kind: ChangeKind
    severity: Severity
    message: str
    is_new: bool
    """Whether the sweep before did not say it."""
    numbers: tuple[ChangedPageNumber, ...]
    before: PageSnapshot | None
    now: PageSnapshot | None
    """The snapshots that show it; null where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPage(Typed):
    """Where somebody's summary is, and what the operator knows of it."""

    employer: str
    page: str
    """Address, or path below the folder."""
    vendor: str
    auditor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenPage(Typed):
    """A row: one page of one employer, on one day."""

    listed: ListedPage
    state: PageState
    why: str
    """Why it has this state; what else is to be told of how it was had."""
    since: Instant
    """When it came into this state."""
    looked_at: Instant
    answer: ServerAnswer | None
    """Null of a file."""
    snapshot: PageSnapshot | None
    """The latest that there is, also of a page that is gone."""
    last_read: PageSnapshot | None
    """The latest that a summary could be read from: what the next one is compared with."""
    unchecked: str
    audited: Day | None
    errors: Count
    warnings: Count
    notes: Count
    changes: tuple[PageChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCounts(Typed):
    """Tables with equal counts on pages of different employers."""

    pages: tuple[ListedPage, ...]
    snapshots: tuple[PageSnapshot, ...]
    """Of the pages, in their order."""
    tables: Count
    """Tables of the first page that each of the others has too."""
    people: Count
    """In the largest of them."""
    same_bytes: bool
    """Whether all of them are one file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSweep(Typed):
    """``sweeps/<time>/sweep.json``: one look at all pages."""

    name: str
    source: str
    looked_at: Instant
    as_of: Day
    earlier: Instant | None
    """The sweep that this one is compared with."""
    policy: str
    checker: Sha256
    version: str
    pages: tuple[SeenPage, ...]
    shared: tuple[SharedCounts, ...]
    told: tuple[str, ...]
    """What was left out, repeated or not kept, and why."""
    warc: PageSnapshot | None
    """The answers as they came, as WARC; null where nothing was fetched or it is not installed."""
    schema: Literal["audit-page-sweep/1"] = SWEEP_SCHEMA
