"""Tables on their side in a PDF page without ruling: each line is a number of people, a rate or a ratio, and the
categories stand over the columns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from audit_lib.check.cut_words import whole_words
from audit_lib.check.grids import Grid, even
from audit_lib.check.headers import Meaning, is_of_rates, meaning_of
from audit_lib.check.pdf_lines import PlacedWord, TextLine
from audit_lib.check.pdf_row_labels import CLOSE
from audit_lib.check.pdf_texts import ColumnEdges, over_columns, overlap, texts_of
from audit_lib.check.row_labels import category_named, named_alone, told_apart

_END: Final = 3.0  # white space that ends a table, in heights
_DEEPEST: Final = 8  # lines that the names of categories stand in
_HYPHEN: Final = re.compile(r"(?<=[a-z])- (?=[a-z])")  # where a line's end cut a word
_FEWEST: Final = 2  # categories that are no slip of a word


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnedTable:
    """A table that lies on its side, and the lines that it takes, from `start` up to `end`."""

    start: int
    end: int
    grid: Grid


@dataclass(slots=True)
class _Row:
    """A line of numbers, what they are, and the lines that say so."""

    at: int
    numbers: list[PlacedWord]
    text: str
    meaning: Meaning | None
    label: set[int]


def turned_tables(lines: Sequence[TextLine], unsure: str) -> Iterator[TurnedTable]:
    """Yield the tables whose rows are numbers of people, rates and ratios; `unsure` has a place for the page."""
    done = 0
    for run in _runs(lines):
        numbers = Counter(len(row.numbers) for row in run).most_common(1)[0][0]
        full = [row.numbers for row in run if len(row.numbers) == numbers]
        columns = [(min(ws[c].left for ws in full), max(ws[c].right for ws in full)) for c in range(numbers)]
        rows = [row for row in run if len(row.numbers) <= numbers]
        first = min(rows[0].label)
        words = [w for row in rows for i in row.label for w in lines[i].words if w not in row.numbers]
        corner = (min(word.left for word in words), max(word.right for word in words))
        heads = _heads(lines, first, [corner, *columns], done)
        if heads is None or run[0].at < done:
            continue
        start, names = heads
        end = max(rows[-1].label) + 1
        title = start - 1 if start > done and _is_title(lines, start - 1) else start
        page = lines[start].page + 1
        taken = {i for row in rows for i in row.label}
        for i in range(start, end):
            lines[i].is_taken = True
        yield TurnedTable(
            start=title,
            end=end,
            grid=Grid(
                rows=even([*names, *([row.text, *_in_columns(row.numbers, columns)] for row in rows)]),
                caption=lines[title].text if title < start else "",
                page=page,
                unsure=unsure.format(f"the table on page {page}"),
                is_whole=all(i in taken for i in range(first, end)),
            ),
        )
        done = end


def _in_columns(numbers: Sequence[PlacedWord], columns: Sequence[ColumnEdges]) -> list[str]:
    if len(numbers) == len(columns):
        return [number.text for number in numbers]
    cells = [""] * len(columns)
    for number in numbers:
        cells[max(range(len(columns)), key=lambda c: overlap(number, columns[c]))] = number.text
    return cells


def _runs(lines: Sequence[TextLine]) -> Iterator[list[_Row]]:
    """Yield lines of numbers below each other, at least one of them of rates or ratios."""
    run: list[_Row] = []
    for i, line in enumerate(lines):
        row = _row(lines, i)
        if row is not None and (not run or _goes_on(lines, run[-1], row)):
            run.append(row)
            continue
        if row is None and (len(line.numbers) < _FEWEST and run and i in run[-1].label):
            continue
        if row is None and len(line.numbers) < _FEWEST and run and _is_beside(lines, i, run[-1]):
            continue
        if is_of_rates([one.meaning for one in run]):
            yield run
        run = [] if row is None else [row]
    if is_of_rates([one.meaning for one in run]):
        yield run


def _goes_on(lines: Sequence[TextLine], last: _Row, row: _Row) -> bool:
    return lines[row.at].distance(lines[max(last.label)]) < _END


def _is_beside(lines: Sequence[TextLine], i: int, last: _Row) -> bool:
    """Whether a line without numbers may be the first of the next row's label."""
    return (
        lines[i].distance(lines[last.at]) < _END
        and i + 1 < len(lines)
        and len(lines[i + 1].numbers) >= _FEWEST
        and lines[i].words[-1].right <= last.numbers[0].left
    )


