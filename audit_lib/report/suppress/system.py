"""The printed numbers as linear equations in whole, non-negative numbers, and their solutions."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.report.suppress.cells import Items, StratumCell
from audit_lib.report.suppress.sheets import Series, Sheet

SeriesLevels = tuple[str | None, ...]
SystemPlace = tuple[Series, Items]
"""One kind of count in one stratum."""
Terms = list[tuple[int, int]]
"""Variable and coefficient."""

_NODES: Final = 200
_GAP: Final = 0.05
"""A solution is good enough whose gain is this share below what none can pass; the best takes twice the time."""
_STRATA: Final = 6
"""So many strata may differ from a known solution at a time: of hundreds, no more are needed to move a number."""


@dataclass(frozen=True, slots=True)
class Target:
    """A hidden count: people of a cell in a state (selected, not selected), or all of them (None)."""

    series: Series
    cell: StratumCell
    state: int | None

    @property
    def count(self) -> tuple[Series, int | None]:
        """What is counted."""
        return self.series, self.state

    @property
    def key(self) -> tuple[Series, StratumCell, int]:
        """Sorts."""
        return self.series, self.cell, -1 if self.state is None else self.state


class System:
    """Variables: people by series, stratum, profile and state. Constraints: all that is printed, and what is true."""

    def __init__(
        self, sheets: Sequence[Sheet], same: Mapping[Items, Items], hidden: frozenset[StratumCell]
    ) -> None:
        self.sheets, self.same, self.hidden = sheets, same, hidden
        self.attributes: dict[Series, tuple[str, ...]] = {}
        self.levels: dict[Series, dict[str, list[str | None]]] = {}
        self.states: dict[Series, int] = {}
        for sheet in sheets:
            known = self.levels.setdefault(sheet.series, {})
            for name, level in (pair for row in sheet.rows for pair in row):
                if level not in known.setdefault(name, []):
                    known[name].append(level)
            self.states[sheet.series] = len(sheet.totals)
        for series, known in self.levels.items():
            if any(sheet.unknown for sheet in sheets if sheet.series == series):
                for values in known.values():
                    values.append(None)
            self.attributes[series] = tuple(sorted(known))
        self.places: dict[SystemPlace, int] = {}
        self.profiles: dict[Series, list[SeriesLevels]] = {
            series: list(itertools.product(*(known[name] for name in self.attributes[series])))
            for series, known in self.levels.items()
        }
        self.size = 0
        for sheet in sheets:
            place = sheet.series, sheet.stratum
            if place not in self.places:
                self.places[place] = self.size
                self.size += len(self.profiles[sheet.series]) * self.states[sheet.series]
        self.lines: list[tuple[Terms, float, float]] = []
        self._write()
        self._sheets = {(sheet.series, sheet.stratum, sheet.attributes): sheet for sheet in sheets}
        self._lines: tuple[Any, NDArray[np.float64], NDArray[np.float64]] | None = None

    # What is printed

    def _write(self) -> None:
        for sheet in self.sheets:
            self._sheet(sheet)
        for series in self.levels:
            self._strata(series)
        self._series()

    def _sheet(self, sheet: Sheet) -> None:
        shown = [levels for levels in sheet.rows if sheet.cell(levels) not in self.hidden]
        gone = [levels for levels in sheet.rows if sheet.cell(levels) in self.hidden]
        states = range(self.states[sheet.series])
        for levels in shown:
            for state in states:
                self._equal(self._terms(sheet, levels, state), sheet.rows[levels][state])
        # How many were selected of all is assumed to be known as long as any row is printed.
        for state in states if shown else ():
            known = sum(sheet.rows[levels][state] for levels in gone)
            self._equal([t for levels in gone for t in self._terms(sheet, levels, state)], known)
        people = sum(sum(sheet.rows[levels]) for levels in gone)
        self._equal([t for levels in gone for t in self._terms(sheet, levels, None)], people)
        self._unlisted(sheet)
        if sheet.comparator is not None:
            self._comparator(sheet, sheet.comparator, shown, gone)

    def _unlisted(self, sheet: Sheet) -> None:
        """People of unknown category; nobody is in a category that has no row and is not hidden."""
        names = self.attributes[sheet.series]
        unknown, nobody = [], []
        for profile in self.profiles[sheet.series]:
            own = dict(zip(names, profile, strict=True))
            terms = self._of_profile((sheet.series, sheet.stratum), profile, None)
            levels = tuple((name, str(own[name])) for name in sheet.attributes)
            if any(own[name] is None for name in sheet.attributes):
                unknown += terms
            elif set(sheet.attributes) == set(names) and levels not in sheet.rows:
                nobody += [] if sheet.cell(levels) in self.hidden else terms
        self._equal(unknown, sheet.unknown)
        self._equal(nobody, 0)

    def _comparator(self, sheet: Sheet, top: Items, shown: list[Items], gone: list[Items]) -> None:
        """Nobody compared has a higher rate than the comparator, and no row before it has the same."""
        order = list(sheet.rows)
        if top in shown:
            best, n = sheet.rows[top][0], sum(sheet.rows[top])
            for levels in (levels for levels in gone if levels not in sheet.excluded):
                s, f = sheet.rows[levels]
                a, b = n - best, -best
                if s * a + f * b > 0:
                    continue  # compared otherwise than by its rate
                strict = order.index(levels) < order.index(top)
                if strict and s + f == 0:
                    # Nobody, or a rate lower by a little: no number is the bound for both.
                    a, b, strict = 2 * best * n - best * (2 * best - 1), -best * (2 * best - 1), False
                terms = [(v, a) for v, _ in self._terms(sheet, levels, 0)]
                terms += [(v, b) for v, _ in self._terms(sheet, levels, 1)]
                self.lines.append((terms, -np.inf, -1 if strict else 0))
        elif top in gone:
            # Another hidden row could be the highest too; keeping this one is simpler, and leaves less open.
            if any(sheet.rows[levels][0] for levels in shown if levels not in sheet.excluded):
                self.lines.append((self._terms(sheet, top, 0), 1, np.inf))
            for levels in (levels for levels in shown if levels not in sheet.excluded):
                s, n = sheet.rows[levels][0], sum(sheet.rows[levels])
                strict = order.index(levels) < order.index(top)
                terms = [(v, n - s) for v, _ in self._terms(sheet, top, 0)]
                terms += [(v, -s) for v, _ in self._terms(sheet, top, 1)]
                if n:
                    self.lines.append((terms, 1 if strict else 0, np.inf))

    def _strata(self, series: Series) -> None:
        """The parts of a split add up to the whole, as far as they do."""
        by_columns: dict[frozenset[str], dict[Items, Items]] = {}
        own = [sheet.stratum for sheet in self.sheets if sheet.series == series]
        for stratum in (*own, *(s for s, known in self.same.items() if known in own)):
            columns = frozenset(key for key, _ in stratum)
            by_columns.setdefault(columns, {})[stratum] = self.same.get(stratum, stratum)
        for coarse, fine in itertools.permutations(by_columns, 2):
            if not coarse < fine:
                continue
            for stratum, canonical in by_columns[coarse].items():
                within = set(stratum)
                parts = [known for part, known in by_columns[fine].items() if within <= set(part)]
                if canonical not in parts:
                    self._adds_up(series, canonical, parts)

    def _adds_up(self, series: Series, whole: Items, parts: list[Items]) -> None:
        states: list[int | None] = [*range(self.states[series]), None]
        for state in (state for state in states if self._true_sums(series, whole, parts, state)):
            for profile in self.profiles[series]:
                terms = [(v, -1) for v, _ in self._of_profile((series, whole), profile, state)]
                for part in parts:
                    terms += self._of_profile((series, part), profile, state)
                self._equal(terms, 0)

    def _true_sums(self, series: Series, whole: Items, parts: list[Items], state: int | None) -> bool:
        sums: dict[Items, int] = {}
        for sheet in self.sheets:
            sign = -1 if sheet.stratum == whole else parts.count(sheet.stratum)
            if sheet.series == series and sign:
                for levels, counts in sheet.rows.items():
                    value = sum(counts) if state is None else counts[state]
                    sums[levels] = sums.get(levels, 0) + sign * value
        return not any(sums.values())

    def _series(self) -> None:
        """Two kinds of table are of the same people, if they are; a person has one class of the tool at most."""
        tables = [series for series, states in self.states.items() if states == 2]
        for one, other in itertools.combinations(tables, 2):
            if self.profiles[one] == self.profiles[other]:
                self._compare({one: None}, {other: None})
        for kind in dict.fromkeys(series[0] for series in tables):
            classes = [series for series in tables if series[0] == kind]
            if len(classes) > 1:
                self._compare(dict.fromkeys(classes, 0), {classes[0]: None})

    def _compare(self, left: Mapping[Series, int | None], right: Mapping[Series, int | None]) -> None:
        """Left and right are equal, or the one is no more than the other, in every cell: then in every profile."""

        def true(side: Mapping[Series, int | None]) -> dict[StratumCell, int]:
            found: dict[StratumCell, int] = {}
            for sheet in (sheet for sheet in self.sheets if sheet.series in side):
                state = side[sheet.series]
                for levels, counts in sheet.rows.items():
                    value = sum(counts) if state is None else counts[state]
                    found[sheet.cell(levels)] = found.get(sheet.cell(levels), 0) + value
            return found

        a, b = true(left), true(right)
        names = self.attributes[next(iter(left))]
        if set(a) != set(b) or not any(len(levels) == len(names) for _, levels in a):
            return
        differences = [a[cell] - b[cell] for cell in a]
        low = -np.inf if min(differences) < 0 else 0
        high = np.inf if max(differences) > 0 else 0
        if low == -np.inf and high == np.inf:
            return
        for stratum in dict.fromkeys(stratum for stratum, _ in a):
            # No cell says how many people of unknown category there are on either side, unless all are equal.
            for profile in (p for p in self.profiles[next(iter(left))] if None not in p or low == high):
                terms = [
                    t for s, state in left.items() for t in self._of_profile((s, stratum), profile, state)
                ]
                for s, state in right.items():
                    terms += [(v, -1) for v, _ in self._of_profile((s, stratum), profile, state)]
                self.lines.append((terms, low, high))

    # Variables

    def _of_profile(self, place: SystemPlace, profile: SeriesLevels, state: int | None) -> Terms:
        states = self.states[place[0]]
        first = self.places[place] + self._number(place[0], profile) * states
        return [(first + s, 1) for s in (range(states) if state is None else (state,))]

    def _number(self, series: Series, profile: SeriesLevels) -> int:
        number = 0
        for name, level in zip(self.attributes[series], profile, strict=True):
            known = self.levels[series][name]
            number = number * len(known) + known.index(level)
        return number

    def _terms(self, sheet: Sheet, levels: Items, state: int | None) -> Terms:
        fixed = dict(levels)
        choices = [
            [fixed[name]] if name in fixed else self.levels[sheet.series][name]
            for name in self.attributes[sheet.series]
        ]
        place = sheet.series, sheet.stratum
        return [t for profile in itertools.product(*choices) for t in self._of_profile(place, profile, state)]

    def terms_of(self, target: Target) -> Terms:
        """Return the variables that a hidden count is the sum of."""
        stratum, levels = target.cell
        names = tuple(key for key, _ in levels)
        return self._terms(self._sheets[target.series, stratum, names], levels, target.state)

    def blocks(self, strata: Iterable[Items]) -> list[frozenset[Items]]:
        """Return sets of strata that can change together, a few at a time, until each of `strata` is in one.

        People move between a few strata and those that these are parts of. Each set starts with the first stratum
        that is in none yet, and is filled up with those that have most hidden cells in common with it.
        """
        hidden: dict[Items, set[Items]] = {stratum: set() for _, stratum in self.places}
        for stratum, levels in self.hidden:
            hidden.setdefault(stratum, set()).add(levels)
        columns = max(len(stratum) for stratum in hidden)
        finest = sorted(stratum for stratum in hidden if len(stratum) == columns)
        wanted, found = sorted(strata), []
        while wanted:
            start = wanted[0]
            near = sorted(
                (s for s in finest if s != start),
                key=lambda s: (s not in wanted, -len(hidden[s] & hidden[start]), s),
            )
            own = {start, *near[: _STRATA - 1]}
            wholes = {s for s in hidden if len(s) < columns and any(set(s) < set(one) for one in own)}
            found.append(frozenset(own | wholes))
            wanted = [s for s in wanted if s not in found[-1]]
        return found

    def _equal(self, terms: Terms, value: int) -> None:
        if terms:
            self.lines.append((terms, value, value))

    # Solutions

    def matrix(self, lines: Iterable[Terms]) -> Any:
        """Return lines of coefficients as a sparse matrix."""
        from scipy.sparse import csr_array

        entries = [(row, v, c) for row, terms in enumerate(lines) for v, c in terms]
        count = 1 + max((row for row, _, _ in entries), default=-1)
        rows, columns, values = np.array(entries, dtype=np.int64).reshape(-1, 3).T
        return csr_array((values, (rows, columns)), shape=(count, self.size), dtype=np.int64)

    def solve(
        self, gain: NDArray[np.float64], known: NDArray[np.int64] | None = None, within: Iterable[Items] = ()
    ) -> NDArray[np.int64] | None:
        """Return a solution with a large gain; None if none is found. It is checked in whole numbers.

        Where a solution is `known`, only the strata `within` may differ from it: the cost is that of those strata,
        however many there are besides.
        """
        free, start = self._open(known, within)
        found = self._optimum(gain, free, start, whole=True)
        if found is None:
            return None
        start[free] = np.rint(found).astype(np.int64)
        return start if self.holds(start) else None

    def bound(
        self, gain: NDArray[np.float64], known: NDArray[np.int64], within: Iterable[Items]
    ) -> float | None:
        """Return a gain that no such solution passes, by a linear program; None if there is none."""
        free, start = self._open(known, within)
        found = self._optimum(gain, free, start, whole=False)
        return None if found is None else float(gain[free] @ found + gain @ start)

    def _open(
        self, known: NDArray[np.int64] | None, within: Iterable[Items]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of the variables that are looked for, and the others' values; 0 where looked for."""
        if known is None:
            return np.arange(self.size), np.zeros(self.size, np.int64)
        free, start = self._variables(frozenset(within)), known.copy()
        start[free] = 0
        return free, start

    def _optimum(
        self, gain: NDArray[np.float64], free: NDArray[np.int64], start: NDArray[np.int64], *, whole: bool
    ) -> NDArray[np.float64] | None:
        from scipy.optimize import Bounds, LinearConstraint, milp

        if not free.size:
            return None
        matrix, low, high = self._constraints()
        part = matrix[:, free]
        touched, fixed = np.unique(part.indices), matrix @ start
        result = milp(
            -gain[free],
            integrality=np.full(free.size, int(whole)),
            bounds=Bounds(np.zeros(free.size), np.full(free.size, np.inf)),
            constraints=LinearConstraint(part[touched], (low - fixed)[touched], (high - fixed)[touched]),
            options={"node_limit": _NODES, "mip_rel_gap": _GAP},
        )
        found: NDArray[np.float64] | None = result.x
        return found

    def holds(self, counts: NDArray[np.int64]) -> bool:
        """Tell, in whole numbers, whether an audit with these counts would print the same."""
        matrix, low, high = self._constraints()
        value = matrix @ counts
        return bool((value >= low).all() and (value <= high).all() and (counts >= 0).all())

    def _constraints(self) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
        if self._lines is None:
            low, high = (np.array([line[end] for line in self.lines], dtype=np.float64) for end in (1, 2))
            self._lines = self.matrix(line[0] for line in self.lines).tocsc(), low, high
        return self._lines

    def _variables(self, strata: frozenset[Items]) -> NDArray[np.int64]:
        """Return the numbers of the variables of some strata."""
        spans = [
            np.arange(first, first + len(self.profiles[series]) * self.states[series])
            for (series, stratum), first in self.places.items()
            if stratum in strata
        ]
        return np.concatenate(spans) if spans else np.zeros(0, np.int64)
