"""Tables of a PDF page without ruling, from where their words stand.

A table begins at lines that speak of a ratio and hold no number. Lines that end in numbers are its rows; their
numbers make the columns. A line without numbers is the rest of a label and belongs to the nearest row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import Final

from audit_lib.check.cut_words import whole_words
from audit_lib.check.grids import Grid, even
from audit_lib.check.headers import NUMBERS, RATES, is_of_rates, meaning_of
from audit_lib.check.pdf_headings import PdfHeadings
from audit_lib.check.pdf_lines import PlacedWord, TextLine
from audit_lib.check.pdf_row_labels import CLOSE, LabelLines, best_labels
from audit_lib.check.pdf_texts import ColumnEdges, over_columns, overlap, texts_of
from audit_lib.check.pdf_turned_tables import turned_tables
from audit_lib.check.row_labels import category_named

_END: Final = 3.0  # white space that ends a table, in heights
_MOST_WRAPPED: Final = 4  # lines that a label can have below its last row, and one more
_PAGE_FOOT: Final = 2  # lines below a page's text
_PAGE_HEAD: Final = 3  # a header in the first lines of a page may be a repeated one
_HYPHEN: Final = re.compile(r"(?<=[a-z])- (?=[a-z])")  # where a line's end cut a word
_CAPTION: Final = re.compile(r"\b(?:sex|gender|race|ethnicity|intersectional|table)\b", re.IGNORECASE)
_HEADER: Final = re.compile(r"\b(?:ratio|rate|applicants|selected|category|group)\b", re.IGNORECASE)
_THRESHOLD: Final = re.compile(r"\d+%")
_SMALL: Final = 0.92  # words under this share of the rows' size are remarks
NOT_RULED: Final = (
    "{} has no tags and no ruling, so its cells were read from where words stand, and a cell may be another's; look at "
    "the page"
)
_TWO: Final = 2
_DEEPEST: Final = 4  # lines of a header above the one that names the ratio
_COLUMN_SPACE: Final = 0.8  # of a word's size: white space beside all lines, which parts two columns of words


def layout_grids(lines: Sequence[TextLine], unsure: str = NOT_RULED) -> Iterator[Grid]:
    """Yield the tables that lines make; `unsure` says why a cell may be misread, and has a place for the page."""
    headings, done = PdfHeadings(lines), 0
    placed = list(_placed_grids(lines, unsure))
    ends = [*(start for start, _, _ in placed[1:]), len(lines)][: len(placed)]
    between: list[TextLine] = []
    for (start, end, grid), following in zip(placed, ends, strict=True):
        # Of tables beside each other the right one comes after what stands below the left one.
        between += [line for line in lines[done:start] if not line.is_taken]
        below = [line for line in between if _is_below(line, lines[start])]
        headings.read(line for line in between if line not in below)
        between = below
        notes = headings.notes(line for line in lines[end:following] if not line.is_taken)
        yield replace(grid, trail=headings.trail(grid.caption), notes=notes)
        done = end


def _is_below(line: TextLine, other: TextLine) -> bool:
    return (line.page, line.top) > (other.page, other.top)


def _placed_grids(lines: Sequence[TextLine], unsure: str) -> Iterator[tuple[int, int, Grid]]:
    """Yield tables with the line that they begin at and the one behind their last row."""
    done = 0
    for turned in turned_tables(lines, unsure):
        for start, end, grid in _upright_grids(lines[done : turned.start], unsure):
            yield start + done, end + done, grid
        yield turned.start, turned.end, turned.grid
        done = turned.end
    for start, end, grid in _upright_grids(lines[done:], unsure):
        yield start + done, end + done, grid


def _upright_grids(lines: Sequence[TextLine], unsure: str) -> Iterator[tuple[int, int, Grid]]:
    start = 0
    while start < len(lines):
        if not _names_ratio(lines, start):
            start += 1
            continue
        end = _end(lines, start)
        rows = [i for i in range(start, end) if len(lines[i].numbers) >= 2]
        if rows:
            # Words above the table may speak of a ratio, too: its header is the last that does.
            naming = [i for i in range(start, rows[0]) if _names_ratio(lines, i)]
            named = max((i for i in naming if not _is_title(lines, i)), default=naming[-1])
            yield named, rows[-1] + 1, _grid(lines, named, rows, end, unsure)
        start = max(end, start + 1)


def _names_ratio(lines: Sequence[TextLine], i: int) -> bool:
    """Whether a line may head a table of rates; its own number is a threshold ("Below 80%"), and no row's."""
    line = lines[i]
    if not _is_without_numbers(line):
        return False
    if line.numbers:
        return _says_ratio(line)
    if i + 1 < len(lines) and lines[i + 1].distance(line) < CLOSE:
        cut = [word.text[:-1].lower() for word in line.words if word.text.endswith("-")]
        if any(begun + word.text.lower() == "ratio" for begun in cut for word in lines[i + 1].words):
            return True
    return _says_ratio(line)


