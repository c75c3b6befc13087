"""Words of PDF pages in lines, with the places where they stand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

from audit_lib.check.compact_cells import numbers_in
from audit_lib.check.pdf_neighbours import reading_order
from audit_lib.check.published_numbers import read_number, says_none

_SAME_LINE: Final = 0.5  # of a line's height
_BESIDE: Final = 0.2  # of a mark's size: white space between it and its word
_BETWEEN: Final = ("/", "of")  # two numbers of one cell: "123 of 456"
_PAGE_NUMBER: Final = re.compile(r"\W*(?:page )?([0-9]{1,4})(?: ?(?:of|/) ?[0-9]{1,4})?\W*", re.IGNORECASE)
_EDGE: Final = re.compile(r"://|# ?(?:of|/) ?\d|\d[/.-]\d{1,2}[/.-]\d{2,4},? \d{1,2}:\d\d")
_SAME_PLACE: Final = 1.0  # points
_APART: Final = 1.0  # white space over the last line of a page, in heights
_DASHES: Final = ("-", "\u2013", "\u2014")
_SPACE: Final = 0.5  # of a dash's size: more white space parts two cells
_RULE: Final = re.compile("[-=_\u2500\u2550]{5,}")  # a line drawn with characters
_MARK: Final = re.compile("[\u00b9\u00b2\u00b3\u2020\u2021*]+")  # of footnotes
_ANSWERS: Final = frozenset({"yes", "no", "\u2713", "\u2717"})  # of a column such as "Below 80%"


@dataclass(frozen=True, slots=True)
class PlacedWord:
    """A word, or several that were joined."""

    text: str
    left: float
    right: float
    size: float
    start: float
    """Where the words begin that were drawn with it: a text that is too long for its cell goes over the next one."""
    parts: tuple[PlacedWord, ...] = ()
    """The words of several that were joined, where they are known."""

    @property
    def middle(self) -> float:
        """Where its middle is."""
        return (self.left + self.right) / 2

    @property
    def is_number(self) -> bool:
        """Whether it is what a column of numbers holds: one, words for none, or an answer."""
        if self.text.casefold() in _ANSWERS:
            return True
        if numbers_in(self.text):
            return True
        return read_number(self.text) is not None or (says_none(self.text) and self.text != "")


@dataclass(slots=True)
class TextLine:
    """A line of words on a page, from 0."""

    page: int
    top: float
    bottom: float
    words: list[PlacedWord]
    is_taken: bool = False  # a row of a table, or part of one

    @property
    def text(self) -> str:
        """Its words."""
        return " ".join(word.text for word in self.words)

    def distance(self, other: TextLine) -> float:
        """Return the white space between two lines, in heights; none counts across pages."""
        if self.page != other.page:
            return float("inf")
        gap = max(self.top, other.top) - min(self.bottom, other.bottom)
        return gap / (other.bottom - other.top)

    @property
    def numbers(self) -> list[PlacedWord]:
        """Words at its end that are numbers; a dash that ends a label, whose rest stands below, is none."""
        found: list[PlacedWord] = []
        for word in reversed(self.words):
            if not word.is_number:
                break
            found.insert(0, word)
        before = self.words[-len(found) - 1 : -len(found)] if found else []
        return found[1:] if before and _ends_label(before[0], found[0]) else found


def _ends_label(label: PlacedWord, word: PlacedWord) -> bool:
    """Whether a dash stands behind a word as in a sentence."""
    is_near = word.start == label.start or word.left - label.right < _SPACE * word.size
    return word.text in _DASHES and is_near


def lines_of(pages: Sequence[Sequence[Mapping[str, Any]]]) -> list[TextLine]:
    """Put the words of pages into lines, as pdfplumber extracts them with their ``size``.

    Of tables next to each other the lines of the left one come first.
    """
    found: list[list[TextLine]] = []
    for number, words in enumerate(pages):
        lines = [line for group in reading_order(words) for line in _lines(group, number)]
        lowest = max((line.bottom for line in lines), default=0.0)
        found.append([line for line in lines if line.bottom < lowest or not _is_page_number(line)])
    return [line for lines in _without_edges(found) for line in lines]


def _without_edges(pages: Sequence[list[TextLine]]) -> list[list[TextLine]]:
    """Leave out what a printer writes over and under each page, but over the first and under the last one.

    Between the lines of two pages it would cut a table in two.
    """
    heads = [min(lines, key=lambda line: line.top, default=None) for lines in pages]
    feet = [max(lines, key=lambda line: line.bottom, default=None) for lines in pages]
    left_out = [now for before, now in pairwise(heads) if _is_edge(before, now)]
    left_out += [now for now, after in pairwise(feet) if _is_edge(now, after)]
    apart = [foot for foot, lines in zip(feet, pages, strict=True) if foot and _stands_apart(foot, lines)]
    left_out += [now for now, after in pairwise(apart) if _is_foot(now, after)]
    return [[line for line in lines if not any(line is one for one in left_out)] for lines in pages]


def _is_edge(line: TextLine | None, other: TextLine | None) -> bool:
    """Whether two lines of two pages are one text at one place, with an address, a time or the page's number."""
    if line is None or other is None or abs(line.top - other.top) > _SAME_PLACE:
        return False
    texts = [re.sub(rf"(?<!\d){one.page + 1}(?= ?(?:of|/) ?\d)", "#", one.text) for one in (line, other)]
    return texts[0] == texts[1] and (_EDGE.search(texts[0]) is not None)


