"""What is read from a source: its prompts within the window, and what must hold between them."""

from __future__ import annotations

import hashlib
from collections import Counter
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Final

from audit_lib.documents.sample import Sample, SourceFile
from audit_lib.errors import DuplicateIdError, EmptyWindowError, InputError
from audit_lib.records import prompt_schema
from audit_lib.sample.candidates import PromptRecord
from audit_lib.sample.columns import Unlisted, attributes_in_source, unit_of_sample
from audit_lib.sample.labels import bounded
from audit_lib.sample.read_before import OnceOnly
from audit_lib.sample.row_checks import RowChecks
from audit_lib.sample.served import ServedBy
from audit_lib.sample.sources import SOURCES, Source, source_of
from audit_lib.sample.tables import BATCH_ROWS
from audit_lib.sample.values import DECISION
from audit_lib.sample.window_rows import WindowRows
from audit_lib.spec import AuditSpec
from audit_lib.window import Window

_MOST_WORDS: Final = 10
CHEAP_BYTES: Final = 1 << 30
"""Files up to this size are digested again when a complete sample is found."""


def read_source(
    source: Source, window: Window, once: OnceOnly | None = None
) -> tuple[WindowRows, list[SourceFile], ServedBy]:
    """Read the prompts of `window`, half-open on ``occurred_at`` in UTC, in the source's order.

    Only the window's rows are held, and their long texts in a temporary file. Attributes are as the source writes
    them. Recorded decisions of models that ``model.served`` leaves out are counted and not kept. With `once` what
    other windows have read is left out, and what came late to one of them is kept.

    Raises
    ------
    EmptyWindowError
        If no prompt is left.
    DuplicateIdError
        If two prompts have one id; names both places, never the id.
    InputError
        If a round is cut by the window, or any other fault of what is read (see `errors`).
    """
    spec = source.spec
    collected, served = _Collected(spec, window), ServedBy(spec)
    unit, reads = f"{unit_of_sample(spec)}_id", []
    with SOURCES.naming(spec.source.kind):
        for name, found in source.inputs(window):
            rows_read = rows_kept = 0
            for record in found:
                for row in source.rows(record):
                    rows_read += 1
                    if once is not None:
                        whose = once.whose(row[unit], row["occurred_at"])
                        if whose == "read_before":
                            continue
                        inside = whose != "outside"
                    else:
                        inside = not spec.source.windowed or window.start <= row["occurred_at"] < window.end
                    if inside:
                        rows_kept += 1
                        if served.keeps(row.get("recorded_model"), record.where):
                            collected.keep(row, record.where)
                        else:
                            collected.leave_out(row)
                    else:
                        collected.leave(row)
            reads.append(
                SourceFile(path=name, sha256=found.sha256, rows_read=rows_read, rows_in_window=rows_kept)
            )
    served.check()
    named = ", ".join(read.path for read in reads) or f"source.kind: {spec.source.kind}"
    if once is not None and not any(read.rows_in_window for read in reads) and once.rows_read_before:
        raise EmptyWindowError(
            f"{named}: all {once.rows_read_before} prompts of the window were read by complete runs of other windows "
            "(source.once); there is nothing new to audit"
        )
    return collected.all(named, window, served.left_out()), reads, served


def first_columns(spec: AuditSpec) -> frozenset[str] | None:
    """Return which of our columns the source's first prompt has; None where it is not on this machine.

    Raises
    ------
    InputError
        If it has no prompt, or its beginning has a fault.
    """
    row = source_of(spec).first()
    return None if row is None else frozenset(row)


def first_fields(spec: AuditSpec, most: int) -> list[str]:
    """Return the ``fields`` of the first prompts of local files, in or out of any window; none of other sources.

    Raises
    ------
    InputError
        If a file cannot be read as the spec says.
    """
    if not spec.source.paths or any("://" in path for path in spec.source.paths):
        return []
    source = source_of(spec)
    window = Window.parse("1970-01-01", "1970-01-02")  # files are read whole, whatever the window
    rows = (row for _, found in source.inputs(window) for record in found for row in source.rows(record))
    return [str(row["fields"]) for row in islice(rows, most)]


def changed_since(spec: AuditSpec, document: Sample) -> list[str]:
    """Return the paths of `document` (``sample.json``) whose bytes are no longer those that were sampled.

    Files at a URI, files that are not there, and files over `CHEAP_BYTES` are not looked at.
    """
    recorded = {one.path: one.sha256 for one in document.sources}
    recorded |= {one.path: one.sha256 for one in document.batch_inputs or ()}
    if (people := document.demographics) is not None and people.path is not None:
        recorded[people.path] = people.sha256 or ""
    files = {*spec.source.paths, *spec.source.batch_inputs}
    files |= {spec.demographics.path} if spec.demographics is not None else set()
    changed = []
    for name, digest in recorded.items():
        path = spec.path(name)
        if (
            name not in files
            or "://" in path
            or not Path(path).is_file()
            or Path(path).stat().st_size > CHEAP_BYTES
        ):
            continue
        with Path(path).open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != digest:
                changed.append(name)
    return changed


