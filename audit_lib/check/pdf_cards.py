"""Words of a PDF in the order in which its structure, or else its columns, have them: cards are read from these.

Lines over the width of a page would mix cards that stand next to each other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from audit_lib.check.headers import NUMBERS, meaning_of
from audit_lib.check.pdf_characters import Char
from audit_lib.check.pdf_tags import ContentMark, StructureNode, marked_characters, structure_tree, text_of

_BLOCKS: Final = frozenset(
    {"P", "H", "LI", "LBody", "Lbl", "Caption", *(f"H{level}" for level in range(1, 7))}
)
_NEUTRAL: Final = "NonStruct"  # what browsers write for elements that PDF has no word for
_SAME: Final = 3.0  # points
_FEWEST: Final = 4  # names of numbers that begin at one place, which make it a column
_GAP: Final = 1.5  # of a letter's size: white space that parts cards
_LONGEST: Final = 6  # words of a name


def structured_lines(pdf: Any) -> list[str]:
    """Return the text of each element of a tagged PDF, in order; nothing of any other PDF."""
    root = structure_tree(pdf)
    if root is None:
        return []
    content: dict[ContentMark, list[Char]] = defaultdict(list)
    for number, page in enumerate(pdf.pages):
        for mark, char in marked_characters(page.chars):
            content[number, mark].append(char)
    return [line for line in _lines(root, content) if line]


def _lines(node: StructureNode, content: Mapping[ContentMark, list[Char]]) -> Iterator[str]:
    is_leaf = not any(isinstance(kid, StructureNode) for kid in node.kids)
    if (node.kind in _BLOCKS and not _holds_blocks(node)) or (node.kind == _NEUTRAL and is_leaf):
        yield " ".join(filter(None, (text_of(content.get(mark, [])).strip() for mark in node.marks())))
        return
    for kid in node.kids:
        if isinstance(kid, StructureNode):
            yield from _lines(kid, content)
        else:
            yield text_of(content.get(kid, [])).strip()


def _holds_blocks(node: StructureNode) -> bool:
    return any(
        isinstance(kid, StructureNode) and (kid.kind in _BLOCKS or _holds_blocks(kid)) for kid in node.kids
    )


def lines_by_column(pages: Sequence[Sequence[Mapping[str, Any]]]) -> list[str]:
    """Return the lines of each column of cards on each page: columns begin where names of numbers do."""
    found: list[str] = []
    for words in pages:
        starts = _starts(words)
        columns: dict[float, list[Mapping[str, Any]]] = defaultdict(list)
        for word in words:
            columns[max((s for s in starts if s <= word["x0"] + _SAME), default=0.0)].append(word)
        for _, held in sorted(columns.items()):
            found += [" ".join(word["text"] for word in line) for line in _rows(held)]
    return found


def _rows(words: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    line: list[Mapping[str, Any]] = []
    for word in sorted(words, key=lambda w: (w["bottom"], w["x0"])):
        if line and word["bottom"] - line[0]["bottom"] > (word["bottom"] - word["top"]) / 2:
            yield sorted(line, key=lambda w: float(w["x0"]))
            line = []
        line.append(word)
    if line:
        yield sorted(line, key=lambda w: float(w["x0"]))


def _starts(words: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return where names of numbers begin, each place once."""
    begun: Counter[float] = Counter()
    for line in _rows(words):
        for piece in _pieces(line):
            if meaning_of(" ".join(word["text"] for word in piece[:_LONGEST])) in NUMBERS:
                begun[round(piece[0]["x0"] / _SAME) * _SAME] += 1
    return sorted(start for start, times in begun.items() if times >= _FEWEST)


def _pieces(line: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    piece: list[Mapping[str, Any]] = []
    for word in line:
        if piece and word["x0"] - piece[-1]["x1"] > _GAP * word["size"]:
            yield piece
            piece = []
        piece.append(word)
    if piece:
        yield piece
