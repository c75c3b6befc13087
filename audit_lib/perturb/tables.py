"""Lexicon files: CSV with a header."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from audit_lib.errors import LexiconError
from audit_lib.registry import did_you_mean


def read_lexicon(
    content: bytes, key: str, columns: tuple[str, ...], file: str = "the lexicon"
) -> list[dict[str, str]]:
    """Read a lexicon (CSV with a header, UTF-8); `key` is the spec's key that errors name, `file` its value.

    Raises
    ------
    LexiconError
        If it is not UTF-8, has no row, has a column twice, or lacks one of `columns`.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise LexiconError(
            f"{key}: {file} is not UTF-8 text (byte {error.start}); save the CSV as UTF-8"
        ) from None
    reader = csv.DictReader(io.StringIO(text))
    header = list(reader.fieldnames or [])
    if repeated := [name for place, name in enumerate(header) if name in header[:place]]:
        raise LexiconError(f"{key}: the column {repeated[0]!r} stands twice in the header; remove one")
    rows = list(reader)
    if not rows:
        raise LexiconError(f"{key}: the lexicon has no row")
    for column in columns:
        if column not in rows[0]:
            raise LexiconError(f"{key}: no column {column!r}{did_you_mean(column, list(rows[0]))}")
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise LexiconError(f"{key}: line {number} has another number of cells than the header")
    return rows


def check_filled(rows: Sequence[Mapping[str, str]], columns: Iterable[str], key: str) -> None:
    """Refuse a lexicon with an empty cell in one of `columns`.

    Raises
    ------
    LexiconError
        With the line and the column.
    """
    wanted = list(columns)
    for number, row in enumerate(rows, start=2):
        for column in wanted:
            if not row[column].strip():
                raise LexiconError(f"{key}: line {number}: {column} is empty; fill it, or remove the row")


def unused(rows: Iterable[Mapping[str, str]], levels: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Count rows of a level that the audit does not have, by attribute and level, such as ``sex femal``.

    Examples
    --------
    >>> unused([{"sex": "female"}, {"sex": "femal"}, {"sex": "other"}], {"sex": ["female", "male"]})
    {'sex femal': 1, 'sex other': 1}
    """
    found: dict[str, int] = {}
    for row in rows:
        for attribute, known in levels.items():
            if attribute in row and row[attribute] not in known:
                name = f"{attribute} {row[attribute]}"
                found[name] = found.get(name, 0) + 1
    return dict(sorted(found.items()))
