"""The registry of sources, and the reading of one: its prompts within the window."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from audit_lib.errors import DuplicateIdError, EmptyWindowError, InputError
from audit_lib.records import prompt_schema
from audit_lib.registry import Registry
from audit_lib.run import Window
from audit_lib.sample.columns import Unlisted, attributes_in_source, unit_of_sample
from audit_lib.sample.labels import bounded
from audit_lib.sample.row_checks import RowChecks
from audit_lib.sample.served import ServedBy
from audit_lib.sample.tables import BATCH_ROWS, Record, TableFile
from audit_lib.sample.values import DECISION
from audit_lib.spec import AuditSpec
from audit_lib.store import open_uri

Row = dict[str, Any]
Adapter = Callable[[AuditSpec], Callable[[Record], list[Row]]]
"""From the spec, makes the function that turns one record of a file into rows of prompts."""

SOURCES: Final[Registry[Adapter]] = Registry("sources", "audit_lib.sample.sources")


_MOST_WORDS: Final = 10
CHEAP_BYTES: Final = 1 << 30
"""Files up to this size are digested again when a complete sample is found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRead:
    """What was read from one file.

    Parameters
    ----------
    path : str
        As the spec writes it.
    sha256 : str
        Of the file's bytes.
    rows_read, rows_in_window : int
        Prompts in the file, and those kept.
    """

    path: str
    sha256: str
    rows_read: int
    rows_in_window: int

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "path": self.path,
            "sha256": self.sha256,
            "rows_read": self.rows_read,
            "rows_in_window": self.rows_in_window,
        }


def read_source(
    spec: AuditSpec, window: Window
) -> tuple[pa.Table, list[SourceRead], ServedBy, frozenset[str]]:
    """Read the prompts of `window`, half-open on ``occurred_at`` in UTC, in the files' order.

    Only the window's rows are held in memory. Attributes are as the source writes them. Recorded decisions of models
    that ``model.served`` leaves out are counted and not kept. Last come the ids of all prompts, of any window, where
    ``source.batch_inputs`` joins them with requests.

    Raises
    ------
    EmptyWindowError
        If no prompt is left.
    DuplicateIdError
        If two prompts have one id; names both places, never the id.
    InputError
        If a round is cut by the window, or any other fault of a file (see `errors`).
    """
    explode = SOURCES.get(spec.source.kind)(spec)
    collected, served = _Collected(spec), ServedBy(spec)
    reads, joined = [], set()
    for reference in spec.source.paths:
        file = TableFile(spec.path(reference))
        rows_read = rows_kept = 0
        for record in file:
            for row in explode(record):
                rows_read += 1
                if spec.source.batch_inputs:
                    joined.add(row["prompt_id"])
                if not spec.source.windowed or window.start <= row["occurred_at"] < window.end:
                    rows_kept += 1
                    if served.keeps(row.get("recorded_model"), record.where):
                        collected.keep(row, record.where)
                    else:
                        collected.leave_out(row)
                else:
                    collected.leave(row)
        reads.append(
            SourceRead(path=reference, sha256=file.sha256, rows_read=rows_read, rows_in_window=rows_kept)
        )
    served.check()
    return collected.table(window, served.left_out()), reads, served, frozenset(joined)


def first_columns(spec: AuditSpec) -> frozenset[str] | None:
    """Return which of our columns the source's first prompt has; None where it has no prompt, or is not on this disk.

    Raises
    ------
    InputError
        If its beginning has a fault.
    """
    explode = SOURCES.get(spec.source.kind)(spec)
    for reference in spec.source.paths:
        path = spec.path(reference)
        if "://" in path or not Path(path).is_file():
            return None
        for record in TableFile(path):
            for row in explode(record):
                return frozenset(row)
    return None


def batch_inputs(spec: AuditSpec) -> list[dict[str, str]]:
    """Return the path and SHA-256 of the files that answers are joined with."""
    found = []
    for path in spec.source.batch_inputs:
        digest = hashlib.sha256()
        with closing(open_uri(spec.path(path))) as stream:
            while piece := stream.read(1 << 20):
                digest.update(piece)
        found.append({"path": path, "sha256": digest.hexdigest()})
    return found


