"""Text and tables of an HTML page, with spans filled, read by the standard library's parser.

Elements that say their role (``role="table"``, ``row``, ``cell``) are tables like those of ``<table>``. The structure
of a tagged PDF and of a DOCX is written into the same reader, as the elements that mean the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

from audit_lib.check.grids import Format, Grid, HiddenPart, PublishedFile, even
from audit_lib.check.hidden_elements import HiddenElement, TabPanels, hidden_by, hidden_names, unfolded_names
from audit_lib.check.html_rows import ASIDES, SKIPPED, VOID, drawn_tables, meant_by
from audit_lib.check.picture_files import saved_pictures, with_pictures
from audit_lib.check.place_lines import PlaceLines
from audit_lib.check.published_numbers import one_line
from audit_lib.check.text_tables import text_grids, text_paragraphs
from audit_lib.page_transcript import NAME, read_visible

_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_BREAKS: Final = frozenset(
    {"p", "div", "li", "dt", "dd", "br", "tr", "table", "caption", "section", "article", "header", "footer", "ul", "ol",
     "figcaption", "blockquote", "summary", "title", *_HEADINGS}
)  # fmt: skip
# "<b>Blue</b><b>Lake</b>" is written in one word.
_STYLING: Final = frozenset({"b", "em", "font", "i", "mark", "strong", "u"})
_MOST_SPAN: Final = 100


@dataclass(slots=True)
class _HtmlCell:
    across: int
    down: int
    text: list[str] = field(default_factory=list)
    asides: list[str] = field(default_factory=list)

    @property
    def words(self) -> str:
        return one_line("".join(self.text)) or one_line("".join(self.asides))


@dataclass(slots=True)
class _Table:
    trail: tuple[str, ...]
    place: str = ""
    above: str = ""
    label: str = ""
    caption: list[str] = field(default_factory=list)
    rows: list[list[_HtmlCell]] = field(default_factory=list)
    # Rows before this one belong to a finished thead, tbody or tfoot, which ends their spans.
    sections: list[int] = field(default_factory=list)
    cell: _HtmlCell | None = None
    in_caption: bool = False


class HtmlReader(HTMLParser):
    """Collects visible words, and tables with their captions and the headings above them.

    Parameters
    ----------
    unfolded : frozenset of str
        Ids of what a click shows, which is read though it may be hidden at first.
    drawn : mapping of int to tuple of str
        Start tags, by their place among all, that are parts of a table without table elements (`drawn_tables`).
    """

    def __init__(
        self, unfolded: frozenset[str] = frozenset(), drawn: Mapping[int, tuple[str, ...]] | None = None
    ) -> None:
        super().__init__(convert_charrefs=True)
        self._unfolded = unfolded
        self._drawn = drawn or {}
        self._started = 0  # start tags that were read
        self._between = 0  # tags since the last words: 2 where one element ended and the next began
        self._ended = ""  # the tag that ended last
        self.text: list[str] = []
        self.grids: list[Grid] = []
        self._ends: list[int] = []  # where in the text each grid ends, and the next heading or table begins
        self._stops: list[int] = []
        self._open: list[_Table] = []
        self._skipping = 0
        self._asides = 0
        self._trail: list[str] = [""] * len(_HEADINGS)
        self._heading: list[str] | None = None
        self._roles: dict[
            str, list[str]
        ] = {}  # open elements by tag, each with the tag that its role stands for
        self._verbatim = 0
        self._preformatted: list[str] | None = None  # what stands in <pre> outside tables
        self._hidden: HiddenElement | None = None
        self._found_hidden: list[HiddenElement] = []
        self._panels = TabPanels()
        self._style: list[str] | None = None
        self._sheet: frozenset[str] = frozenset()
        self._places = PlaceLines()
        self._placed = 0  # how much of the text was looked through for the places that it names
        self.pictures: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element, as the one that its role stands for."""
        given = dict(attrs)
        drawn = self._drawn.get(self._started, ())
        self._started += 1
        if self._between == 1 and (tag not in _STYLING or tag != self._ended):
            self._between = 2
        if self._hidden is not None and self._hidden.is_left_by(tag):
            self._leave_hidden()
        if self._hidden is not None and not self._hidden.is_shown:
            if tag not in VOID:
                self._hidden.opens(tag, meant_by(tag, given))
            return
        if tag not in VOID and self._hide(tag, given):
            return
        meant = meant_by(tag, given)
        if drawn:
            *before, meant = drawn
            for each in before:
                self._open_element(each, {})
        if tag not in VOID:
            self._roles.setdefault(tag, []).append(meant)
        if meant != tag:
            for span in ("colspan", "rowspan"):
                given[span] = given.get(f"aria-{span}") or given.get(span)
        self._open_element(meant, given)
        label = given.get("aria-label")
        if meant == "table" and label and self._open and not self._skipping:
            self._open[-1].label = label

    def _hide(self, tag: str, given: dict[str, str | None]) -> bool:
        """Begin an element that is not shown; whether it is one, so that nothing of it is read."""
        is_read = tag not in SKIPPED and not self._skipping and given.get("id") not in self._unfolded
        how = hidden_by(tag, given, self._sheet) if is_read else ""
        how = "" if not self._skipping and self._panels.shows(given, how) else how
        if self._hidden is not None and not how:
            self._hidden.opens(tag)
            return False
        if not how and given.get("aria-hidden") != "true":
            return False
        self._leave_hidden()  # it was on the screen, and this one in it is not
        table = f"table {len(self.grids) + len(self._open)} of the file" if self._open else ""
        rows = [row for row in self._open[-1].rows if row] if self._open else []
        row = rows[-1][0].words if rows else ""
        keeps_place = how == "visibility" and tag in ("td", "th")
        if keeps_place:
            self._open_element(tag, given)
        self._hidden = HiddenElement(tag, table, row, is_shown=not how, keeps_place=keeps_place)
        return bool(how)

    def _leave_hidden(self) -> None:
        if self._hidden is None:
            return
        left, self._hidden = self._hidden, None
        if left.keeps_place:
            self._close_element(left.tag)
        self._found_hidden.append(left)

    def _open_element(self, tag: str, attrs: dict[str, str | None]) -> None:
        if tag in SKIPPED:
            self._skipping += 1
            self._style = [] if tag == "style" else self._style
        if self._skipping:
            return
        if tag in _BREAKS:
            self._space("\n")
        if tag == "img":
            self.pictures.append(attrs)
        if tag == "pre":
            self._verbatim += 1
            if not self._open and self._verbatim == 1:
                self._preformatted = []
        if tag in _HEADINGS or tag == "table":
            self._stops.append(len(self.text))
        if tag in _HEADINGS:
            self._heading = []
        elif tag == "table":
            self._places.read(_lines(self.text[self._placed :]).split("\n"))
            self._placed = len(self.text)
            above = _lines(self.text[self._stops[-2] if len(self._stops) > 1 else 0 :]).rpartition("\n")[2]
            trail = tuple(words for words in self._trail if words)
            self._open.append(_Table(trail, str(self._places), above if above not in trail else ""))
        elif tag in ASIDES:
            self._asides += 1
        elif self._open:
            self._in_table(tag, attrs)

    def _in_table(self, tag: str, attrs: dict[str, str | None]) -> None:
        table = self._open[-1]
        if tag == "caption":
            table.in_caption = True
        elif tag in ("thead", "tbody", "tfoot"):
            table.cell = None
            table.sections.append(len(table.rows))
        elif tag == "tr":
            table.cell = None
            table.rows.append([])
        elif tag in ("td", "th"):
            self._asides = 0
            if not table.rows:
                table.rows.append([])
            table.cell = _HtmlCell(_span(attrs.get("colspan")), _span(attrs.get("rowspan"), zero=_MOST_SPAN))
            table.rows[-1].append(table.cell)
            self._space(" ")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element that is written as if it were empty."""
        # HTML knows no empty elements but the void ones: <td/> opens a cell, <svg/> is the exception.
        if tag not in SKIPPED:
            self.handle_starttag(tag, attrs)
        else:
            self._started += 1

    def handle_endtag(self, tag: str) -> None:
        """Close an element, and what its role stands for."""
        self._between, self._ended = self._between or 1, tag
        if self._hidden is not None:
            hidden, is_own = self._hidden, tag == self._hidden.tag
            if hidden.closes(tag):
                self._leave_hidden()
                if is_own and not hidden.is_shown:
                    return
            elif not hidden.is_shown:
                return
        open_ = self._roles.get(tag)
        self._close_element(open_.pop() if open_ else tag)

    def _close_element(self, tag: str) -> None:
        if tag in SKIPPED:
            self._skipping = max(0, self._skipping - 1)
            if tag == "style" and self._style is not None:
                self._sheet |= hidden_names("".join(self._style))
                self._style = None
        if self._skipping:
            return
        if tag in _BREAKS:
            self._space("\n")
        if tag == "pre":
            self._verbatim = max(0, self._verbatim - 1)
            if not self._verbatim:
                self._close_preformatted()
        if tag in _HEADINGS and self._heading is not None:
            level = _HEADINGS.index(tag)
            self._trail[level] = " ".join("".join(self._heading).split())
            self._trail[level + 1 :] = [""] * (len(_HEADINGS) - level - 1)
            self._heading = None
        elif tag in ASIDES:
            self._asides = max(0, self._asides - 1)
        elif self._open:
            table = self._open[-1]
            if tag == "caption":
                table.in_caption = False
            elif tag in ("td", "th", "tr"):
                table.cell = None
            elif tag == "table":
                self._close()

    def handle_data(self, data: str) -> None:
        """Add words to all that is open."""
        if self._style is not None:
            self._style.append(data)
        if self._skipping:
            return
        if self._hidden is not None:
            self._hidden.words.append(data)
            if not self._hidden.is_shown:
                return
        if self._between == 2 and self.text and _is_glued(self.text[-1], data):
            self._space(" ")
        self._between = 0
        if not self._verbatim:  # lines of the file are no lines of the page
            data = data.replace("\n", " ").replace("\r", " ")
        self._space(data)
        if self._heading is not None:
            self._heading.append(data)

    def _close_preformatted(self) -> None:
        """Read text whose lines and spaces are the page's: its paragraphs, and the tables that it lines up."""
        lines, self._preformatted = self._preformatted, None
        if lines is None:
            return
        text = "".join(lines)
        trail = tuple(words for words in self._trail if words)
        self._space(text_paragraphs(text) + "\n")
        for grid in text_grids(text):
            self._stops.append(len(self.text))
            self.grids.append(replace(grid, trail=trail))
            self._ends.append(len(self.text))

    def _space(self, data: str) -> None:
        """Add words, or the white space that a tag stands for, to all that is open."""
        if self._preformatted is not None:
            self._preformatted.append(data)
            return
        self.text.append(data)
        if not self._open:
            return
        table = self._open[-1]
        if table.in_caption:
            table.caption.append(data)
        elif table.cell is not None:
            (table.cell.asides if self._asides else table.cell.text).append(data)

    def _close(self) -> None:
        table = self._open.pop()
        caption = " ".join("".join(table.caption).split()) or table.label
        grid = Grid(
            rows=_filled(table), caption=caption, trail=table.trail, place=table.place, above=table.above
        )
        if grid.rows:
            self.grids.append(grid)
            self._ends.append(len(self.text))

    def document(self, format_: Format) -> PublishedFile:
        """Close what is still open; return all that was read."""
        self.close()
        self._leave_hidden()
        self._close_preformatted()
        while self._open:
            self._close()
        grids = []
        for grid, end in zip(self.grids, self._ends, strict=True):
            stop = next((stop for stop in self._stops if stop >= end), len(self.text))
            grids.append(replace(grid, notes=_lines(self.text[end:stop])))
        hidden = [
            HiddenPart(
                table=one.table or ("a table" if one.holds_table else ""),
                row=one.row,
                words=one_line("".join(one.words)),
                is_shown=one.is_shown,
            )
            for one in self._found_hidden
        ]
        kept = tuple(part for part in hidden if part.matters)
        return PublishedFile(format=format_, text=_lines(self.text), grids=tuple(grids), hidden=kept)


