"""What stands in each cell of a ruled table of a PDF: words that were drawn as one, in the cell where they begin.

Words that are longer than their cell go over the line into the next one, over the words there. Letter by letter both
would be torn; in the order in which they were drawn both are whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

_INSIDE: Final = 0.6  # of a letter's width: a word may begin on the line itself
_SAME_LINE: Final = 0.5  # of a word's height
_SAME_EDGE: Final = 1.0  # points
_LEVEL: Final = 0.15  # of a letter's size: what stands lower or higher is another line
_SPACE: Final = 0.15  # of a letter's size: white space that parts words where no space was drawn
_BACK: Final = 0.3  # of a letter's size: kerning takes a letter back no further
_BESIDE: Final = 0.1  # of a letter's size: a drawn space that touches both words
_LIGATURE: Final = re.compile("[\ufb00-\ufb06]")
_HYPHEN: Final = re.compile(r"(?<=[a-z])-\n(?=[a-z])")  # where a line's end cut a word

_GLUED: Final = re.compile(r"(?P<first>\d?\.\d{2,4})(?P<last>\d?\.\d{2,4})")  # ratios of two cells

Box = tuple[float, float, float, float]


@dataclass(slots=True)
class DrawnWords:
    """Words that were drawn one after another, with no more than one space between two: texts and where each lies."""

    words: list[tuple[str, float, float]]
    top: float
    bottom: float
    size: float

    @property
    def text(self) -> str:
        """The words, a space between two."""
        return " ".join(word for word, _, _ in self.words)

    @property
    def x0(self) -> float:
        """Where they begin."""
        return self.words[0][1]

    @property
    def x1(self) -> float:
        """Where they end."""
        return self.words[-1][2]

    def as_words(self) -> list[dict[str, Any]]:
        """Return its words as pdfplumber extracts them, each with the place where the first of them begins."""
        return [
            {"text": text, "x0": x0, "x1": x1, "top": self.top, "bottom": self.bottom, "size": self.size,
             "start": self.x0}
            for text, x0, x1 in self.words
        ]  # fmt: skip


def drawn_words(chars: Sequence[Mapping[str, Any]]) -> list[DrawnWords]:
    """Put the characters of a page, in the order of its content, together into words that were drawn as one."""
    drawn: list[DrawnWords] = []
    space: Mapping[str, Any] | None = None
    for char in chars:
        letters = _LIGATURE.sub(lambda found: unicodedata.normalize("NFKC", found[0]), char["text"])
        if not letters.strip():
            # A second space parts what was drawn apart.
            space = char if space is None and drawn and _touches(drawn[-1].x1, char) else _NOWHERE
            continue
        size = char["size"]
        last = drawn[-1] if drawn else None
        goes_on = last is not None and abs(char["bottom"] - last.bottom) < _LEVEL * size
        if last is not None and goes_on and space is None and _is_next(last, char):
            text, x0, _ = last.words[-1]
            last.words[-1] = (text + letters, x0, char["x1"])
        elif last is not None and goes_on and space is not None and _touches(space["x1"], char):
            last.words.append((letters, char["x0"], char["x1"]))
        else:
            drawn.append(DrawnWords([(letters, char["x0"], char["x1"])], char["top"], char["bottom"], size))
        space = None
    return [part for words in drawn for part in _unglued(words)]


def _unglued(drawn: DrawnWords) -> list[DrawnWords]:
    """Part two numbers of as many decimals without a space between them: cells that touch."""
    text, x0, x1 = drawn.words[0]
    found = _GLUED.fullmatch(text) if len(drawn.words) == 1 else None
    if found is None or len(found["first"].partition(".")[2]) != len(found["last"].partition(".")[2]):
        return [drawn]
    middle = x0 + (x1 - x0) * len(found["first"]) / len(text)
    return [
        replace(drawn, words=[(found["first"], x0, middle)]),
        replace(drawn, words=[(found["last"], middle, x1)]),
    ]


def _is_next(last: DrawnWords, char: Mapping[str, Any]) -> bool:
    """Whether a character belongs to the word before it.

    A capital or a digit right behind a small letter begins another one, and a digit right behind a bracket or a percent
    sign: two cells touch.
    """
    before = last.words[-1][0][-1]
    near = -_BACK * char["size"] < char["x0"] - last.x1 < _SPACE * char["size"]
    is_other = (before.islower() and char["text"].isupper()) or (
        (before.islower() or before in ")%") and char["text"].isdigit()
    )
    return near and not is_other


_NOWHERE: Final[Mapping[str, Any]] = {"x1": float("-inf")}


def _touches(end: float, char: Mapping[str, Any]) -> bool:
    return bool(abs(char["x0"] - end) < _BESIDE * char["size"])


def cell_texts(table: Any, drawn: Sequence[DrawnWords]) -> list[list[str | None]]:
    """Return the text of each cell, its lines parted by line ends.

    A merged cell's text is in each place that the cell covers; None where no cell is.
    """
    cells = [cell for row in table.rows for cell in row.cells if cell is not None]
    texts = {cell: _text([words for words in drawn if _begins_in(words, cell)]) for cell in cells}
    lefts = sorted({cell[0] for cell in cells})
    found: list[list[str | None]] = []
    for row in table.rows:
        own = [cell for cell in row.cells if cell is not None]
        level = (max(cell[1] for cell in own) + min(cell[3] for cell in own)) / 2
        over = [
            cell or (_cell_over(cells, lefts[i], level) if i < len(lefts) else None)
            for i, cell in enumerate(row.cells)
        ]
        found.append([None if cell is None else texts[cell] for cell in over])
    return found


def _cell_over(cells: Sequence[Box], left: float, level: float) -> Box | None:
    """Return the cell over a place, which begins further up or left."""
    at = left + _SAME_EDGE
    return next((cell for cell in cells if cell[0] <= at < cell[2] and cell[1] <= level < cell[3]), None)


def _begins_in(words: DrawnWords, cell: Box) -> bool:
    x0, top, x1, bottom = cell
    start = words.x0 + _INSIDE * (words.x1 - words.x0) / len(words.text)
    return x0 <= start < x1 and top <= (words.top + words.bottom) / 2 < bottom


def _text(drawn: Sequence[DrawnWords]) -> str:
    lines: list[list[DrawnWords]] = []
    for words in sorted(drawn, key=lambda words: words.bottom):
        if lines and words.bottom - lines[-1][0].bottom < _SAME_LINE * (words.bottom - words.top):
            lines[-1].append(words)
        else:
            lines.append([words])
    return _HYPHEN.sub(
        "",
        "\n".join(
            " ".join(words.text for words in sorted(line, key=lambda words: words.x0)) for line in lines
        ),
    )
