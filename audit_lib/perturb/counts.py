"""What the rows of the stage ``variants`` are, counted as they go by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from audit_lib.perturb.pools import VariantRecord
from audit_lib.records import CONTROL, FORMAT, VARIATION


class VariantCounts:
    """What the rows are, counted as they go by."""

    def __init__(self) -> None:
        self.rows = 0
        self.cells: Counter[tuple[tuple[str, str | None], ...]] = Counter()
        self.rounds: set[str] = set()
        self.competing: int | None = None  # rounds, where they were counted by column
        self.alone = 0  # rows that are a request of their own
        self.together: set[str] = set()
        self.kinds: Counter[str] = Counter()
        self.asked: int | None = None

    def watch(self, rows: Iterable[VariantRecord]) -> Iterator[VariantRecord]:
        """Pass rows on."""
        for row in rows:
            self.rows += 1
            if (variation := row.get(VARIATION)) is None:
                self.cells[row.pop("_cell")] += 1
            else:
                self.kinds[variation] += 1
            if row["round_id"] is not None:
                self.rounds.add(row["round_id"])
            if row["request_id"] == row["variant_id"]:
                self.alone += 1
            else:
                self.together.add(row["request_id"])
            yield row

    def competitions(self) -> int:
        """Return how many rounds or pools the rows compete in."""
        return len(self.rounds) if self.competing is None else self.competing

    def of(self, cell: Mapping[str, str]) -> int:
        """Return how many rows are of one combination of levels."""
        return self.cells[tuple(cell.items())]

    def unknown(self, axes: Sequence[str]) -> int:
        """Return how many rows have a level that is not known."""
        return sum(n for cell, n in self.cells.items() if any(level is None for _, level in cell))

    def requests(self) -> int:
        """Return how many questions they are asked in."""
        return self.alone + len(self.together) if self.asked is None else self.asked

    def variations(self, formats: Sequence[str]) -> dict[str, Any]:
        """Rows of each kind; a format that changes nothing in a text gives it no row."""
        wanted = sum(self.cells.values())
        found: dict[str, Any] = {CONTROL: self.kinds[CONTROL]}
        for name in formats:
            made = self.kinds[f"{FORMAT}{name}"]
            found[f"{FORMAT}{name}"] = made
            found[f"{FORMAT}{name} without effect"] = wanted - made
        return found
