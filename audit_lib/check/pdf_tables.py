"""Text and tables of a PDF, through pdfplumber."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from audit_lib.check.grids import Grid, PublishedFile, even
from audit_lib.check.headers import has_header
from audit_lib.check.own_pdf import own_pdf
from audit_lib.check.page_breaks import joined
from audit_lib.check.page_text import paragraphs
from audit_lib.check.pdf_cards import lines_by_column, structured_lines
from audit_lib.check.pdf_cells import DrawnWords, cell_texts, drawn_words
from audit_lib.check.pdf_characters import plain_page
from audit_lib.check.pdf_facts import fact_lines
from audit_lib.check.pdf_headings import PdfHeadings
from audit_lib.check.pdf_layout import NOT_RULED, layout_grids
from audit_lib.check.pdf_lines import TextLine, lines_of
from audit_lib.check.pdf_pictures import words_in_pictures
from audit_lib.check.pdf_tags import tagged_document
from audit_lib.check.picture_words import UNSURE
from audit_lib.check.place_lines import PlaceLines
from audit_lib.check.published_numbers import is_noted, read_number
from audit_lib.check.transposed_tables import lies_on_its_side
from audit_lib.errors import CorruptFileError, InputError

_SAME_LEVEL: Final = 3.0  # points
_OVER: Final = 1.0
_LEVEL: Final = 0.5  # of a word's height
_NEXT: Final = 72.0
_THICK: Final = 3.0  # an edge no longer than this is the end of a line, which is drawn as a box
_SPACE: Final = 0.15  # of a letter's size: white space that parts words, also where a line is set tight
_NUMBERS: Final = re.compile(r"(?<!\S)[\d.,]*\d%?(?!\S)")
_CROSSED: Final = (
    "on page {} words go over the lines of the table, so that a cell may have lost letters; look at it"
)
_UNEVEN: Final = (
    "on page {} no row of the table has a cell in each of its columns: several tables may have been read as one; look "
    "at it"
)
_UNRULED: Final = (
    "whether each number was put into its cell: the PDF's tables are not ruled, and were read from where words "
    "stand. Look at the page before you rely on a finding"
)


_SCANNED: Final = (
    "whether each letter and digit was recognised: pages of the PDF are pictures. Look at them before you rely on a "
    "finding"
)


def pdf_document(content: bytes, path: Path) -> PublishedFile:
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
            scanned, unread = words_in_pictures(content, pdf.pages)
            own = own_pdf(pdf)
            tagged = tagged_document(pdf)
            if tagged is not None and any(map(_is_of_rates, tagged.grids)):
                pictured = layout_grids(lines_of([scanned.get(i, []) for i in range(len(pdf.pages))]), UNSURE)
                return replace(tagged, grids=(*tagged.grids, *pictured), unread=unread, own=own)
            pages = [plain_page(page) for page in pdf.pages]
            grids, rests = _ruled(pages)
            if grids is None or any(map(_is_shaded, joined(grids))) or not any(map(_is_of_rates, grids)):
                grids, rests = [], pages
            words = [[*_placed_words(page), *scanned.get(i, [])] for i, page in enumerate(rests)]
            unsure = UNSURE if scanned else NOT_RULED
            unruled = list(layout_grids(lines_of(words), unsure))
            grids += unruled
            caution = _UNRULED if unruled or not any(map(_is_of_rates, grids)) else ""
            all_words = [[*_words(page), *scanned.get(i, [])] for i, page in enumerate(pages)]
            lines = lines_of(all_words)
            text = "\n".join([*paragraphs(lines), *fact_lines(lines)])
            in_order = ""
            if not any(map(_is_of_rates, grids)):
                in_order = "\n".join(structured_lines(pdf) or lines_by_column(all_words))
    except PdfminerException as error:
        cause = type(error.args[0]).__name__ if error.args else "unknown fault"
        raise CorruptFileError(f"{path}: does not open as a PDF without a password ({cause})") from None
    if not text and unread:
        raise InputError(f"{path}: no text in the PDF; a scan cannot be checked: {'; '.join(unread)}")
    if not text:
        raise CorruptFileError(f"{path}: no text in the PDF; a scan cannot be checked")
    return PublishedFile(
        format="pdf",
        text=text,
        grids=tuple(grids),
        caution=_SCANNED if scanned else caution,
        unread=unread,
        unsure=UNSURE.format("a page of the file") if scanned else "",
        in_order=in_order,
        own=own,
    )


def _is_of_rates(grid: Grid) -> bool:
    return has_header(grid) or lies_on_its_side(grid)


def _words(page: Any) -> list[Any]:
    """Words of a page; some printers make bold letters by printing them twice."""
    from pdfplumber.utils.text import extract_words

    return list(extract_words(_printed_once(page), extra_attrs=["size"], x_tolerance_ratio=_SPACE))


def _printed_once(page: Any) -> list[Any]:
    from pdfplumber.utils.text import dedupe_chars

    return list(dedupe_chars(_InOrder(page.chars)))


class _InOrder(list[Any]):
    """Characters that know their places: pdfplumber asks for each of them, and a list would look through all."""

    def __init__(self, characters: Sequence[Any]) -> None:
        super().__init__(characters)
        self._places = {id(one): place for place, one in enumerate(self)}

    def index(self, value: Any, *_: Any) -> int:
        return self._places[id(value)]


def _placed_words(page: Any) -> list[Any]:
    """Words of a page as they were drawn: where two lie over each other, neither has letters of the other."""
    return [word for words in drawn_words(_printed_once(page)) for word in words.as_words()]


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


def _ruled(pages: Sequence[Any]) -> tuple[list[Grid] | None, list[Any]]:
    """Return the tables whose lines make cells, None if they leave columns open, and the pages without them."""
    grids: list[Grid] = []
    rests: list[Any] = []
    places = PlaceLines()
    drawn_on = [drawn_words(_printed_once(page)) for page in pages]
    all_lines = lines_of([[word for words in drawn for word in words.as_words()] for drawn in drawn_on])
    headings = PdfHeadings(all_lines)
    below: list[TextLine] = []  # the last table
    for number, (page, drawn) in enumerate(zip(pages, drawn_on, strict=True)):
        boxes: list[tuple[float, float, float, float]] = []
        lines = [line for line in all_lines if line.page == number]
        above = 0.0
        for table in page.find_tables({"explicit_horizontal_lines": _open_ends(page)}):
            texts = [[_one_line(text or "") for text in row] for row in cell_texts(table, drawn)]
            rows = [row for row in texts if any(row)]
            if not rows:
                continue
            if _is_open(page, table):
                return None, []
            continues = not boxes and page.page_number > 1
            why = _CROSSED if _is_crossed(page, table) else _UNEVEN if _is_uneven(table) else ""
            unsure = why.format(page.page_number)
            caption = _above(drawn, table.bbox[1], max((box[3] for box in boxes), default=0.0))
            between = [line for line in lines if above <= line.top < table.bbox[1]]
            places.read(line.text for line in between)
            headings.read(between)
            if grids:
                grids[-1] = replace(grids[-1], notes=headings.notes([*below, *between]))
            place, above, below = str(places), table.bbox[3], []
            trail = headings.trail(caption)
            grids.append(
                Grid(
                    rows=even(rows),
                    caption=caption,
                    trail=trail,
                    place=place,
                    continues=continues,
                    unsure=unsure,
                )
            )
            boxes.append(table.bbox)
        rest = [line for line in lines if above <= line.top]
        below += rest
        places.read(line.text for line in rest)
        headings.read(rest)
        rests.append(_outside(page, boxes))
    if grids:
        grids[-1] = replace(grids[-1], notes=headings.notes(below))
    return grids, rests


def _is_open(page: Any, table: Any) -> bool:
    """Whether words stand right next to each row: lines part the inner columns alone."""
    words = page.extract_words()
    return all(
        any(
            row.bbox[1] <= (word["top"] + word["bottom"]) / 2 <= row.bbox[3]
            and (0 <= table.bbox[0] - word["x1"] < _NEXT or 0 <= word["x0"] - table.bbox[2] < _NEXT)
            for word in words
        )
        for row in table.rows
    )


def _is_shaded(grid: Grid) -> bool:
    """Whether lines are the edges of coloured rows: they part a header and its rows, or put a row into one cell."""
    numbers = [sum(read_number(text) is not None for text in row) for row in grid.rows]
    several = any(len(_NUMBERS.findall(text)) > 2 for row in grid.rows for text in row)
    if has_header(grid):
        return several or max(numbers) < 2
    return several or (numbers[0] > 1 and not grid.continues)


def _is_crossed(page: Any, table: Any) -> bool:
    """Whether a word goes over an upright line, so that a cell lost letters to its neighbour."""
    sides = sorted({cell[side] for cell in table.cells for side in (0, 2)})
    return any(
        word["x0"] + _OVER < side < word["x1"] - _OVER
        for word in page.extract_words()
        for side in sides
        if any(cell[1] <= word["top"] <= cell[3] and side in (cell[0], cell[2]) for cell in table.cells)
    )


def _is_uneven(table: Any) -> bool:
    """Whether cells begin at more places than any row has cells."""
    begun = [sum(cell is not None for cell in row.cells) for row in table.rows]
    return len({cell[0] for cell in table.cells}) > max(begun)


def _outside(page: Any, boxes: Sequence[tuple[float, float, float, float]]) -> Any:
    def is_out(thing: Any) -> bool:
        middle = (thing["top"] + thing["bottom"]) / 2
        return not any(x0 <= thing["x0"] <= x1 and top <= middle <= bottom for x0, top, x1, bottom in boxes)

    return page.filter(is_out) if boxes else page


def _open_ends(page: Any) -> list[float]:
    """Return where upright lines end and no level one closes them: there the page's end cuts a row in two."""
    edges = [edge for edge in page.edges if max(edge["width"], edge["height"]) > _THICK]
    closed = [edge["top"] for edge in edges if edge["orientation"] == "h"]
    ends = [edge[side] for edge in edges if edge["orientation"] == "v" for side in ("top", "bottom")]
    found: list[float] = []
    for end in sorted(ends):
        if all(abs(end - level) > _SAME_LEVEL for level in (*closed, *found[-1:])):
            found.append(end)
    return found


def _one_line(text: str) -> str:
    """Return a cell's text; below a number stand words about it."""
    lines = text.splitlines() or [""]
    return " ".join((lines[0] if is_noted(lines) else " ".join(lines)).split())


def _above(drawn: Sequence[DrawnWords], top: float, after: float) -> str:
    """Return the line of text right above a table, below the one before it."""
    over = [words for words in drawn if after <= (words.top + words.bottom) / 2 < top]
    if not over:
        return ""
    last = max(over, key=lambda words: words.bottom)
    line = [words for words in over if last.bottom - words.bottom < _LEVEL * (last.bottom - last.top)]
    return " ".join(words.text for words in sorted(line, key=lambda words: words.x0))
