"""All that a page of ours says, in order: every word, where it stands, and what its drawing and marks are made of.

Nothing is left out: words in charts, alternative texts and labels for screen readers are words of the page too. The
style sheet, classes and the numbers that a chart is drawn from are not words; a digest for each part of the page
stands for them.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from typing import Final

from audit_lib.page_transcript.numerals import Named, Numeral, numerals

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
    table, row, column : str
        Of a cell: the table's caption, the row's and the column's header; of a fact its term as the row; else empty.
    of : str
        What it holds: of a cell what its column does, of words in a chart what they stand for (``tick``, ``value``).
    numerals_of : tuple of str
        What each of its numerals is; none where nothing is said of any, as on the page itself.
    """

    part: str
    kind: str
    words: str
    table: str = ""
    row: str = ""
    column: str = ""
    of: str = ""
    numerals_of: tuple[str, ...] = ()

    @property
    def numerals(self) -> tuple[Numeral, ...]:
        """Its numerals, each with its type and what it is."""
        found = numerals(self.words)
        if not self.numerals_of:
            return found
        return tuple(Numeral(one.type, one.text, of) for one, of in zip(found, self.numerals_of, strict=True))

    @property
    def place(self) -> str:
        """Where it is, for people."""
        return " | ".join(filter(None, [self.part, self.table, self.row, self.column]))


@dataclass(frozen=True, slots=True)
class Visible:
    """A page as it is read: its texts in order, and for each part the digest of its elements and their attributes."""

    texts: tuple[PageText, ...]
    elements: dict[str, str]
    sources: dict[str, tuple[str, ...]]
    """Part -> files of the run that it was made from, as the page says."""
    transcript: str
    """What the page's own transcript holds; empty where it has none."""


@dataclass(slots=True)
class _Element:
    tag: str
    kind: str
    of: str = ""
    is_fact: bool = False


@dataclass(slots=True)
class _Table:
    caption: str = ""
    columns: list[tuple[str, str]] = field(default_factory=list)
    row: str = ""
    cell: int = -1
    of: str = ""


@dataclass(slots=True)
class _Words:
    """Words of a text as they come, white space made one space, and which stretches of them are named."""

    text: str = ""
    named: list[Named] = field(default_factory=list)
    space: bool = False

    def add(self, data: str, of: str) -> None:
        words = " ".join(data.split())
        if not words:
            self.space |= bool(data)
            return
        if self.text and (self.space or data[0].isspace()):
            self.text += " "
        if of:
            self.named.append((len(self.text), len(self.text) + len(words), of))
        self.text += words
        self.space = data[-1].isspace()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[PageText] = []
        self.transcript = ""
        self._digests: dict[str, hashlib._Hash] = {}
        self._open: list[_Element] = []
        self._words = _Words()
        self._term = ""
        self.sources: dict[str, tuple[str, ...]] = {}
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
        if files := given.get("data-from", "").split():
            self.sources[self._part[-1]] = tuple(files)
        if "data-row" in given:
            self._term = " ".join(given["data-row"].split())
        if tag not in _VOID:
            of = given.get("class", "").partition(" ")[0] if tag == "text" else given.get("data-of", "")
            kind = "" if inline else "mark" if tag == "span" else tag
            self._open.append(_Element(tag, kind, of, tag == "dd" or "data-row" in given))
        if not (tag == "span" and "data-of" in given):  # it names a numeral, and is taken out of the page
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
        self.texts += [replace(one, part=self._part[-1]) for one in reader.texts if one.kind == "text"]

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
            of = self._open[-1].of if self._open and self._open[-1].tag == "span" else ""
            self._words.add(data, of)

    def _flush(self) -> None:
        words, self._words = self._words, _Words()
        if words.text:
            element = next((one for one in reversed(self._open) if one.kind), _Element("", ""))
            named = tuple(one.of for one in numerals(words.text, words.named)) if words.named else ()
            self._add(element.kind, words.text, named if any(named) else (), element)

    def _add(
        self, kind: str, words: str, named: tuple[str, ...] = (), element: _Element | None = None
    ) -> None:
        words = " ".join(words.split())
        if kind == "dt":
            self._term = words
        if not self._tables:
            of = element.of if element is not None and kind == "text" else self._drawn(kind)
            term = self._term if any(one.is_fact for one in self._open) else ""
            self.texts.append(PageText(self._part[-1], kind, words, row=term, of=of, numerals_of=named))
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
                named,
            )
        )

    def _drawn(self, kind: str) -> str:
        """What the words that are read aloud of a drawing are; empty for other words."""
        in_drawing = kind in ("title", "desc") and "svg" in (one.tag for one in self._open)
        return "drawing" if in_drawing or kind == "alt" else ""

    def visible(self) -> Visible:
        self.close()
        self._flush()
        return Visible(
            tuple(self.texts),
            {part: d.hexdigest() for part, d in self._digests.items()},
            self.sources,
            self.transcript,
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
