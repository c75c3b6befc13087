"""A sweep as files to hand on: a page with filters, tables, and all of it as JSON."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from audit_lib.canonical import pretty_json
from audit_lib.corpus.sweep import SweptPages
from audit_lib.corpus.tallies import COUNTED, TITLES, marks_of, ordered_changes, sharing, tallies, year_of
from audit_lib.documents.published_pages import PageSnapshot, SeenPage
from audit_lib.report.html import page_style, readable
from audit_lib.report.tables import csv_bytes

_SHOWN: Final = 12
"""Findings of a page that the page with filters shows; the others are in the table of findings."""
_WHO: Final = ("employer", "vendor", "auditor", "page")
_EVIDENCE: Final = ("snapshot", "sha256", "taken_at")


def sweep_files(swept: SweptPages, root: str) -> dict[str, bytes]:
    """Return the files by name; `root` is where the snapshots are.

    Text that a spreadsheet would run is made harmless, and text of pages is text on the page.
    """
    sweep = swept.sweep
    return {
        "index.html": _page(swept, root),
        "pages.csv": _csv(
            (*_WHO, "year", "audited", "state", "why", "since", "marks", "errors", "warnings", "notes", "unchecked",
             *_EVIDENCE),
            _page_lines(swept),
        ),
        "changes.csv": _csv(
            (*_WHO, "kind", "severity", "is_new", "message", "table", "row", "column", "before", "now",
             "snapshot_before", "sha256_before", *_EVIDENCE),
            _change_lines(swept),
        ),
        "findings.csv": _csv(
            (*_WHO, "id", "severity", "message", "table", "row", "column", "printed", "recomputed", "rule", "unsure",
             *_EVIDENCE),
            _finding_lines(swept),
        ),
        "shared_counts.csv": _csv((*_WHO, "group", "tables", "people", "same_bytes", *_EVIDENCE), _shared_lines(swept)),
        "groups.csv": _csv(
            ("by", "name", "pages", *COUNTED),
            (
                {"by": one.by, "name": one.name, "pages": one.pages, **dict(zip(COUNTED, one.counts, strict=True))}
                for one in tallies(sweep)
            ),
        ),
        "sweep.json": pretty_json(sweep.as_dict()),
    }  # fmt: skip


def _csv(columns: tuple[str, ...], lines: Iterator[Mapping[str, Any]]) -> bytes:
    shown = (
        {name: readable(value) if isinstance(value, str) else value for name, value in line.items()}
        for line in lines
    )
    return csv_bytes(columns, shown)


def _who(row: SeenPage) -> dict[str, str]:
    return row.listed.as_dict()


def _evidence(snapshot: PageSnapshot | None, end: str = "") -> dict[str, str]:
    if snapshot is None:
        return {}
    return {
        f"snapshot{end}": snapshot.key,
        f"sha256{end}": snapshot.sha256,
        f"taken_at{end}": snapshot.taken_at,
    }


def _page_lines(swept: SweptPages) -> Iterator[dict[str, Any]]:
    shared = sharing(swept.sweep)
    for row in swept.sweep.pages:
        yield {
            **_who(row),
            "year": year_of(row),
            "audited": row.audited,
            "state": row.state,
            "why": row.why,
            "since": row.since,
            "marks": " ".join(mark.name for mark in marks_of(row, shared)),
            "errors": row.errors,
            "warnings": row.warnings,
            "notes": row.notes,
            "unchecked": row.unchecked,
            **_evidence(row.snapshot),
        }


def _change_lines(swept: SweptPages) -> Iterator[dict[str, Any]]:
    """Yield a line for each number that changed, and one for each other change."""
    for row in swept.sweep.pages:
        for one in row.changes:
            before = _evidence(one.before, "_before")
            before.pop("taken_at_before", None)
            told = {
                **_who(row), "kind": one.kind, "severity": one.severity, "is_new": one.is_new, "message": one.message,
                **before, **_evidence(one.now),
            }  # fmt: skip
            yield from ({**told, **number.as_dict()} for number in one.numbers)
            if not one.numbers:
                yield told


def _finding_lines(swept: SweptPages) -> Iterator[dict[str, Any]]:
    for row in swept.sweep.pages:
        if row.snapshot is not None:
            for one in swept.facts[row.snapshot.sha256].findings:
                yield {**_who(row), **one.as_dict(), **_evidence(row.snapshot)}


def _shared_lines(swept: SweptPages) -> Iterator[dict[str, Any]]:
    for number, one in enumerate(swept.sweep.shared, 1):
        for page, snapshot in zip(one.pages, one.snapshots, strict=True):
            about = {
                "group": number,
                "tables": one.tables,
                "people": one.people,
                "same_bytes": one.same_bytes,
            }
            yield {**page.as_dict(), **about, **_evidence(snapshot)}


def _page(swept: SweptPages, root: str) -> bytes:
    sweep, shared = swept.sweep, sharing(swept.sweep)
    rows = [
        (
            row,
            None if row.snapshot is None else swept.facts[row.snapshot.sha256],
            marks_of(row, shared),
            year_of(row),
        )
        for row in sweep.pages
    ]
    counts = {name: sum(mark.name == name for _, _, marks, _ in rows for mark in marks) for name in COUNTED}
    known = {mark.name: mark.words for _, _, marks, _ in rows for mark in marks}
    lines = list(tallies(sweep))
    style = f"{page_style(paper=False)}\n{_part('sweep.css')}"
    script = _part("sweep.js")
    made = _template().render(
        sweep=sweep,
        root=root,
        rows=rows,
        titles=TITLES,
        news=[
            one
            for one in ordered_changes(sweep)
            if sweep.earlier is not None and one[1].kind != "other_words"
        ],
        glance=[
            ("Pages", len(sweep.pages)),
            *((words.capitalize(), counts[name]) for name, words in COUNTED.items()),
        ],
        filters=[
            ("vendor", "Vendor", _choices(row.listed.vendor for row in sweep.pages)),
            ("auditor", "Auditor", _choices(row.listed.auditor for row in sweep.pages)),
            ("year", "Year of the audit", _choices(year for *_, year in rows)),
            ("marks", "What is found", sorted(known.items(), key=lambda one: one[1])),
        ],
        groups=[
            (f"By {by}", [(one.name, (one.pages, *one.counts)) for one in lines if one.by == by])
            for by in ("vendor", "auditor", "year")
        ],
        columns=("pages", *COUNTED.values()),
        shown=_SHOWN,
        style=Markup(style),
        script=Markup(script),
        style_digest=_digest(style),
        script_digest=_digest(script),
    )
    return readable(made).encode()


def _choices(values: Iterator[str]) -> list[tuple[str, str]]:
    return [(one, one) for one in sorted(set(values), key=str.casefold) if one]


def _digest(words: str) -> str:
    return f"sha256-{b64encode(sha256(words.encode()).digest()).decode()}"


@cache
def _part(name: str) -> str:
    return files("audit_lib.corpus").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _template() -> Any:
    environment = Environment(
        loader=PackageLoader("audit_lib.corpus"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("sweep.html.j2")
