"""Audits that would print the same: whole numbers that fulfil all lines, with a large gain.

All lines are sums of counts, but those about who has the highest rate. Without these a linear program has whole
solutions, as flows have. So each of them is replaced by two sums: no more than so many selected, and no fewer than so
many not selected, cut out of what a linear program with all lines finds best. What comes out is whole, in the time
of two linear programs. Integer programming is for what is not found so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.report.suppress.cells import Items, StratumCell
from audit_lib.report.suppress.system import System

_NODES: Final = 200
_GAP: Final = 0.05
"""A solution is good enough whose gain is this share below what none can pass; the best takes twice the time."""
_STRATA: Final = 6
"""So many strata may differ from a known solution at a time: of hundreds, no more are needed to move a number."""
_TOWARDS_KNOWN: Final = (0.0, 0.25, 0.5, 0.75)
"""Where rates are cut: at the best of the linear program, and at points on the way to a known solution."""
_ROUNDING: Final = 1e-7


@dataclass(slots=True)
class Solutions:
    """The lines of an audit whose cells are partly hidden.

    Parameters
    ----------
    matrix, low, high
        Sums of the variables, and between what they lie.
    variables : mapping of Items to array
        The variables of each stratum.
    """

    matrix: Any
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    variables: Mapping[Items, NDArray[np.int64]]
    _open: NDArray[np.bool_] | None = None
    _parts: dict[frozenset[Items], Part] = field(default_factory=dict)

    @classmethod
    def of(cls, system: System, hidden: frozenset[StratumCell]) -> Solutions:
        """Write the lines of a system of which some cells are hidden."""
        lines = system.printed(hidden)
        return cls(lines.matrix(system.size), lines.low, lines.high, system.variables())

    def holds(self, counts: NDArray[np.int64]) -> bool:
        """Tell, in whole numbers, whether an audit with these counts would print the same."""
        value = self.matrix @ counts
        return bool((value >= self.low).all() and (value <= self.high).all() and (counts >= 0).all())

    def first(self, guess: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Return a solution: what is guessed, if it is one; None if none is found."""
        if self.holds(guess):
            return guess
        nothing = np.zeros(len(guess), np.int64)
        everything = Part.of(self, nothing, np.arange(len(guess)))
        gain = np.zeros(len(guess))
        peak = everything.peak(gain)
        found = None if peak is None else everything.near(peak, gain)
        return everything.best(gain) if found is None else found

    def part(self, known: NDArray[np.int64], within: frozenset[Items]) -> Part:
        """Return the questions about solutions that differ from a known one only within some strata."""
        if within not in self._parts:
            if self._open is None:
                self._open = self._undecided(known)
            own = np.concatenate([self.variables[s] for s in sorted(within) if s in self.variables])
            self._parts[within] = Part.of(self, known, own[self._open[own]])
        return self._parts[within]

    def _undecided(self, known: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which variables do not follow from one line after another. What follows is as in any solution."""
        undecided = np.ones(len(known), dtype=bool)
        some, minus = (abs(self.matrix).sign(), (self.matrix < 0).astype(np.int64))
        positive = minus @ np.ones(len(known), np.int64) == 0
        equal = self.low == self.high
        while True:
            left = some @ undecided.astype(np.int64)
            nothing_more = positive & (self.matrix @ np.where(undecided, 0, known) == self.high)
            decided = (some.T @ ((equal & (left == 1)) | nothing_more).astype(np.int64)) > 0
            if not (decided & undecided).any():
                return undecided
            undecided &= ~decided


@dataclass(frozen=True, slots=True)
class Part:
    """Questions about some variables; the others are as in a known solution.

    Parameters
    ----------
    whole : Solutions
        All lines, by which each answer is checked.
    known : array
        The known solution.
    free : array
        The variables that may differ from it.
    lines, low, high
        Sums of the free variables, and between what they lie: first those that are sums or differences of counts,
        then rates.
    cut
        The same, but for each rate two sums: what is added in it, and what is taken away.
    more, less
        By how much one more of these two changes a rate.
    """

    whole: Solutions
    known: NDArray[np.int64]
    free: NDArray[np.int64]
    lines: Any
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    cut: Any
    more: NDArray[np.int64]
    less: NDArray[np.int64]

    @classmethod
    def of(cls, whole: Solutions, known: NDArray[np.int64], free: NDArray[np.int64]) -> Part:
        """Take out the lines that the variables stand in."""
        from scipy.sparse import vstack

        start = known.copy()
        start[free] = 0
        own = whole.matrix[:, free]
        lines = np.flatnonzero(np.diff(own.indptr))
        own = own[lines]
        fixed = whole.matrix[lines] @ start
        low, high = whole.low[lines] - fixed, whole.high[lines] - fixed
        rates = (_largest(abs(own)) > 1) & (low != high)
        # Lines that say the same are left once.
        ends = np.column_stack([low[~rates], high[~rates]])
        _, first = np.unique(np.column_stack([ends, own[~rates].toarray()]), axis=0, return_index=True)
        sums, ends = own[~rates][first], ends[first]
        sign = np.where(np.isfinite(high[rates]), 1, -1)
        of_rates = own[rates].multiply(sign[:, None]).tocsr()
        rest = np.where(sign > 0, high[rates], -low[rates])
        more, less = of_rates.maximum(0), (-of_rates).maximum(0)
        return cls(
            whole,
            known,
            free,
            lines=vstack([sums, of_rates], format="csc"),
            low=np.concatenate([ends[:, 0], np.full(len(rest), -np.inf)]),
            high=np.concatenate([ends[:, 1], rest]),
            cut=vstack([sums, more.sign(), less.sign()], format="csc"),
            more=_largest(more),
            less=_largest(less),
        )

    def peak(self, gain: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return the point with the largest gain, fractions of people allowed; None if there is none."""
        return self._optimum(gain, self.lines, self.low, self.high)

    def gain_at(self, point: NDArray[np.float64], gain: NDArray[np.float64]) -> float:
        """Return the gain of a point."""
        return float(gain[self.free] @ (point - self.known[self.free]) + gain @ self.known)

    def near(self, peak: NDArray[np.float64], gain: NDArray[np.float64]) -> NDArray[np.int64] | None:
        """Return a solution with a large gain near a point; None if none is found."""
        rates = len(self.more)
        sums = len(self.low) - rates
        low, high, rest = self.low[:sums], self.high[:sums], self.high[sums:]
        for share in _TOWARDS_KNOWN:
            point = peak + share * (self.known[self.free] - peak)
            up, down = (self.cut @ point)[sums:].reshape(2, -1) * (self.more, self.less)
            most = np.floor((up + np.maximum(rest + down - up, 0) / 2) / np.maximum(self.more, 1) + _ROUNDING)
            least = np.maximum(np.ceil((self.more * most - rest) / np.maximum(self.less, 1)), 0)
            no_end = np.full(rates, np.inf)
            found = self._optimum(
                gain, self.cut, np.concatenate([low, -no_end, least]), np.concatenate([high, most, no_end])
            )
            if (counts := self._whole(found)) is not None:
                return counts
        return None

    def best(self, gain: NDArray[np.float64]) -> NDArray[np.int64] | None:
        """Return a solution with a large gain by integer programming; None if none is found."""
        return self._whole(self._optimum(gain, self.lines, self.low, self.high, whole=True))

    def _whole(self, found: NDArray[np.float64] | None) -> NDArray[np.int64] | None:
        """Return a solution of everything, if it is one. It is checked in whole numbers."""
        if found is None:
            return None
        counts = self.known.copy()
        counts[self.free] = np.rint(found).astype(np.int64)
        return counts if self.whole.holds(counts) else None

    def _optimum(
        self,
        gain: NDArray[np.float64],
        lines: Any,
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        *,
        whole: bool = False,
    ) -> NDArray[np.float64] | None:
        from scipy.optimize import Bounds, LinearConstraint, milp

        if not self.free.size:
            return None
        result = milp(
            -gain[self.free],
            integrality=np.full(self.free.size, int(whole)),
            bounds=Bounds(np.zeros(self.free.size), np.full(self.free.size, np.inf)),
            constraints=LinearConstraint(lines, low, high),
            options={"node_limit": _NODES, "mip_rel_gap": _GAP},
        )
        found: NDArray[np.float64] | None = result.x
        return found


def _largest(lines: Any) -> NDArray[np.int64]:
    """Return the largest coefficient of each line."""
    some = 0 not in lines.shape
    return lines.max(axis=1).toarray().ravel() if some else np.zeros(lines.shape[0], np.int64)


class NearStrata:
    """Sets of strata that can change together, a few at a time.

    People move between a few strata and those that these are parts of. Each set starts with one stratum, and is
    filled up with those that have most hidden cells in common with it.
    """

    def __init__(self, hidden: Iterable[StratumCell], strata: Iterable[Items]) -> None:
        self._hidden: dict[Items, set[Items]] = {stratum: set() for stratum in strata}
        for stratum, levels in hidden:
            self._hidden.setdefault(stratum, set()).add(levels)
        columns = max(len(stratum) for stratum in self._hidden)
        self._finest = sorted(stratum for stratum in self._hidden if len(stratum) == columns)
        self._wholes = [stratum for stratum in self._hidden if len(stratum) < columns]

    def block(self, start: Items, wanted: frozenset[Items] = frozenset()) -> frozenset[Items]:
        """Return a set with one stratum, and rather with wanted ones."""
        own = self._hidden[start]
        near = sorted(
            (stratum for stratum in self._finest if stratum != start),
            key=lambda stratum: (stratum not in wanted, -len(self._hidden[stratum] & own), stratum),
        )
        found = {start, *near[: _STRATA - 1]}
        return frozenset(found | {s for s in self._wholes if any(set(s) < set(one) for one in found)})

    def blocks(self, strata: Iterable[Items]) -> list[frozenset[Items]]:
        """Return sets until each stratum is in one."""
        wanted, found = sorted(strata), []
        while wanted:
            found.append(self.block(wanted[0], frozenset(wanted)))
            wanted = [stratum for stratum in wanted if stratum not in found[-1]]
        return found
