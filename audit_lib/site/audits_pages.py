"""All audits of a store, a line each, in pages that stay light however many there are.

Orders and filters are pages of their own, so that they work without a script, by keyboard, and from a folder. The
Airflow page shows the same list, and has a field to look for a name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from audit_lib.documents.run_index import AuditState
from audit_lib.report.blocks import (
    Block,
    Bullets,
    Cell,
    Column,
    Facts,
    Page,
    Paragraph,
    Row,
    Search,
    Section,
    Table,
    TextRun,
    link,
    strong,
    text,
)
from audit_lib.report.html import render_html
from audit_lib.report.numbers import count
from audit_lib.site.window_strip import SHAPES_IN_WORDS, in_words, window_strip

FOLDER: Final = "all-audits"
"""On the site; no audit has such a name."""
ON_A_PAGE: Final = 100
_NOT_AT_ALL: Final = 9
_LATE: Final = {"failed": 1, "not verified": 1, "missed": 2, "late": 3}


def urgency(state: AuditState) -> int:
    """Return how soon somebody should look at an audit: 0 is first, 9 is not at all."""
    if state.alarms:
        return 0
    worst = min((_LATE.get(one, 9) for one in state.strip), default=9)
    return 4 if worst == 9 and state.notes else worst


@dataclass(frozen=True, slots=True)
class ListOrder:
    """An order of the audits, in words, and what it goes by."""

    words: str
    key: Callable[[AuditState], Any]
    shown: Callable[[AuditState], bool] = lambda state: True


ORDERS: Final[Mapping[str, ListOrder]] = {
    "": ListOrder("who needs attention first", lambda state: (urgency(state), state.audit)),
    "by-name": ListOrder("by name", lambda state: (state.title.casefold(), state.audit)),
    "by-validity": ListOrder(
        "by the end of validity",
        lambda state: ((state.latest.no_use_after if state.latest else None) or "9999", state.audit),
    ),
    "by-next": ListOrder("by the next window", lambda state: (_next(state) or "9999", state.audit)),
    "attention": ListOrder(
        "only those that need attention",
        lambda state: (urgency(state), state.audit),
        lambda s: urgency(s) < _NOT_AT_ALL,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """Where things are, from the page that is shown.

    Parameters
    ----------
    page : callable
        Of an order's name and a page's number.
    audit : callable
        Of an audit's name.
    search : Search or None
        A field to look for names.
    home : tuple of str
        Words and target of a link to where the list belongs.
    """

    page: Callable[[str, int], str]
    audit: Callable[[str], str]
    search: Search | None = None
    home: tuple[str, str] | None = None


def audits_pages(states: Sequence[AuditState], not_read: Sequence[str]) -> dict[str, bytes]:
    """Return every page of the list on the site, by path."""
    addresses = Addresses(
        page=_file, audit=lambda audit: f"../{audit}/index.html", home=("Reports", "../index.html")
    )
    made = {}
    attention = sum(urgency(one) < _NOT_AT_ALL for one in states)
    for order in ORDERS:
        listed = _Listed(_chosen(states, order), len(states), attention)
        number, last = 1, 1
        while number <= last:
            page, last = _page(listed, order, number, addresses, not_read)
            made[f"{FOLDER}/{_file(order, number)}"] = render_html(page)
            number += 1
    return made


def _file(order: str, number: int) -> str:
    return f"{order or 'index'}{f'-{number}' if number > 1 else ''}.html"


def audits_page(
    states: Sequence[AuditState],
    order: str,
    number: int,
    addresses: Addresses,
    not_read: Sequence[str] = (),
) -> tuple[Page, int]:
    """Return a page of the list, and how many there are.

    Parameters
    ----------
    states : sequence of AuditState
        All that may be seen.
    order : str
        A key of `ORDERS`.
    number : int
        Of the page, from 1.
    addresses : Addresses
        Where its links lead.
    not_read : sequence of str
        A line for each audit that cannot be read.
    """
    attention = sum(urgency(one) < _NOT_AT_ALL for one in states)
    listed = _Listed(_chosen(states, order), len(states), attention)
    return _page(listed, order, number, addresses, not_read)


@dataclass(frozen=True, slots=True)
class _Listed:
    """The audits of an order, sorted once for all of its pages; how many there are, and need attention."""

    chosen: Sequence[AuditState]
    audits: int
    attention: int


def _chosen(states: Sequence[AuditState], order: str) -> list[AuditState]:
    by = ORDERS[order]
    return sorted((one for one in states if by.shown(one)), key=by.key)


def _page(
    listed: _Listed, order: str, number: int, addresses: Addresses, not_read: Sequence[str]
) -> tuple[Page, int]:
    by, chosen = ORDERS[order], listed.chosen
    last = max(1, -(-len(chosen) // ON_A_PAGE))
    number = min(max(number, 1), last)
    here = chosen[(number - 1) * ON_A_PAGE : number * ON_A_PAGE]
    blocks: list[Block] = [_orders(order, addresses)]
    if addresses.search is not None:
        blocks.append(addresses.search)
    if last > 1:
        blocks.append(_numbers(order, number, last, addresses))
    blocks.append(_table(here, by, addresses))
    if last > 1:
        blocks.append(_numbers(order, number, last, addresses))
    blocks.append(Paragraph(text(SHAPES_IN_WORDS)))
    sections = [Section("audits", f"Audits, {by.words}", tuple(blocks))]
    if not_read:
        items = tuple(text(line) for line in not_read)
        sections.append(Section("not-read", "Audits that cannot be read", (Bullets(items),)))
    home = () if addresses.home is None else (("More", text(link(*addresses.home))),)
    page = Page(
        title="Audits",
        subtitle="Every audit with its latest windows",
        kicker="Monitoring",
        language="en",
        badges=(),
        status=Facts(
            (
                ("Audits", text(count(listed.audits))),
                ("Need attention", text(count(listed.attention))),
                ("Page", text(f"{count(number)} of {count(last)}")),
                *home,
            ),
            strip=True,
        ),
        sections=tuple(sections),
        footer=text("Derived from the schedules and the runs in the store."),
    )
    return page, last


def _orders(order: str, addresses: Addresses) -> Paragraph:
    runs: list[str | TextRun] = ["Order: "]
    for place, (name, one) in enumerate(ORDERS.items()):
        runs += ["; "] if place else []
        runs.append(strong(one.words) if name == order else link(one.words, addresses.page(name, 1)))
    return Paragraph(text(*runs, "."))


def _numbers(order: str, number: int, last: int, addresses: Addresses) -> Paragraph:
    near = sorted({1, *range(max(1, number - 2), min(last, number + 2) + 1), last})
    runs: list[str | TextRun] = ["Page "]
    for before, one in zip([0, *near], near, strict=False):
        runs.append(" … " if one > before + 1 else " ")
        runs.append(
            strong(count(one)) if one == number else link(f"page {count(one)}", addresses.page(order, one))
        )
    return Paragraph(text(*runs))


def _table(states: Sequence[AuditState], by: ListOrder, addresses: Addresses) -> Table:
    columns = (
        Column("Audit", numeric=False),
        Column("Latest windows", numeric=False),
        Column("Over all windows", numeric=False),
        Column("Next window ends", numeric=False),
        Column("Report", numeric=False, wide=True),
        Column("Ratio with the most evidence", numeric=False, wide=True),
    )
    return Table(f"Windows and reports, {by.words}", columns, tuple(_row(one, addresses) for one in states))


def _row(state: AuditState, addresses: Addresses) -> Row:
    latest = state.latest
    notes = f"{count(len(state.notes))} notes about windows" if state.notes else ""
    return Row(
        header=state.title,
        link=addresses.audit(state.audit),
        note=state.audit,
        cells=(
            Cell(_recent(state.strip), note=notes, picture=window_strip(state.strip)),
            Cell(state.drift, tone="flag" if state.alarms else "plain"),
            Cell(_next(state) or "none"),
            Cell(*_validity(state)),
            Cell("none" if latest is None or latest.finding is None else latest.finding),
        ),
    )


def _recent(strip: Sequence[str]) -> str:
    """Say how many of the latest windows there are in each state, and which state the last one has."""
    if not strip:
        return "no window has ended yet"
    if set(strip) == {"audited"}:
        return f"all {count(len(strip))} audited"
    wrong = [state for state in strip if state != "audited"]
    return f"{in_words(sorted(wrong))} of {count(len(strip))}"


def _next(state: AuditState) -> str | None:
    if state.next_window is None:
        return None
    end = datetime.strptime(state.next_window.split("_")[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    return f"{end:%Y-%m-%d %H:%M}"


def _validity(state: AuditState) -> tuple[str, str]:
    """Return the state of the latest report: its text, and no mark."""
    latest = state.latest
    if latest is None:
        return "no valid report", ""
    if latest.why_no_audit is not None:
        return f"no audit to rely on: {latest.why_no_audit}", ""
    if latest.no_use_after is None:
        return f"audit of {latest.audited}; no period is set", ""
    past = latest.no_use_after < state.as_of[:10]
    return (
        f"{'past: ' if past else ''}valid until {latest.no_use_after}",
        "no use allowed" if past else "",
    )