def _is_glued(before: str, after: str) -> bool:
    """Whether words touch that a style sheet sets apart: "Audit date" and "March 5", but not "S" and "ex"."""
    if not (before[-1:].isalnum() and after[:1].isalnum()):
        return False
    return (after[0].isupper() and len(before) > 1) or (before[-1].isalpha() and after[0].isdigit())


def _lines(parts: Sequence[str]) -> str:
    lines = (one_line(line) for line in "".join(parts).split("\n"))
    return "\n".join(line for line in lines if line)


def html_document(text: str, folder: Path | None = None) -> PublishedFile:
    """Read a page: its visible words, and its tables with their captions and the headings above them.

    Its pictures are looked for in itself and in the folder that it was saved into; without one they are left out.

    Examples
    --------
    >>> page = "<table><tr><th rowspan=2>Male<td>92<tr><td>0.97<sup>1</sup></table>"
    >>> html_document(page).grids[0].rows
    (('Male', '92'), ('Male', '0.97'))
    """
    reader = HtmlReader(unfolded_names(text))
    reader.feed(text)
    document = reader.document("html")
    if NAME not in text and (drawn := drawn_tables(text)):
        reader = HtmlReader(unfolded_names(text), drawn)
        reader.feed(text)
        document = reader.document("html")
    if NAME in text:
        document = replace(document, own=read_visible(text))
    return document if folder is None else with_pictures(document, saved_pictures(reader.pictures, folder))


def _span(value: str | None, zero: int = 1) -> int:
    if value is None or not value.strip().isdecimal():
        return 1
    return min(int(value), _MOST_SPAN) or zero


def _filled(table: _Table) -> tuple[tuple[str, ...], ...]:
    """Rows with every span filled with copies, as the standard's table algorithm places cells."""
    rows: list[dict[int, str]] = [{} for _ in table.rows]
    ends = sorted({*table.sections, len(rows)})
    for index, cells in enumerate(table.rows):
        last = next(end for end in ends if end > index)
        column = 0
        for cell in cells:
            while column in rows[index]:
                column += 1
            for down in range(index, min(index + cell.down, last)):
                for across in range(column, column + cell.across):
                    rows[down].setdefault(across, cell.words)
            column += cell.across
    return even([row.get(column, "") for column in range(max(row, default=-1) + 1)] for row in rows if row)