def _is_without_numbers(line: TextLine) -> bool:
    """Whether a line has no number at its end but a threshold."""
    return not line.numbers or (
        len(line.numbers) == 1 and _THRESHOLD.fullmatch(line.numbers[0].text) is not None
    )


def _is_title(lines: Sequence[TextLine], i: int) -> bool:
    """Whether a line is one text right above a row: it names what comes next, in a table with one header for all."""
    return (
        i + 1 < len(lines)
        and len(lines[i + 1].numbers) > 1
        and not lines[i].numbers
        and lines[i].page == lines[i + 1].page
        and len(texts_of(lines[i])) == 1
        and _CAPTION.search(lines[i].text) is not None
    )


def _says_ratio(line: TextLine) -> bool:
    return "ratio" in line.text.lower() or is_of_rates([meaning_of(text.text) for text in texts_of(line)])


def _end(lines: Sequence[TextLine], start: int) -> int:
    """Return the first line after the table: beyond a wide gap, or the next header.

    A gap above the foot of a page ends nothing where the next page goes on with rows of as many numbers.
    """
    most, i = 0, start + 1
    while i < len(lines):
        numbers = len(lines[i].numbers)
        if _END < lines[i].distance(lines[i - 1]) < float("inf"):
            resumed = _resumed(lines, i, most)
            if resumed is None:
                return i
            i, numbers = resumed, most
        if (
            most
            and numbers < 2
            and not _is_title(lines, i)
            and (_names_ratio(lines, i) or "ratio" in lines[i].text.lower())
        ):
            return i
        most = max(most, numbers if numbers > 1 else 0)
        i += 1
    return len(lines)


def _resumed(lines: Sequence[TextLine], foot: int, most: int) -> int | None:
    """Return the row of the next page that goes on with a table of so many numbers, if one does."""
    after = next((i for i in range(foot, len(lines)) if lines[i].page != lines[foot].page), len(lines))
    if after - foot > _PAGE_FOOT or any(len(lines[i].numbers) > 1 for i in range(foot, after)):
        return None
    first = next(
        (i for i in range(after, len(lines)) if lines[i].words[0].is_number or lines[i].numbers), None
    )
    is_row = first is not None and first - after < _PAGE_HEAD and len(lines[first].numbers) == most > 1
    return first if is_row else None


