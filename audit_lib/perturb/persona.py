"""Personas: a name, a title and pronouns that signal each group, put into the slots of a prompt.

Every prompt gets every group (a within-application design), and `names_per_cell` names of it. Names
are rotated through the lexicon in a seeded order, so that no group's result hangs on one name.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from audit_lib.errors import LexiconError
from audit_lib.registry import did_you_mean
from audit_lib.seeds import generator

if TYPE_CHECKING:
    from audit_lib.run import Run

Cell = Mapping[str, str]
_SIGNALS: Final = {"pronouns": "pronoun.{}", "titles": "{}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One variant of one prompt: its group, which name of the group, and the slots' values."""

    cell: Cell
    replicate: int
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """Slot values for every group.

    Parameters
    ----------
    cells : list of dict
        The intersectional groups, in the spec's order.
    names : list of list of dict
        For each group its names, in seeded order.
    signals : list of dict
        For each group the values of the slots that do not depend on the name.
    names_per_cell : int
        Variants of each prompt in each group.
    """

    cells: list[dict[str, str]]
    names: list[list[dict[str, str]]]
    signals: list[dict[str, str]]
    names_per_cell: int

    @classmethod
    def from_run(cls, run: Run) -> Persona:
        """Read the lexicons that the plan archived.

        Raises
        ------
        LexiconError
            If a lexicon is empty, lacks a column, or lacks a group.
        """
        groups, settings = run.spec.groups, run.spec.perturb
        if settings is None:
            raise LexiconError("the spec has no perturb section, so there is no lexicon to read")
        cells = groups.cells()
        rows = read_lexicon(
            run.design_file("perturb.names"), "perturb.names", ("first_name", "last_name", *groups.axes)
        )
        rng = generator(run.spec.seed, "persona", "names")
        names = []
        for cell in cells:
            members = [
                {"first_name": row["first_name"], "last_name": row["last_name"]}
                for row in rows
                if all(row[axis] == level for axis, level in cell.items())
            ]
            if len(members) < settings.names_per_cell:
                raise LexiconError(
                    f"perturb.names: {len(members)} names for {' '.join(cell.values())}, and names_per_cell is "
                    f"{settings.names_per_cell}; add names or lower it"
                )
            names.append([members[i] for i in rng.permutation(len(members))])
        signals: list[dict[str, str]] = [{} for _ in cells]
        for key, pattern in _SIGNALS.items():
            if getattr(settings, key) is None:
                continue
            lexicon = f"perturb.{key}"
            table = read_lexicon(run.design_file(lexicon), lexicon, ())
            axis = next((axis for axis in groups.axes if axis in table[0]), None)
            if axis is None:
                raise LexiconError(
                    f"{lexicon}: none of its columns is an attribute ({', '.join(groups.axes)})"
                )
            by_level = {row[axis]: row for row in table}
            for cell, signal in zip(cells, signals, strict=True):
                if cell[axis] not in by_level:
                    raise LexiconError(
                        f"{lexicon}: no row for {axis} {cell[axis]!r}{did_you_mean(cell[axis], sorted(by_level))}"
                    )
                row = by_level[cell[axis]]
                signal.update(
                    {pattern.format(column): value for column, value in row.items() if column != axis}
                )
        return cls(cells=cells, names=names, signals=signals, names_per_cell=settings.names_per_cell)

    def edits(self, index: int) -> Iterator[Edit]:
        """Yield the variants of the prompt with this index in the sorted sample."""
        for cell, names, signal in zip(self.cells, self.names, self.signals, strict=True):
            for replicate in range(self.names_per_cell):
                name = names[(index * self.names_per_cell + replicate) % len(names)]
                full = f"{name['first_name']} {name['last_name']}"
                yield Edit(cell=cell, replicate=replicate, values={**signal, **name, "name": full})


def read_lexicon(content: bytes, key: str, columns: tuple[str, ...]) -> list[dict[str, str]]:
    """Read a lexicon (CSV with a header, UTF-8); `key` is the spec's key that errors name.

    Raises
    ------
    LexiconError
        If it has no row, or lacks one of `columns`.
    """
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    if not rows:
        raise LexiconError(f"{key}: the lexicon has no row")
    for column in columns:
        if column not in rows[0]:
            raise LexiconError(f"{key}: no column {column!r}{did_you_mean(column, list(rows[0]))}")
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise LexiconError(f"{key}: line {number} has another number of cells than the header")
    return rows
