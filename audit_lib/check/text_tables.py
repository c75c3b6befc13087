"""Tables of plain text, whose columns are lined up by spaces: ``<pre>`` on a page, and text files.

Each character is as wide as the next, so that a line of text is a line of words with places, as on a PDF page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from audit_lib.check.grids import Grid, even
from audit_lib.check.pdf_layout import layout_grids
from audit_lib.check.pdf_lines import TextLine, lines_of

_WIDTH: Final = 6.0  # of a character; its size is 10, and a line begins 12 below the one before it
_SIZE: Final = 10.0
_LINE: Final = 12.0
_TAB: Final = 8
_LONGEST: Final = 1_000  # characters: a longer line is none of a table
_GROUPED: Final = re.compile(
    "(?<=\\d)[\u00a0\u2009\u202f](?=\\d{3})"
)  # "1 324" with a space that does not break
_WIDE: Final = 50  # characters: a line of prose that is cut at its end
_CELLS: Final = re.compile(r"\S {2,}\S|\S\s*[|\u2502]\s*\S")
_BAR: Final = re.compile("[|\u2502\u2551\u2503]")
_RULE: Final = re.compile(r"[\s+=_\-\u2500-\u257f:*]*")
_DRAWN: Final = re.compile(r"\S+(?: \S+)*")
NOT_RULED: Final = (
    "{} is lined up by spaces alone, so its cells were read from where words stand, and a cell may be another's; look "
    "at it"
)


def text_grids(text: str) -> Iterator[Grid]:
    """Yield the tables of a text.

    Examples
    --------
    >>> lines = ["Sex     Applied  Sel.  Rate  Ratio", "Female      200    90  .450  1.000"]
    >>> for grid in text_grids(chr(10).join([*lines, "Male        100    40  .400   .889"])):
    ...     print(*grid.rows, sep=chr(10))
    ('Sex', 'Applied', 'Sel.', 'Rate', 'Ratio')
    ('Female', '200', '90', '.450', '1.000')
    ('Male', '100', '40', '.400', '.889')
    """
    yield from layout_grids(_lines(text), NOT_RULED)


def bar_grids(text: str) -> Iterator[Grid]:
    """Yield the tables whose cells have bars between them, as in Markdown.

    Examples
    --------
    >>> lines = ["Results", "| Sex | Rate | Ratio |", "|---|---|---|", "| Male | 40% | 1.00 |"]
    >>> [(grid.caption, grid.rows) for grid in bar_grids(chr(10).join(lines))]
    [('Results', (('Sex', 'Rate', 'Ratio'), ('Male', '40%', '1.00')))]
    """
    block: list[list[str]] = []
    above = caption = ""
    for line in [*text.splitlines(), ""]:
        if _BAR.match(words := line.strip()):
            caption = caption if block else above
            if not _RULE.fullmatch(_BAR.sub("", words)):
                block.append([cell.strip() for cell in _BAR.split(words)[1:]])
            continue
        if block:
            rows = [row[:-1] for row in block] if all(row[-1:] == [""] for row in block) else block
            yield Grid(rows=even(rows), caption=caption)
            block = []
        above = words.strip("# ") or above


def text_paragraphs(text: str) -> str:
    """Return a text with the lines of each paragraph put together: a line goes on where it is wide and of words alone.

    Examples
    --------
    >>> lines = ["Results", "Nobody whom we assessed in that year, of any group, was", "left out."]
    >>> print(text_paragraphs(chr(10).join(lines)))
    Results
    Nobody whom we assessed in that year, of any group, was left out.
    """
    found: list[str] = []
    goes_on = False
    for line in text.expandtabs(_TAB).splitlines():
        words = line.strip()
        is_prose = bool(words) and not _RULE.fullmatch(line) and _CELLS.search(words) is None
        if goes_on and is_prose:
            found[-1] += f" {words}"
        else:
            found.append(words)
        goes_on = is_prose and len(words) >= _WIDE
    return "\n".join(words for words in found if words)


def _lines(text: str) -> list[TextLine]:
    return lines_of([list(_words(text))])


def _words(text: str) -> Iterator[dict[str, Any]]:
    """Yield the words with their places; bars and rules made of characters are white space."""
    for number, line in enumerate(_GROUPED.sub(",", text).expandtabs(_TAB).splitlines()):
        if _RULE.fullmatch(line) or len(line) > _LONGEST:
            continue
        top = number * _LINE
        for drawn in _DRAWN.finditer(_BAR.sub(" ", line)):
            for word in re.finditer(r"\S+", drawn[0]):
                left = _WIDTH * (drawn.start() + word.start())
                yield {
                    "text": word[0], "x0": left, "x1": left + _WIDTH * len(word[0]), "top": top, "bottom": top + _SIZE,
                    "size": _SIZE, "start": _WIDTH * drawn.start(),
                }  # fmt: skip
