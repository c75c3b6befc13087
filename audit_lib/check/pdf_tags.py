"""A tagged PDF, from its own structure: what is a table, a row and a header cell is said there, not guessed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from audit_lib.check.grids import PublishedFile
from audit_lib.check.html_tables import HtmlReader
from audit_lib.check.pdf_characters import SMALL, Char, raised
from audit_lib.check.published_numbers import is_noted, read_number

# Structure types of ISO 32000 as the HTML elements that mean the same; all others only hold what is in them.
_ELEMENTS: Final[Mapping[str, str]] = {
    "Table": "table", "TR": "tr", "TH": "th", "TD": "td", "Caption": "caption", "THead": "thead", "TBody": "tbody",
    "TFoot": "tfoot", "P": "p", "LI": "li", "Div": "div", "Sect": "section", "Note": "p", "BlockQuote": "blockquote",
    "H": "h2", **{f"H{level}": f"h{level}" for level in range(1, 7)},
}  # fmt: skip
_SKIPPED: Final = frozenset({"Figure", "Artifact"})
_GROUPS: Final = frozenset({"THead", "TBody", "TFoot"})
_CELLS: Final = frozenset({"TH", "TD", "Caption"})
_LIGATURES: Final[Mapping[str, str]] = {
    chr(0xFB00 + i): letters for i, letters in enumerate(("ff", "fi", "fl", "ffi", "ffl", "st", "st"))
}
_DEEPEST: Final = 100
_LINE: Final = 1.7  # of a character's size: no further down is the next line of a text
_MOST_ROLES: Final = 5
_MOST_SPAN: Final = 100

ContentMark = tuple[int, int]
"""A page, from 0, and the number of a piece of marked content on it."""


@dataclass(slots=True)
class StructureNode:
    """An element of the structure, with its elements and pieces of marked content in their order."""

    kind: str
    attributes: dict[str, str | None] = field(default_factory=dict)
    kids: list[StructureNode | ContentMark] = field(default_factory=list)
    alternative: str = ""

    def has(self, kind: str) -> bool:
        """Whether an element of a kind is anywhere below."""
        return any(
            isinstance(kid, StructureNode) and (kid.kind == kind or kid.has(kind)) for kid in self.kids
        )

    def marks(self) -> Iterator[ContentMark]:
        """Yield the pieces of marked content below, those of pictures and of what is no content left out."""
        for kid in self.kids:
            if not isinstance(kid, StructureNode):
                yield kid
            elif kid.kind not in _SKIPPED:
                yield from kid.marks()


class _Reader(HtmlReader):
    """Knows on which page the last table ended, and where in the text."""

    page = -2
    end = 0

    def read_table(self, node: StructureNode, content: Mapping[ContentMark, list[Char]]) -> None:
        """Read a table; it may be the rest of the last one if nothing was said since, on the page before.

        Some writers make a table of their own for each page, with the header and caption again or without them.
        """
        pages = [page for page, _ in node.marks()] or [self.page]
        follows = min(pages) == self.page + 1 and not "".join(self.text[self.end :]).strip()
        before = len(self.grids)
        _fill_holes(node, content)
        _write_element(node, content, self)
        self.page, self.end = max(pages), len(self.text)
        if follows and 0 < before < len(self.grids):
            made = self.grids[-1]
            again = made.caption in ("", self.grids[before - 1].caption)
            self.grids[-1] = replace(made, continues=again)


def tagged_document(pdf: Any) -> PublishedFile | None:
    """Read the structure tree of an open pdfplumber PDF; None where it has none or no table in it.

    Text that the tree does not hold, such as page headers, comes last. A header row that is printed again on the
    next page belongs to one cell there, and is read once.
    """
    root = structure_tree(pdf)
    if root is None or not root.has("Table"):
        return None
    content: dict[ContentMark, list[Char]] = defaultdict(list)
    for number, page in enumerate(pdf.pages):
        for mark, char in marked_characters(page.chars):
            content[number, mark].append(char)
    reader = _Reader()
    _write(root, content, reader)
    held = set(root.marks()) | set(_skipped(root))
    for place, chars in content.items():
        if place not in held:
            reader.handle_starttag("p", [])
            reader.handle_data(text_of(chars))
    return reader.document("pdf")


def _fill_holes(table: StructureNode, content: Mapping[ContentMark, list[Char]]) -> None:
    """Put cells where a row lacks them: browsers leave empty ones out, and only the page says where they were."""
    rows = _rows_of(table)
    covered = _covered(rows)
    widest = max(
        (
            len(over) + sum(_span(cell, "colspan") for cell in _cells_of(row))
            for row, over in zip(rows, covered, strict=True)
        ),
        default=0,
    )
    free = [[i for i in range(widest) if i not in over] for over in covered]
    known: dict[int, list[tuple[float, float]]] = defaultdict(list)
    plain = [all(_span(cell, "colspan") == 1 for cell in _cells_of(row)) for row in rows]
    for row, places, is_plain in zip(rows, free, plain, strict=True):
        if is_plain and len(_cells_of(row)) == len(places):
            for i, cell in zip(places, _cells_of(row), strict=True):
                known[i] += [side] if (side := _sides(cell, content)) is not None else []
    columns = {
        i: (min(left for left, _ in sides), max(right for _, right in sides))
        for i, sides in known.items()
        if sides
    }
    for row, places, is_plain in zip(rows, free, plain, strict=True):
        cells = _cells_of(row)
        sides = [_sides(cell, content) for cell in cells]
        if not is_plain or len(cells) >= len(places) or None in sides or not set(places) <= set(columns):
            continue
        at = [places[_column(side, [columns[i] for i in places])] for side in sides if side is not None]
        if len(set(at)) == len(at) and at == sorted(at):
            held = dict(zip(at, cells, strict=True))
            row.kids = [held.get(i, StructureNode("TD")) for i in places]


def _covered(rows: Sequence[StructureNode]) -> list[set[int]]:
    """Return the columns of each row that cells of the rows above it go down into."""
    found: list[set[int]] = []
    down: dict[int, int] = {}
    for row in rows:
        found.append(set(down))
        begun: dict[int, int] = {}
        at = 0
        for cell in _cells_of(row):
            while at in down:
                at += 1
            across, rest = _span(cell, "colspan"), _span(cell, "rowspan") - 1
            begun |= {i: rest for i in range(at, at + across) if rest}
            at += across
        down = {i: rest - 1 for i, rest in down.items() if rest > 1} | begun
    return found


def _span(cell: StructureNode, name: str) -> int:
    value = cell.attributes.get(name) or ""
    return min(max(int(value), 1), _MOST_SPAN) if value.isdecimal() else 1


def _rows_of(node: StructureNode) -> list[StructureNode]:
    kids = [kid for kid in node.kids if isinstance(kid, StructureNode)]
    return [
        row
        for kid in kids
        for row in ([kid] if kid.kind == "TR" else _rows_of(kid) if kid.kind in _GROUPS else [])
    ]


def _cells_of(row: StructureNode) -> list[StructureNode]:
    return [kid for kid in row.kids if isinstance(kid, StructureNode) and kid.kind in ("TH", "TD")]


def _sides(cell: StructureNode, content: Mapping[ContentMark, list[Char]]) -> tuple[float, float] | None:
    chars = [char for mark in cell.marks() for char in content.get(mark, []) if char["text"].strip()]
    return (min(char["x0"] for char in chars), max(char["x1"] for char in chars)) if chars else None


def _column(place: tuple[float, float], columns: Sequence[tuple[float, float]]) -> int:
    return max(
        range(len(columns)),
        key=lambda i: min(place[1], columns[i][1]) - max(place[0], columns[i][0]),
    )


def marked_characters(chars: Sequence[Char]) -> Iterator[tuple[int, Char]]:
    """Yield characters with the number of their marked content, -1 for none.

    Content within marked content, such as a ligature with its letters, has no number of its own, and neither has what
    comes after it: it belongs to the characters that it follows on the line, and so does the next line of a text that
    went on in this way.
    """
    mark, goes_on, before = -1, False, None
    for char in chars:
        if char["mcid"] is not None:
            mark, goes_on = char["mcid"], False
        elif before is None or mark == -1:
            mark = -1
        elif _is_below(before, char):
            mark = mark if goes_on and _is_next_line(before, char) else -1
        elif _is_apart(before, char):
            mark = -1
        else:
            goes_on = True
        before = char
        yield mark, char


def structure_tree(pdf: Any) -> StructureNode | None:
    """Return the structure of an open pdfplumber PDF; None where it has none."""
    from pdfminer.pdftypes import resolve1

    root = resolve1(pdf.doc.catalog.get("StructTreeRoot"))
    if not isinstance(root, dict):
        return None
    pages = {page.page_obj.pageid: number for number, page in enumerate(pdf.pages)}
    roles = resolve1(root.get("RoleMap"))
    return _node(root, None, pages, roles if isinstance(roles, dict) else {}, 0)


def _node(
    raw: dict[str, Any], page: int | None, pages: Mapping[int, int], roles: Any, depth: int
) -> StructureNode:
    from pdfminer.pdftypes import resolve1

    page = pages.get(getattr(raw.get("Pg"), "objid", -1), page)
    node = StructureNode(_kind(raw.get("S"), roles), _attributes(raw.get("A")))
    node.alternative = _pdf_text(raw.get("Alt"))
    kids = resolve1(raw.get("K"))
    for kid in kids if isinstance(kids, list) else [kids]:
        kid = resolve1(kid)
        if isinstance(kid, int) and page is not None:
            node.kids.append((page, kid))
        elif isinstance(kid, dict) and "MCID" in kid:
            on = pages.get(getattr(kid.get("Pg"), "objid", -1), page)
            if on is not None:
                node.kids.append((on, kid["MCID"]))
        elif isinstance(kid, dict) and "S" in kid and depth < _DEEPEST:
            node.kids.append(_node(kid, page, pages, roles, depth + 1))
    return node


def _pdf_text(raw: Any) -> str:
    from pdfminer.pdftypes import resolve1
    from pdfminer.utils import decode_text

    found = resolve1(raw)
    return str(decode_text(found)) if isinstance(found, bytes) else ""


def _kind(name: Any, roles: Mapping[str, Any]) -> str:
    kind = str(getattr(name, "name", ""))
    for _ in range(_MOST_ROLES):
        if kind in _ELEMENTS or kind not in roles:
            break
        kind = str(getattr(roles[kind], "name", ""))
    return kind


def _attributes(raw: Any) -> dict[str, str | None]:
    from pdfminer.pdftypes import resolve1

    found = resolve1(raw)
    spans: dict[str, str | None] = {}
    for part in found if isinstance(found, list) else [found]:
        part = resolve1(part)
        if isinstance(part, dict):
            spans |= {name.lower(): str(part[name]) for name in ("RowSpan", "ColSpan") if name in part}
    return spans


def _skipped(node: StructureNode) -> Iterator[ContentMark]:
    for kid in node.kids:
        if isinstance(kid, StructureNode):
            if kid.kind in _SKIPPED:
                yield from marks_below(kid)
            else:
                yield from _skipped(kid)


def marks_below(node: StructureNode) -> Iterator[ContentMark]:
    """Yield every piece of marked content below an element."""
    for kid in node.kids:
        if isinstance(kid, StructureNode):
            yield from marks_below(kid)
        else:
            yield kid


def _write(node: StructureNode, content: Mapping[ContentMark, list[Char]], reader: _Reader) -> None:
    """Tell the reader of HTML what it would have met in a page of the same structure."""
    if node.kind == "Table":
        reader.read_table(node, content)
    elif node.kind not in _SKIPPED:
        _write_element(node, content, reader)


def _write_element(node: StructureNode, content: Mapping[ContentMark, list[Char]], reader: _Reader) -> None:
    element = _ELEMENTS.get(node.kind)
    if element:
        reader.handle_starttag(element, list(node.attributes.items()))
    if node.kind in _CELLS and not node.has("Table"):
        _cell(node, content, reader)
    else:
        lists = _lists_blocks(node)
        for kid in node.kids:
            if not isinstance(kid, StructureNode):
                reader.handle_data(text_of(content.get(kid, [])))
                continue
            if lists:
                reader.handle_starttag("div", [])
            _write(kid, content, reader)
            if lists:
                reader.handle_endtag("div")
    if element:
        reader.handle_endtag(element)


def _lists_blocks(node: StructureNode) -> bool:
    """Whether an element holds several others that PDF has no word for, as a browser writes names and their values."""
    kids = node.kids
    return len(kids) > 1 and all(
        isinstance(kid, StructureNode)
        and kid.kind == "NonStruct"
        and any(isinstance(leaf, StructureNode) for leaf in kid.kids)
        for kid in kids
    )


def _cell(node: StructureNode, content: Mapping[ContentMark, list[Char]], reader: HtmlReader) -> None:
    by_page: dict[int, list[Char]] = defaultdict(list)
    for mark in node.marks():
        by_page[mark[0]] += content.get(mark, [])
    written = []
    for chars in by_page.values():
        words = text_of(chars)
        if words in written:
            continue
        written.append(words)
        main, aside = _parted(chars)
        reader.handle_data(f"{text_of(main)} ")
        if aside:
            reader.handle_starttag("small", [])
            reader.handle_data(f"{text_of(aside)} ")
            reader.handle_endtag("small")


def _parted(chars: Sequence[Char]) -> tuple[Sequence[Char], Sequence[Char]]:
    """Split a cell's characters into its text and what is only said next to it: an interval, a footnote mark."""
    starts = [i for i in range(1, len(chars)) if _is_below(chars[i - 1], chars[i])]
    for i in starts:
        # Lines of another size, or words below a number, are about what is above them.
        alike = SMALL < chars[i]["size"] / chars[0]["size"] < 1 / SMALL
        if not alike or (i == starts[0] and is_noted([text_of(chars[:i]), text_of(chars[i:])])):
            return chars[:i], chars[i:]
    limit = SMALL * max((char["size"] for char in chars if char["text"].strip()), default=0.0)
    large = [char for char in chars if char["size"] >= limit]
    if read_number(text_of(large)) is not None:
        return large, [char for char in chars if char["size"] < limit]
    marks = list(raised(chars))
    return [char for char in chars if char not in marks], marks


def _is_below(before: Char, char: Char) -> bool:
    return bool(abs(char["bottom"] - before["bottom"]) > max(char["size"], before["size"]) / 2)


def _is_next_line(before: Char, char: Char) -> bool:
    size = before["size"]
    drop = char["bottom"] - before["bottom"]
    return bool(
        0 < drop < _LINE * size and char["x0"] < before["x0"] and SMALL < char["size"] / size < 1 / SMALL
    )


def _is_apart(before: Char, char: Char) -> bool:
    size, gap = max(char["size"], before["size"]), char["x0"] - before["x1"]
    return not -size < gap < size / 5


def text_of(chars: Sequence[Char]) -> str:
    """Characters in the order of the content, with a space where there is a gap or another line begins."""
    parts: list[str] = []
    before: Char | None = None
    for char in chars:
        if before is not None and (_is_below(before, char) or _is_apart(before, char)):
            parts.append(" ")
        letter = str(char["text"])
        parts.append(_LIGATURES.get(letter, letter))
        before = char
    return "".join(parts)
