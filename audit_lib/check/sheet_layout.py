"""What of a sheet is not shown: its hidden rows and columns, from the part of the package that says so."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import join, normpath
from typing import Final
from xml.parsers import expat

from audit_lib.check.office_package import part_of

_BOOK: Final = "xl/workbook.xml"
_RELATIONS: Final = "xl/_rels/workbook.xml.rels"
_TRUE: Final = frozenset({"1", "true"})


@dataclass(slots=True)
class HiddenLines:
    """Rows and spans of columns that are hidden or have no size, counted from 1."""

    rows: set[int] = field(default_factory=set)
    columns: list[range] = field(default_factory=list)

    def has_column(self, number: int) -> bool:
        """Whether a column is hidden."""
        return any(number in span for span in self.columns)


def hidden_lines(package: zipfile.ZipFile, path: Path) -> dict[str, HiddenLines]:
    """Return what is hidden in each sheet of a workbook, by the sheet's name.

    Raises
    ------
    CorruptFileError
        If a part cannot be unpacked.
    """
    names = set(package.namelist())
    if not {_BOOK, _RELATIONS} <= names:
        return {}
    targets: dict[str, str] = {}
    sheets: dict[str, str] = {}

    def relation(name: str, given: Mapping[str, str]) -> None:
        if name == "Relationship":
            targets[given.get("Id", "")] = given.get("Target", "")

    def sheet(name: str, given: Mapping[str, str]) -> None:
        if name == "sheet":
            sheets[given.get("name", "")] = next(
                (given[key] for key in given if key.split(":")[-1] == "id"), ""
            )

    _read(part_of(package, _RELATIONS, path), relation)
    _read(part_of(package, _BOOK, path), sheet)
    found = {}
    for title, key in sheets.items():
        target = targets.get(key, "")
        part = target.lstrip("/") if target.startswith("/") else normpath(join("xl", target))
        if target and part in names:
            found[title] = _hidden(part_of(package, part, path))
    return found


def _hidden(content: bytes) -> HiddenLines:
    hidden = HiddenLines()
    last = 0

    def line(name: str, given: Mapping[str, str]) -> None:
        nonlocal last
        if name == "row":
            last = int(given.get("r") or last + 1)
            if given.get("hidden") in _TRUE or given.get("ht") in ("0", "0.0"):
                hidden.rows.add(last)
        elif name == "col" and (given.get("hidden") in _TRUE or given.get("width") in ("0", "0.0")):
            hidden.columns.append(range(int(given["min"]), int(given["max"]) + 1))

    _read(content, line)
    return hidden


def _read(content: bytes, opened: Callable[[str, Mapping[str, str]], None]) -> None:
    parser = expat.ParserCreate()

    def start(name: str, given: dict[str, str]) -> None:
        opened(name.split(":")[-1], given)

    parser.StartElementHandler = start
    parser.Parse(content, True)
