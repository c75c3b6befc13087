"""Tables of the coverage study: what a cell holds, and when it misses its target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from audit_lib.errors import UndefinedMetricError
from audit_lib.results import Interval

LEVEL = 0.95
Target = Literal["approximate", "conservative", "at least", "none"]


@dataclass(frozen=True)
class Cell:
    """Coverage, from the least to the greatest of what was covered; its target and Monte Carlo error."""

    low: float
    high: float
    target: Target
    error: float = 0.0

    @property
    def missed(self) -> bool:
        if self.target == "approximate":
            return not (self.low >= 0.93 and self.high <= 0.97)
        if self.target == "conservative":
            return self.low < 0.93
        # an exact method may only miss by the Monte Carlo error, and by the last digits
        return self.target == "at least" and self.low < LEVEL - 2 * self.error - 1e-9

    def __str__(self) -> str:
        shown = f"{100 * self.low:.1f}"
        if self.high != self.low:
            shown += f" to {100 * self.high:.1f}"
        return f"**{shown}**" if self.missed else f"_{shown}_" if self.target == "none" else shown


@dataclass(frozen=True)
class Study:
    """One table of the page."""

    title: str
    text: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]

    def missed(self) -> int:
        return sum(isinstance(cell, Cell) and cell.missed for row in self.rows for cell in row)

    def markdown(self) -> str:
        lines = [f"## {self.title}", "", self.text, ""]
        lines += [f"| {' | '.join(self.columns)} |", "|" + " --- |" * len(self.columns)]
        lines += [f"| {' | '.join(map(str, row))} |" for row in self.rows]
        return "\n".join(lines) + "\n"


def covers(interval: Interval, truth: float) -> bool:
    """Whether the interval holds the truth, rounding in the last digits aside."""
    slack = 1e-12 * max(1.0, abs(truth))
    return interval.low - slack <= truth <= interval.high + slack


def span(values: np.ndarray, where: np.ndarray, target: Target) -> Cell | str:
    """Least and greatest coverage over part of a grid."""
    return Cell(float(values[where].min()), float(values[where].max()), target) if where.any() else "-"


def simulate(
    repeats: int, seed: int, once: Callable[[np.random.Generator], Sequence[bool]]
) -> tuple[np.ndarray, int]:
    """Mean of what `once` says, over the repeats in which all of it is defined, and how many were not."""
    rng = np.random.Generator(np.random.PCG64(seed))
    hits, undefined = [], 0
    for _ in range(repeats):
        try:
            hits.append(once(rng))
        except UndefinedMetricError:
            undefined += 1
    return np.mean(np.array(hits, dtype=float), axis=0), undefined


def simulated(means: np.ndarray, undefined: int, repeats: int, targets: Sequence[Target]) -> list[str | Cell]:
    error = (LEVEL * (1 - LEVEL) / repeats) ** 0.5
    cells: list[str | Cell] = [
        Cell(float(m), float(m), target, error) for m, target in zip(means, targets, strict=True)
    ]
    return [*cells, f"{100 * undefined / repeats:.1f}"]
