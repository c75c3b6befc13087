"""What is read from a source: its prompts within the window, and what must hold between them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from itertools import compress, islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit_lib.documents.sample import Sample, SourceFile
from audit_lib.errors import DuplicateIdError, EmptyWindowError, InputError
from audit_lib.records import prompt_schema
from audit_lib.sample.blocks import BLOCK_ROWS, RecordBlock, blocks_of
from audit_lib.sample.candidates import BlockColumns, PromptRecord
from audit_lib.sample.columns import Unlisted, attributes_in_source, unit_of_sample
from audit_lib.sample.labels import bounded
from audit_lib.sample.read_before import OnceOnly
from audit_lib.sample.row_checks import RowChecks
from audit_lib.sample.served import ServedBy
from audit_lib.sample.sources import SOURCES, Source, source_of
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
    served = ServedBy(spec)
    reads = []
    with _Collected(source, window, served, once) as collected, SOURCES.naming(spec.source.kind):
        for name, found in source.inputs(window):
            before = collected.rows_read, collected.rows_kept
            for block in blocks_of(found):
                if once is not None or not collected.take_block(block):
                    collected.take_records(block)
            reads.append(
                SourceFile(
                    path=name,
                    sha256=found.sha256,
                    rows_read=collected.rows_read - before[0],
                    rows_in_window=collected.rows_kept - before[1],
                )
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


def _both_places(source: Source, window: Window, prompt_id: str) -> str:
    """Say where an id is used a second time and first, by reading again: no places are kept of ids."""
    first = ""
    for _, found in source.inputs(window):
        for record in found:
            for row in source.rows(record):
                if row["prompt_id"] != prompt_id or not _may_be_read(source.spec, window, row):
                    continue
                if first:
                    place = " in the same record" if record.where == first else f" at {first}"
                    return f"{record.where}: its prompt_id was already used{place}"
                first = record.where
    return f"{first or 'a prompt'}: its prompt_id was already used"


def _those(values: Sequence[Any] | pa.Array, inside: Sequence[bool]) -> Sequence[Any] | pa.Array:
    return values.filter(pa.array(inside)) if isinstance(values, pa.Array) else [*compress(values, inside)]


def _may_be_read(spec: AuditSpec, window: Window, row: PromptRecord) -> bool:
    if not spec.source.windowed:
        return True
    late = bool(spec.source.once is not None and row["occurred_at"] < window.start)
    return late or bool(window.start <= row["occurred_at"] < window.end)


class _Collected:
    """Rows of the window, packed batch by batch, and what must hold between them."""

    def __init__(self, source: Source, window: Window, served: ServedBy, once: OnceOnly | None) -> None:
        spec = source.spec
        self._source, self._spec, self._window, self._served, self._once = source, spec, window, served, once
        self._schema = prompt_schema(spec.groups.axes)
        self._packed = WindowRows(self._schema, spec.groups.axes)
        self._rows: list[PromptRecord] = []
        self._checks, self._axes = RowChecks(spec), attributes_in_source(spec)
        self._unit = unit_of_sample(spec)
        self._words: Counter[Unlisted] = Counter()
        self._rounds_outside: set[str] = set()
        self._rounds_of_others: set[str] = set()
        self._outside: list[datetime] = []
        self.rows_read = self.rows_kept = 0

    def __enter__(self) -> _Collected:
        self._packed.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._packed.__exit__(*error)

    def take_records(self, block: RecordBlock) -> None:
        """Take the rows of a block one by one."""
        spec, window = self._spec, self._window
        for record in block.records():
            for row in self._source.rows(record):
                self.rows_read += 1
                if self._once is not None:
                    whose = self._once.whose(row[f"{self._unit}_id"], row["occurred_at"])
                    if whose == "read_before":
                        continue
                    inside = whose != "outside"
                else:
                    inside = not spec.source.windowed or window.start <= row["occurred_at"] < window.end
                if not inside:
                    self._leave(row)
                    continue
                self.rows_kept += 1
                if self._served.keeps(row.get("recorded_model"), record.where):
                    self._keep(row, record.where)
                elif self._unit != "prompt":  # what a row of another model would have competed with
                    self._rounds_of_others.add(row[f"{self._unit}_id"])

    def take_block(self, block: RecordBlock) -> bool:
        """Take a block by its columns; return whether that could be: else nothing of it is taken."""
        by_block = getattr(self._source.rows, "block", None)
        columns: BlockColumns | None = None if by_block is None else by_block(block)
        if columns is None:
            return False
        number = len(block)
        inside = [True] * number
        if self._spec.source.windowed:
            inside = [self._window.start <= at < self._window.end for at in columns["occurred_at"]]
        whole = all(inside)
        kept = columns if whole else {name: _those(own, inside) for name, own in columns.items()}
        units = columns[f"{self._unit}_id"] if self._unit != "prompt" else []
        if not self._checks.passed(
            set(kept["position"]), {axis: set(kept.get(axis, (None,))) for axis in self._axes}
        ) or not self._served.keeps_all(kept.get("recorded_model", [None] * len(kept["prompt_id"]))):
            return False
        self.rows_read += number
        self.rows_kept += len(kept["prompt_id"])
        if not whole:
            self._note_outside(
                [at for at, here in zip(columns["occurred_at"], inside, strict=True) if not here]
            )
            self._rounds_outside.update(unit for unit, here in zip(units, inside, strict=False) if not here)
        if kept["prompt_id"]:
            self._pack()
            self._packed.add_batch(self._batch(kept))
        return True

    def _batch(self, columns: BlockColumns) -> pa.RecordBatch:
        number = len(columns["prompt_id"])
        arrays = []
        for field in self._schema:
            if field.name == "fields":
                arrays.append(columns["fields"])
            elif field.name == "provenance":
                arrays.append(pa.repeat(pa.scalar(self._spec.groups.provenance, pa.string()), number))
            elif field.name in columns:
                arrays.append(pa.array(columns[field.name], field.type))
            else:
                arrays.append(pa.nulls(number, field.type))
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _keep(self, row: PromptRecord, where: str) -> None:
        self._checks.position(row["position"], where)
        if isinstance(word := row.get(DECISION), Unlisted):
            self._words[word] += 1
            row = row | {DECISION: None}
        for axis in self._axes:
            self._checks.category(axis, row.get(axis), where)
        self._rows.append({**row, "provenance": self._spec.groups.provenance})
        if len(self._rows) == BLOCK_ROWS:
            self._pack()

    def _leave(self, row: PromptRecord) -> None:
        self._note_outside([row["occurred_at"]])
        if self._unit != "prompt":
            self._rounds_outside.add(row[f"{self._unit}_id"])

    def _note_outside(self, instants: Sequence[datetime]) -> None:
        seen = [*self._outside, *instants]
        self._outside = [min(seen), max(seen)]

    def all(self, named: str, window: Window, left_out: int) -> WindowRows:
        self._pack()
        if not len(self._packed):
            raise EmptyWindowError(self._why_empty(named, window, left_out))
        if (repeated := self._packed.first_repeated()) is not None:
            raise DuplicateIdError(f"{_both_places(self._source, window, repeated)}; ids must be unique")
        if self._words:
            raise InputError(self._why_unlisted(named))
        self._check_rounds()
        return self._packed

    def _check_rounds(self) -> None:
        """Refuse a round of which some candidates are not in the window, or not of the audited models."""
        lost = self._rounds_outside | self._rounds_of_others
        if not lost:
            return
        (places,) = np.nonzero(pc.is_in(self._packed.column(f"{self._unit}_id"), pa.array([*lost])))
        if not len(places):
            return
        round_id = self._packed.column(f"{self._unit}_id")[int(places[0])].as_py()
        where = self._first_of(round_id)
        if round_id in self._rounds_outside:
            raise InputError(
                f"{where}: the window cuts this candidate's {self._unit}; "
                f"give all candidates of one {self._unit} one occurred_at"
            )
        raise InputError(
            f"{where}: another model decided on others of this candidate's {self._unit}, and model.served "
            "leaves it out: who is left did not compete alone; list both models, or write the log by model"
        )

    def _first_of(self, round_id: str) -> str:
        """Return where the first candidate of a round stands, by reading again: no places are kept of ids."""
        served = ServedBy(self._spec)
        for _, found in self._source.inputs(self._window):
            for record in found:
                for row in self._source.rows(record):
                    if (
                        row[f"{self._unit}_id"] == round_id
                        and _may_be_read(self._spec, self._window, row)
                        and served.keeps(row.get("recorded_model"), record.where)
                    ):
                        return record.where
        return "a candidate"

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
