"""Dossiers that are rows of a table: their text columns become templates, and the rows prompts."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit_lib.errors import InputError
from audit_lib.json_path import steps, value_at
from audit_lib.perturb.redaction.applicant import Applicant, applicant_of
from audit_lib.registry import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactedColumns:
    """Which columns of a table are what.

    Parameters
    ----------
    texts : sequence of str
        Columns that are redacted, the one that shows the applicant's name first.
    known : mapping of str to str
        Field of `Applicant` -> column that holds it, or a path into one (``applicant.given``); fields that are lists
        are split at semicolons.
    kept : sequence of str
        Columns that prompts keep as they are; all others are left out, as they may name the applicant.
    """

    texts: Sequence[str]
    known: Mapping[str, str] = field(default_factory=dict)
    kept: Sequence[str] = ()

    def check(self, lines: Sequence[Line]) -> None:
        """Refuse columns that no row has, and those that are redacted and kept at once.

        Raises
        ------
        InputError
            With the name of the column.
        """
        if not self.texts:
            raise InputError("--columns: name the columns that hold the dossier's texts")
        there = list(dict.fromkeys(key for line in lines for key in line.cells))
        for column in (*self.texts, *self.known.values(), *self.kept):
            inside = column in self.known.values() and any(line.at(column) is not None for line in lines)
            if column not in there and not inside:
                raise InputError(f"column {column!r} is in no row{did_you_mean(column, there)}")
        told = {*self.texts, *self.known.values(), *(column.split(".")[0] for column in self.known.values())}
        if both := [column for column in self.kept if column in told]:
            raise InputError(f"--keep: column {both[0]!r} names or describes the applicant; leave it out")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A row of a table, or why it could not be read."""

    number: int
    cells: Mapping[str, Any]
    fault: str = ""

    def at(self, column: str) -> Any:
        """Return the cell of a column, or what a path such as ``applicant.given`` leads to inside one; else None."""
        if column in self.cells:
            return self.cells[column]
        try:
            return value_at(self.cells, steps(column))
        except (LookupError, ValueError):
            return None


def read_lines(path: Path) -> list[Line]:
    r"""Read a table: JSONL (an object a line), or CSV with a header.

    Raises
    ------
    InputError
        If the file is of another kind, is no UTF-8, or has no row.
    """
    if path.suffix.lower() not in (".jsonl", ".csv"):
        raise InputError(f"{path.name}: expected .jsonl or .csv")
    try:
        content = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path.name}: is not UTF-8; save it as UTF-8") from None
    found = list(_json_lines(content) if path.suffix.lower() == ".jsonl" else _csv_lines(content))
    if not found:
        raise InputError(f"{path.name}: has no row")
    return found


def _json_lines(content: str) -> Iterator[Line]:
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            cells = json.loads(line)
        except ValueError:
            cells = None
        fault = "" if isinstance(cells, dict) else "the line is no JSON object"
        yield Line(number=number, cells=cells if isinstance(cells, dict) else {}, fault=fault)


def _csv_lines(content: str) -> Iterator[Line]:
    reader = csv.DictReader(io.StringIO(content, newline=""))
    for row in reader:
        whole = None not in row and None not in row.values()
        yield Line(
            number=reader.line_num,
            cells=row if whole else {},
            fault="" if whole else "the line has more or fewer cells than the header",
        )


def applicant_of_row(line: Line, columns: RedactedColumns, lists: Sequence[str]) -> Applicant:
    """Return what a row says of its applicant; without a name, the one at the head of its first text.

    Raises
    ------
    InputError
        If a text is missing or empty, a field says what none can, or there is no name.
    """
    if line.fault:
        raise InputError(line.fault)
    for column in columns.texts:
        value = line.cells.get(column)
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"column {column!r} has no text")
    said: dict[str, Any] = {}
    for name, column in columns.known.items():
        value = line.at(column)
        if value is None or value == "":
            continue
        if name in lists:
            parts = value if isinstance(value, list) else str(value).split(";")
            said[name] = tuple(str(part).strip() for part in parts if str(part).strip())
        elif isinstance(value, str):
            said[name] = value.strip()
        else:
            raise InputError(f"column {column!r} holds {type(value).__name__} and no text")
    known = Applicant(**said)
    if known.name or known.first_name:
        return known
    found, _ = applicant_of(str(line.cells[columns.texts[0]]), known)
    whole = " ".join(part for part in (found.first, *found.middle, found.last) if part)
    return Applicant(**(said | {"name": whole}))


def worst(columns: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Sum up what is said of a row's columns: its status is that of its worst one.

    Examples
    --------
    >>> essay = {"status": "review", "reasons": ["a doubt"]}
    >>> found = worst({"resume": {"status": "ok", "reasons": []}, "essay": essay})
    >>> found["status"], found["reasons"]
    ('review', ['essay: a doubt'])
    """
    return {
        "status": "review" if any(said["status"] == "review" for said in columns.values()) else "ok",
        "reasons": [f"{name}: {reason}" for name, said in columns.items() for reason in said["reasons"]],
        "columns": {name: dict(said) for name, said in columns.items()},
    }


def prompt_of(
    label: str, line: Line, columns: RedactedColumns, templates: Mapping[str, str], status: str
) -> str:
    """Return a row as a line of prompts: what is kept, the templates, and whether a person has to look first.

    ``prompt_id`` and ``application_id`` are the dossier's number, unless they are kept.
    """
    kept = {name: line.cells[name] for name in columns.kept if name in line.cells}
    row = {"prompt_id": label, "application_id": kept.get("prompt_id", label), **kept, **templates}
    return json.dumps(row | {"redaction": status}, ensure_ascii=False)
