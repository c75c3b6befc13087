"""Tables next to each other on a PDF page: which words are left of the white space between them, and which right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from audit_lib.check.row_labels import categories_in

_HEADS: Final = frozenset({"ratio", "ratios", "rate", "rates", "impact"})
_MARKS: Final = "*\u00b9\u00b2\u00b3\u2020\u2021"
_SPACE: Final = 0.8  # of a word's size: less white space between two words is a space
_SAME_LINE: Final = 0.5  # of a word's height
_HEADER: Final = 4.0  # heights within which two headers next to each other say the same word
_BELOW: Final = 12.0  # heights of a table's beginning
_END: Final = 3.0  # heights of white space that end both tables
_FEWEST: Final = 2  # categories that make words the labels of a table

Word = Mapping[str, Any]


def reading_order(words: Sequence[Word]) -> Iterator[list[Word]]:
    """Yield the words of a page in groups to be read one after the other: where tables stand side by side, each."""
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
                if all(map(_is_table, sides)):
                    return x, top, bottom
    return None


def _gaps(words: Sequence[Word], left: float, right: float, height: float) -> list[float]:
    """Return the middles of white space beside all words between two places, the widest first."""
    found, end = [], left
    for word in sorted((w for w in words if w["x1"] > left and w["x0"] < right), key=lambda w: w["x0"]):
        if word["x0"] - end >= _SPACE * height:
            found.append((word["x0"] - end, (word["x0"] + end) / 2))
        end = max(end, word["x1"])
    return [middle for _, middle in sorted(found, reverse=True)]


def _reach(words: Sequence[Word], x: float, head: Word) -> tuple[float, float]:
    """Return from where to where nothing goes over a place, up and down from a word."""
    lines: list[list[Word]] = []
    for word in sorted(words, key=lambda word: word["bottom"]):
        if lines and word["bottom"] - lines[-1][0]["bottom"] < _SAME_LINE * (word["bottom"] - word["top"]):
            lines[-1].append(word)
        else:
            lines.append([word])
    at = next(i for i, line in enumerate(lines) if head in line)
    ends = []
    for step in (-1, 1):
        last = at
        while 0 <= last + step < len(lines) and not _goes_over(lines[last + step], x):
            gap = max(lines[last + step][0]["top"], lines[last][0]["top"]) - min(
                lines[last + step][0]["bottom"], lines[last][0]["bottom"]
            )
            if gap > _END * (head["bottom"] - head["top"]):
                break
            last += step
        ends.append(last)
    return min(w["top"] for w in lines[ends[0]]), max(w["bottom"] for w in lines[ends[1]])


def _goes_over(line: Sequence[Word], x: float) -> bool:
    """Whether a line's words go over a place, or stand next to it as in a sentence."""
    if any(word["x0"] < x < word["x1"] for word in line):
        return True
    ordered = sorted(line, key=lambda word: word["x0"])
    return any(
        before["x1"] <= x <= after["x0"] and after["x0"] - before["x1"] < _SPACE * before["size"]
        for before, after in pairwise(ordered)
    )


def _is_table(words: Sequence[Word]) -> bool:
    """Whether words name categories, and numbers stand beside them."""
    texts = [word["text"] for word in words]
    numbers = sum(text[:1].isdigit() for text in texts)
    named = categories_in(" ".join(text for text in texts if not text[:1].isdigit()))
    return len(named) >= _FEWEST and numbers >= _FEWEST * _FEWEST


def _middle(word: Word) -> float:
    return float(word["top"] + word["bottom"]) / 2