def _first_place(spec: AuditSpec, window: Window, prompt_id: str, second: str) -> str:
    """Return where an id is used first, by reading again: places are not kept of the many that are used once."""
    source = source_of(spec)
    for _, found in source.inputs(window):
        for record in found:
            used = any(
                row["prompt_id"] == prompt_id and _may_be_read(spec, window, row)
                for row in source.rows(record)
            )
            if used:
                return " in the same record" if record.where == second else f" at {record.where}"
    return ""


def _may_be_read(spec: AuditSpec, window: Window, row: PromptRecord) -> bool:
    if not spec.source.windowed:
        return True
    late = bool(spec.source.once is not None and row["occurred_at"] < window.start)
    return late or bool(window.start <= row["occurred_at"] < window.end)


class _Collected:
    """Rows of the window, packed batch by batch, and what must hold between them."""

    def __init__(self, spec: AuditSpec, window: Window) -> None:
        self._spec, self._window = spec, window
        self._packed = WindowRows(prompt_schema(spec.groups.axes))
        self._rows: list[PromptRecord] = []
        self._ids: set[str] = set()
        self._checks, self._axes = RowChecks(spec), attributes_in_source(spec)
        self._unit = unit_of_sample(spec)
        self._rounds: dict[str, str] = {}
        self._words: Counter[Unlisted] = Counter()
        self._rounds_outside: set[str] = set()
        self._rounds_of_others: set[str] = set()
        self._outside: list[datetime] = []

    def keep(self, row: PromptRecord, where: str) -> None:
        if row["prompt_id"] in self._ids:
            first = _first_place(self._spec, self._window, row["prompt_id"], where)
            raise DuplicateIdError(f"{where}: its prompt_id was already used{first}; ids must be unique")
        self._ids.add(row["prompt_id"])
        self._checks.position(row["position"], where)
        if isinstance(word := row.get(DECISION), Unlisted):
            self._words[word] += 1
            row = row | {DECISION: None}
        for axis in self._axes:
            self._checks.category(axis, row.get(axis), where)
        if self._unit != "prompt":
            self._rounds.setdefault(row[f"{self._unit}_id"], where)
        self._rows.append({**row, "provenance": self._spec.groups.provenance})
        if len(self._rows) == BATCH_ROWS:
            self._pack()

    def leave(self, row: PromptRecord) -> None:
        instant = row["occurred_at"]
        bounds = self._outside or [instant, instant]
        self._outside = [min(bounds[0], instant), max(bounds[1], instant)]
        if self._unit != "prompt":
            self._rounds_outside.add(row[f"{self._unit}_id"])

    def leave_out(self, row: PromptRecord) -> None:
        """Remember what a row of another model would have competed with."""
        if self._unit != "prompt":
            self._rounds_of_others.add(row[f"{self._unit}_id"])

    def all(self, named: str, window: Window, left_out: int) -> WindowRows:
        self._pack()
        if not len(self._packed):
            raise EmptyWindowError(self._why_empty(named, window, left_out))
        if self._words:
            raise InputError(self._why_unlisted(named))
        for round_id, where in self._rounds.items():
            if round_id in self._rounds_outside:
                raise InputError(
                    f"{where}: the window cuts this candidate's {self._unit}; "
                    f"give all candidates of one {self._unit} one occurred_at"
                )
            if round_id in self._rounds_of_others:
                raise InputError(
                    f"{where}: another model decided on others of this candidate's {self._unit}, and model.served "
                    "leaves it out: who is left did not compete alone; list both models, or write the log by model"
                )
        return self._packed

    def _pack(self) -> None:
        if self._rows:
            self._packed.add(self._rows)
            self._rows = []

    def _why_unlisted(self, named: str) -> str:
        """Name the words with their counts; what is no short label may be a note on somebody, and is only counted."""
        counts = bounded(Counter({word.word: n for word, n in self._words.items()}))
        most = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
        words = ", ".join(
            f"{word if word.startswith('(') else repr(word)} ({n})" for word, n in most[:_MOST_WORDS]
        )
        more = f" and {len(most) - _MOST_WORDS} others" if len(most) > _MOST_WORDS else ""
        return (
            f"{named}: column {next(iter(self._words)).column!r} ({DECISION}) has words "
            f"for decisions that are neither in source.selected_values nor in source.rejected_values: {words}{more}; "
            "list each in one of them, so that none is counted as a rejection by default"
        )

    def _why_empty(self, named: str, window: Window, left_out: int) -> str:
        if left_out:
            return (
                f"{named}: all {left_out} decisions of the window are of models that model.served does not list; "
                "correct the list"
            )
        if not self._outside:
            return f"{named}: there is no prompt to audit; the source is empty"
        first, last = (instant.isoformat(timespec="seconds") for instant in self._outside)
        return (
            f"{named}: no prompt occurred in [{window.start.isoformat()}, {window.end.isoformat()}); "
            f"those read occurred from {first} to {last}. Pass that window, or set source.windowed: false"
        )
