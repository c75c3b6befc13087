"""Pages set in two columns: the white space from top to bottom that parts them, with text or a table on either side.

A table alone has such white space, too, between its labels and its numbers. So one side has to be prose, and the other
prose or a table of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from audit_lib.check.row_labels import categories_in

Word = Mapping[str, Any]

SPACE: Final = 0.8  # of a word's size: less white space between two words is a space
_SAME_LINE: Final = 0.5  # of a word's height
_FEWEST: Final = 2  # categories that make words the labels of a table
_PROSE: Final = 5  # words in a row that make a line one of prose
_PROSE_LINES: Final = 4
_LONGEST_LABEL: Final = 9  # words: a short line that names a category is a label
_MIDDLE: Final = (0.25, 0.75)  # of the text's width: where the white space may be


def page_columns(words: Sequence[Word]) -> tuple[float, float, float] | None:
    """Return where two columns of a page are parted, and from where to where down the page; None where none are."""
    if not words:
        return None
    lines = lines_by_place(words)
    left, right = min(word["x0"] for word in words), max(word["x1"] for word in words)
    low, high = (left + share * (right - left) for share in _MIDDLE)
    best: tuple[int, float, float, float] | None = None
    for x in _candidates(lines, low, high):
        for first, last in _runs(lines, x):
            inside = [word for line in lines[first : last + 1] for word in line]
            sides = [[w for w in inside if (w["x0"] < x) is is_left] for is_left in (True, False)]
            if (best is None or len(inside) > best[0]) and _are_columns(sides):
                top, bottom = min(word["top"] for word in inside), max(word["bottom"] for word in inside)
                best = len(inside), x, top, bottom
    return None if best is None else best[1:]


def lines_by_place(words: Sequence[Word]) -> list[list[Word]]:
    """Put words whose feet are level into lines, from the top."""
    lines: list[list[Word]] = []
    for word in sorted(words, key=lambda word: word["bottom"]):
        if lines and word["bottom"] - lines[-1][0]["bottom"] < _SAME_LINE * (word["bottom"] - word["top"]):
            lines[-1].append(word)
        else:
            lines.append([word])
    return lines


def goes_over(line: Sequence[Word], x: float) -> bool:
    """Whether a line's words go over a place, or stand next to it as in a sentence."""
    if any(word["x0"] < x < word["x1"] for word in line):
        return True
    ordered = sorted(line, key=lambda word: word["x0"])
    return any(
        before["x1"] <= x <= after["x0"] and after["x0"] - before["x1"] < SPACE * before["size"]
        for before, after in pairwise(ordered)
    )


def is_table(words: Sequence[Word]) -> bool:
    """Whether words name categories, and numbers stand beside them; without a label they are the rest of a table."""
    lines = [sorted(line, key=lambda word: word["x0"]) for line in lines_by_place(words)]
    if not any(line[0]["text"][:1].isalpha() and line[-1]["text"][:1].isdigit() for line in lines):
        return False
    texts = [word["text"] for word in words]
    numbers = sum(text[:1].isdigit() for text in texts)
    named = categories_in(" ".join(text for text in texts if not text[:1].isdigit()))
    return len(named) >= _FEWEST and numbers >= _FEWEST * _FEWEST


def _candidates(lines: Sequence[Sequence[Word]], low: float, high: float) -> list[float]:
    """Return places just left of where words begin behind white space: a column's own edge is one."""
    found: set[int] = set()
    for line in lines:
        end = float("-inf")
        for word in sorted(line, key=lambda word: word["x0"]):
            if word["x0"] - end >= SPACE * word["size"] and low <= word["x0"] <= high:
                found.add(int(word["x0"]))
            end = max(end, word["x1"])
    return [x - 0.5 for x in sorted(found)]


def _runs(lines: Sequence[Sequence[Word]], x: float) -> list[tuple[int, int]]:
    """Return the first and the last line of each run that nothing in it goes over a place."""
    runs: list[tuple[int, int]] = []
    start: int | None = None
    for i, line in enumerate(lines):
        if goes_over(line, x):
            start = None
        elif start is None:
            start = i
            runs.append((i, i))
        else:
            runs[-1] = (start, i)
    return runs


def _are_columns(sides: Sequence[Sequence[Word]]) -> bool:
    prose = [_is_prose(side) for side in sides]
    return any(prose) and all(is_prose or is_table(side) for is_prose, side in zip(prose, sides, strict=True))


def _is_prose(words: Sequence[Word]) -> bool:
    """Whether some lines are words in a row, few of them numbers."""
    found = 0
    for line in lines_by_place(words):
        ordered = sorted(line, key=lambda word: word["x0"])
        tight = all(b["x0"] - a["x1"] < SPACE * a["size"] for a, b in pairwise(ordered))
        letters = sum(word["text"][:1].isalpha() for word in ordered)
        text = " ".join(word["text"] for word in ordered)
        if len(ordered) <= _LONGEST_LABEL and categories_in(text):
            continue
        found += tight and letters >= _PROSE and 2 * letters > len(ordered)
    return found >= _PROSE_LINES