def _row(lines: Sequence[TextLine], i: int) -> _Row | None:
    """Return what a line says, where it is a label of numbers and several of these.

    A label may go on below the numbers, or stand on both sides of them.
    """
    line = lines[i]
    numbers = _own_numbers(line)
    if len(numbers) < _FEWEST:
        return None
    own = " ".join(word.text for word in line.words[: len(line.words) - len(numbers)])
    left = numbers[0].left

    def is_label(j: int) -> bool:
        return (
            0 <= j < len(lines)
            and not lines[j].numbers
            and lines[j].words[-1].right <= left
            and lines[j].distance(line) < CLOSE
        )

    ways = ([i], [i, i + 1], [i - 1, i], [i - 1, i, i + 1])
    for part in ways if own else reversed(ways):
        if all(j == i or is_label(j) for j in part):
            text = " ".join(filter(None, (own if j == i else lines[j].text for j in part)))
            if text and (meaning := meaning_of(text)) not in (None, "label"):
                return _Row(i, numbers, text, meaning, set(part))
    return None


def _own_numbers(line: TextLine) -> list[PlacedWord]:
    """Return the numbers at a line's end without those that are drawn as part of its label ("Below 80%")."""
    numbers = line.numbers
    while numbers and len(numbers) < len(line.words):
        before = line.words[-len(numbers) - 1]
        is_of_label = numbers[0].start == before.start and before.right < numbers[0].left
        if not is_of_label and numbers[0].left - before.right >= numbers[0].size / 2:
            break
        numbers = numbers[1:]
    return numbers


def _heads(
    lines: Sequence[TextLine], first: int, columns: Sequence[ColumnEdges], done: int
) -> tuple[int, list[list[str]]] | None:
    """Return where the names of the categories begin above a row, and the rows of them; the corner is a column, too."""
    best: tuple[int, int, list[list[str]]] = (0, first, [])
    for start in range(first - 1, max(done, first - _DEEPEST) - 1, -1):
        if lines[start].distance(lines[start + 1]) >= _END or len(lines[start].numbers) > 1:
            break
        names = _names(lines[start:first], columns)
        over = _over_groups(lines[start], _names(lines[start + 1 : first], columns))
        for rows in ([names], over):
            named = told_apart([" ".join(column) for column in zip(*rows, strict=True)][1:])
            if named > best[0]:
                best = (named, start, rows)
    return (best[1], best[2]) if best[0] >= _FEWEST else None


def _names(lines: Sequence[TextLine], columns: Sequence[ColumnEdges]) -> list[str]:
    cells: list[list[str]] = [[] for _ in columns]
    for line in over_columns(lines, columns):
        for at, text in line:
            cells[at].append(text)
    return [whole_words(_HYPHEN.sub("", " ".join(cell))) for cell in cells]


def _over_groups(line: TextLine, names: Sequence[str]) -> list[list[str]]:
    """Return two rows of names where a line has one over each group of columns that name the same categories.

    A sum of all may stand behind the last group.
    """
    over = [text.text for text in texts_of(line) if category_named(text.text)]
    held = [key for name in names[1:] if (key := named_alone(name))]
    size = len(held) // max(len(over), 1)
    groups = [held[at * size : (at + 1) * size] for at in range(len(over))]
    if len(over) < _FEWEST or size < _FEWEST or len(held) % size or any(one != groups[0] for one in groups):
        return []
    if [*map(named_alone, names[1 : len(held) + 1])] != held:
        return []
    rest = [""] * (len(names) - 1 - len(held))
    return [["", *(name for name in over for _ in range(size)), *rest], [*names]]


def _is_title(lines: Sequence[TextLine], i: int) -> bool:
    return (
        lines[i].distance(lines[i + 1]) < _END
        and not lines[i].numbers
        and not lines[i].text.endswith((".", ":"))
        and len(texts_of(lines[i])) == 1
    )
