"""The text of pages from where their words stand: lines that a page's width cut are put together again.

A sentence is looked at as a whole, so that "No bias" at the end of one line and "was found" on the next are heard.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from audit_lib.check.pdf_lines import TextLine

_CLOSE: Final = 0.9  # white space between two lines of a paragraph, in heights
_SPACE: Final = 0.25  # of a letter's size
_ALIKE: Final = 0.92  # of a line's size: what differs by more is another text
_FACT_NAME: Final = 5  # words of a name before its colon: "Date of the audit:    6 May 2026"
_HYPHENS: Final = ("-", "\N{HYPHEN}")


def paragraphs(lines: Sequence[TextLine]) -> Iterator[str]:
    """Yield texts, each a paragraph or a row of a table.

    A line goes on where the next one's first word had no room left in it: the widest line that stands near says how
    much room there was.
    """
    text = ""
    for i, line in enumerate(lines):
        words = line.text
        if text.endswith(_HYPHENS) and text[-2:-1].isdigit() and words[:1].isdigit():
            text += words  # a date that was cut at its hyphen
        else:
            text = f"{text} {words}".strip()
        if i + 1 == len(lines) or not _goes_on(lines, i):
            yield text
            text = ""


def _goes_on(lines: Sequence[TextLine], i: int) -> bool:
    line, after = lines[i], lines[i + 1]
    if line.distance(after) > _CLOSE or len(line.numbers) > 1 or len(after.numbers) > 1:
        return False
    if _is_fact(after):
        return False
    size, other = line.words[0].size, after.words[0].size
    if min(size, other) < _ALIKE * max(size, other):
        return False
    right = line.words[-1].right
    room = max(each.words[-1].right for each in _block(lines, i)) - right
    first = after.words[0]
    share = len(first.text.partition(" ")[0]) / max(len(first.text), 1)
    return room < share * (first.right - first.left) + _SPACE * size


def _is_fact(line: TextLine) -> bool:
    """Whether a line begins with a name and a colon that were drawn apart from what follows."""
    names = zip(line.words[:_FACT_NAME], line.words[1:], strict=False)
    return any(name.text.endswith(":") and name.start != value.start for name, value in names)


def _block(lines: Sequence[TextLine], i: int) -> list[TextLine]:
    """Return the lines that stand close to a line, on both sides of it."""
    first = last = i
    while first and lines[first].distance(lines[first - 1]) <= _CLOSE:
        first -= 1
    while last + 1 < len(lines) and lines[last].distance(lines[last + 1]) <= _CLOSE:
        last += 1
    return list(lines[first : last + 1])
