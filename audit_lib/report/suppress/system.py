"""The printed numbers as linear equations in whole, non-negative numbers."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from audit_lib.report.suppress.bounded_sums import BoundedSum, BoundedSums, Terms
from audit_lib.report.suppress.cells import Items, StratumCell
from audit_lib.report.suppress.sheets import Series, Sheet

SeriesLevels = tuple[str | None, ...]
SystemPlace = tuple[Series, Items]
"""One kind of count in one stratum."""


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
    """Variables: people by series, stratum, profile and state. Sums: all that is printed, and what is true."""

    def __init__(self, sheets: Sequence[Sheet], same: Mapping[Items, Items]) -> None:
        self.sheets, self.same = sheets, same
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
        self._numbers = {
            series: {profile: number for number, profile in enumerate(profiles)}
            for series, profiles in self.profiles.items()
        }
        self._offsets: dict[tuple[Series, Items, int | None], list[int]] = {}
        self._sheets = {(sheet.series, sheet.stratum, sheet.attributes): sheet for sheet in sheets}
        self._written: dict[tuple[int, frozenset[Items]], BoundedSums] = {}
        always = [line for series in self.levels for line in self._strata(series)]
        self._always = BoundedSums.of([*always, *self._series()])

    def printed(self, hidden: frozenset[StratumCell]) -> BoundedSums:
        """Return all that is known where some cells are hidden."""
        families: dict[tuple[Items, tuple[str, ...]], set[Items]] = {}
        for stratum, levels in hidden:
            families.setdefault((stratum, tuple(name for name, _ in levels)), set()).add(levels)
        found = []
        for number, sheet in enumerate(self.sheets):
            gone = frozenset(families.get((sheet.stratum, sheet.attributes), ()))
            key = number, gone
            if key not in self._written:
                self._written[key] = BoundedSums.of(list(self._sheet(sheet, gone)))
            found.append(self._written[key])
        return BoundedSums.joined([*found, self._always])

    def truth(self) -> NDArray[np.int64]:
        """Return the true counts, as far as the sheets say; nobody is of unknown category."""
        found = np.zeros(self.size, np.int64)
        for sheet in self.sheets:
            if sheet.attributes == self.attributes[sheet.series]:
                for levels, counts in sheet.rows.items():
                    for state, count in enumerate(counts):
                        ((variable, _),) = self._terms(sheet, levels, state)
                        found[variable] = count
        return found

    # What is printed

    def _sheet(self, sheet: Sheet, hidden: frozenset[Items]) -> Iterator[BoundedSum]:
        shown = [levels for levels in sheet.rows if levels not in hidden]
        gone = [levels for levels in sheet.rows if levels in hidden]
        states = range(self.states[sheet.series])
        for levels in shown:
            for state in states:
                yield _equal(self._terms(sheet, levels, state), sheet.rows[levels][state])
        # How many were selected of all is assumed to be known as long as any row is printed.
        for state in states if shown else ():
            known = sum(sheet.rows[levels][state] for levels in gone)
            yield _equal([t for levels in gone for t in self._terms(sheet, levels, state)], known)
        people = sum(sum(sheet.rows[levels]) for levels in gone)
        yield _equal([t for levels in gone for t in self._terms(sheet, levels, None)], people)
        yield from self._unlisted(sheet, hidden)
        if sheet.comparator in hidden:
            yield from self._hidden_comparator(sheet, sheet.comparator, shown)
        elif sheet.comparator is not None:
            yield from self._comparator(sheet, sheet.comparator, gone)

    def _unlisted(self, sheet: Sheet, hidden: frozenset[Items]) -> Iterator[BoundedSum]:
        """People of unknown category; nobody is in a category that has no row and is not hidden."""
        names = self.attributes[sheet.series]
        unknown, nobody = [], []
        for profile in self.profiles[sheet.series]:
            own = dict(zip(names, profile, strict=True))
            levels = tuple((name, str(own[name])) for name in sheet.attributes)
            if any(own[name] is None for name in sheet.attributes):
                unknown.append(profile)
            elif set(sheet.attributes) == set(names) and levels not in sheet.rows and levels not in hidden:
                nobody.append(profile)
        place = sheet.series, sheet.stratum
        for profiles, count in ((unknown, sheet.unknown), (nobody, 0)):
            yield _equal([t for p in profiles for t in self._of_profile(place, p, None)], count)

    def _comparator(self, sheet: Sheet, top: Items, gone: list[Items]) -> Iterator[BoundedSum]:
        """Nobody compared has a higher rate than the comparator, and no row before it has the same."""
        order = list(sheet.rows)
        best, n = sheet.rows[top][0], sum(sheet.rows[top])
        for levels in (levels for levels in gone if levels not in sheet.excluded):
            s, f = sheet.rows[levels]
            a, b = n - best, -best
            if s * a + f * b > 0:
                continue  # compared otherwise than by its rate
            most = -1 if order.index(levels) < order.index(top) else 0
            if most and s + f == 0:
                # Nobody, or a rate lower by a little: no number is the bound for both.
                a, b, most = 2 * best * n - best * (2 * best - 1), -best * (2 * best - 1), 0
            terms = [(v, a) for v, _ in self._terms(sheet, levels, 0)]
            terms += [(v, b) for v, _ in self._terms(sheet, levels, 1)]
            yield terms, -np.inf, most

    def _hidden_comparator(self, sheet: Sheet, top: Items, shown: list[Items]) -> Iterator[BoundedSum]:
        """The comparator has at least the highest rate that is shown, and a higher one than rows before it.

        Another hidden row could be the highest too; keeping this one is simpler, and leaves less open.
        """
        order = list(sheet.rows)
        compared = {
            levels: Fraction(sheet.rows[levels][0], sum(sheet.rows[levels]))
            for levels in shown
            if levels not in sheet.excluded and sum(sheet.rows[levels]) > 0
        }
        if any(compared.values()):
            yield self._terms(sheet, top, 0), 1, np.inf
        for strict in (False, True):
            rates = {
                levels: rate
                for levels, rate in compared.items()
                if (order.index(levels) < order.index(top)) == strict
            }
            if rates:  # what is at least the highest is at least all
                s, f = sheet.rows[max(rates, key=lambda levels: rates[levels])]
                terms = [(v, f) for v, _ in self._terms(sheet, top, 0)]
                terms += [(v, -s) for v, _ in self._terms(sheet, top, 1)]
                yield terms, int(strict), np.inf

    def _strata(self, series: Series) -> Iterator[BoundedSum]:
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
                    yield from self._adds_up(series, canonical, parts)

    def _adds_up(self, series: Series, whole: Items, parts: list[Items]) -> Iterator[BoundedSum]:
        states: list[int | None] = [*range(self.states[series]), None]
        for state in (state for state in states if self._true_sums(series, whole, parts, state)):
            for profile in self.profiles[series]:
                terms = [(v, -1) for v, _ in self._of_profile((series, whole), profile, state)]
                for part in parts:
                    terms += self._of_profile((series, part), profile, state)
                yield _equal(terms, 0)

    def _true_sums(self, series: Series, whole: Items, parts: list[Items], state: int | None) -> bool:
        sums: dict[Items, int] = {}
        signs = Counter(parts)
        signs[whole] = -1
        for sheet in self.sheets:
            sign = signs[sheet.stratum]
            if sheet.series == series and sign:
                for levels, counts in sheet.rows.items():
                    value = sum(counts) if state is None else counts[state]
                    sums[levels] = sums.get(levels, 0) + sign * value
        return not any(sums.values())

    def _series(self) -> Iterator[BoundedSum]:
        """Two kinds of table are of the same people, if they are; a person has one class of the tool at most."""
        tables = [series for series, states in self.states.items() if states == 2]
        for one, other in itertools.combinations(tables, 2):
            if self.profiles[one] == self.profiles[other]:
                yield from self._compare({one: None}, {other: None})
        for kind in dict.fromkeys(series[0] for series in tables):
            classes = [series for series in tables if series[0] == kind]
            if len(classes) > 1:
                yield from self._compare(dict.fromkeys(classes, 0), {classes[0]: None})

    def _compare(
        self, left: Mapping[Series, int | None], right: Mapping[Series, int | None]
    ) -> Iterator[BoundedSum]:
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
                yield terms, low, high

    # Variables

    def _of_profile(self, place: SystemPlace, profile: SeriesLevels, state: int | None) -> Terms:
        states = self.states[place[0]]
        first = self.places[place] + self._numbers[place[0]][profile] * states
        return [(first + s, 1) for s in (range(states) if state is None else (state,))]

    def _terms(self, sheet: Sheet, levels: Items, state: int | None) -> Terms:
        key = sheet.series, levels, state
        if key not in self._offsets:
            fixed = dict(levels)
            choices = [
                [fixed[name]] if name in fixed else self.levels[sheet.series][name]
                for name in self.attributes[sheet.series]
            ]
            first = self.places[sheet.series, sheet.stratum]
            place = sheet.series, sheet.stratum
            self._offsets[key] = [
                v - first for p in itertools.product(*choices) for v, _ in self._of_profile(place, p, state)
            ]
        first = self.places[sheet.series, sheet.stratum]
        return [(first + offset, 1) for offset in self._offsets[key]]

    def terms_of(self, target: Target) -> Terms:
        """Return the variables that a hidden count is the sum of."""
        stratum, levels = target.cell
        names = tuple(key for key, _ in levels)
        return self._terms(self._sheets[target.series, stratum, names], levels, target.state)

    def variables(self) -> dict[Items, NDArray[np.int64]]:
        """Return the numbers of the variables of each stratum."""
        found: dict[Items, list[NDArray[np.int64]]] = {}
        for (series, stratum), first in self.places.items():
            span = len(self.profiles[series]) * self.states[series]
            found.setdefault(stratum, []).append(np.arange(first, first + span))
        return {stratum: np.concatenate(spans) for stratum, spans in found.items()}


def _equal(terms: Terms, value: int) -> BoundedSum:
    return terms, value, value
