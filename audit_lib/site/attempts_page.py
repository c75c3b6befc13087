"""The page of all attempts of an audit, window by window, as its journal had them when the site was published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from audit_lib.documents.journal import EnteredAttempt, JournalEntry, attempts_among, entry_digest
from audit_lib.journal_lines import NAME
from audit_lib.report.blocks import (
    Block,
    Cell,
    Column,
    CommandLine,
    Facts,
    Page,
    Paragraph,
    Row,
    Section,
    Table,
    code,
    link,
    text,
)
from audit_lib.report.numbers import count
from audit_lib.window import Window

PAGE: Final = "attempts.html"


def attempts_page(
    audit: str, title: str, entries: Sequence[JournalEntry], reports: Mapping[str, str]
) -> Page:
    """Return the page.

    Parameters
    ----------
    audit, title : str
        Name and title of the audit.
    entries : sequence of JournalEntry
        The audit's journal.
    reports : mapping of str to str
        ``window/design`` of a run -> address of its report, from this page.
    """
    by_window: dict[str, list[EnteredAttempt]] = {}
    for one in attempts_among(entries):
        by_window.setdefault(one.first.window, []).append(one)
    windows = sorted(by_window.items(), key=lambda pair: Window.from_label(pair[0]).end, reverse=True)
    return Page(
        title=title,
        subtitle="All attempts, window by window",
        kicker=audit,
        language="en",
        badges=(),
        status=Facts(
            (
                ("Attempts", text(count(sum(map(len, by_window.values()))))),
                ("Windows", text(count(len(by_window)))),
                ("All runs", text(link("index", "index.html"))),
            ),
            strip=True,
        ),
        sections=(
            _head(audit, entries),
            *(_window(label, found, reports) for label, found in windows),
        ),
        footer=text(
            "Times are those of the machine that made the entry. Made by audit_lib from the journal when the site was "
            "published."
        ),
    )


def _head(audit: str, entries: Sequence[JournalEntry]) -> Section:
    if not entries:
        none = "Nothing was ever entered: these runs are from before there was a journal."
        return Section("head", "The journal", (Paragraph(text(none)),))
    last = entries[-1]
    blocks: tuple[Block, ...] = (
        Paragraph(
            text(
                "Each attempt is entered before the model is asked, and when it ends. Every entry has the digest of "
                f"the one before, so the newest fixes all: entry {count(last.number)} of {_minute(last.at)} UTC, ",
                code(entry_digest(last)),
                ". Keep this head. Whoever has an earlier one can show that nothing until then was changed or dropped, "
                "with ",
                link("all entries", NAME),
                " and this command. Attempts that were never entered, and entries that were taken away before anybody "
                "kept a later head, nobody can see here.",
            )
        ),
        CommandLine(f"audit verify-journal {NAME} --audit {audit} --from <earlier head>"),
    )
    return Section("head", "The journal", blocks)


def _window(label: str, found: Sequence[EnteredAttempt], reports: Mapping[str, str]) -> Section:
    window, designs = Window.from_label(label), len({one.first.run for one in found})
    name = f"{window.start:%Y-%m-%d %H:%M} to {window.end:%Y-%m-%d %H:%M}"
    times = "once" if len(found) == 1 else f"{count(len(found))} times"
    lead = f"This window was attempted {times} with {count(designs)} design{'s' * (designs != 1)}: {outcomes(found)}."
    columns = (
        Column("Entered (UTC)", numeric=False),
        Column("Design", numeric=False),
        Column("Attempt"),
        Column("What became of it", numeric=False),
        Column("Ended (UTC)", numeric=False),
        Column("Report", numeric=False),
    )
    rows = tuple(_row(one, reports) for one in found)
    table = Table(f"Attempts on {name}", columns, rows)
    return Section(f"window-{label}".lower(), name, (Paragraph(text(lead)), table))


def _row(one: EnteredAttempt, reports: Mapping[str, str]) -> Row:
    first, end = one.first, one.end
    address = reports.get(f"{first.window}/{first.run}", "")
    has_report = address and end is not None and end.event == "completed"
    return Row(
        header=_minute(first.at),
        cells=(
            Cell(first.run),
            Cell(count(first.attempt)),
            Cell(became(one)),
            Cell("not entered" if end is None else _minute(end.at)),
            Cell("report", link=address) if has_report else Cell("none published"),
        ),
    )


def outcomes(found: Sequence[EnteredAttempt]) -> str:
    """Count what became of attempts, in words."""
    words = [became(one) for one in found]
    return ", ".join(f"{count(words.count(said))} {said}" for said in dict.fromkeys(words))


def became(one: EnteredAttempt) -> str:
    """Return what became of an attempt, in words."""
    if one.end is None:
        return "without an end"
    if one.superseded:
        return "superseded"
    if one.end.outcome == "validation_failed":
        return "failed its validation"
    return "stopped" if one.end.outcome == "stopped" else one.end.event


def _minute(instant: str) -> str:
    return f"{datetime.fromisoformat(instant):%Y-%m-%d %H:%M}"
