"""Lexicon files: CSV with a header."""

from __future__ import annotations

import csv
import io

from audit_lib.errors import LexiconError
from audit_lib.registry import did_you_mean


def read_lexicon(
    content: bytes, key: str, columns: tuple[str, ...], file: str = "the lexicon"
) -> list[dict[str, str]]:
    """Read a lexicon (CSV with a header, UTF-8); `key` is the spec's key that errors name, `file` its value.

    Raises
    ------
    LexiconError
        If it is not UTF-8, has no row, or lacks one of `columns`.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise LexiconError(
            f"{key}: {file} is not UTF-8 text (byte {error.start}); save the CSV as UTF-8"
        ) from None
    rows = list(csv.DictReader(io.StringIO(text)))
    if not rows:
        raise LexiconError(f"{key}: the lexicon has no row")
    for column in columns:
        if column not in rows[0]:
            raise LexiconError(f"{key}: no column {column!r}{did_you_mean(column, list(rows[0]))}")
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise LexiconError(f"{key}: line {number} has another number of cells than the header")
    return rows
