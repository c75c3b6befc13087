"""A page as a list of typed blocks. Every output that people read (HTML now, PDF later) is made from them.

Blocks hold text, never markup: what is escaped and how is the renderer's business alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from audit_lib.translation.filled import from_stretches, stretches_of

Tone = Literal["plain", "muted", "flag"]


@dataclass(frozen=True, slots=True)
class TextRun:
    """A stretch of text: plain, strong, code, or a link to another place or page."""

    text: str
    style: Literal["plain", "strong", "code", "link"] = "plain"
    target: str = ""


Text = tuple[TextRun, ...]


def text(*parts: str | TextRun) -> Text:
    """Make a text from strings and runs."""
    return tuple(TextRun(part) if isinstance(part, str) else part for part in parts)


def filled(words: str, **runs: TextRun) -> Text:
    """Make a text from a sentence with places for runs, such as links; another language may have them elsewhere.

    Examples
    --------
    >>> filled("See {file} here.", file=code("a.csv"))[1:]
    (TextRun(text='a.csv', style='code', target=''), TextRun(text=' here.', style='plain', target=''))
    """
    places = re.compile(rf"\{{({'|'.join(runs)})\}}")
    made: list[TextRun] = []
    before: list[tuple[str, str]] = []
    for stretch, of in stretches_of(words):
        for number, piece in enumerate(places.split(stretch)):
            if number % 2:
                made += (*_run(before), runs[piece])
                before = []
            else:
                before.append((piece, of))
    return (*made, *_run(before))


def _run(stretches: Iterable[tuple[str, str]]) -> Iterator[TextRun]:
    if words := from_stretches(stretches):
        yield TextRun(words)


def strong(words: str) -> TextRun:
    """Stress some words."""
    return TextRun(words, "strong")


def code(words: str) -> TextRun:
    """Mark words as something for a machine."""
    return TextRun(words, "code")


def link(words: str, target: str) -> TextRun:
    """Point somewhere: an anchor on this page, or a cited source."""
    return TextRun(words, "link", target)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph."""

    kind: ClassVar[str] = "paragraph"
    text: Text
    lead: bool = False


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of short texts."""

    kind: ClassVar[str] = "bullets"
    items: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Terms and what they are; `strip` sets them side by side."""

    kind: ClassVar[str] = "facts"
    items: tuple[tuple[str, Text], ...]
    strip: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that must be read before the rest."""

    kind: ClassVar[str] = "notice"
    title: str
    text: Text
    tone: Literal["warning", "note"] = "warning"


@dataclass(frozen=True, slots=True)
class Figure:
    """One number set large, with what it is and how sure it is."""

    label: str
    value: str
    detail: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Figures:
    """A few numbers set large."""

    kind: ClassVar[str] = "figures"
    items: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; a `wide` one holds sentences, and stays wide on a narrow screen.

    `of` says in any language what its numbers are (such as ``selected``), for those who check the page.
    """

    label: str
    numeric: bool = True
    wide: bool = False
    of: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text, a mark that people must see, a note under the text, a link, and a picture above it (SVG)."""

    text: str
    mark: str = ""
    note: str = ""
    tone: Tone = "plain"
    link: str = ""
    picture: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its header, which may be a link, and its cells."""

    header: str
    cells: tuple[Cell, ...]
    tone: Tone = "plain"
    note: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a caption; `columns` begins with the column of row headers.

    On a narrow screen each row is a card, so that all of its numbers are on it.
    """

    kind: ClassVar[str] = "table"
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart as SVG, wide and narrow, with its caption. The tables hold the same numbers."""

    kind: ClassVar[str] = "chart"
    wide: str
    narrow: str
    caption: str


@dataclass(frozen=True, slots=True)
class FindingItem:
    """A finding in a sentence, with the name and place of what it is from, and its bar (SVG)."""

    text: Text
    link: tuple[str, str] | None = None
    picture: str = ""


@dataclass(frozen=True, slots=True)
class FindingList:
    """Findings by their rank; the first has the number `start`."""

    kind: ClassVar[str] = "findings"
    items: tuple[FindingItem, ...]
    start: int = 1


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command to type."""

    kind: ClassVar[str] = "command"
    text: str


@dataclass(frozen=True, slots=True)
class Fold:
    """Detail that is folded away on a screen and printed in full on paper."""

    kind: ClassVar[str] = "fold"
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a section."""

    kind: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True, slots=True)
class Search:
    """A field in which to type a part of a name; the page that answers gets it as `name` of its query."""

    kind: ClassVar[str] = "search"
    label: str
    button: str
    name: str
    value: str
    hidden: tuple[tuple[str, str], ...] = ()


Block = (
    Paragraph
    | Bullets
    | Facts
    | Notice
    | Figures
    | Table
    | Chart
    | FindingList
    | CommandLine
    | Fold
    | Heading
    | Search
)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page, with a place to link to, and the files of the run that it was made from."""

    id: str
    title: str
    blocks: tuple[Block, ...]
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page."""

    title: str
    subtitle: str
    kicker: str
    language: str
    badges: tuple[tuple[str, Tone], ...]
    status: Facts
    sections: tuple[Section, ...]
    footer: Text
    others: tuple[tuple[str, str, str], ...] = ()
    """The same page in other languages: code, name and address of each."""
    untranslated: frozenset[str] = frozenset()
    """Texts that are in English on a page in another language."""
    sources: tuple[str, ...] = ()
    """Files of the run that its head, status and last line were made from."""

    @property
    def all_sources(self) -> tuple[str, ...]:
        """Files that any of its parts was made from, whose titles its contents hold."""
        of_parts = (file for part in self.sections for file in part.sources)
        return tuple(dict.fromkeys((*self.sources, *of_parts)))
