"""The order in which the words of a PDF page are read: columns, and tables next to each other, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from audit_lib.check.pdf_page_columns import SPACE, goes_over, is_table, lines_by_place, page_columns

_HEADS: Final = frozenset({"ratio", "ratios", "rate", "rates", "impact"})
_MARKS: Final = "*\u00b9\u00b2\u00b3\u2020\u2021"
_HEADER: Final = 4.0  # heights within which two headers next to each other say the same word
_BELOW: Final = 12.0  # heights of a table's beginning
_END: Final = 3.0  # heights of white space that end both tables

Word = Mapping[str, Any]


def reading_order(words: Sequence[Word]) -> Iterator[list[Word]]:
    """Yield the words of a page in groups to read one after another: columns, and tables side by side."""
    found = page_columns(words)
    if found is None:
        yield from _by_tables(words)
        return
    x, top, bottom = found
    inside = [word for word in words if top <= _middle(word) <= bottom]
    yield from _by_tables([word for word in words if _middle(word) < top])
    yield from reading_order([word for word in inside if word["x0"] < x])
    yield from reading_order([word for word in inside if word["x0"] >= x])
    yield from reading_order([word for word in words if _middle(word) > bottom])


def _by_tables(words: Sequence[Word]) -> Iterator[list[Word]]:
    rest = list(words)
    while rest:
        found = _neighbours(rest)
        if found is None:
            yield rest
            return
        x, top, bottom = found
        above = [word for word in rest if _middle(word) < top]
        inside = [word for word in rest if top <= _middle(word) <= bottom]
        if above:
            yield above
        yield [word for word in inside if word["x0"] < x]
        yield [word for word in inside if word["x0"] >= x]
        rest = [word for word in rest if _middle(word) > bottom]


def _neighbours(words: Sequence[Word]) -> tuple[float, float, float] | None:
    """Return where two tables are parted, and from where to where down the page; None where there are not two."""
    heads = [word for word in words if word["text"].strip(_MARKS).lower() in _HEADS]
    heads.sort(key=lambda word: (word["top"], word["x0"]))
    for first in heads:
        height = first["bottom"] - first["top"]
        for other in heads:
            is_same = other["text"].strip(_MARKS).lower() == first["text"].strip(_MARKS).lower()
            near = abs(other["top"] - first["top"]) < _HEADER * height and other["x0"] > first["x1"]
            if not (is_same and near):
                continue
            begun = [w for w in words if -_HEADER * height < w["top"] - first["top"] < _BELOW * height]
            for x in _gaps(begun, first["x1"], other["x0"], height):
                top, bottom = _reach(words, x, first)
                inside = [word for word in words if top <= _middle(word) <= bottom]
                sides = ([w for w in inside if (w["x0"] < x) is is_left] for is_left in (True, False))
                if all(map(is_table, sides)):
                    return x, top, bottom
    return None


def _gaps(words: Sequence[Word], left: float, right: float, height: float) -> list[float]:
    """Return the middles of white space beside all words between two places, the widest first."""
    found, end = [], left
    for word in sorted((w for w in words if w["x1"] > left and w["x0"] < right), key=lambda w: w["x0"]):
        if word["x0"] - end >= SPACE * height:
            found.append((word["x0"] - end, (word["x0"] + end) / 2))
        end = max(end, word["x1"])
    return [middle for _, middle in sorted(found, reverse=True)]


def _reach(words: Sequence[Word], x: float, head: Word) -> tuple[float, float]:
    """Return from where to where nothing goes over a place, up and down from a word."""
    lines = lines_by_place(words)
    at = next(i for i, line in enumerate(lines) if head in line)
    ends = []
    for step in (-1, 1):
        last = at
        while 0 <= last + step < len(lines) and not goes_over(lines[last + step], x):
            gap = max(lines[last + step][0]["top"], lines[last][0]["top"]) - min(
                lines[last + step][0]["bottom"], lines[last][0]["bottom"]
            )
            if gap > _END * (head["bottom"] - head["top"]):
                break
            last += step
        ends.append(last)
    return min(w["top"] for w in lines[ends[0]]), max(w["bottom"] for w in lines[ends[1]])


def _middle(word: Word) -> float:
    return float(word["top"] + word["bottom"]) / 2
