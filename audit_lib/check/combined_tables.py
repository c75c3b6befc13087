"""One printed table that holds several: of sex, of race/ethnicity and of both, or of one position after another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from audit_lib.check.row_labels import Label, read_label
from audit_lib.policies import Policy

_FEWEST: Final = 2  # rows of another family that are no slip of one label

Piece = tuple[str, list[int]]
"""The line over rows, or empty, and which rows they are."""


def pieces(rows: Sequence[tuple[str, Label]], policy: Policy) -> list[Piece]:
    """Part rows, each with the line above it, into tables: where the family changes, or categories begin again.

    A row of no family, such as a total, belongs to the rows that it follows or, first under its line, to those
    that follow it. Lines that do neither, such as remarks, part nothing.
    """
    families = _families(rows, policy)
    chunks: list[tuple[str, str, list[int]]] = []
    for i, (line, _) in enumerate(rows):
        if not chunks or chunks[-1][:2] != (line, families[i]):
            chunks.append((line, families[i], []))
        chunks[-1][2].append(i)
    found: list[Piece] = []
    latest: dict[str, Piece] = {}
    for line, family, held in chunks:
        piece = latest.get(family)
        known = {rows[i][1].key for i in piece[1]} if piece else set()
        again = piece is not None and piece[0] != line and any(rows[i][1].key in known for i in held)
        if piece is None or again:
            piece = latest[family] = (line, [])
            found.append(piece)
        piece[1].extend(held)
    return found


def _families(rows: Sequence[tuple[str, Label]], policy: Policy) -> list[str]:
    """Return the family of each row; empty only where no row has one."""
    by_attributes = {frozenset(family.attributes): family.name for family in policy.families}
    own = [
        by_attributes.get(frozenset(label.levels), "") if label.role == "category" and label.whole else ""
        for _, label in rows
    ]
    sizes = Counter(own)
    own = [name if sizes[name] >= _FEWEST else "" for name in own]
    for i in range(len(own)):
        line = rows[i][0]
        if not own[i]:
            before = own[i - 1] if i and (rows[i - 1][0] == line or rows[i][1].role != "category") else ""
            after = (own[j] for j in range(i, len(own)) if own[j] and rows[j][0] == line)
            own[i] = before or next(after, own[i - 1] if i else next(filter(None, own), ""))
    return own


def with_subtotals(rows: Sequence[tuple[Label, bool]], policy: Policy) -> list[Label]:
    """Return labels, those of sums that are a table's rows of another family as the categories that they are.

    `rows` says of each row whether it has a ratio: "Asian, both sexes" under "Asian, men" and "Asian, women" is the
    row of a table by race, which a table by both attributes holds too.
    """
    sums = [
        i for i, (label, has_ratio) in enumerate(rows) if has_ratio and label.role == "total" and label.levels
    ]
    keys = {rows[i][0].key for i in sums}
    if len(keys) < _FEWEST or len(keys) < len(sums):
        return [label for label, _ in rows]
    found = [label for label, _ in rows]
    for i in sums:
        label = found[i]
        parts = [part for part in label.text.split(", ") if read_label([part], policy).role != "total"]
        found[i] = replace(label, text=", ".join(parts) or label.text, role="category")
    return found
