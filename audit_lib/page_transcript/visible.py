"""All that a page of ours says, in order: every word, where it stands, and what its drawing and marks are made of.

Nothing is left out: words in charts, alternative texts and labels for screen readers are words of the page too. The
style sheet, classes and the numbers that a chart is drawn from are not words; a digest for each part of the page
stands for them.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

NAME: Final = "audit-page-transcript"
"""Name of the element of a page, and of the entry of a PDF, that holds the transcript."""

_INLINE: Final = frozenset(
    {"a", "abbr", "b", "bdi", "br", "code", "data", "em", "i", "small-caps", "strong", "tspan", "wbr"}
)
_VOID: Final = frozenset(
    {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_SAID_ATTRIBUTES: Final = (
    "alt",
    "aria-label",
    "aria-description",
    "data-running",
    "placeholder",
    "title",
    "value",
)
# Where a page is kept changes its addresses; browsers write them in full when they save it.
_ADDRESSES: Final = frozenset({"href", "hreflang", "src", "action"})
_PICTURE: Final = "data:image/svg+xml;base64,"
HEAD: Final = "head"


@dataclass(frozen=True, slots=True)
class PageText:
    """A text of the page.

    Parameters
    ----------
    part : str
        Id of the section that it is in, or the element (``header``, ``nav``, ``footer``).
    kind : str
        Element that holds it, such as ``p`` or ``td``; of an attribute its name; ``mark`` and ``small`` are what
        stands beside a number.
    words : str
        The text, white space made one space.
    table, row, column, of : str
        Of a cell: the table's caption, the row's and the column's header, and what the column holds; else empty.
    """

    part: str
    kind: str
    words: str
    table: str = ""
    row: str = ""
    column: str = ""
    of: str = ""

    @property
    def place(self) -> str:
        """Where it is, for people."""
        return " | ".join(filter(None, [self.part, self.table, self.row, self.column]))


@dataclass(frozen=True, slots=True)
class Visible:
    """A page as it is read: its texts in order, and for each part the digest of its elements and their attributes."""

    texts: tuple[PageText, ...]
    elements: dict[str, str]
    transcript: str
    """What the page's own transcript holds; empty where it has none."""


@dataclass(slots=True)
class _Element:
    tag: str
    kind: str


@dataclass(slots=True)
class _Table:
    caption: str = ""
    columns: list[tuple[str, str]] = field(default_factory=list)
    row: str = ""
    cell: int = -1
    of: str = ""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[PageText] = []
        self.transcript = ""
        self._digests: dict[str, hashlib._Hash] = {}
        self._open: list[_Element] = []
        self._words: list[str] = []
        self._part: list[str] = [HEAD]
        self._tables: list[_Table] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "meta" and given.get("name") == NAME:
            self.transcript += given.get("content", "")
            return
        inline = tag in _INLINE or (tag == "span" and "mark" not in given.get("class", "").split())
        if not inline:
            self._flush()
        if tag in ("header", "nav", "footer", "body") or (tag == "section" and given.get("id")):
            self._part.append(given.get("id") or tag)
        if tag not in _VOID:
            self._open.append(_Element(tag, "" if inline else "mark" if tag == "span" else tag))
        self._structure(tag, given)
        self._in_table(tag, given)
        for name in _SAID_ATTRIBUTES:
            if given.get(name):
                self._add(name, given[name])
        if given.get("src", "").startswith(_PICTURE):
            self._picture(given["src"])

    def _structure(self, tag: str, given: dict[str, str]) -> None:
        told = sorted((name, value) for name, value in given.items() if name not in _ADDRESSES)
        self._digest(repr((tag, told)))

    def _digest(self, words: str) -> None:
        self._digests.setdefault(self._part[-1], hashlib.sha256()).update(words.encode())

    def _in_table(self, tag: str, given: dict[str, str]) -> None:
        if tag == "table":
            self._tables.append(_Table())
        elif self._tables:
            table = self._tables[-1]
            if tag == "tr":
                table.row, table.cell = "", -1
            elif tag in ("th", "td"):
                table.cell += 1
                table.of = given.get("data-of", "")

    def _picture(self, address: str) -> None:
        try:
            drawing = base64.b64decode(address.removeprefix(_PICTURE), validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            drawing = "<text>a picture that cannot be read</text>"
        reader = _Reader()
        reader.feed(drawing)
        reader.close()
        self.texts += [
            PageText(self._part[-1], one.kind, one.words) for one in reader.texts if one.kind == "text"
        ]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if not any(one.tag == tag for one in self._open):
            return
        while self._open:
            closed = self._open[-1]
            if closed.kind:
                self._flush()
            self._open.pop()
            if closed.tag in ("header", "nav", "footer", "body", "section") and len(self._part) > 1:
                self._part.pop()
            if closed.tag == "table" and self._tables:
                self._tables.pop()
            if closed.tag == tag:
                return

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1].tag in ("style", "script"):
            self._digest(" ".join(data.split()))
        else:
            self._words.append(data)

    def _flush(self) -> None:
        words = " ".join("".join(self._words).split())
        self._words.clear()
        if words:
            self._add(next((one.kind for one in reversed(self._open) if one.kind), ""), words)

    def _add(self, kind: str, words: str) -> None:
        words = " ".join(words.split())
        if not self._tables:
            self.texts.append(PageText(self._part[-1], kind, words))
            return
        table = self._tables[-1]
        tags = [one.tag for one in self._open]
        if kind == "caption":
            table.caption = words
        elif kind == "th" and "thead" in tags:
            table.columns.append((words, table.of))
        elif kind == "th":
            table.row = words
        column, of = table.columns[table.cell] if 0 <= table.cell < len(table.columns) else ("", "")
        in_cell = "tbody" in tags
        self.texts.append(
            PageText(
                self._part[-1],
                kind,
                words,
                table.caption,
                table.row if in_cell else "",
                column if in_cell else "",
                of if in_cell else table.of,
            )
        )

    def visible(self) -> Visible:
        self.close()
        self._flush()
        return Visible(
            tuple(self.texts), {part: d.hexdigest() for part, d in self._digests.items()}, self.transcript
        )


def read_visible(html: str) -> Visible:
    """Read a page.

    Examples
    --------
    >>> [(one.kind, one.words) for one in read_visible("<p>1 of <b>20</b></p><td>0.7<small>low</small>").texts]
    [('p', '1 of 20'), ('td', '0.7'), ('small', 'low')]
    """
    reader = _Reader()
    reader.feed(html)
    return reader.visible()
