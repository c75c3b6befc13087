"""Reads a published file by what its content says that it is."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from audit_lib.canonical import strict_json
from audit_lib.check.csv_tables import csv_grids, csv_words
from audit_lib.check.docx_tables import docx_document
from audit_lib.check.grids import Grid, PublishedFile
from audit_lib.check.headers import has_header
from audit_lib.check.html_tables import html_document
from audit_lib.check.office_package import is_office, open_package, part_of
from audit_lib.check.pdf_tables import pdf_document
from audit_lib.check.picture_files import NamedPicture, picture_document, with_pictures
from audit_lib.check.picture_words import is_picture
from audit_lib.check.text_tables import bar_grids, text_grids, text_paragraphs
from audit_lib.check.xlsx_tables import xlsx_document
from audit_lib.errors import CorruptFileError, InputError

MOST_BYTES: Final = 64 * 2**20
_OWN_REPORT: Final = "audit-report/"
_TEXT_NAMES: Final = (".txt", ".text", ".md")
# Text may speak of "<Table 2" or of "< table": an element begins and ends.
_TABLE: Final = re.compile(r"<table(?:\s[^<>]*)?>.*</", re.IGNORECASE | re.DOTALL)
_ENCODINGS: Final = ("utf-8-sig", "cp1252", "latin-1")


def read_document(path: Path) -> PublishedFile:
    """Read a published file; its content says what format it is, not its name.

    Raises
    ------
    InputError
        If there is no such file, it is empty or too large, or what reads it is not installed.
    CorruptFileError
        If it holds neither text nor a file of a known format that opens.
    """
    content = _read(path)
    if content.lstrip()[:5] == b"%PDF-":
        return pdf_document(content, path)
    if is_office(content):
        kind, package = open_package(content, path)
        document = docx_document(package, path) if kind == "docx" else xlsx_document(content, package, path)
        return with_pictures(document, _media(package, path))
    if is_picture(content):
        return picture_document(content, path)
    text = _decode(content, path)
    if (report := _own_report(content)) is not None:
        return PublishedFile(format="json", text="", grids=(), own=report)
    start = text[:4096].lower()
    if "<html" in start or "<!doctype html" in start or _TABLE.search(text):
        return html_document(text, path.parent)
    if path.suffix.lower() == ".pdf":
        raise CorruptFileError(
            f"{path}: not a PDF despite its name; save the summary again as PDF, HTML or CSV"
        )
    return _plain_text(text, path)


def _plain_text(text: str, path: Path) -> PublishedFile:
    """Read CSV, or else text whose cells have bars between them or are lined up by spaces."""
    is_named_text = path.suffix.lower() in _TEXT_NAMES  # with words around its tables
    fault: CorruptFileError | None = None
    try:
        csv = tuple(csv_grids(text, path))
    except CorruptFileError as error:
        csv, fault = (), error
    is_csv = any(map(has_header, csv))
    if is_csv and not is_named_text:
        return PublishedFile(format="csv", text=csv_words(csv), grids=csv)
    is_even = all("" not in row for grid in csv if has_header(grid) for row in grid.rows)
    readings: list[Callable[[], tuple[Grid, ...]]] = [
        lambda: tuple(bar_grids(text)),
        lambda: csv if is_even else (),
        lambda: tuple(text_grids(text)),
        lambda: csv,
    ]
    tables = next((found for reading in readings if any(map(has_header, found := reading()))), None)
    if tables is not None:
        return PublishedFile(format="text", text=text_paragraphs(text), grids=tables)
    if fault is not None:
        raise fault
    return PublishedFile(format="csv", text=csv_words(csv), grids=csv)


def _own_report(content: bytes) -> dict[str, Any] | None:
    """Read a ``report.json`` of ours; None where it is none."""
    if content.lstrip()[:1] != b"{":
        return None
    try:
        document = strict_json(content)
    except ValueError:
        return None
    return document if str(document.get("schema", "")).startswith(_OWN_REPORT) else None


def _media(package: zipfile.ZipFile, path: Path) -> Iterator[NamedPicture]:
    """Yield the pictures of a package; drawings in formats of its own cannot be read."""
    for name in package.namelist():
        if "/media/" in name and not name.endswith(".svg"):
            content = part_of(package, name, path)
            yield name, content if is_picture(content) else None


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
        raise CorruptFileError(
            f"{path}: binary and no PDF, DOCX, XLSX or picture; save the summary as HTML, CSV or PDF"
        )
    for encoding in _ENCODINGS[:-1]:
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode(_ENCODINGS[-1])
