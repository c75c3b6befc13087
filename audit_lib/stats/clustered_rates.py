"""Rates, their ratios and their differences where people come in clusters: competing rounds, versions.

Who wins the place of a round takes it from the others of that round, and versions of one application are
answered alike. Counts alone do not show either, so these intervals start from the counts of each cluster.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.results import Interval, TestResult, Undefined
from audit_lib.stats._checks import z_quantile
from audit_lib.stats.cluster_kinds import ClusterKinds
from audit_lib.stats.cluster_worth import ClusterSpread, spread_of_kinds
from audit_lib.stats.clusters import t_test
from audit_lib.stats.effective_wilson import effective_wilson
from audit_lib.stats.intervals import clopper_pearson
from audit_lib.stats.koopman import koopman_limits
from audit_lib.stats.normal_scale import from_normal_scale
from audit_lib.stats.ratios import AllRatios, ratios_to_highest
from audit_lib.stats.simultaneous import DRAWS, PairInterval, max_t_quantile

__all__ = ["ClusteredRates"]

Floats = NDArray[np.float64]
_METHOD = "Koopman score, variance times the design effect of the clusters"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteredRates:
    r"""Selection rates of categories whose members share clusters.

    The influence of a cluster on a category's rate :math:`p_j` is :math:`\tilde u_{cj}`, measured from the other
    clusters (:func:`audit_lib.stats.cluster_worth.cluster_spread`), and
    :math:`V_{jk} = \sum_c \tilde u_{cj} \tilde u_{ck}`. Degrees of freedom are those that the clusters leave: of a
    pair, the fewer of the two (Welch's fall short where many pairs have few clusters). The design effect of a pair is
    the variance of its log ratio, :math:`V_{jj}/p_j^2 + V_{kk}/p_k^2 - 2 V_{jk} / (p_j p_k)`, over that of independent
    people.
    Koopman's score limits are taken at the critical value times its root. Where everybody or nobody of a category is
    selected there is no spread to measure: its clusters then count as one person each. Where clusters are worth fewer
    than three of one size, there is no interval.

    Parameters
    ----------
    selected, totals : tuple of int
        Of each category.
    won, people : ndarray of int, shape (categories, clusters)
        x and n: of each category and cluster, in the smallest type that holds them. Small ones add up wrongly: make
        floats of them first.

    Notes
    -----
    Range: rounds of one candidate of each of two or of eight groups, one of whom wins, from 60 rounds on
    (``docs/coverage.md``). For applications in several versions, as for a single rate: where the clusters times
    the smaller rate are at least 10. Elsewhere, and with clusters of very unequal sizes, it errs on the long side.

    References
    ----------
    Rao, J. N. K. & Scott, A. J. (1992). A simple method for the analysis of clustered binary data.
    Biometrics 48, 577-585. Koopman (1984), see :func:`audit_lib.stats.ratio_of_proportions`.
    """

    selected: tuple[int, ...]
    totals: tuple[int, ...]
    won: NDArray[np.unsignedinteger[Any]]
    people: NDArray[np.unsignedinteger[Any]]
    _kinds: dict[int, ClusterKinds] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, selected: ArrayLike, totals: ArrayLike) -> ClusteredRates:
        """Take the counts of each cluster.

        Parameters
        ----------
        selected, totals : array_like of int, shape (categories, clusters)
            How many were selected, of how many.

        Raises
        ------
        InputError
            If shapes differ, or more are selected than there are.

        Examples
        --------
        Four rounds of two candidates, one of each category; one of the two wins.

        >>> rates = ClusteredRates.of([[1, 0, 0, 1], [0, 1, 1, 0]], np.ones((2, 4), int))
        >>> round(rates.design_effect(0, 1), 2)
        2.67
        """
        x, n = np.asarray(selected), np.asarray(totals)
        if x.shape != n.shape or x.ndim != 2 or x.dtype.kind not in "iu" or n.dtype.kind not in "iu":
            raise InputError(
                f"counts of shapes {x.shape} and {n.shape}: give whole numbers, category by cluster"
            )
        if (x < 0).any() or (x > n).any():
            raise InputError("a cluster has more selected people than people")
        kind = np.min_scalar_type(n.max(initial=0))
        return cls(
            selected=tuple(x.sum(axis=1).tolist()),
            totals=tuple(n.sum(axis=1).tolist()),
            won=x.astype(kind),
            people=n.astype(kind),
        )

    @property
    def occurs(self) -> NDArray[np.bool_]:
        """Which clusters hold anybody of a category, of shape (categories, clusters)."""
        return self.people > 0

    def take(self, places: Sequence[int]) -> ClusteredRates:
        """Return some of the categories, in the order given."""
        chosen = list(places)
        if chosen == list(range(len(self.totals))):
            return self
        taken = ClusteredRates(
            selected=tuple(self.selected[i] for i in chosen),
            totals=tuple(self.totals[i] for i in chosen),
            won=self.won[chosen],
            people=self.people[chosen],
        )
        taken._kinds.update((new, self._kinds[old]) for new, old in enumerate(chosen) if old in self._kinds)
        return taken

    def kinds(self, i: int) -> ClusterKinds:
        """Return which clusters are alike to a category."""
        if i not in self._kinds:
            self._kinds[i] = ClusterKinds.of(self.won[i], self.people[i])
        return self._kinds[i]

    def design_effect(self, i: int, j: int) -> float:
        """Return the variance of the log ratio of two rates over what independent people would give.

        Raises
        ------
        UndefinedMetricError
            If there is no spread between clusters to measure it by.
        """
        return self._pair(i, j).design_effect

    def variance_of_log(self, i: int, j: int) -> float:
        """Return the variance of the log ratio of two rates.

        Raises
        ------
        UndefinedMetricError
            As `design_effect`.
        """
        return self._pair(i, j).variance

    def require(self, i: int) -> None:
        """Refuse a category whose clusters tell no spread.

        Raises
        ------
        UndefinedMetricError
            If it is empty, all in one cluster, or in clusters that are worth fewer than three of one size.
        """
        self._spread(i)

    def rate(self, i: int, level: float) -> Interval:
        """Interval of one rate: :func:`effective_wilson`.

        Raises
        ------
        UndefinedMetricError
            If a category is empty, or there is no spread between its clusters to measure.
        """
        x, n, units = self.selected[i], self.totals[i], int(np.count_nonzero(self.people[i]))
        if n == 0:
            raise UndefinedMetricError("nobody was assessed in a category")
        if x in (0, n) or units < 2:
            return effective_wilson(x, n, units, 0.0, math.inf, level)
        spread = spread_of_kinds(self.kinds(i))
        found = effective_wilson(x, n, units, spread.variance, spread.df, level)
        there = self.people[i] > 0
        some = int(np.count_nonzero(self.won[i]))
        whole = int(np.count_nonzero(self.won[i][there] == self.people[i][there]))
        low, high = clopper_pearson(whole, units, level).low, clopper_pearson(some, units, level).high
        if some == whole or (found.low >= low and found.high <= high):
            return found
        df = spread.df
        method = (
            f"Wilson score, n over the design effect of {units} clusters, t({df:.4g}), "
            "no longer than Clopper-Pearson's over these"
        )
        return replace(found, low=max(low, found.low), high=min(high, found.high), method=method)

    def ratio(self, i: int, j: int, level: float) -> Interval:
        """Interval of rate i over rate j, a pair chosen beforehand.

        Raises
        ------
        UndefinedMetricError
            As `design_effect`.
        """
        (low,), (high,) = self._limits([self._pair(i, j)], z_quantile(level))
        return Interval(low=float(low), high=float(high), level=level, method=_METHOD, kind="conditional")

    def ratios(self, level: float, *, draws: int = DRAWS, seed: int = 0) -> AllRatios:
        """Ratios of all pairs, and each over the highest, holding together, as `simultaneous_ratios`.

        Each pair's critical value is the normal one of all pairs, put on the scale of its own degrees of freedom.

        Raises
        ------
        UndefinedMetricError
            With fewer than two categories, one that `require` refuses, or no spread at all.
        """
        k = len(self.totals)
        if k < 2:
            raise UndefinedMetricError("fewer than two categories: there is nothing to compare with")
        spreads = [self._spread(i) for i in range(k)]
        logs = np.diag([one.of_log for one in spreads])
        shared = self._shared(spreads)
        for i, j in combinations(range(k), 2):
            logs[i, j] = logs[j, i] = shared[i, j]
        critical = max_t_quantile(logs, level, draws=draws, seed=seed)
        found: list[_Pair | Undefined] = []
        for i, j in combinations(range(k), 2):
            try:
                found.append(self._of(i, j, spreads[i], spreads[j], shared[i, j]))
            except UndefinedMetricError as error:
                found.append(Undefined(str(error)))
        conditional = self._intervals(found, z_quantile(level), level, "conditional")
        simultaneous = self._intervals(found, critical, level, "simultaneous")
        pairs = []
        for number, (i, j) in enumerate(combinations(range(k), 2)):
            (x, n), (y, m) = (self.selected[i], self.totals[i]), (self.selected[j], self.totals[j])
            value = x * m / (n * y) if y else Undefined("the comparator selected nobody")
            pairs.append(
                PairInterval(
                    first=i, second=j, value=value, interval=simultaneous[number],
                    conditional=conditional[number],
                )
            )  # fmt: skip
        return ratios_to_highest(pairs, k, critical, level)

    def test(self, i: int, j: int) -> TestResult:
        """Test that two rates are equal, by the difference of the two and the clusters' sums.

        The variance is that under equal rates (a score test): each cluster's influence is taken at the common
        rate, so that a category of which nobody was selected is no certainty, and nobody of one against
        everybody of the other has a p-value. It is undefined where both rates are 0 or both are 1.
        """
        x, n, y, m = self.selected[i], self.totals[i], self.selected[j], self.totals[j]
        count = int(np.count_nonzero((self.people[i] > 0) | (self.people[j] > 0)))
        try:
            if n == 0 or m == 0:
                raise UndefinedMetricError("nobody was assessed in a category")
            common = (x + y) / (n + m)
            a, b = (spread_of_kinds(self.kinds(at), common) for at in (i, j))
            variance = float(np.square(a.moved - b.moved).sum())
            if variance <= 1e-12 * (a.variance + b.variance):
                raise UndefinedMetricError("no spread between clusters to estimate")
        except UndefinedMetricError as error:
            nothing = Undefined(str(error))
            return TestResult(
                name="cluster_t_test", p_value=nothing, statistic=nothing, n=count, method="not computed"
            )
        method = "difference of rates, cluster influence function at the common rate"
        found = t_test(x / n - y / m, math.sqrt(variance), min(a.df, b.df), count, method)
        return replace(found, name="cluster_t_test")

    def _intervals(
        self,
        pairs: Sequence[_Pair | Undefined],
        deviate: float,
        level: float,
        kind: Literal["conditional", "simultaneous"],
    ) -> list[Interval | Undefined]:
        """Return the intervals of all pairs, in the order of `combinations`; the critical value is a normal one."""
        method = _METHOD if kind == "conditional" else f"{_METHOD}, max-|t| over all pairs"
        known = [pair for pair in pairs if isinstance(pair, _Pair)]
        low, high = (iter(limits.tolist()) for limits in self._limits(known, deviate))
        return [
            Interval(low=next(low), high=next(high), level=level, method=method, kind=kind)
            if isinstance(pair, _Pair)
            else pair
            for pair in pairs
        ]

    def _limits(self, pairs: Sequence[_Pair], deviate: float) -> tuple[Floats, Floats]:
        x, n = np.array(self.selected, np.float64), np.array(self.totals, np.float64)
        i, j = np.array([(pair.first, pair.second) for pair in pairs], dtype=np.int64).reshape(-1, 2).T
        critical = [from_normal_scale(deviate, pair.df) * math.sqrt(pair.design_effect) for pair in pairs]
        return koopman_limits(x[i], n[i], x[j], n[j], critical)

    def _pair(self, i: int, j: int) -> _Pair:
        spreads = self._spread(i), self._spread(j)
        return self._of(i, j, *spreads, self._shared(spreads)[0, 1])

    @staticmethod
    def _shared(spreads: Sequence[_Spread]) -> dict[tuple[int, int], float]:
        """Return the covariance of the log rates of each pair."""
        found = {}
        for i, one in enumerate(spreads[:-1]):
            moved = one.found.moved
            for j, other in enumerate(spreads[i + 1 :], i + 1):
                product = other.found.moved
                product *= moved
                found[i, j] = float(product.sum()) / (one.rate * other.rate)
        return found

    def _of(self, i: int, j: int, a: _Spread, b: _Spread, shared: float) -> _Pair:
        variance = a.of_log + b.of_log - 2 * shared
        independent = sum(
            (1 - one.rate) / (n * one.rate) for one, n in ((a, self.totals[i]), (b, self.totals[j]))
        )
        if variance <= 1e-12 * independent:
            raise UndefinedMetricError("every cluster shows the same ratio: no spread to estimate")
        return _Pair(
            first=i,
            second=j,
            variance=variance,
            design_effect=variance / independent,
            df=min(a.found.df, b.found.df),
        )

    def _spread(self, i: int) -> _Spread:
        x, n, units = self.selected[i], self.totals[i], int(np.count_nonzero(self.people[i]))
        if n == 0:
            raise UndefinedMetricError("nobody was assessed in a category")
        if units == 1 and n > 1:
            raise UndefinedMetricError(
                f"all {n} people of a category are in one cluster: no spread to estimate"
            )
        if x in (0, n) or units == 1:
            rate = (x + 0.5) / (n + 1)
            nothing = np.zeros(self.won.shape[1], dtype=np.uint8)
            variance = rate * (1 - rate) / units
            found = ClusterSpread(of_kind=np.zeros(1), of_cluster=nothing, variance=variance, df=math.inf)
            return _Spread(rate=rate, found=found, flat=True)
        return _Spread(rate=x / n, found=spread_of_kinds(self.kinds(i)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spread:
    """A rate above 0, how clusters spread around it, and whether that is the binomial one for want of any spread."""

    rate: float
    found: ClusterSpread
    flat: bool = False

    @property
    def of_log(self) -> float:
        """Variance of the log rate."""
        return self.found.variance / self.rate**2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """The log ratio of two rates: its variance, that over what independent people would give, degrees of freedom."""

    first: int
    second: int
    variance: float
    design_effect: float
    df: float
