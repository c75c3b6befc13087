"""Word lists of an audit: protected words by attribute and level, target words, and what was inserted."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from audit_lib.errors import LexiconError
from audit_lib.registry import did_you_mean
from audit_lib.score.classifiers.lexicon import read_words
from audit_lib.spec import AuditSpec

WordLists = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Attribute -> level -> words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Word lists of the audit.

    Parameters
    ----------
    protected : mapping of str to mapping of str to tuple of str
        Attribute -> level -> words that name it.
    targets : tuple of str
        Words whose company is looked at.
    inserted : tuple of str
        Names, titles and pronouns that the perturbation put into prompts, sorted.
    """

    protected: WordLists
    targets: tuple[str, ...]
    inserted: tuple[str, ...] = ()

    @classmethod
    def read(cls, spec: AuditSpec, design_file: Callable[[str], bytes]) -> Words:
        """Read the lists that the spec names."""
        protected: WordLists = {}
        if spec.texts.protected is not None:
            protected = read_protected(design_file("texts.protected"), spec.groups.attributes)
        targets: tuple[str, ...] = ()
        if spec.texts.targets is not None:
            targets = tuple(read_words(design_file("texts.targets"), "texts.targets"))
        return cls(protected=protected, targets=targets)

    def masked(self) -> list[str]:
        """All words that are masked before texts are compared."""
        lists = (words for levels in self.protected.values() for words in levels.values())
        return sorted({word for words in lists for word in words} | set(self.inserted))


def read_protected(content: bytes, attributes: Mapping[str, Sequence[str]]) -> WordLists:
    r"""Read the words that name groups: a CSV with ``word`` and a column for each attribute it has words of.

    Raises
    ------
    LexiconError
        If a column or a level is unknown, a cell is missing, or there is no word.

    Examples
    --------
    >>> read_protected(b"word,sex\nshe,female\nhe,male\n", {"sex": ["female", "male"]})
    {'sex': {'female': ('she',), 'male': ('he',)}}
    """
    key = "texts.protected"
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    if not rows or "word" not in rows[0]:
        raise LexiconError(f"{key}: needs a CSV with the column `word` and at least one row")
    axes = [column for column in rows[0] if column != "word"]
    for axis in axes:
        if axis not in attributes:
            raise LexiconError(
                f"{key}: column {axis!r} is no attribute{did_you_mean(axis, list(attributes))}"
            )
    found: dict[str, dict[str, dict[str, None]]] = {axis: {} for axis in axes}
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values() or not row["word"].strip():
            raise LexiconError(f"{key}: line {number} lacks a cell or its word")
        levels = {axis: row[axis].strip() for axis in axes if row[axis].strip()}
        if not levels:
            raise LexiconError(f"{key}: line {number} names no level of any attribute")
        for axis, level in levels.items():
            if level not in attributes[axis]:
                near = did_you_mean(level, list(attributes[axis]))
                raise LexiconError(f"{key}: line {number}: {level!r} is no level of {axis!r}{near}")
            found[axis].setdefault(level, {})[row["word"].strip()] = None
    return {axis: {level: tuple(words) for level, words in levels.items()} for axis, levels in found.items()}
