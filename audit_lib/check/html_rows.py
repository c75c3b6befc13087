"""Tables that a page draws without table elements: rows of ``<div>`` or ``<span>`` that a style sheet sets in columns.

A row is an element of three or more elements with short words in each; rows of as many cells next to each other, most
of them with numbers, are a table. Cells may also stand in one element, row after row, as a CSS grid has them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

from audit_lib.check.headers import header_at
from audit_lib.check.published_numbers import one_line, read_number, says_none
from audit_lib.check.row_labels import categories_in

SKIPPED: Final = frozenset({"script", "style", "svg", "template", "noscript", "select"})
VOID: Final = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_ENDED_BY_NEXT: Final = frozenset({"p", "li", "dt", "dd", "option"})
_TABLE: Final = frozenset({"table", "thead", "tbody", "tfoot", "tr", "td", "th", "dl"})
_ROLES: Final = {
    "table": "table", "grid": "table", "treegrid": "table", "rowgroup": "tbody", "row": "tr", "cell": "td",
    "gridcell": "td", "columnheader": "th", "rowheader": "th", "caption": "caption",
}  # fmt: skip
_FEWEST_CELLS: Final = 3
_MOST_CELLS: Final = 12
_FEWEST_ROWS: Final = 2  # below the header
_LONGEST: Final = 160
_MOST_PARTS: Final = 40  # of a cell
_DEEPEST: Final = 400
# Footnote marks and remarks under a number: "0.97<sup>1</sup>" is not 0.971.
ASIDES: Final = frozenset({"sup", "small"})
_FEWEST_NUMBERS: Final = 2


@dataclass(slots=True)
class _Element:
    tag: str
    number: int
    children: list[_Element] = field(default_factory=list)
    parts: list[str | _Element] = field(default_factory=list)
    own: bool = False  # has words outside its children

    @property
    def text(self) -> str | None:
        """Its words; None where they are too many for a cell."""
        found: list[str] = []
        stack: list[str | _Element] = [self]
        for _ in range(_MOST_PARTS):
            if not stack:
                words = one_line(" ".join(found))
                return words if len(words) <= _LONGEST else None
            part = stack.pop()
            if isinstance(part, str):
                found.append(part)
            elif part is self or part.tag not in _TABLE | ASIDES:
                stack += reversed(part.parts)
        return None

    @property
    def cells(self) -> list[_Element]:
        return [child for child in self.children if child.tag not in ASIDES]

    @property
    def is_cell(self) -> bool:
        return self.tag not in _TABLE and self.text is not None


class _Tree(HTMLParser):
    """The elements of a page, each with its place among all start tags."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = _Element("", -1)
        self._open = [self.root]
        self._count = 0
        self._skipping = 0
        self.deepest = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        number, self._count = self._count, self._count + 1
        if tag in SKIPPED:
            self._skipping += 1
        if self._skipping or tag in VOID:
            return
        if tag in _ENDED_BY_NEXT and self._open[-1].tag == tag:
            self._open.pop()
        element = _Element(tag, number)
        self._open[-1].children.append(element)
        self._open[-1].parts.append(element)
        self._open.append(element)
        self.deepest = max(self.deepest, len(self._open))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in SKIPPED:
            self._count += 1
        else:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag in SKIPPED:
            self._skipping = max(0, self._skipping - 1)
            return
        if self._skipping:
            return
        at = next((i for i in reversed(range(1, len(self._open))) if self._open[i].tag == tag), 0)
        if at:
            del self._open[at:]

    def handle_data(self, data: str) -> None:
        if self._skipping or not data.strip():
            return
        self._open[-1].own = True
        self._open[-1].parts.append(data)


def meant_by(tag: str, attrs: Mapping[str, str | None]) -> str:
    """Return the tag that an element's role stands for: a table's, or else its own."""
    return _ROLES.get((attrs.get("role") or "").strip().lower(), tag)


def drawn_tables(text: str) -> dict[int, tuple[str, ...]]:
    """Return the elements of a page that are parts of a drawn table: the place of its start tag -> what it opens.

    Parameters
    ----------
    text : str
        The page.

    Returns
    -------
    dict of int to tuple of str
        ``("table",)``, ``("tr",)`` or ``("td",)``; ``("tr", "td")`` for the first cell of a row that has no element.

    Examples
    --------
    >>> row = "<div><span>{}</span><span>{}</span><span>{}</span></div>"
    >>> rows = [("Sex", "Applicants", "Impact ratio"), ("Male", "92", "1.00"), ("Female", "80", "0.97")]
    >>> sorted(drawn_tables("<div>" + "".join(row.format(*cells) for cells in rows) + "</div>").items())[:3]
    [(0, ('table',)), (1, ('tr',)), (2, ('td',))]
    """
    tree = _Tree()
    tree.feed(text)
    tree.close()
    if tree.deepest > _DEEPEST:
        return {}
    found: dict[int, tuple[str, ...]] = {}
    for parent in _each(tree.root):
        found |= _of_rows(parent) or _of_cells(parent)
    return found


def _each(element: _Element) -> Iterator[_Element]:
    stack = [element]
    while stack:
        one = stack.pop()
        if one.tag in _TABLE:
            continue
        yield one
        stack += one.children


def _of_rows(parent: _Element) -> Mapping[int, tuple[str, ...]]:
    """Return the roles of an element whose children are rows."""
    rows = [child for child in parent.children if _is_row(child)]
    sizes = Counter(len(row.cells) for row in rows)
    size = sizes.most_common(1)[0][0] if sizes else 0
    if not _is_table([[cell.text or "" for cell in row.cells] for row in rows if len(row.cells) == size]):
        return {}
    kept = {row.number for row in rows}
    found: dict[int, tuple[str, ...]] = {parent.number: ("table",)}
    for row in parent.children:  # with those of fewer cells or more, which a reader of the page sees, too
        if row.number in kept or (row.tag not in _TABLE and len(row.cells) > 1):
            found[row.number] = ("tr",)
            found |= {cell.number: ("td",) for cell in row.cells}
    return found


def _is_row(element: _Element) -> bool:
    cells = element.cells
    return (
        element.tag not in _TABLE
        and not element.own
        and _FEWEST_CELLS <= len(cells) <= _MOST_CELLS
        and all(cell.is_cell for cell in cells)
    )


def _of_cells(parent: _Element) -> Mapping[int, tuple[str, ...]]:
    """Return the roles of an element whose children are cells, row after row."""
    cells = parent.children
    if parent.own or parent.tag in _TABLE or not all(cell.is_cell for cell in cells):
        return {}
    texts = [cell.text or "" for cell in cells]
    for size in range(_FEWEST_CELLS, _MOST_CELLS + 1):
        if len(cells) % size or len(cells) < size * (1 + _FEWEST_ROWS):
            continue
        if _is_table([texts[at : at + size] for at in range(0, len(texts), size)]):
            return {parent.number: ("table",)} | {
                cell.number: ("td",) if at % size else ("tr", "td") for at, cell in enumerate(cells)
            }
    return {}


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    """Whether rows head a table of rates, and name a category with numbers in each but a few."""
    if len(rows) <= _FEWEST_ROWS or header_at(rows, 0) is None:
        return False
    return all(_is_of_people(row) for row in rows[1:])


def _is_of_people(row: Sequence[str]) -> bool:
    numbers = sum(read_number(text) is not None or (says_none(text) and text != "") for text in row)
    named = any(categories_in(text) or re.search(r"unknown|total|all", text, re.IGNORECASE) for text in row)
    return numbers >= _FEWEST_NUMBERS and named
