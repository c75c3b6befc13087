"""What stands in each cell of a ruled table of a PDF: words that were drawn as one, in the cell where they begin.

Words that are longer than their cell go over the line into the next one, over the words there. Letter by letter both
would be torn; in the order in which they were drawn both are whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_INSIDE: Final = 0.6  # of a letter's width: a word may begin on the line itself
_SAME_LINE: Final = 0.5  # of a word's height
_LEVEL: Final = 0.15  # of a letter's size: what stands lower or higher is another line
_SPACE: Final = 0.15  # of a letter's size: white space that parts words where no space was drawn
_BACK: Final = 0.3  # of a letter's size: kerning takes a letter back no further
_BESIDE: Final = 0.1  # of a letter's size: a drawn space that touches both words
_HYPHEN: Final = re.compile(r"(?<=[a-z])-\n(?=[a-z])")  # where a line's end cut a word

Box = tuple[float, float, float, float]


@dataclass(slots=True)
class Run:
    """Words that were drawn one after another, with no more than one space between two: texts and where each lies."""

    words: list[tuple[str, float, float]]
    top: float
    bottom: float
    size: float

    @property
    def text(self) -> str:
        """Its words."""
        return " ".join(word for word, _, _ in self.words)

    @property
    def x0(self) -> float:
        """Where it begins."""
        return self.words[0][1]

    @property
    def x1(self) -> float:
        """Where it ends."""
        return self.words[-1][2]

    def as_words(self) -> list[dict[str, Any]]:
        """Return its words as pdfplumber extracts them, each with the place where the run begins."""
        return [
            {"text": text, "x0": x0, "x1": x1, "top": self.top, "bottom": self.bottom, "size": self.size,
             "start": self.x0}
            for text, x0, x1 in self.words
        ]  # fmt: skip


def runs_of(chars: Sequence[Mapping[str, Any]]) -> list[Run]:
    """Put the characters of a page, in the order of its content, into runs."""
    runs: list[Run] = []
    space: Mapping[str, Any] | None = None
    for char in chars:
        letters = unicodedata.normalize("NFKC", char["text"])  # a ligature is letters
        if not letters.strip():
            # A second space parts two runs.
            space = char if space is None and runs and _touches(runs[-1].x1, char) else _NOWHERE
            continue
        size = char["size"]
        last = runs[-1] if runs else None
        goes_on = last is not None and abs(char["bottom"] - last.bottom) < _LEVEL * size
        if last is not None and goes_on and space is None and _is_next(last, char):
            text, x0, _ = last.words[-1]
            last.words[-1] = (text + letters, x0, char["x1"])
        elif last is not None and goes_on and space is not None and _touches(space["x1"], char):
            last.words.append((letters, char["x0"], char["x1"]))
        else:
            runs.append(Run([(letters, char["x0"], char["x1"])], char["top"], char["bottom"], size))
        space = None
    return runs


def _is_next(last: Run, char: Mapping[str, Any]) -> bool:
    """Whether a character belongs to the word before it; a capital behind a small letter begins another one."""
    before = last.words[-1][0][-1]
    near = -_BACK * char["size"] < char["x0"] - last.x1 < _SPACE * char["size"]
    return near and not (before.islower() and char["text"].isupper())


_NOWHERE: Final[Mapping[str, Any]] = {"x1": float("-inf")}


def _touches(end: float, char: Mapping[str, Any]) -> bool:
    return bool(abs(char["x0"] - end) < _BESIDE * char["size"])


def cell_texts(table: Any, runs: Sequence[Run]) -> list[list[str | None]]:
    """Return the text of each cell, its lines parted by line ends; None where a merged cell covers a place."""
    return [
        [
            None if cell is None else _text([run for run in runs if _begins_in(run, cell)])
            for cell in row.cells
        ]
        for row in table.rows
    ]


def _begins_in(run: Run, cell: Box) -> bool:
    x0, top, x1, bottom = cell
    start = run.x0 + _INSIDE * (run.x1 - run.x0) / len(run.text)
    return x0 <= start < x1 and top <= (run.top + run.bottom) / 2 < bottom


def _text(runs: Sequence[Run]) -> str:
    lines: list[list[Run]] = []
    for run in sorted(runs, key=lambda run: run.bottom):
        if lines and run.bottom - lines[-1][0].bottom < _SAME_LINE * (run.bottom - run.top):
            lines[-1].append(run)
        else:
            lines.append([run])
    return _HYPHEN.sub(
        "", "\n".join(" ".join(run.text for run in sorted(line, key=lambda run: run.x0)) for line in lines)
    )
