"""Notes that stand under several tables next to each other, said once, after the last of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace

from audit_lib.report.blocks import Block, Fold, Table
from audit_lib.translation import Filled, t


def with_notes_once(tables: Iterable[Table], keep: Collection[str] = ()) -> tuple[Table, ...]:
    """Say notes that two or more tables have once, under the last of these tables; those to `keep` stay with each.

    Examples
    --------
    >>> one, two = (Table(name, (), (), notes=("Half up.", f"Of {name}.")) for name in ("a", "b"))
    >>> [table.notes for table in with_notes_once((one, two))]
    [('Of a.',), ('Of b.', 'Of all these tables: Half up.')]
    """
    found = list(tables)
    counted = Counter(note for table in found for note in dict.fromkeys(table.notes))
    shared = [note for note, n in counted.items() if n > 1 and note not in keep]
    own = [replace(table, notes=tuple(note for note in table.notes if note not in shared)) for table in found]
    if shared:
        own[-1] = replace(
            own[-1], notes=(*own[-1].notes, t("Of all these tables: {notes}", notes=Filled(" ").join(shared)))
        )
    return tuple(own)


def notes_of(blocks: Iterable[Block]) -> set[str]:
    """Return the notes under tables, folded ones too."""
    found: set[str] = set()
    for block in blocks:
        if isinstance(block, Table):
            found |= set(block.notes)
        elif isinstance(block, Fold):
            found |= notes_of(block.blocks)
    return found


def without_notes(blocks: Iterable[Block], said: Collection[str]) -> tuple[Block, ...]:
    """Leave out notes that were said before, and say that they hold here too.

    Examples
    --------
    >>> (table,) = without_notes([Table("a", (), (), notes=("Half up.", "Of a."))], {"Half up."})
    >>> table.notes
    ('Of a.', 'Otherwise as noted under the table of the whole audit.')
    """
    made: list[Block] = []
    for block in blocks:
        if isinstance(block, Table) and any(note in said for note in block.notes):
            own = tuple(note for note in block.notes if note not in said)
            again = t("Otherwise as noted under the table of the whole audit.")
            made.append(replace(block, notes=(*own, again)))
        else:
            made.append(block)
    return tuple(made)
