"""Sheets of an XLSX as grids: each number as its format shows it, and no formula computed."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any, Final

from audit_lib.check.grids import Grid, HiddenPart, PublishedFile, even
from audit_lib.check.published_numbers import one_line
from audit_lib.check.sheet_layout import HiddenLines, hidden_lines
from audit_lib.errors import CorruptFileError, InputError

_MOST_ROWS: Final = 20_000
_MOST_CELLS: Final = 1_000_000
_FORMAT: Final = re.compile(r"(?=\.?[#0?])(?P<whole>[#0?,]*)(?:\.(?P<decimals>[0#?]+))?")
_QUOTED: Final = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|_.|\*.')
_LONGEST: Final = 15  # digits that a cell without a format shows at most
_TOO_LARGE: Final = 1e15
_NOT_STORED: Final = (
    "{} cells hold formulas whose value is not in the file; none was computed: open and save it first"
)
_HIDDEN: Final = "{} hidden sheets were not read"


def xlsx_document(content: bytes, package: zipfile.ZipFile, path: Path) -> PublishedFile:
    """Read the sheets that are shown; a sheet's lines of words are text, and its tables one grid.

    Raises
    ------
    InputError
        If openpyxl is not installed, or a sheet has more rows or cells than a summary can have.
    CorruptFileError
        If the workbook cannot be read.
    """
    try:
        import openpyxl
    except ImportError:
        raise InputError(f"{path}: reading XLSX needs openpyxl; pip install 'audit-lib[check]'") from None
    try:
        books = [
            openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=stored, keep_links=False)
            for stored in (True, False)
        ]
        shown = [name for name in books[0].sheetnames if books[0][name].sheet_state == "visible"]
        lacking, grids, text, hidden = 0, [], [], []
        unseen = hidden_lines(package, path)
        for name in shown:
            rows = []
            lines = unseen.get(name, HiddenLines())
            columns: dict[int, list[str]] = {}
            sheets = (_rows(book[name], path) for book in books)
            for number, (cells, formulas) in enumerate(zip(*sheets, strict=False), 1):
                texts = [_text(cell) for cell in cells]
                pairs = zip(cells, formulas, strict=False)
                lacking += sum(f.data_type == "f" and cell.value is None for cell, f in pairs)
                if number in lines.rows:
                    hidden.append(_hidden(f"row {number} of the sheet {name!r}", texts))
                    continue
                for i, words in enumerate(texts):
                    if lines.columns and lines.has_column(i + 1):
                        columns.setdefault(i, []).append(words)
                rows.append([words for i, words in enumerate(texts) if i not in columns])
            hidden += [
                _hidden(f"column {_letters(i + 1)} of the sheet {name!r}", words)
                for i, words in columns.items()
            ]
            grids.append(Grid(rows=even(rows), trail=(name,)))
            text += [one_line(" ".join(filter(None, row))) for row in rows]
    except (InputError, CorruptFileError):
        raise
    except (
        zipfile.BadZipFile,
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        IndexError,
        OSError,
    ) as error:
        raise CorruptFileError(f"{path}: does not open as a workbook ({error})") from None
    not_shown = len(books[0].sheetnames) - len(shown)
    cautions = [
        *([_NOT_STORED.format(lacking)] if lacking > 0 else []),
        *([_HIDDEN.format(not_shown)] if not_shown else []),
    ]
    return PublishedFile(
        format="xlsx",
        text="\n".join(line for line in text if line),
        grids=tuple(grid for grid in grids if grid.rows),
        caution="; ".join(cautions),
        hidden=tuple(part for part in hidden if part.matters),
    )


def _hidden(where: str, texts: Sequence[str]) -> HiddenPart:
    return HiddenPart(table=where, row="", words=one_line(" ".join(filter(None, texts))))


def _letters(column: int) -> str:
    """Return the name of a column, counted from 1.

    Examples
    --------
    >>> _letters(1), _letters(28)
    ('A', 'AB')
    """
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _rows(sheet: Any, path: Path) -> Iterator[tuple[Any, ...]]:
    """Yield rows that hold something, within bounds: a sheet may claim to go to its last row and column."""
    read = 0
    for number, cells in enumerate(sheet.iter_rows(), 1):
        read += len(cells)
        if number > _MOST_ROWS or read > _MOST_CELLS:
            raise InputError(
                f"{path}: sheet {sheet.title!r} has more than {_MOST_ROWS} rows or {_MOST_CELLS} cells; "
                "save the summary alone"
            )
        yield cells


def _text(cell: Any) -> str:
    """Return what a cell shows.

    Its format says how many digits; without one it shows the number itself.
    """
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, datetime | date):
        return value.date().isoformat() if isinstance(value, datetime) else value.isoformat()
    if isinstance(value, bool) or not isinstance(value, int | float):
        return one_line(str(value))
    return shown_number(value, str(cell.number_format or "General"))


def shown_number(value: float, shape: str) -> str:
    """Print a number as a format of Excel does, as far as digits, thousands, percent and sign go.

    Examples
    --------
    >>> shown_number(0.4267, "0.0%"), shown_number(1390, "#,##0"), shown_number(0.8, "0.000")
    ('42.7%', '1,390', '0.800')
    >>> shown_number(0.504, ".000"), shown_number(0.25, "0.0##"), shown_number(0.5, "#")
    ('.504', '0.25', '1')
    >>> shown_number(0.25, "General"), shown_number(12.0, "General")
    ('0.25', '12')
    """
    sections = [_QUOTED.sub("", part) for part in shape.split(";")]
    plain = sections[1] if value < 0 and len(sections) > 1 else sections[0]
    digits = _FORMAT.search(plain)
    if digits is None or re.search(r"[eE/]|general|@", plain, re.IGNORECASE) or not abs(value) < _TOO_LARGE:
        return format(value, f".{_LONGEST}g")
    size = Decimal(repr(value)) * (100 if "%" in plain else 1)
    decimals = len(digits["decimals"] or "")
    rounded = abs(size).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    text = f"{rounded:,f}" if "," in digits["whole"] else f"{rounded:f}"
    for _ in range(len(re.findall("#", digits["decimals"] or ""))):  # shown where it isn't 0
        text = text.removesuffix("0")
    if "0" not in digits["whole"] and decimals:
        text = re.sub(r"^0(?=\.)", "", text)
    return f"{'-' if size < 0 else ''}{text}{'%' if '%' in plain else ''}"
