"""Signals: any attribute's values in the slots of a prompt, from a file and not from code.

A signal is a CSV. Columns that are attributes of the audit are its key, the others are slots: ``age`` and
``graduation_year``; ``disability`` and ``affiliation``; ``sex``, ``race`` and ``affinity_group``. Several rows of one
key take turns over the prompts. A file without an attribute, such as a list of colleges, is drawn without regard to
group: all groups of a prompt get the same row, so no group gets another distribution.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from audit_lib.errors import LexiconError
from audit_lib.perturb.tables import check_filled, read_lexicon, unused
from audit_lib.registry import did_you_mean
from audit_lib.seeds import generator

_SLOT: Final = re.compile(r"[a-z][A-Za-z0-9_.]*")
GroupCell = Mapping[str, str]
"""A group of the design: attribute -> level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """Slot values, by attribute.

    Parameters
    ----------
    key : str
        The spec's key, for messages.
    axes : tuple of str
        Attributes that it signals; empty for one drawn without regard to group.
    slots : tuple of str
        Slots that it fills.
    rows : mapping of tuple to sequence of mapping
        Levels of the attributes -> slot values that take turns.
    """

    key: str
    axes: tuple[str, ...]
    slots: tuple[str, ...]
    rows: Mapping[tuple[str, ...], Sequence[Mapping[str, str]]]

    @classmethod
    def read(
        cls,
        content: bytes,
        key: str,
        file: str,
        axes: Sequence[str],
        seed: int,
        pattern: str = "{}",
        *,
        whole: bool = False,
    ) -> Signal:
        """Read a signal from CSV.

        Parameters
        ----------
        content : bytes
            The CSV.
        key, file : str
            The spec's key and its value, for messages.
        axes : sequence of str
            The audit's attributes.
        seed : int
            The audit's; sets where the turns of a signal without attribute begin.
        pattern : str
            What a column's slot is called.
        whole : bool
            Whether every slot needs a value; else one may be empty, such as a note on a gap that there is not.

        Raises
        ------
        LexiconError
            If it has no row or no slot, a level is empty, or a slot's name cannot stand in a text.
        """
        table = read_lexicon(content, key, (), file)
        own = tuple(axis for axis in axes if axis in table[0])
        columns = [column for column in table[0] if column not in own]
        check_filled(table, [*own, *columns] if whole else own, key)
        slots = tuple(pattern.format(column) for column in columns)
        if not slots:
            raise LexiconError(f"{key}: no column for a slot beside {', '.join(own)}")
        for slot in slots:
            if not _SLOT.fullmatch(slot):
                raise LexiconError(
                    f"{key}: {slot!r} cannot be a slot's name; use letters, digits, _ and ., such as year"
                )
        rows: dict[tuple[str, ...], list[dict[str, str]]] = {}
        for row in table:
            values = {slot: row[column] for slot, column in zip(slots, columns, strict=True)}
            rows.setdefault(tuple(row[axis] for axis in own), []).append(values)
        if not own:
            order = generator(seed, "signal", key).permutation(len(table)).tolist()
            rows[()] = [rows[()][place] for place in order]
        return cls(key=key, axes=own, slots=slots, rows=rows)

    def check(self, cells: Iterable[GroupCell]) -> None:
        """Refuse a signal that lacks a group.

        Raises
        ------
        LexiconError
            If a group has no row; the message names the nearest level.
        """
        for cell in cells:
            if (levels := tuple(cell[axis] for axis in self.axes)) not in self.rows:
                known = sorted({" ".join(found) for found in self.rows})
                wanted = " and ".join(
                    f"{axis} {level!r}" for axis, level in zip(self.axes, levels, strict=True)
                )
                raise LexiconError(f"{self.key}: no row for {wanted}{did_you_mean(' '.join(levels), known)}")

    def unused(self, levels: Mapping[str, Sequence[str]]) -> dict[str, int]:
        """Count rows of levels that the audit does not have."""
        keys = [dict(zip(self.axes, key, strict=True)) for key, rows in self.rows.items() for _ in rows]
        return unused(keys, {axis: levels[axis] for axis in self.axes})

    def values(self, cell: GroupCell, turn: int) -> Mapping[str, str]:
        """Return the slots' values for a group, of the row whose turn it is."""
        rows = self.rows[tuple(cell[axis] for axis in self.axes)]
        return rows[turn % len(rows)]
