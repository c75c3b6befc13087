"""A published file as text and grids of cells, whatever its format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from audit_lib.errors import CorruptFileError, InputError

Format = Literal["html", "csv", "pdf"]
MOST_BYTES: Final = 64 * 2**20
_ENCODINGS: Final = ("utf-8-sig", "cp1252", "latin-1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table as it stands in the file, before anything is understood of it.

    Parameters
    ----------
    rows : sequence of sequence of str
        Cell texts; spans are filled with copies, so that every row has the same columns.
    caption : str
        The table's own caption, or empty.
    trail : tuple of str
        Headings that it stands under, the outermost first.
    notes : str
        What is written right below it, up to the next heading or table.
    continues : bool
        Whether it may be the rest of the table before it: the first on a page that is not the first.
    page : int
        The page, from 1, on which it was read from where words stand; 0 where its cells are the file's own.
    """

    rows: Sequence[Sequence[str]]
    caption: str = ""
    trail: tuple[str, ...] = ()
    notes: str = ""
    continues: bool = False
    page: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A published file.

    Parameters
    ----------
    format : {"html", "csv", "pdf"}
        What it was read as.
    text : str
        Every visible word outside and inside tables, a line a paragraph; empty for CSV.
    grids : tuple of Grid
        Its tables, in order.
    caution : str
        What a reader of the findings must know about how it was read; empty if nothing.
    """

    format: Format
    text: str
    grids: tuple[Grid, ...]
    caution: str = ""


def read_document(path: Path) -> Document:
    """Read a published file; its content says what format it is, not its name.

    Raises
    ------
    InputError
        If there is no such file, it is empty or too large, or a PDF and pdfplumber is not installed.
    CorruptFileError
        If it holds neither text nor a PDF that opens.
    """
    from audit_lib.check.csv_tables import csv_grids
    from audit_lib.check.html_tables import html_document

    content = _read(path)
    if content.lstrip()[:5] == b"%PDF-":
        from audit_lib.check.pdf_tables import pdf_document

        return pdf_document(content, path)
    text = _decode(content, path)
    start = text[:4096].lower()
    if "<table" in text.lower() or "<html" in start or "<!doctype html" in start:
        return html_document(text)
    if path.suffix.lower() == ".pdf":
        raise CorruptFileError(
            f"{path}: not a PDF despite its name; save the summary again as PDF, HTML or CSV"
        )
    return Document(format="csv", text="", grids=tuple(csv_grids(text, path)))


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path}: larger than {MOST_BYTES // 2**20} MiB; save the summary alone")
        content = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); name a saved HTML, CSV or PDF file"
        ) from None
    if not content.strip():
        raise CorruptFileError(f"{path}: empty; expected an HTML page, CSV tables or a PDF")
    return content


def _decode(content: bytes, path: Path) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    if b"\x00" in content:
        raise CorruptFileError(f"{path}: binary and no PDF; save the summary as HTML, CSV or PDF")
    for encoding in _ENCODINGS[:-1]:
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode(_ENCODINGS[-1])


def even(rows: Iterable[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Pad rows with empty cells to the longest."""
    kept = [tuple(row) for row in rows]
    width = max((len(row) for row in kept), default=0)
    return tuple(row + ("",) * (width - len(row)) for row in kept)