def _stands_apart(foot: TextLine, lines: Sequence[TextLine]) -> bool:
    return all(foot.distance(line) > _APART for line in lines if line is not foot)


def _is_foot(line: TextLine, other: TextLine) -> bool:
    """Whether the last lines of two pages, apart from what is over them, are one text without a number."""
    is_there = abs(line.top - other.top) <= _SAME_PLACE and line.page + 1 == other.page
    return is_there and line.text == other.text and not line.numbers


def _is_page_number(line: TextLine) -> bool:
    """Whether a line, the last of its page, holds no more than the page's number."""
    found = _PAGE_NUMBER.fullmatch(line.text)
    return found is not None and int(found[1]) == line.page + 1


def _lines(words: Sequence[Mapping[str, Any]], page: int) -> list[TextLine]:
    lines: list[TextLine] = []
    for word in sorted(words, key=lambda w: (w["bottom"], w["x0"])):
        if _RULE.fullmatch(word["text"]):
            continue
        made = PlacedWord(word["text"], word["x0"], word["x1"], word["size"], word.get("start", word["x0"]))
        height = word["bottom"] - word["top"]
        if lines and abs(word["bottom"] - lines[-1].bottom) < _SAME_LINE * height:
            lines[-1].words.append(made)
        else:
            lines.append(TextLine(page, word["top"], word["bottom"], [made]))
    for line in lines:
        line.words = _joined(sorted(line.words, key=lambda word: (word.start, word.left)))
    return lines


def _joined(words: Sequence[PlacedWord]) -> list[PlacedWord]:
    """Put back together a percent sign and its number, the numbers of one cell, and a footnote's mark and its word."""
    found: list[PlacedWord] = []
    for word in words:
        if word.text == "%" and found and found[-1].is_number:
            last = found.pop()
            word = PlacedWord(f"{last.text}%", last.left, word.right, last.size, last.start)
        if len(found) > 1 and found[-1].text in _BETWEEN and word.is_number and found[-2].is_number:
            first, sign = found[-2:]
            text = f"{first.text} {sign.text} {word.text}"
            word = PlacedWord(text, first.left, word.right, word.size, first.start)
            found[-2:] = []
        found.append(word)
    for mark in [word for word in found if _MARK.fullmatch(word.text)]:
        beside = [w for w in found if w is not mark and abs(mark.left - w.right) < _BESIDE * mark.size]
        if beside:
            word = beside[0]
            found[found.index(word)] = replace(word, text=word.text + mark.text, right=mark.right)
            found.remove(mark)
    return found
