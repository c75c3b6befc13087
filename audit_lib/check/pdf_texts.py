"""Texts of a line of words: words with no more than a space between them, and which column each belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from audit_lib.check.pdf_lines import PlacedWord, TextLine

_WORD_SPACE: Final = 0.5  # of a word's size: more white space parts two cells
_EDGE: Final = 1.5  # points: what stands as near begins, or ends, where the other does
_APART: Final = (
    0.1  # of a word's size: what touches another text and was not drawn with it is of another cell
)

ColumnEdges = tuple[float, float]
"""Where a column of a table begins and ends."""


def texts_of(line: TextLine) -> list[PlacedWord]:
    """Join the words of a line between which there is no more than a space.

    Where spaces are drawn, words without one between them are of two texts, however near they stand.
    """
    found: list[PlacedWord] = []
    draws_spaces = len({word.start for word in line.words}) < len(line.words)
    for word in line.words:
        if found and _is_of_text(found[-1], word, draws_spaces):
            last = found.pop()
            parts = (*(last.parts or (last,)), word)
            word = PlacedWord(f"{last.text} {word.text}", last.left, word.right, word.size, last.start, parts)
        found.append(word)
    return found


def _is_of_text(last: PlacedWord, word: PlacedWord, draws_spaces: bool) -> bool:
    if draws_spaces:
        return word.start == last.start
    return _APART * word.size <= word.left - last.right < _WORD_SPACE * word.size


def over_columns(lines: Sequence[TextLine], columns: Sequence[ColumnEdges]) -> list[list[tuple[int, str]]]:
    """Return for each line its texts with the column that each belongs to.

    A line with a text for each column is taken in order, where each begins at its column or stands over it. Else each
    belongs to the column that it overlaps most. What overlaps none is part of the column that begins left of it, where
    texts begin with their columns, or ends right of it, where they end with them. Where the texts of all lines stand
    below each other at as many places as there are columns, these are the columns.
    """
    texts = [texts_of(line) for line in lines]
    placed = [
        (text, column) for line in texts for text in line for column in columns if overlap(text, column) > 0
    ]
    begin = sum(abs(text.left - column[0]) < _EDGE for text, column in placed)
    end = sum(abs(text.right - column[1]) < _EDGE for text, column in placed)

    clusters = _clusters([text for line in texts for text in line], len(columns))

    def column_of(text: PlacedWord) -> int:
        best = max(range(len(columns)), key=lambda c: overlap(text, columns[c]))
        if overlap(text, columns[best]) > 0 or begin == end:
            return best
        if begin > end:
            return max((c for c, column in enumerate(columns) if column[0] < text.left + _EDGE), default=best)
        return min((c for c, column in enumerate(columns) if column[1] > text.right - _EDGE), default=best)

    found: list[list[tuple[int, str]]] = []
    for line in texts:
        if _is_in_order(line, columns):
            found.append([(number, text.text) for number, text in enumerate(line)])
            continue
        if clusters is not None:
            found.append([(clusters[text], text.text) for text in line])
            continue
        parts = [part for text in line for part in _cut_at_columns(text, columns)]
        found.append([(column_of(part), part.text) for part in parts])
    return found


def _clusters(texts: Sequence[PlacedWord], columns: int) -> dict[PlacedWord, int] | None:
    """Return the place of each text among those that begin, end or have their middle below each other."""
    keys: tuple[Callable[[PlacedWord], float], ...] = (
        lambda text: text.left,
        lambda text: text.right,
        lambda text: text.middle,
    )
    for key in keys:
        places: dict[PlacedWord, int] = {}
        last, count = float("-inf"), -1
        for text in sorted(texts, key=key):
            count += key(text) - last > _EDGE
            places[text], last = count, key(text)
        if count + 1 == columns and len(texts) > columns:
            return places
    return None


def _is_in_order(texts: Sequence[PlacedWord], columns: Sequence[ColumnEdges]) -> bool:
    """Whether there is a text for each column, and none that stands over another one and not over its own."""
    return len(texts) == len(columns) and all(
        overlap(text, own) > 0
        or abs(text.left - own[0]) < text.size
        or not any(overlap(text, column) > 0 for column in columns)
        for text, own in zip(texts, columns, strict=True)
    )


def _cut_at_columns(text: PlacedWord, columns: Sequence[ColumnEdges]) -> Iterator[PlacedWord]:
    """Yield the parts of a text that stands over several columns; each word belongs to the nearest of them."""
    if sum(overlap(text, column) > 0 for column in columns) < 2:
        yield text
        return
    if text.parts and all(word.start == text.start for word in text.parts):
        if (ended := _ended_with(text.parts, columns)) is not None:
            yield from ended
            return
        # Drawn as one, it is of one cell, and goes over the next.
        yield PlacedWord(text.text, text.left, text.left + text.size, text.size, text.start)
        return
    words: dict[int, list[PlacedWord]] = {}
    for word in text.parts or _spread(text):
        words.setdefault(max(range(len(columns)), key=lambda c: overlap(word, columns[c])), []).append(word)
    for parts in words.values():
        words_ = " ".join(word.text for word in parts)
        yield PlacedWord(words_, parts[0].left, parts[-1].right, text.size, parts[0].left)


def _ended_with(parts: Sequence[PlacedWord], columns: Sequence[ColumnEdges]) -> list[PlacedWord] | None:
    """Cut words that were drawn as one where columns end; None unless a word ends with each column they stand over.

    A line of plain text is drawn as one, and its columns of numbers are lined up at the right.
    """
    left, right = parts[0].left, parts[-1].right
    over = [column[1] for column in columns if min(right, column[1]) > max(left, column[0])]
    if not all(any(abs(word.right - end) < _EDGE for word in parts) for end in over):
        return None
    if parts[-1].right > over[-1] + _EDGE:
        return None
    cut: list[list[PlacedWord]] = [[] for _ in over]
    for word in parts:
        cut[next(i for i, end in enumerate(over) if word.right < end + _EDGE)].append(word)
    return [
        PlacedWord(
            " ".join(word.text for word in words),
            words[0].left,
            words[-1].right,
            words[0].size,
            words[0].left,
        )
        for words in cut
    ]


def _spread(text: PlacedWord) -> Iterator[PlacedWord]:
    """Yield the words of a text of which only the whole has a place: each as wide as its share of the letters."""
    step, at = (text.right - text.left) / len(text.text), 0
    for part in text.text.split(" "):
        left = text.left + at * step
        yield PlacedWord(part, left, left + len(part) * step, text.size, left)
        at += len(part) + 1


def overlap(text: PlacedWord, column: ColumnEdges) -> float:
    """Return how far a text and a column overlap; the white space between them, negative, where they do not."""
    return min(text.right, column[1]) - max(text.left, column[0])
