"""What somebody who reads everything printed can still believe of the hidden counts.

The printed numbers are linear equations in whole, non-negative numbers: how many people of each profile, in each
stratum, were selected and were not. Every solution found is another audit that would have printed the same, so the
range of a count over solutions is a range that nobody can narrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.metrics import SameStratum
from audit_lib.progress import Progress, ignore
from audit_lib.report.suppress.bounded_sums import matrix_of
from audit_lib.report.suppress.cells import Items, StratumCell, items
from audit_lib.report.suppress.sheets import Sheet
from audit_lib.report.suppress.solutions import NearStrata, Part, Solutions
from audit_lib.report.suppress.system import System, Target

_MIXTURES: Final = 8
_CLOSE: Final = 1e-6


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
    _known: NDArray[np.int64] | None = None
    _system: System = field(init=False)

    def __post_init__(self) -> None:
        self._system = System(self.sheets, self.same)

    def widen(
        self,
        hidden: frozenset[StratumCell],
        needs: Mapping[Target, RangeNeeded],
        notify: Callable[[str], None] = ignore,
    ) -> list[Target]:
        """Look for solutions until every count has the range it needs.

        One solution of everything is found first. All others differ from it in a few strata only, so that the work
        grows with the number of strata and no faster.

        Returns
        -------
        list of Target
            Counts for which there is no solution, at most one a stratum; none at all once every count has its range.
        """
        targets = list(needs)
        strata = [target.cell[0] for target in targets]
        matrix = matrix_of([self._system.terms_of(target) for target in targets], self._system.size)
        seen = _SeenRange.of(targets, needs, self.ranges)
        solutions = Solutions.of(self._system, hidden)
        if self._known is None or not solutions.holds(self._known):
            # Hiding more makes no solution impossible, so this is done once.
            self._known = solutions.first(self._system.truth())
        known = self._known
        if known is None:
            return [targets[i] for i in seen.short()]
        seen.add(matrix @ known)
        near = NearStrata(hidden, self._system.variables())
        rng = np.random.Generator(np.random.PCG64(0))
        blocks = near.blocks({strata[i] for i in seen.short()})
        progress = Progress(
            f"report: {len(hidden)} small cells hidden; sets of strata tried", len(blocks), notify
        )
        for block in blocks:
            progress.one_more()
            part = solutions.part(known, block)
            inside = np.array([stratum in block for stratum in strata])
            for number in range(_MIXTURES):
                left = seen.short(inside)
                if not left.size:
                    break
                weights = np.zeros(len(targets))
                weights[left] = (1, -1)[number] if number < 2 else rng.choice((-1.0, 1.0), len(left))
                gain = matrix.T @ weights
                peak = part.peak(gain)
                found = None if peak is None else part.near(peak, gain)
                if found is not None:
                    seen.add(matrix @ found)
        exposed: dict[Items, Target] = {}
        alone = sorted(seen.short().tolist(), key=lambda i: targets[i].key)
        progress = Progress(
            f"report: {len(hidden)} small cells hidden; counts tried alone", len(alone), notify
        )
        for i in alone:
            progress.one_more()
            stratum = strata[i]
            if stratum in exposed or not seen.is_short(i):
                continue
            part = solutions.part(known, near.block(stratum))
            if not self._reaches(i, matrix, part, seen):
                exposed[stratum] = targets[i]
        self.ranges.update(zip(targets, seen.ranges(), strict=True))
        return list(exposed.values())

    def _reaches(self, i: int, matrix: Any, part: Part, seen: _SeenRange) -> bool:
        """Tell whether solutions are found in which a count has its range."""
        count = matrix[[i]].toarray()[0].astype(np.float64)
        gains = count, -count
        peaks = [part.peak(gain) for gain in gains]
        high, low = (
            np.inf if peak is None else part.gain_at(peak, gain)
            for peak, gain in zip(peaks, gains, strict=True)
        )
        if not seen.can_reach(i, -low, high):
            return False
        for gain, peak in zip(gains, peaks, strict=True):
            found = None if peak is None or not seen.is_short(i) else part.near(peak, gain)
            if found is not None:
                seen.add(matrix @ found)
        for gain in gains:
            found = part.best(gain) if seen.is_short(i) else None
            if found is not None:
                seen.add(matrix @ found)
        return not seen.is_short(i)


@dataclass(slots=True)
class _SeenRange:
    """The smallest and the largest value of each count seen in a solution, and what they must reach."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    width: NDArray[np.int64]
    within: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        targets: Sequence[Target],
        needs: Mapping[Target, RangeNeeded],
        ranges: Mapping[Target, tuple[int, int]],
    ) -> _SeenRange:
        start = [ranges.get(target, (needs[target].true, needs[target].true)) for target in targets]
        low, high = np.array(start, dtype=np.int64).reshape(-1, 2).T
        width = np.array([needs[target].width for target in targets], dtype=np.int64)
        never = np.iinfo(np.int64).max
        within = [never if needs[t].within is None else needs[t].within for t in targets]
        return cls(low.copy(), high.copy(), width, np.array(within, dtype=np.int64))

    def add(self, values: NDArray[np.int64]) -> None:
        np.minimum(self.low, values, out=self.low)
        np.maximum(self.high, values, out=self.high)

    def short(self, among: NDArray[np.bool_] | bool = True) -> NDArray[np.int64]:
        """Return the numbers of the counts whose range is not wide enough."""
        covers = (self.low <= 1) & (self.high >= self.within) & (self.high > self.low)
        return np.flatnonzero(~covers & (self.high - self.low < self.width) & among)

    def is_short(self, i: int) -> bool:
        covers = self.low[i] <= 1 and self.high[i] >= self.within[i] and self.high[i] > self.low[i]
        return not covers and bool(self.high[i] - self.low[i] < self.width[i])

    def can_reach(self, i: int, lowest: float, highest: float) -> bool:
        """Tell whether a count could have its range if all values between two bounds were possible."""
        low, high = min(self.low[i], lowest - _CLOSE), max(self.high[i], highest + _CLOSE)
        return bool((low <= 1 and high >= self.within[i]) or high - low >= self.width[i])

    def ranges(self) -> list[tuple[int, int]]:
        return list(zip(self.low.tolist(), self.high.tolist(), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeNeeded:
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


def same_strata(entries: Iterable[SameStratum]) -> dict[Items, Items]:
    """Read ``strata_identical`` of ``metrics.json``."""
    return {items(entry.stratum): items(entry.same_as) for entry in entries}
