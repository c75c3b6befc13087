"""Headings of PDF pages, which are larger than the text, and what stands right below a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Final

from audit_lib.check.page_text import paragraphs
from audit_lib.check.pdf_lines import TextLine

_LARGER: Final = 1.08  # times the size of the text
_MOST_WORDS: Final = 14
_CLOSE: Final = 0.6  # white space between two lines of one heading, in heights
_SAME: Final = 0.1  # points


class PdfHeadings:
    """The headings over a place of a PDF, the outermost first, by their sizes.

    Parameters
    ----------
    lines : sequence of TextLine
        All lines, which say how large the text is.
    """

    def __init__(self, lines: Sequence[TextLine]) -> None:
        self._text = median([word.size for line in lines for word in line.words] or [0.0])
        self._open: list[tuple[float, TextLine, str]] = []

    def is_heading(self, line: TextLine) -> bool:
        """Whether a line is larger than the text, short, and no sentence."""
        return (
            min(word.size for word in line.words) > _LARGER * self._text
            and len(line.words) <= _MOST_WORDS
            and not line.text.endswith((".", ",", ";"))
            and not line.numbers[1:]
        )

    def read(self, lines: Iterable[TextLine]) -> None:
        """Take in the lines before a table."""
        for line in filter(self.is_heading, lines):
            size = min(word.size for word in line.words)
            last = self._open[-1] if self._open else None
            if last is not None and abs(last[0] - size) < _SAME and line.distance(last[1]) < _CLOSE:
                self._open[-1] = (size, line, f"{last[2]} {line.text}")
                continue
            while self._open and self._open[-1][0] < size + _SAME:
                self._open.pop()
            self._open.append((size, line, line.text))

    def trail(self, caption: str) -> tuple[str, ...]:
        """Return the headings over a table of a caption, which may be one of them."""
        return tuple(text for _, _, text in self._open if text != caption)

    def notes(self, lines: Iterable[TextLine]) -> str:
        """Return the paragraphs right below a table, up to the next heading."""
        own: list[TextLine] = []
        for line in lines:
            if self.is_heading(line):
                break
            own.append(line)
        return "\n".join(paragraphs(own))
