"""Which lines of words belong to which row of a table that is read from where words stand.

A label that is longer than its column goes on in the lines below its numbers, above them or on both sides; a line that
names a category by itself may stand over the rows of a section.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from audit_lib.check.pdf_lines import TextLine
from audit_lib.check.row_labels import category_named, named_alone, of_one_category, told_apart

CLOSE: Final = 1.0  # white space between lines of one header, or of one label, in heights

_OTHERS: Final = 2  # rows of unknown people and a sum, and one odd label
_SEXES: Final = ("Male", "Female")

LabelLines = Mapping[int, Sequence[int]]
"""Row -> the lines that its label stands in, itself among them."""


def best_labels(
    lines: Sequence[TextLine],
    rows: Sequence[int],
    wrapped: Sequence[int],
    texts_of: Callable[[LabelLines], list[str]],
    *,
    continues: bool,
) -> tuple[LabelLines, list[int]]:
    """Return the lines of each row's label, and the lines that stand over sections.

    Of all ways to give lines to rows, that counts which names most categories, and of those the one that leaves no
    line over. `continues` says that the table may go on from the page before.
    """
    ways = (_to_nearest, _to_both, _to_above, _to_below)
    if continues:
        ways = (_to_above, _to_nearest, _to_both, _to_below)

    def best(free: Sequence[int], over: Mapping[int, str]) -> LabelLines:
        def named(labels: LabelLines) -> tuple[int, int]:
            above = [max((i for i in over if i < row), default=None) for row in labels]
            names = ["" if i is None else over[i] for i in above]
            texts = [f"{name} {text}" for name, text in zip(names, texts_of(labels), strict=True)]
            return told_apart(texts), of_one_category(texts)

        found = (way(lines, rows, free) for way in ways)
        return max(found, key=lambda labels: (named(labels), sum(map(len, labels.values()))))

    named = {i: name for i in wrapped if (name := category_named(lines[i].text))}
    for of_sex in (True, False):
        sections = {i: name for i, name in named.items() if (name in _SEXES) is of_sex}
        if not sections or len(set(sections.values())) < len(sections):
            continue
        labels = best([i for i in wrapped if i not in sections], sections)
        texts = dict(zip(labels, texts_of(labels), strict=True))
        first = min(sections)
        begins = min(rows) > first or (continues and _begin_alike(lines[first], lines[min(rows)]))
        if begins and _are_over(sections, texts):
            return labels, list(sections)
    return best(wrapped, {}), []


def _begin_alike(line: TextLine, other: TextLine) -> bool:
    return abs(line.words[0].left - other.words[0].left) < line.words[0].size


def _are_over(sections: Mapping[int, str], texts: Mapping[int, str]) -> bool:
    """Whether lines stand over rows: below each are rows that name a category of another attribute by themselves.

    A row that names both attributes needs no line over it.
    """
    named = {row: name for row, text in texts.items() if (name := category_named(text))}
    of_sex = {name in _SEXES for name in sections.values()}
    apart = of_sex.isdisjoint(name in _SEXES for name in named.values())
    bounds = [*sections, max(texts) + 1]
    filled = all(any(start < row < end for row in named) for start, end in pairwise(bounds))
    odd = [row for row in texts if row not in named and row > bounds[0]]
    both = any((name in _SEXES) in of_sex for row in odd for name in named_alone(texts[row]))
    return filled and apart and not both and len(odd) <= len(sections) + _OTHERS


def _to_nearest(
    lines: Sequence[TextLine], rows: Sequence[int], wrapped: Sequence[int]
) -> dict[int, list[int]]:
    labels = {i: [i] for i in rows}
    for i in wrapped:
        nearest = min(rows, key=lambda row: lines[row].distance(lines[i]))
        if lines[nearest].distance(lines[i]) < CLOSE:
            labels[nearest].append(i)
    return labels


def _to_both(lines: Sequence[TextLine], rows: Sequence[int], wrapped: Sequence[int]) -> dict[int, list[int]]:
    """Give each row as many lines above its numbers as below, as where these stand in the middle of their cells.

    What the first row has above it says how many it has below; what is left above the next row is that one's.
    """
    labels = {i: [i] for i in rows}
    above = [i for i in wrapped if i < rows[0]]
    for row, following in zip(rows, [*rows[1:], len(lines)], strict=True):
        between = [i for i in wrapped if row < i < following]
        own = between[: len(above)]
        labels[row] += [*above, *own]
        above = between[len(above) :]
    return labels


def _to_above(lines: Sequence[TextLine], rows: Sequence[int], wrapped: Sequence[int]) -> dict[int, list[int]]:
    return _along(lines, rows, wrapped, -1)


def _to_below(lines: Sequence[TextLine], rows: Sequence[int], wrapped: Sequence[int]) -> dict[int, list[int]]:
    return _along(lines, rows, wrapped[::-1], 1)


def _along(
    lines: Sequence[TextLine], rows: Sequence[int], wrapped: Sequence[int], step: int
) -> dict[int, list[int]]:
    """Give each line to the row of the line next to it in one direction."""
    labels = {i: [i] for i in rows}
    row_of = {i: i for i in rows}
    for i in wrapped:
        beside = i + step
        turns_page = step < 0 and beside in row_of and lines[beside].page != lines[i].page
        if beside in row_of and (turns_page or lines[beside].distance(lines[i]) < CLOSE):
            row_of[i] = row_of[beside]
            labels[row_of[i]].append(i)
    return labels
