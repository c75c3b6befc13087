"""A grammar of labelled fields: ``Gender: F``, cells of tables, a label above its value, ticked boxes.

A field is a label that is listed, in any of the languages of the list, then a separator, then a value that is not
gone. The grammar knows lines and cells, and nothing of what a value should look like: whatever is left is a finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from audit_lib.perturb.rereading.findings import GONE, LeftPassage, listed, plain, words

_CELL: Final = re.compile(r"[^\t|│;\n]+?(?=[ \u3000]{2,}|[\t|│;\n]|$)")
_GENERIC: Final = words(
    "name names title birth age sex status no nr number card certificate contact line place local line "
    "reg registration licence license city town location line mail blog group grade origin health service "
    "rank boy foto photo"
)
"""Labels that only count alone or as the last word of a label: *Name*, and not *Name of project*."""

_LONGEST: Final = 6
_SEPARATOR: Final = re.compile(
    r"(?P<sure>[:：=]|\.{3,}|[ ]–[ ])|[→⇒➔»>~～／—―·•#*_\u00a0\u2000-\u200a\u202f]"
    r"|(?<= )[-–‒−‐‑]|[-–‒−‐‑](?= )|/(?=\w\b(?!\s*[:=/]))|[(（](?=\w{1,2}[)）])|,(?=\s*\w{1,2}$)"
)
"""What is between a label and its value; those that are not sure count only right after a label."""

_EMPTY: Final = re.compile(rf"[\s{GONE}\W_]*")


@dataclass(frozen=True, slots=True)
class _TextCell:
    start: int
    end: int
    shown: str


def find_fields(left: str) -> Iterator[LeftPassage]:
    """Yield the values of labelled fields that are left.

    Examples
    --------
    >>> [(left[f.start : f.end], f.kind) for left in ["Gender: F"] for f in find_fields(left)]
    [('F', 'sex')]
    """
    lines = _lines(left)
    waiting: list[str] = []
    columns: list[tuple[int, int, str]] = []
    for start, line in lines:
        cells = _cells(line, start)
        if not cells:
            continue
        kinds = ["" if _valued(cell) else kind_of(cell.shown) for cell in cells]
        labelled = [kind for kind in kinds if kind]
        beyond_labels = [cell for cell, kind in zip(cells, kinds, strict=True) if not kind]
        if len(labelled) > 1 and not beyond_labels:  # a table's head
            offset = start
            columns = [(c.start - offset, c.end - offset, k) for c, k in zip(cells, kinds, strict=True) if k]
            waiting = [kind for kind in kinds if kind]
            continue
        if columns and len(cells) > 1 and not labelled:
            yield from _in_columns(cells, columns, kinds_of_head=len(columns))
        else:
            columns = columns if not labelled else []
        if labelled and not beyond_labels:
            waiting.extend(labelled)
            continue
        if waiting and not any(_valued(cell) for cell in cells):
            for cell in cells:
                kind = waiting.pop(0) if waiting else ""
                if kind:
                    yield from _value(cell.start, cell.shown, kind, "the line below a label")
        else:
            waiting = []
        yield from _in_line(cells, kinds)
    yield from _commas(left)


def _in_line(cells: list[_TextCell], kinds: list[str]) -> Iterator[LeftPassage]:
    for number, (cell, kind) in enumerate(zip(cells, kinds, strict=True)):
        if kind:  # the label fills its cell: the value is the next one
            for follows, other in zip(cells[number + 1 :], kinds[number + 1 :], strict=True):
                if other or _splits(follows):
                    break
                yield from _value(follows.start, follows.shown, kind, "the cell after a label")
            continue
        for begin, end, found in _splits(cell):
            yield from _value(cell.start + begin, cell.shown[begin:end], found, "a labelled field")
            if end == len(cell.shown) and not _EMPTY.fullmatch(cell.shown[begin:end]):
                continue
            if end == len(cell.shown) and number + 1 < len(cells) and not kinds[number + 1]:
                follows = cells[number + 1]
                if not _splits(follows):
                    yield from _value(follows.start, follows.shown, found, "the cell after a label")


def _valued(cell: _TextCell) -> bool:
    return any(end > begin for begin, end, _ in _splits(cell))


def _splits(cell: _TextCell) -> list[tuple[int, int, str]]:
    """Return begin, end and kind of each value in a cell such as ``Sex: F, Age: 27``."""
    found: list[tuple[int, int, str]] = []
    marks: list[int] = []
    for mark in _SEPARATOR.finditer(cell.shown):
        before = cell.shown[marks[-1] + 1 if marks else 0 : mark.start()]
        if mark["sure"] or kind_of(before) or kind_of(re.split(r"[,/(·•.]", before)[-1]):
            marks.append(mark.start())
    for number, at in enumerate(marks):
        before = cell.shown[marks[number - 1] + 1 if number else 0 : at]
        lead = max((before.rfind(mark) + 1 for mark in ",/(·•."), default=0)
        kind = kind_of(before) or kind_of(before[lead:]) or kind_of(before.split("  ")[-1])
        if not kind and number:
            kind = kind_of(" ".join(before.split()[-2:])) or kind_of(" ".join(before.split()[-1:]))
        if kind:
            begin = at + len(re.match(r"[^\w☑☒✓✔✗✘♀♂+]*", cell.shown[at:]).group())  # type: ignore[union-attr]
            end = (
                marks[number + 1]
                if number + 1 < len(marks) and not re.match(r"[:：=]//|:\d", cell.shown[marks[number + 1] :])
                else len(cell.shown)
            )
            found.append((begin, max(begin, end), kind))
    return found


def _in_columns(
    cells: list[_TextCell], columns: list[tuple[int, int, str]], *, kinds_of_head: int
) -> Iterator[LeftPassage]:
    if len(cells) == kinds_of_head:
        pairs = [(cell, kind) for cell, (_, _, kind) in zip(cells, columns, strict=True)]
    else:
        pairs = [(cell, kind) for cell, (_, _, kind) in zip(cells, columns, strict=False)]
    for cell, kind in pairs:
        yield from _value(cell.start, cell.shown, kind, "a column below a label")


def _commas(left: str) -> Iterator[LeftPassage]:
    """Yield the values of tables with commas: a line of listed labels, then lines of as many values."""
    head: list[str] = []
    for start, line in _lines(left):
        values = line.split(",")
        kinds = [kind_of(value) for value in values]
        if len(values) > 1 and sum(map(bool, kinds)) * 2 >= len(values):
            head = kinds
            continue
        if not head or len(values) < len(head):
            head = head if line.strip() and len(values) > 1 else []
            continue
        at = start
        for value, kind in zip(values, head, strict=False):
            if kind:
                yield from _value(at, value, kind, "a column below a label")
            at += len(value) + 1


def _value(start: int, shown: str, kind: str, why: str) -> Iterator[LeftPassage]:
    """Yield what is left of a value, in pieces between what is gone."""
    for piece in re.finditer(rf"[^{GONE}]+", shown):
        bare = piece.group().strip(" \t\r\u3000*_|,;:")
        if bare and re.search(r"\w|[☑☒✓✔✗✘♀♂]", bare):
            at = start + piece.start() + piece.group().index(bare)
            yield LeftPassage(start=at, end=at + len(bare), kind=kind, why=why)


def _lines(left: str) -> list[tuple[int, str]]:
    found, at = [], 0
    for line in left.split("\n"):
        found.append((at, line))
        at += len(line) + 1
    return found


def _cells(line: str, start: int) -> list[_TextCell]:
    found = []
    for match in _CELL.finditer(line):
        shown = match.group()
        bare = shown.strip(" \r\u3000")
        if bare:
            at = start + match.start() + shown.index(bare)
            found.append(_TextCell(at, at + len(bare), bare))
    return found


@cache
def _labels() -> dict[str, str]:
    return {plain(label): kind for kind, label in listed("labels")}


def kind_of(shown: str) -> str:
    """Return of what kind a label is, or nothing.

    Examples
    --------
    >>> kind_of("Date of birth"), kind_of("Geburtsdatum"), kind_of("성별"), kind_of("Skills")
    ('birth_date', 'birth_date', 'sex', '')
    """
    bare = plain(shown).strip(" \t\r*_#>•·-([)]:：=.")
    bare = re.sub(r"^\d{1,2}[.)]\s*", "", bare)
    if GONE in bare or not bare or len(bare) > 48:
        return ""
    known = _labels()
    if bare in known:
        return known[bare]
    words = [word for word in re.split(r"[^\w'.\-\u0300-\u036f]+", bare) if word]
    if not words or len(words) > _LONGEST:
        return ""
    if not bare.isascii() and (kind := next((k for label, k in known.items() if not label.isascii() and
                                             label[0].isalpha() is not None and label in bare
                                             and len(bare) <= len(label) + 8), "")):  # fmt: skip
        return kind
    if "birth" in words or "born" in words:
        return "birth_place" if {"place", "country", "city", "town"} & set(words) else "birth_date"
    for size in (3, 2):
        for at in range(len(words) - size + 1):
            if (pair := " ".join(words[at : at + size])) in known:
                return known[pair]
    for word in (words[-1], words[0], *words[1:-1]):
        single = word.strip(".'") if word.strip(".'") in known else word
        if single in known and (single not in _GENERIC or word == words[-1] or len(words) == 1):
            return known[single]
    return ""
