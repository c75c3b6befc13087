"""What somebody who reads everything printed can still believe of the hidden counts.

The printed numbers are linear equations in whole, non-negative numbers: how many people of each profile, in each
stratum, were selected and were not. Every solution found is another audit that would have printed the same, so the
range of a count over solutions is a range that nobody can narrow. Maximising and minimising is integer programming.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.report.suppress.cells import Cell, Items, items
from audit_lib.report.suppress.sheets import Sheet
from audit_lib.report.suppress.system import System, Target

_MIXTURES: Final = 8


@dataclass(slots=True)
class Reader:
    """Everything that somebody can know who reads the printed sheets.

    Parameters
    ----------
    sheets : list of Sheet
        The true counts.
    same : mapping of Items to Items
        Strata that hold the rows of another one and are printed under its name.
    ranges : dict of Target to (int, int)
        Smallest and largest value seen in a solution. The truth is the first one, and hiding more never makes one
        impossible, so ranges only grow.
    """

    sheets: Sequence[Sheet]
    same: Mapping[Items, Items]
    ranges: dict[Target, tuple[int, int]] = field(default_factory=dict)

    def widen(self, hidden: frozenset[Cell], needs: Mapping[Target, Need]) -> list[Target]:
        """Look for solutions until every count has the range it needs.

        Returns
        -------
        list of Target
            Counts for which there is no solution, at most one a stratum; none at all once every count has its range.
        """
        system = System(self.sheets, self.same, hidden)
        targets = list(needs)
        matrix = system.matrix([system.terms_of(target) for target in targets])
        for target, need in needs.items():
            self.ranges.setdefault(target, (need.true, need.true))

        def short() -> list[int]:
            return [i for i, target in enumerate(targets) if not needs[target].met(*self.ranges[target])]

        def look(weights: NDArray[np.float64], within: frozenset[Items] | None = None) -> None:
            found = system.solve(matrix.T @ weights, within)
            if found is not None:
                for target, value in zip(targets, (matrix @ found).tolist(), strict=True):
                    low, high = self.ranges[target]
                    self.ranges[target] = min(low, value), max(high, value)

        rng = np.random.Generator(np.random.PCG64(0))
        for number in range(_MIXTURES):
            if not (left := short()):
                return []
            weights = np.zeros(len(targets))
            weights[left] = (1, -1)[number] if number < 2 else rng.choice((-1.0, 1.0), len(left))
            look(weights)
        exposed: dict[Items, Target] = {}
        for i in sorted(short(), key=lambda i: targets[i].key):
            target = targets[i]
            stratum = target.cell[0]
            for sign in (1.0, -1.0):
                if stratum not in exposed and not needs[target].met(*self.ranges[target]):
                    look(sign * np.eye(1, len(targets), i)[0], system.beside(stratum))
            if stratum not in exposed and not needs[target].met(*self.ranges[target]):
                exposed[stratum] = target
        return list(exposed.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """The range that a hidden count must at least have.

    Parameters
    ----------
    true : int
        The count itself.
    width : int
        Largest minus smallest possible value.
    within : int or None
        A range from 1 (or 0) to this will do too.
    """

    true: int
    width: int
    within: int | None = None

    def met(self, low: int, high: int) -> bool:
        """Whether a range is wide enough."""
        covers = self.within is not None and low <= 1 and high >= self.within
        return high - low >= self.width or (covers and high > low)


def same_strata(entries: Iterable[Mapping[str, Any]]) -> dict[Items, Items]:
    """Read ``strata_identical`` of ``metrics.json``."""
    return dict(_pairs(entries))


def _pairs(entries: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Items, Items]]:
    for entry in entries:
        yield items(entry["stratum"]), items(entry["same_as"])
