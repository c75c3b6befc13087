"""Tables of a PDF page without ruling, from where their words stand.

A table begins at lines that speak of a ratio and hold no number. Lines that end in numbers are its rows; their
numbers make the columns. A line without numbers is the rest of a label and belongs to the nearest row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, Final

from audit_lib.check.grids import Grid, even
from audit_lib.check.published_numbers import read_number, says_none

_SAME_LINE: Final = 0.5  # of a line's height
_CLOSE: Final = 1.0  # white space between lines of one header, in heights
_END: Final = 3.0  # white space that ends a table, in heights
_MOST_WRAPPED: Final = 4  # lines that a label can have below its last row, and one more
_PAGE_HEAD: Final = 3  # a header in the first lines of a page may be a repeated one
_CAPTION: Final = re.compile(r"\b(?:sex|gender|race|ethnicity|intersectional|table)\b", re.IGNORECASE)
_HEADER: Final = re.compile(r"\b(?:ratio|rate|applicants|selected|category|group)\b", re.IGNORECASE)
_SMALL: Final = 0.92  # words under this share of the rows' size are remarks


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    left: float
    right: float
    size: float

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2

    @property
    def is_number(self) -> bool:
        return read_number(self.text) is not None or (says_none(self.text) and self.text != "")


@dataclass(slots=True)
class _Line:
    page: int
    top: float
    bottom: float
    words: list[_Word]
    is_taken: bool = False  # a row of a table, or part of one

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    def distance(self, other: _Line) -> float:
        """Return the white space between two lines, in heights; none counts across pages."""
        if self.page != other.page:
            return float("inf")
        gap = max(self.top, other.top) - min(self.bottom, other.bottom)
        return gap / (other.bottom - other.top)

    @property
    def numbers(self) -> list[_Word]:
        """Words at its end that are numbers."""
        found: list[_Word] = []
        for word in reversed(self.words):
            if not word.is_number:
                break
            found.insert(0, word)
        return found


def layout_grids(pages: Sequence[Sequence[Mapping[str, Any]]]) -> Iterator[Grid]:
    """Yield the tables that the words of pages make, as pdfplumber extracts them with their ``size``."""
    lines = [line for number, words in enumerate(pages) for line in _lines(words, number)]
    start = 0
    while start < len(lines):
        if not _names_ratio(lines[start]):
            start += 1
            continue
        end = _end(lines, start)
        rows = [i for i in range(start, end) if len(lines[i].numbers) >= 2]
        if rows:
            # Words above the table may speak of a ratio, too: its header is the last that does.
            named = max(i for i in range(start, rows[0]) if _names_ratio(lines[i]))
            yield _grid(lines, named, rows, end)
        start = max(end, start + 1)


def _names_ratio(line: _Line) -> bool:
    return "ratio" in line.text.lower() and not line.numbers


def _lines(words: Sequence[Mapping[str, Any]], page: int) -> list[_Line]:
    lines: list[_Line] = []
    for word in sorted(words, key=lambda w: (w["bottom"], w["x0"])):
        made = _Word(word["text"], word["x0"], word["x1"], word["size"])
        height = word["bottom"] - word["top"]
        if lines and abs(word["bottom"] - lines[-1].bottom) < _SAME_LINE * height:
            lines[-1].words.append(made)
        else:
            lines.append(_Line(page, word["top"], word["bottom"], [made]))
    for line in lines:
        line.words = _joined(sorted(line.words, key=lambda word: word.left))
    return lines


def _joined(words: Sequence[_Word]) -> list[_Word]:
    """Put a percent sign by itself back to its number."""
    found: list[_Word] = []
    for word in words:
        if word.text == "%" and found and found[-1].is_number:
            last = found.pop()
            word = _Word(f"{last.text}%", last.left, word.right, last.size)
        found.append(word)
    return found


def _end(lines: Sequence[_Line], start: int) -> int:
    """Return the first line after the table: beyond a wide gap, or the next header."""
    seen = False
    for i in range(start + 1, len(lines)):
        has_numbers = len(lines[i].numbers) >= 2
        if _END < lines[i].distance(lines[i - 1]) < float("inf"):
            return i
        if seen and not has_numbers and "ratio" in lines[i].text.lower():
            return i
        seen |= has_numbers
    return len(lines)


def _grid(lines: Sequence[_Line], start: int, rows: Sequence[int], end: int) -> Grid:
    most = max(len(lines[i].numbers) for i in rows)
    full = [lines[i].numbers for i in rows if len(lines[i].numbers) == most]
    size = median(word.size for numbers in full for word in numbers)
    columns = [(min(ws[c].left for ws in full), max(ws[c].right for ws in full)) for c in range(most)]
    names = [word.right for i in rows for word in lines[i].words if not word.is_number]
    edges = [(max([x for x in names if x < columns[0][0]], default=0.0) + columns[0][0]) / 2]
    edges += [(a[1] + b[0]) / 2 for a, b in pairwise(columns)]
    first = _header_start(lines, start)
    caption = (
        first if _CAPTION.search(lines[first].text) and not _HEADER.search(lines[first].text) else first - 1
    )
    if caption < 0 or lines[caption].page != lines[start].page or lines[caption].is_taken:
        caption = start
    first = max(first, caption + 1) if caption < start else first
    labels: dict[int, list[int]] = {i: [i] for i in rows}
    for i in range(start + 1, min(end, rows[-1] + _MOST_WRAPPED)):
        words = [word for word in lines[i].words if word.size >= _SMALL * size]
        if i in labels or not words or any(word.right > columns[0][0] for word in words):
            continue
        nearest = min(rows, key=lambda row: lines[row].distance(lines[i]))
        if lines[nearest].distance(lines[i]) < _CLOSE:
            labels[nearest].append(i)
    wrapped = {i for parts in labels.values() for i in parts}
    for i in wrapped:
        lines[i].is_taken = True
    header = [word for i in range(first, rows[0]) if i not in wrapped for word in lines[i].words]
    body = [
        [word for i in sorted(labels[row]) for word in lines[i].words if word.size >= _SMALL * size]
        for row in rows
    ]
    return Grid(
        rows=even(_cells(words, edges) for words in (header, *body)),
        caption=lines[caption].text if caption < start else "",
        page=(page := lines[rows[0]].page + 1),
        unsure=f"the table on page {page} has no tags and no ruling, so its cells were read from where words stand, "
        "and a cell may be another's; look at the page",
        continues=first > 0 and lines[max(0, first - _PAGE_HEAD)].page < lines[first].page,
    )


def _header_start(lines: Sequence[_Line], start: int) -> int:
    """Go up from the line that names the ratio while lines are close, hold no number and end no sentence."""
    first = start
    while first and start - first < 3:
        above, line = lines[first - 1], lines[first]
        if line.distance(above) > _CLOSE / 2 or above.numbers or above.text.endswith("."):
            break
        first -= 1
    return first


def _cells(words: Sequence[_Word], edges: Sequence[float]) -> list[str]:
    cells: list[list[str]] = [[] for _ in range(len(edges) + 1)]
    for word in words:
        cells[sum(word.middle > edge for edge in edges)].append(word.text)
    return [" ".join(cell) for cell in cells]