def _grid(lines: Sequence[TextLine], start: int, rows: Sequence[int], end: int, unsure: str) -> Grid:
    most = max(len(lines[i].numbers) for i in rows)
    full = [lines[i].numbers for i in rows if len(lines[i].numbers) == most]
    size = median(word.size for numbers in full for word in numbers)
    columns = [(min(ws[c].left for ws in full), max(ws[c].right for ws in full)) for c in range(most)]
    first = _header_start(lines, start)
    is_caption = bool(_CAPTION.search(lines[first].text)) and not _HEADER.search(lines[first].text)
    is_beside = first < start and lines[first + 1].distance(lines[first]) < 0  # the label of a deeper header
    is_caption = is_caption and not is_beside and len(texts_of(lines[first])) == 1
    caption = first if is_caption else first - 1
    if caption < 0 or lines[caption].page != lines[start].page or lines[caption].is_taken:
        caption = start
    first = max(first, caption + 1) if caption < start else first
    # The rest of a label stands below its row, above it or on both sides: what names most categories is right.
    wrapped_lines = [
        i
        for i in range(start + 1, min(end, rows[-1] + _MOST_WRAPPED))
        if i not in rows
        and _is_label(lines[i], columns[0][0], size)
        and not _is_title(lines, i)
        and (i < rows[-1] or lines[i].distance(lines[i - 1]) < CLOSE)
    ]
    titles = [i for i in range(start + 1, rows[-1]) if _is_title(lines, i)]
    continues = first > 0 and lines[max(0, first - _PAGE_HEAD)].page < lines[first].page
    names = [word.right for i in (*rows, *wrapped_lines) for word in lines[i].words if not word.is_number]
    edges = [(max([x for x in names if x < columns[0][0]], default=0.0) + columns[0][0]) / 2]
    edges += [(a[1] + b[0]) / 2 for a, b in pairwise(columns)]
    names_in = _label_columns([lines[i] for i in (*rows, *wrapped_lines)], edges[0])
    within = [(a[1] + b[0]) / 2 for a, b in pairwise(names_in)]
    labels, sections = best_labels(
        lines,
        rows,
        wrapped_lines,
        lambda labels: _label_texts(lines, labels, [*within, edges[0]]),
        continues=continues,
    )
    titles += sections
    wrapped_lines = [i for i in wrapped_lines if i not in sections]
    wrapped = {i for parts in labels.values() for i in parts}
    # Below a header that is printed again stands the rest of the row that the page's end cut.
    rest = [i for i in wrapped_lines if continues and i < rows[0] and i not in wrapped]
    for i in (*wrapped, *rest):
        lines[i].is_taken = True
    heads = [
        lines[i] for i in range(first, rows[0]) if i not in wrapped and i not in rest and i not in titles
    ]
    title = lines[caption].text if caption < start else ""
    if len(heads) > 1 and _is_complete(heads[1:], names_in, columns) and _is_over(heads[0], columns):
        title = heads.pop(0).text
    header = _header(heads, names_in, columns)
    over = _over_groups(heads, header, len(names_in))
    if over:
        header = _header(heads[1:], names_in, columns)
    body = []
    for row in sorted((*rows, *titles)):
        parts = sorted(labels.get(row, [row]))
        words = [word for i in parts for word in lines[i].words if word.size >= _SMALL * size]
        body.append([lines[row].text] if row in titles else _cells(words, [*within, *edges]))
    if rest:
        body.insert(0, _cells([word for i in rest for word in lines[i].words], [*within, *edges]))
    return Grid(
        rows=even([*over, header, *body]),
        caption=title,
        page=(page := lines[rows[0]].page + 1),
        unsure=unsure.format(f"the table on page {page}"),
        is_whole=all(
            i in wrapped or i in titles or _is_remark(lines, i, size) for i in range(rows[0], rows[-1] + 1)
        ),
        continues=continues,
    )


def _is_complete(
    heads: Sequence[TextLine], names: Sequence[ColumnEdges], columns: Sequence[ColumnEdges]
) -> bool:
    """Whether lines head a table of rates and say of each column of numbers what it holds."""
    meanings = [meaning_of(text) for text in _header(heads, names, columns)]
    return is_of_rates(meanings) and None not in meanings[len(names) :]


def _is_over(line: TextLine, columns: Sequence[ColumnEdges]) -> bool:
    """Whether a line is one text over several columns, or over the labels."""
    texts = texts_of(line)
    over = sum(overlap(texts[0], column) > 0 for column in columns)
    return len(texts) == 1 and not line.numbers and (over > 1 or texts[0].left < columns[0][0])


def _is_remark(lines: Sequence[TextLine], i: int, size: float) -> bool:
    """Whether a line is said next to a table: smaller words, or the number at a page's foot or head."""
    line = lines[i]
    ends_page = i + 1 == len(lines) or lines[i + 1].page != line.page or lines[i - 1].page != line.page
    is_foot = _END < line.distance(lines[i - 1]) < float("inf") or len(line.words) == 1
    return all(word.size < _SMALL * size for word in line.words) or (ends_page and is_foot)


def _is_label(line: TextLine, left: float, size: float) -> bool:
    words = [word for word in line.words if word.size >= _SMALL * size]
    return bool(words) and all(word.right <= left for word in words)


