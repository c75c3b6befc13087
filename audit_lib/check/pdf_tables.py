"""Text and tables of a PDF, through pdfplumber."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from audit_lib.check.grids import Document, Grid, even
from audit_lib.check.headers import has_header
from audit_lib.check.numbers import is_noted
from audit_lib.check.pdf_layout import layout_grids
from audit_lib.check.pdf_marks import plain_page
from audit_lib.check.pdf_tags import tagged_document
from audit_lib.errors import CorruptFileError, InputError

_UNRULED: Final = (
    "whether each number was put into its cell: the PDF's tables are not ruled, and were read from where words "
    "stand. Look at the page before you rely on a finding"
)


def pdf_document(content: bytes, path: Path) -> Document:
    """Read the text of every page, and every table that lines or the alignment of words give away.

    Raises
    ------
    InputError
        If pdfplumber is not installed, or the PDF needs a password.
    CorruptFileError
        If the file does not open as a PDF, or holds no text (a scan).
    """
    try:
        import pdfplumber
        from pdfplumber.utils.exceptions import PdfminerException
    except ImportError:
        raise InputError(f"{path}: reading PDF needs pdfplumber; pip install 'audit-lib[check]'") from None
    try:
        with pdfplumber.open(io.BytesIO(content)) as pdf:
            _name_encodings(pdf.doc)
            tagged = tagged_document(pdf)
            if tagged is not None and any(has_header(grid) for grid in tagged.grids):
                return tagged
            pages = [plain_page(page) for page in pdf.pages]
            texts = [page.extract_text() or "" for page in pages]
            grids = _ruled(pages)
            caution = ""
            if not any(has_header(grid) for grid in grids):
                # Some printers make bold letters by printing them twice.
                single = (page.dedupe_chars() for page in pages)
                grids = list(layout_grids([page.extract_words(extra_attrs=["size"]) for page in single]))
                caution = _UNRULED
    except PdfminerException as error:
        cause = type(error.args[0]).__name__ if error.args else "unknown fault"
        raise CorruptFileError(f"{path}: does not open as a PDF without a password ({cause})") from None
    if not any(texts):
        raise CorruptFileError(f"{path}: no text in the PDF; a scan cannot be checked")
    return Document(format="pdf", text="\n".join(texts), grids=tuple(grids), caution=caution)


def _name_encodings(document: Any) -> None:
    """Read fonts with an encoding of their own (as of a page that lacks a glyph) by the codes themselves.

    pdfminer knows encodings by name only and drops the text of such a font. What a code means in Unicode goes by the
    code, so that only widths can suffer.
    """
    from pdfminer.pdftypes import PDFStream, resolve1
    from pdfminer.psparser import LIT

    for number in {number for xref in document.xrefs for number in xref.get_objids()}:
        try:
            font = resolve1(document.getobj(number))
        except Exception:  # noqa: BLE001 - a broken object is met again, and named, where it is used
            continue
        if (
            isinstance(font, dict)
            and font.get("Subtype") is LIT("Type0")
            and "ToUnicode" in font
            and isinstance(resolve1(font.get("Encoding")), PDFStream)
        ):
            font["Encoding"] = LIT("Identity-H")


def _ruled(pages: Sequence[Any]) -> list[Grid]:
    return [
        Grid(
            rows=even(_merged(rows)),
            caption=_above(page, table.bbox[1]),
            continues=i == 0 and page.page_number > 1,
        )
        for page in pages
        for i, table in enumerate(page.find_tables())
        for rows in [table.extract()]
        if rows
    ]


def _merged(rows: list[list[str | None]]) -> list[list[str]]:
    """Fill cells that a merged cell covers (None) from above, and from the left in the first row and a row of one."""
    filled: list[list[str]] = []
    for row in rows:
        is_line = sum(cell is not None for cell in row) == 1
        texts: list[str] = []
        for i, cell in enumerate(row):
            beside = texts[-1] if texts else ""
            lines = (cell or "").splitlines() or [""]
            words = lines[0] if is_noted(lines) else " ".join(lines)
            texts.append(
                " ".join(words.split())
                if cell is not None
                else filled[-1][i]
                if filled and not (is_line and i)
                else beside
            )
        filled.append(texts)
    return filled


def _above(page: Any, top: float) -> str:
    """Return the line of text right above a table."""
    if top <= 1:
        return ""
    text = page.crop((0, 0, page.width, top), strict=False).extract_text() or ""
    lines: list[str] = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
