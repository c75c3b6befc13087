r"""How sure bounds are of rates of groups whose members are known as probabilities only.

The ends of the bounds (:mod:`audit_lib.metrics.imputed`) depend on the rate of each cell of people with the same
probabilities. Where cells are small, the rates of the sample make them too narrow: with one person a cell there would
be no bounds at all. So which of two bounds holds a cell's overlap is decided by *other* people (the clusters of other
folds), and where they leave it open a part of each is taken. Any such choice gives ends that hold in expectation, the
right one the sharp ends; a wrong one costs length and never truth.

Intervals hold all that lies between the ends, at the level (Imbens and Manski's for the identified set): half of the
error at each. Where the shares of a cell are those of a counted sample, half of the error is for all its shares
together (Clopper and Pearson's intervals, Bonferroni), each taken at its worst, and half for the decisions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from audit_lib.errors import UndefinedMetricError
from audit_lib.metrics.imputed import LeastAndMost, binding, imputed_gap_bounds, imputed_ratio_bounds, overlap
from audit_lib.results import Interval
from audit_lib.stats._checks import t_quantile
from audit_lib.stats.cluster_worth import require_worth, variance_of_one
from audit_lib.stats.intervals import clopper_pearson
from audit_lib.stats.two_sided import cluster_sums

__all__ = ["CellShares", "ImputedRates"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
End = Literal["low", "high"]

FOLDS: Final = 5
OPEN: Final = 2.0
"""Standard errors within which it is left open which bound holds a cell."""
OWN_RATE: Final = 20
"""People of other folds from which on a cell's own rate is thought of; smaller cells have that of the ones near it."""
_METHOD: Final = "of all between the bounds (Imbens and Manski)"
_COUNTED: Final = (
    "of all between the bounds, with the error of the shares of each label (Imbens and Manski; Bonferroni)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellShares:
    """What share of each cell of people belongs to each group.

    Parameters
    ----------
    value : ndarray of float, shape (cells, groups)
        The shares.
    counts : ndarray of int, shape (cells, groups), or None
        People whose cell and group are both known, from which the shares are; None where shares are taken as right.
    """

    value: Floats
    counts: NDArray[np.int64] | None = None

    @classmethod
    def of_counts(cls, counts: NDArray[np.int64]) -> CellShares:
        """Take the shares of a sample.

        Parameters
        ----------
        counts : ndarray of int, shape (cells, groups)
            At least one person a cell.

        Examples
        --------
        >>> CellShares.of_counts(np.array([[30, 10], [5, 15]])).value.tolist()
        [[0.75, 0.25], [0.25, 0.75]]
        """
        return cls(value=counts / counts.sum(axis=1, keepdims=True), counts=counts)

    def reach(self, group: int, error: float, groups: int) -> tuple[Floats, Floats]:
        """Return the least and the greatest share of each cell, all together wrong with at most a chance of `error`.

        Parameters
        ----------
        group : int
            Whose shares.
        error : float
            Chance that any of them is outside.
        groups : int
            Groups whose shares have to be inside together.
        """
        if self.counts is None:
            right = self.value[:, group]
            return right, right
        level = 1.0 - error / (groups * len(self.counts))
        found = [clopper_pearson(int(own[group]), int(own.sum()), level) for own in self.counts]
        return np.array([one.low for one in found]), np.array([one.high for one in found])


@dataclass(frozen=True, slots=True)
class _Ratio:
    """One end of a rate's bounds: a ratio of two sums over people, with what each cluster moves it.

    Where other people leave it open which of two bounds holds a cell, what is taken is chance: `moving` is as if that
    one were taken that depends on who is selected, `fixed` as if the other were. `members` is what the group has in
    each cluster: a cluster counts by that, and not by its people.
    """

    value: float
    members: Floats
    sums: Floats
    moving: Floats
    fixed: Floats


@dataclass(frozen=True)
class ImputedRates:
    """Decisions about people whose group is known as a share of people like them.

    Parameters
    ----------
    selected : ndarray of float, shape (n,)
        1 or 0.
    cells : ndarray of int, shape (n,)
        Which row of `shares` is each person's.
    clusters : ndarray of int, shape (n,)
        Independent unit of each: 0, 1, ...
    shares : CellShares
        Of each cell.
    seed : int
        By which clusters are dealt to folds.

    References
    ----------
    Imbens, G. W. & Manski, C. F. (2004). Confidence intervals for partially identified parameters. Econometrica 72,
    1845-1857. Kallus, Mao and Zhou (2022), see :mod:`audit_lib.metrics.imputed`. Choices by other people: Ji, W., Lei,
    L. & Spector, A. (2023). Model-agnostic covariate-assisted inference on partially identified causal effects,
    arXiv:2310.08115.

    Examples
    --------
    >>> cells = np.repeat([0, 1], 200)
    >>> shares = CellShares(value=np.array([[0.9, 0.1], [0.1, 0.9]]))
    >>> selected = np.tile([1.0, 0.0, 1.0, 0.0, 0.0], 80)
    >>> rates = ImputedRates(selected, cells, np.arange(400), shares, seed=7)
    >>> [round(end, 3) for end in rates.bounds(0)], round(rates.interval(0, 0.95).high, 3)
    ([0.3, 0.5], 0.569)
    """

    selected: Floats
    cells: NDArray[np.intp]
    clusters: NDArray[np.intp]
    shares: CellShares
    seed: int

    def members(self, group: int) -> float:
        """Return how many people belong to a group by their shares."""
        return math.fsum(self.shares.value[self.cells, group].tolist())

    def weighted(self, group: int) -> float:
        """Return the rate that weighs each person by the own share: right where only chance links group and decision.

        That is, among people with the same shares; elsewhere it is biased towards the rate of all.
        """
        share = self.shares.value[self.cells, group]
        return math.fsum((share * self.selected).tolist()) / self._members(group)

    def bounds(self, group: int) -> LeastAndMost:
        """Return the bounds of a group's rate, with shares as they are."""
        low, high = self._end(group, "low").value, self._end(group, "high").value
        return max(low, 0.0), min(high, 1.0)  # a rate lies within, whatever was thought of the cells

    def gap(self, group: int, reference: int) -> LeastAndMost:
        """Return the bounds of the difference of two groups' rates."""
        return imputed_gap_bounds(self.bounds(group), self.bounds(reference))

    def ratio(self, group: int) -> LeastAndMost:
        """Return the bounds of a group's rate over the highest."""
        return imputed_ratio_bounds({one: self.bounds(one) for one in self._compared(group)})[group]

    def interval(self, group: int, level: float) -> Interval:
        """Return the interval of a rate; like the others, of all that lies between its bounds."""
        low, high = self._end(group, "low", level, 1), self._end(group, "high", level, 1)
        limits = self._limit(low, -1, self._sampling(level)), self._limit(high, 1, self._sampling(level))
        return self._interval(*limits, level)

    def gap_interval(self, group: int, reference: int, level: float) -> Interval:
        """Return the interval of the difference of two groups' rates."""
        limits = []
        ends: tuple[tuple[End, End, int], ...] = (("low", "high", -1), ("high", "low", 1))
        for ours, theirs, sign in ends:
            one, other = self._end(group, ours, level, 2), self._end(reference, theirs, level, 2)
            error, df = self._error_of_difference(one, other)
            inner = self._sampling(level)
            own = self._limit(one, sign, inner) - one.value, self._limit(other, -sign, inner) - other.value
            # MOVER's too: few events are skew
            half = max(t_quantile(inner, df) * error, math.hypot(*own))
            limits.append(min(max(one.value - other.value + sign * half, -1.0), 1.0))
        return self._interval(limits[0], limits[1], level)

    def ratio_interval(self, group: int, level: float) -> Interval:
        """Return the interval of a group's rate over the highest, whichever group has that.

        The lower limit is the least over the other groups, which needs no correction: one of them is the highest. The
        upper one is the least too, of limits that hold for all others together (Bonferroni).
        """
        others = [one for one in self._compared(group) if one != group]
        inner = self._sampling(level)
        low = min(self._quotient((group, "low"), (one, "high"), -1, level, inner) for one in others)
        inner = 1.0 - (1.0 - inner) / len(others)
        high = min(self._quotient((group, "high"), (one, "low"), 1, level, inner) for one in others)
        return self._interval(min(low, 1.0), min(high, 1.0), level)

    def _compared(self, group: int) -> list[int]:
        """Return the groups that may have the highest rate: those with members, where one besides `group` has any."""
        every = range(self._groups)
        there = [one for one in every if one == group or self.members(one) > 0.0]
        return there if len(there) > 1 else list(every)

    @property
    def _groups(self) -> int:
        return int(self.shares.value.shape[1])

    def _members(self, group: int) -> float:
        found = self.members(group)
        if found <= 0.0:
            raise UndefinedMetricError("nobody belongs to the group by the probabilities")
        return found

    def _sampling(self, level: float) -> float:
        return level if self.shares.counts is None else 1.0 - (1.0 - level) / 2.0

    def _interval(self, low: float, high: float, level: float) -> Interval:
        counted = self.shares.counts is not None
        return Interval(low=low, high=high, level=level, method=_COUNTED if counted else _METHOD)

    @cached_property
    def _rows(self) -> Floats:
        return np.bincount(self.clusters).astype(np.float64)

    @cached_property
    def _thought(self) -> Callable[[int], tuple[Floats, Floats]]:
        """Return the rate that each person is thought to have by the people of other folds, and its standard error."""
        units, n = self._rows.size, self.selected.size
        if units < 2:
            raise UndefinedMetricError(
                f"{units} cluster: there are no others to tell by which bound holds its people"
            )
        folds = min(FOLDS, units)
        fold = self._dealt(units, folds)[self.clusters]
        known: dict[int, tuple[Floats, Floats]] = {}

        def rates(group: int) -> tuple[Floats, Floats]:
            if group in known:
                return known[group]
            share = self.shares.value[self.cells, group]
            edges = np.unique(np.quantile(share, np.linspace(0, 1, max(1, min(20, n // 50)) + 1)[1:-1]))
            near = np.searchsorted(edges, share, side="right")
            found, error = np.empty(n), np.empty(n)
            for one in range(folds):
                inside = fold == one
                rate, spread = self._rates_of(~inside, near)
                found[inside], error[inside] = rate[inside], spread[inside]
            known[group] = found, error
            return found, error

        return rates

    def _dealt(self, units: int, folds: int) -> NDArray[np.intp]:
        """Return the fold of each cluster: drawn, in an order of what is in the clusters, whatever they are called.

        Clusters of equal contents can change places: nothing that is added up over a fold differs by it.
        """
        rows = np.lexsort((self.selected, self.cells, self.clusters))
        codes = 2 * self.cells.astype(np.int64) + (self.selected > 0)
        parts = np.split(codes[rows], np.cumsum(self._rows.astype(np.int64))[:-1])
        contents = [part.tobytes() for part in parts]
        dealt = np.empty(units, dtype=np.intp)
        order = sorted(range(units), key=contents.__getitem__)
        dealt[order] = np.random.Generator(np.random.PCG64(self.seed)).permutation(units) % folds
        return dealt

    def _rates_of(self, known: NDArray[np.bool_], near: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Return the rate of each person's cell among the `known`, and its standard error, as if people were alone.

        Of small cells it is that of the cells near it.
        """
        overall = float(self.selected[known].mean())
        found, of = np.full(self.selected.size, overall), np.full(self.selected.size, float(known.sum()))
        for codes, least in ((near, 1), (self.cells, OWN_RATE)):
            size = int(codes.max()) + 1
            people = np.bincount(codes[known], minlength=size)
            won = np.bincount(codes[known], self.selected[known], size)
            rate = np.divide(won, people, out=np.zeros(size), where=people > 0)
            enough = people[codes] >= least
            found, of = np.where(enough, rate[codes], found), np.where(enough, people[codes], of)
        return found, np.sqrt(found * (1.0 - found) / of)

    def _end(self, group: int, end: End, level: float | None = None, groups: int = 1) -> _Ratio:
        """Return an end of the bounds; with a level at the worst shares that the counts allow."""
        self._members(group)
        if level is None:
            low = high = self.shares.value[:, group]
        else:
            low, high = self.shares.reach(group, (1.0 - level) / 2.0, groups)
        thought, error = self._thought(group)
        least = low[self.cells]
        most = least if low is high else high[self.cells]
        if end == "low":
            taken = binding(least, thought, OPEN * error)[0]
            return self._ratio(least, most, taken, moving=np.ceil(taken), fixed=np.floor(taken), end=end)
        taken = binding(most, thought, OPEN * error)[1]
        return self._ratio(most, least, taken, moving=np.floor(taken), fixed=np.ceil(taken), end=end)

    def _ratio(
        self, share: Floats, other: Floats, taken: Floats, *, moving: Floats, fixed: Floats, end: End
    ) -> _Ratio:
        """Return the end at the worst shares: `share` of those who count for more than the end itself, else `other`."""
        place = 0 if end == "low" else 1
        value = math.nan
        while True:
            worst = share if math.isnan(value) else np.where(taken > value, share, other)
            ways = [overlap(worst, self.selected, way, way)[place] for way in (taken, moving, fixed)]
            total = math.fsum(worst.tolist())
            if total == 0.0:
                raise UndefinedMetricError("nobody belongs to the group by the probabilities")
            found = math.fsum(ways[0].tolist()) / total
            if found == value or share is other:
                break
            if not math.isnan(value) and (found > value) == (end == "low"):
                break  # Dinkelbach's steps go down, or up, until rounding
            value = found
        count = self._rows.size
        sums = [cluster_sums((way - found * worst) / total, self.clusters, count) for way in ways]
        return _Ratio(found, cluster_sums(worst, self.clusters, count), *sums)

    def _error(self, members: Sequence[Floats], *sums: Floats) -> tuple[float, float]:
        """Return the largest error of some sums by cluster, and the fewest degrees of freedom of any of the groups."""
        if self.selected.min() == self.selected.max():
            raise UndefinedMetricError("everybody or nobody is selected: no spread to estimate")
        for one in members:
            require_worth(one / one.sum())
        found = [variance_of_one(one, each) for each in members for one in sums]
        return math.sqrt(max(variance for variance, _ in found)), min(df for _, df in found)

    def _error_of_difference(self, one: _Ratio, other: _Ratio) -> tuple[float, float]:
        """Return the error of a difference of two ends, which may move together: the largest of what may have been."""
        return self._error(
            (one.members, other.members),
            one.sums - other.sums,
            one.moving - other.moving,
            one.moving - other.fixed,
            one.fixed - other.moving,
        )

    def _limit(self, end: _Ratio, sign: int, level: float) -> float:
        """Return the limit of a rate: the farther one of the plain and the logit scale, since few events are skew."""
        error, df = self._error((end.members,), end.sums, end.moving)
        half = t_quantile(level, df) * error
        plain = min(max(end.value + sign * half, 0.0), 1.0)
        if not 0.0 < end.value < 1.0:
            return plain
        odds = float(expit(logit(end.value) + sign * half / (end.value * (1.0 - end.value))))
        return max(plain, odds) if sign > 0 else min(plain, odds)

    def _quotient(
        self, ours: tuple[int, End], theirs: tuple[int, End], sign: int, level: float, inner: float
    ) -> float:
        """Return the limit of a ratio of two ends: where the difference that is 0 at the ratio is not ruled out."""
        one, other = (self._end(*end, level, self._groups) for end in (ours, theirs))
        first, df = self._error((one.members,), one.sums, one.moving)
        second, more = self._error((other.members,), other.sums, other.moving)
        both, _ = self._error_of_difference(one, other)
        spread = t_quantile(inner, min(df, more)) ** 2
        shared = (first**2 + second**2 - both**2) / 2.0
        # (a - r b)^2 = t^2 (V_a - 2 r V_ab + r^2 V_b), Fieller's quadratic in r
        square = other.value**2 - spread * second**2
        middle = one.value * other.value - spread * shared
        constant = one.value**2 - spread * first**2
        if square <= 0.0 or other.value <= 0.0:
            return math.inf if sign > 0 else 0.0
        root = math.sqrt(max(middle**2 - square * constant, 0.0))
        return max((middle + sign * root) / square, 0.0)