def _label_columns(lines: Sequence[TextLine], edge: float) -> list[ColumnEdges]:
    """Return the columns of words left of the numbers: between two of them is white space beside every line.

    A label that goes over the next column leaves none; then two columns are where words begin that were drawn as one.
    """
    words = [word for line in lines for word in line.words if not word.is_number and word.middle < edge]
    found: list[ColumnEdges] = []
    for word in sorted(words, key=lambda word: word.left):
        if found and word.left - found[-1][1] < _COLUMN_SPACE * word.size:
            found[-1] = (found[-1][0], max(found[-1][1], word.right))
        else:
            found.append((word.left, word.right))
    starts = sorted(Counter(round(word.start) for word in words))
    if len(found) == 1 and len(starts) == _TWO and starts[1] - starts[0] > _TWO * words[0].size:
        begun = [{round(text.start) for text in texts_of(line)} for line in lines]
        both = sum(set(starts) <= places for places in begun)
        if both >= _TWO:
            return [(starts[0], starts[1] - 1.0), (starts[1], found[0][1])]
    return found or [(0.0, edge)]


def _label_texts(lines: Sequence[TextLine], labels: LabelLines, edges: Sequence[float]) -> list[str]:
    """Return the words left of the last edge, column by column."""
    return [
        " ".join(_cells([word for i in sorted(parts) for word in lines[i].words], edges)[:-1])
        for parts in labels.values()
    ]


def _header_start(lines: Sequence[TextLine], start: int) -> int:
    """Go up from the line that names the ratio while lines are close, hold no number and end no sentence."""
    first = start
    while first and start - first < _DEEPEST:
        above, line = lines[first - 1], lines[first]
        is_over = all(category_named(text.text) for text in texts_of(above))  # "Men", "Women" over columns
        near = CLOSE if is_over else CLOSE / 2
        is_sentence = (
            above.text.endswith(".") and line.distance(above) >= 0
        )  # not "Sel." beside a deeper header
        is_near = line.distance(above) <= near or _is_cut_header(above, line)
        if not is_near or not _is_without_numbers(above) or is_sentence:
            break
        first -= 1
    return first


def _is_cut_header(above: TextLine, line: TextLine) -> bool:
    """Whether a page's end parts two lines of one header: the last before it says what a column of several holds."""
    meanings = [meaning_of(text.text) for text in texts_of(above)]
    is_header = len(meanings) > _TWO and any(meaning in NUMBERS for meaning in meanings)
    return above.page + 1 == line.page and is_header


def _over_groups(heads: Sequence[TextLine], header: Sequence[str], labels: int) -> list[list[str]]:
    """Return the row of a header that names the categories over groups of columns, if its first line does."""
    meanings = [meaning_of(text) for text in header[labels:]]
    texts = [text.text for text in texts_of(heads[0])] if len(heads) > 1 else []
    if labels and texts and meaning_of(texts[0]) == "label" and not category_named(texts[0]):
        del texts[0]  # what is over the labels
    groups = len(texts)
    if groups < 2 or len(meanings) % groups or not all(map(category_named, texts)):
        return []
    return [[""] * labels + [text for text in texts for _ in range(len(meanings) // groups)]]


def _header(
    lines: Sequence[TextLine], names: Sequence[ColumnEdges], columns: Sequence[ColumnEdges]
) -> list[str]:
    """Put what stands over a table to its columns; a caption in the line over the labels is none of them."""
    cells: list[list[str]] = [[] for _ in (*names, *columns)]
    for line in over_columns(lines, [*names, *columns]):
        for at, text in line:
            cells[at].append(text)
    for at, cell in enumerate(cells[: len(names)]):
        cells[at] = [text for text in cell if meaning_of(text) not in RATES] or cell
    return [whole_words(_HYPHEN.sub("", " ".join(cell))) for cell in cells]


def _cells(words: Sequence[PlacedWord], edges: Sequence[float]) -> list[str]:
    cells: list[list[str]] = [[] for _ in range(len(edges) + 1)]
    for word in words:
        place = word.middle if word.is_number else min(word.middle, word.start + word.size)
        cells[sum(place > edge for edge in edges)].append(word.text)
    return [whole_words(_HYPHEN.sub("", " ".join(cell))) for cell in cells]