def changed_since(spec: AuditSpec, document: Mapping[str, Any]) -> list[str]:
    """Return the paths of `document` (``sample.json``) whose bytes are no longer those that were sampled.

    Files at a URI, files that are not there, and files over `CHEAP_BYTES` are not looked at.
    """
    recorded = [*document["sources"], *document.get("batch_inputs", ())]
    if (people := document["demographics"]) is not None and "path" in people:
        recorded.append(people)
    changed = []
    for entry in recorded:
        path = spec.path(entry["path"])
        if "://" in path or not Path(path).is_file() or Path(path).stat().st_size > CHEAP_BYTES:
            continue
        with Path(path).open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != entry["sha256"]:
                changed.append(entry["path"])
    return changed


class _Collected:
    """Rows of the window, packed batch by batch, and what must hold between them."""

    def __init__(self, spec: AuditSpec) -> None:
        self._spec = spec
        self._schema = prompt_schema(spec.groups.axes)
        self._batches: list[pa.RecordBatch] = []
        self._rows: list[Row] = []
        self._places: dict[str, str] = {}
        self._checks, self._axes = RowChecks(spec), attributes_in_source(spec)
        self._unit = unit_of_sample(spec)
        self._rounds: dict[str, str] = {}
        self._words: Counter[Unlisted] = Counter()
        self._rounds_outside: set[str] = set()
        self._rounds_of_others: set[str] = set()
        self._outside: list[datetime] = []

    def keep(self, row: Row, where: str) -> None:
        if (first := self._places.get(row["prompt_id"])) is not None:
            raise DuplicateIdError(f"{where}: its prompt_id was already used at {first}; ids must be unique")
        self._places[row["prompt_id"]] = where
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

    def leave(self, row: Row) -> None:
        instant = row["occurred_at"]
        bounds = self._outside or [instant, instant]
        self._outside = [min(bounds[0], instant), max(bounds[1], instant)]
        if self._unit != "prompt":
            self._rounds_outside.add(row[f"{self._unit}_id"])

    def leave_out(self, row: Row) -> None:
        """Remember what a row of another model would have competed with."""
        if self._unit != "prompt":
            self._rounds_of_others.add(row[f"{self._unit}_id"])

    def table(self, window: Window, left_out: int) -> pa.Table:
        self._pack()
        if not self._batches:
            raise EmptyWindowError(self._why_empty(window, left_out))
        if self._words:
            raise InputError(self._why_unlisted())
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
        return pa.Table.from_batches(self._batches)

    def _pack(self) -> None:
        if self._rows:
            self._batches.append(pa.RecordBatch.from_pylist(self._rows, schema=self._schema))
            self._rows = []

    def _why_unlisted(self) -> str:
        """Name the words with their counts; what is no short label may be a note on somebody, and is only counted."""
        counts = bounded(Counter({word.word: n for word, n in self._words.items()}))
        most = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
        named = ", ".join(
            f"{word if word.startswith('(') else repr(word)} ({n})" for word, n in most[:_MOST_WORDS]
        )
        more = f" and {len(most) - _MOST_WORDS} others" if len(most) > _MOST_WORDS else ""
        return (
            f"{', '.join(self._spec.source.paths)}: column {next(iter(self._words)).column!r} ({DECISION}) has words "
            f"for decisions that are neither in source.selected_values nor in source.rejected_values: {named}{more}; "
            "list each in one of them, so that none is counted as a rejection by default"
        )

    def _why_empty(self, window: Window, left_out: int) -> str:
        paths = ", ".join(self._spec.source.paths)
        if left_out:
            return (
                f"{paths}: all {left_out} decisions of the window are of models that model.served does not list; "
                "correct the list"
            )
        if not self._outside:
            return f"{paths}: there is no prompt to audit; the source is empty"
        first, last = (instant.isoformat(timespec="seconds") for instant in self._outside)
        return (
            f"{paths}: no prompt occurred in [{window.start.isoformat()}, {window.end.isoformat()}); "
            f"those read occurred from {first} to {last}. Pass that window, or set source.windowed: false"
        )
