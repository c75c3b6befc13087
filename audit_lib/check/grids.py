"""A published file as text and grids of cells, of any format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from audit_lib.check.own_pdf import PdfWords
    from audit_lib.page_transcript import Visible

Format = Literal["html", "csv", "text", "pdf", "docx", "xlsx", "image", "json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table as it is in the file, before anything is understood of it.

    Parameters
    ----------
    rows : sequence of sequence of str
        Cell texts; spans are filled with copies, so that every row has the same columns.
    caption : str
        The table's own caption, or empty.
    trail : tuple of str
        Headings above it, the outermost first.
    place : str
        The lines above it that say what it is about ("Position: analyst"), the last of each kind.
    above : str
        The line of words right above it, where headings and tables stand no nearer.
    notes : str
        What is written right below it, up to the next heading or table.
    continues : bool
        Whether it may be the rest of the table before it: the first on a page that is not the first.
    page : int
        The page, from 1, on which it was read from where words stand; 0 where its cells are the file's own.
    unsure : str
        Why a cell may hold another one's text; empty where the file itself says what each cell holds.
    is_whole : bool
        Of a table read from where words stand: whether every line from its header to its end was read as part of it.
    """

    rows: Sequence[Sequence[str]]
    caption: str = ""
    trail: tuple[str, ...] = ()
    place: str = ""
    above: str = ""
    notes: str = ""
    continues: bool = False
    page: int = 0
    unsure: str = ""
    is_whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenPart:
    """Words that are in the file and that a reader of the page does not see, or not every reader.

    Parameters
    ----------
    table, row : str
        The table that they are in, and what the row before them, or theirs, is about; no table for words outside.
    words : str
        What they say.
    is_shown : bool
        Whether they are on the screen, and only kept from those who have it read to them.
    """

    table: str
    row: str
    words: str
    is_shown: bool = False

    @property
    def matters(self) -> bool:
        """Whether they may be part of a table; pages hide menus and icons, too."""
        return bool(self.table) and re.search(r"\w", self.words) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFile:
    """A published file.

    Parameters
    ----------
    format : {"html", "csv", "text", "pdf", "docx", "xlsx", "image", "json"}
        What it was read as; JSON is read of our own reports alone.
    text : str
        Every visible word outside and inside tables, a line a paragraph; of CSV those outside tables of rates.
    grids : tuple of Grid
        Its tables, in order.
    caution : str
        What a reader of the findings must know about how it was read; empty if nothing.
    unread : tuple of str
        Parts that may hold a table and were not read, such as pictures, and why.
    hidden : tuple of HiddenPart
        What of its tables is in the file and not shown, and so was not read.
    unsure : str
        Why its words may have been misread; empty where they are the file's own.
    in_order : str
        Of a PDF without a table of rates: its words as its structure orders them, or else column by column.
    own : Visible or PdfWords or mapping, optional
        Of a page of ours: what it shows, and the transcript that it carries; of a ``report.json`` the document.
    """

    format: Format
    text: str
    grids: tuple[Grid, ...]
    caution: str = ""
    unread: tuple[str, ...] = ()
    hidden: tuple[HiddenPart, ...] = ()
    unsure: str = ""
    in_order: str = ""
    own: Visible | PdfWords | Mapping[str, Any] | None = None


def even(rows: Iterable[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Pad rows with empty cells to the longest."""
    kept = [tuple(row) for row in rows]
    width = max((len(row) for row in kept), default=0)
    return tuple(row + ("",) * (width - len(row)) for row in kept)
