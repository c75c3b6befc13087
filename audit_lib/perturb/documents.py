"""The text of a dossier: plain text, Markdown, PDF (through pypdf) or DOCX."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from audit_lib.errors import CorruptFileError, InputError, NeedsOcrError

_WORD: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MOST_BYTES: Final = 64 * 2**20
_PARTS: Final = ("header", "document", "footnotes", "endnotes", "footer")
"""Parts of a DOCX that hold text, in the order in which a reader meets them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dossier:
    """What a file says.

    Attributes
    ----------
    text : str
        Its text; for .txt and .md every character of the file, line ends included.
    format : str
        ``text``, ``pdf`` or ``docx``.
    pages_without_text : tuple of int
        Pages of a PDF, from 1, that hold no text: what they show was not read.
    """

    text: str
    format: str
    pages_without_text: tuple[int, ...] = ()


def read_dossier(path: Path | str) -> Dossier:
    """Read the text of a file.

    Raises
    ------
    InputError
        If the format is none of .txt, .md, .pdf and .docx, a PDF needs a password, or pypdf is not installed.
    NeedsOcrError
        If a PDF holds no text.
    CorruptFileError
        If the file does not parse, or holds no text at all.
    """
    path = Path(path)
    kind = path.suffix.lower()
    content = path.read_bytes()
    if kind == ".pdf":
        dossier = _pdf(content)
    elif kind == ".docx":
        dossier = Dossier(text=_docx(content), format="docx")
    elif kind in (".txt", ".md"):
        try:
            dossier = Dossier(text=content.decode("utf-8"), format="text")
        except UnicodeDecodeError as error:
            raise CorruptFileError(f"not UTF-8 text (byte {error.start}); save the file as UTF-8") from None
    else:
        raise InputError(f"cannot read a dossier of the kind {kind!r}; give .txt, .md, .pdf or .docx")
    if not dossier.text.strip():
        raise CorruptFileError("the file holds no text")
    return dossier


def _pdf(content: bytes) -> Dossier:
    try:
        import pypdf
        from pypdf.errors import PyPdfError
    except ImportError:
        raise InputError("reading PDF needs pypdf; pip install 'audit-lib[redact]'") from None
    try:
        reader = pypdf.PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise InputError("the PDF needs a password; save a copy without one")
        pages = [page.extract_text() or "" for page in reader.pages]
    except (PyPdfError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise CorruptFileError(f"does not open as a PDF ({type(error).__name__})") from None
    empty = tuple(number for number, text in enumerate(pages, start=1) if not text.strip())
    if len(empty) == len(pages):
        raise NeedsOcrError(
            f"the PDF needs OCR: none of its {len(pages)} pages holds text (a scan); recognise it and try again"
        )
    return Dossier(text="\n\n".join(pages), format="pdf", pages_without_text=empty)


def _docx(content: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = [
                info.filename
                for part in _PARTS
                for info in sorted(archive.infolist(), key=lambda info: info.filename)
                if info.filename.startswith(f"word/{part}") and info.filename.endswith(".xml")
            ]
            if "word/document.xml" not in names:
                raise CorruptFileError("not a DOCX: it holds no word/document.xml")
            if sum(archive.getinfo(name).file_size for name in names) > _MOST_BYTES:
                raise CorruptFileError(f"the DOCX unpacks to more than {_MOST_BYTES // 2**20} MiB of text")
            roots = [ElementTree.fromstring(archive.read(name)) for name in names]
    except (zipfile.BadZipFile, ElementTree.ParseError, NotImplementedError, RuntimeError) as error:
        raise CorruptFileError(f"does not open as a DOCX ({type(error).__name__})") from None
    texts = ["\n".join(_paragraphs(root)) for root in roots]
    return "\n\n".join(text for text in texts if text.strip())


def _paragraphs(root: ElementTree.Element) -> Iterator[str]:
    """Yield the paragraphs, and each row of a table as one line with tabs between its cells.

    Those of text boxes come once: Word writes each a second time for older readers.
    """
    old = {
        id(paragraph)
        for fallback in root.iter("{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback")
        for paragraph in fallback.iter()
    }
    rows = {
        id(p): row for row in root.iter(f"{_WORD}tr") for p in row.iter(f"{_WORD}p")
    }  # the innermost row's
    for row, paragraphs in groupby(root.iter(f"{_WORD}p"), key=lambda p: rows.get(id(p))):
        shown = ["".join(_runs(p, top=True)) for p in paragraphs if id(p) not in old]
        if row is None:
            yield from shown
        else:
            yield "\t".join(filter(None, shown))  # a row of a table is a line: a label stays beside its value


def _runs(element: ElementTree.Element, *, top: bool = False) -> Iterator[str]:
    if element.tag == f"{_WORD}p" and not top:
        return  # a paragraph inside a text box is a paragraph of its own
    if element.tag == f"{_WORD}t":
        yield element.text or ""
    elif element.tag == f"{_WORD}tab":
        yield "\t"
    elif element.tag in (f"{_WORD}br", f"{_WORD}cr"):
        yield "\n"
    elif element.tag == f"{_WORD}noBreakHyphen":
        yield "\u2011"
    elif element.tag not in (f"{_WORD}del", f"{_WORD}pPr", f"{_WORD}rPr"):
        for child in element:
            yield from _runs(child)
