"""Text and tables of a DOCX, told to the reader of HTML as the elements that mean the same."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from xml.parsers import expat

from audit_lib.check.grids import PublishedFile
from audit_lib.check.html_tables import HtmlReader
from audit_lib.check.office_package import part_of

_NAMESPACES: Final = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main ",
    "http://purl.oclc.org/ooxml/wordprocessingml/main ",
)
_MAIN: Final = "word/document.xml"
_STYLES: Final = "word/styles.xml"
_BESIDE: Final = ("word/footnotes.xml", "word/endnotes.xml")
_GONE: Final = frozenset({"del", "moveFrom", "instrText", "delText"})
"""What was deleted while changes were tracked, and the code of fields, is not on the page."""
_FALLBACK: Final = "http://schemas.openxmlformats.org/markup-compatibility/2006 Fallback"
_HEADING: Final = re.compile(r"(?:heading|title|berschrift|titre)\s*(\d?)", re.IGNORECASE)


@dataclass(slots=True)
class _Row:
    """Which columns of the row before are still open downward: column -> what is in them."""

    column: int = 0
    merged: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Cell:
    across: int = 1
    continues: bool = False
    starts: bool = False
    is_open: bool = False
    text: list[str] = field(default_factory=list)


class _Document:
    """Listens to the parser and tells an `HtmlReader`."""

    def __init__(self, styles: Mapping[str, str]) -> None:
        self.reader = HtmlReader()
        self._styles = styles
        self._gone = 0
        self._heading = ""
        self._in_paragraph = False
        self._is_text = False
        self._raised = False
        self._rows: list[_Row] = []
        self._above: list[dict[int, str]] = []
        self._cells: list[_Cell] = []

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        local = _local(name)
        if local in _GONE or name == _FALLBACK:
            self._gone += 1
        if self._gone or local is None:
            return
        value = next((text for key, text in attributes.items() if key.endswith(" val")), "")
        if local == "tbl":
            self._begin_cell()
            self.reader.handle_starttag("table", [])
            self._above.append({})
        elif local == "tr" and self._above:
            self.reader.handle_starttag("tr", [])
            self._rows.append(_Row())
        elif local == "tc" and self._rows:
            self._cells.append(_Cell())
        elif local == "gridSpan" and self._cells:
            self._cells[-1].across = int(value) if value.isdecimal() else 1
        elif local == "vMerge" and self._cells:
            self._cells[-1].continues = value != "restart"
            self._cells[-1].starts = value == "restart"
        elif local == "p":
            self._begin_cell()
            self._in_paragraph, self._heading = True, ""
            if not self._cells:
                self.reader.handle_starttag("p", [])
        elif local == "pStyle" and not self._cells:
            self._begin_heading(self._styles.get(value, value))
        elif local == "vertAlign":
            self._raised = value == "superscript"
        elif local == "r":
            self._raised = False
        elif local == "t":
            self._is_text = True
            if self._raised:
                self.reader.handle_starttag("sup", [])
        elif local in ("tab", "br", "cr", "noBreakHyphen"):
            self.words("-" if local == "noBreakHyphen" else " ", is_text=True)

    def closed(self, name: str) -> None:
        local = _local(name)
        if local in _GONE or name == _FALLBACK:
            self._gone -= 1
            return
        if self._gone or local is None:
            return
        if local == "t":
            self._is_text = False
            if self._raised:
                self.reader.handle_endtag("sup")
        elif local == "p":
            self._in_paragraph = False
            if self._cells:
                self.words(" ", is_text=True)
            else:
                self.reader.handle_endtag(self._heading or "p")
        elif local == "tc" and self._cells:
            self._end_cell()
        elif local == "tr" and self._rows:
            self._above[-1] = self._rows.pop().merged
            self.reader.handle_endtag("tr")
        elif local == "tbl" and self._above:
            self._above.pop()
            self.reader.handle_endtag("table")

    def words(self, text: str, *, is_text: bool = False) -> None:
        if self._gone or not (self._is_text or is_text):
            return
        if self._cells and not self._raised:
            self._cells[-1].text.append(text)
        self.reader.handle_data(text)

    def _begin_heading(self, style: str) -> None:
        if (found := _HEADING.match(style)) is not None:
            self._heading = f"h{min(int(found[1] or 1) or 1, 6)}"
            self.reader.handle_starttag(self._heading, [])

    def _begin_cell(self) -> None:
        """Open the cell when its properties are known: with the first paragraph or table in it."""
        if not self._cells or self._cells[-1].is_open:
            return
        cell = self._cells[-1]
        cell.is_open = True
        self.reader.handle_starttag("td", [("colspan", str(cell.across))])
        above = self._above[-1].get(self._rows[-1].column)
        if cell.continues and above is not None:
            self.reader.handle_data(above)
            cell.text.append(above)

    def _end_cell(self) -> None:
        self._begin_cell()
        cell, row = self._cells.pop(), self._rows[-1]
        self.reader.handle_endtag("td")
        if cell.starts or cell.continues:
            row.merged[row.column] = "".join(cell.text)
        row.column += cell.across


def _local(name: str) -> str | None:
    return next((name.removeprefix(space) for space in _NAMESPACES if name.startswith(space)), None)


def docx_document(package: zipfile.ZipFile, path: Path) -> PublishedFile:
    """Read the body of a document that `open_package` has opened: its words and its tables.

    Tracked insertions are read and deletions are not, as the page shows once they are accepted. Footnotes come last.

    Raises
    ------
    CorruptFileError
        If a part cannot be unpacked.
    """
    names = set(package.namelist())
    styles = _style_names(part_of(package, _STYLES, path)) if _STYLES in names else {}
    document = _Document(styles)
    for part in (_MAIN, *(name for name in _BESIDE if name in names)):
        _parse(part_of(package, part, path), document)
    return document.reader.document("docx")


def _parse(content: bytes, document: _Document) -> None:
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = document.opened
    parser.EndElementHandler = document.closed
    parser.CharacterDataHandler = document.words
    parser.Parse(content, True)


def _style_names(content: bytes) -> dict[str, str]:
    """Return the names of styles by their ids: "Heading 1" has another id in each language of Word."""
    names: dict[str, str] = {}
    last = ""

    def opened(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal last
        values = {key.rpartition(" ")[2]: text for key, text in attributes.items()}
        if _local(name) == "style":
            last = values.get("styleId", "")
        elif _local(name) == "name" and last:
            names[last] = values.get("val", "")
            last = ""

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = opened
    parser.Parse(content, True)
    return names
