"""Rates, their ratios and their differences where people come in clusters: competing rounds, versions.

Who wins the place of a round takes it from the others of that round, and versions of one application are
answered alike. Counts alone do not show either, so these intervals start from the counts of each cluster.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.results import Interval, TestResult, Undefined
from audit_lib.stats._checks import t_quantile, z_quantile
from audit_lib.stats.clusters import t_test, variance_of_sums
from audit_lib.stats.effective_wilson import effective_wilson
from audit_lib.stats.intervals import koopman_limits
from audit_lib.stats.ratios import AllRatios, ratios_to_highest
from audit_lib.stats.simultaneous import DRAWS, PairInterval, max_t_quantile

__all__ = ["ClusteredRates"]

Floats = NDArray[np.float64]
_METHOD = "Koopman score, variance times the design effect of the clusters"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteredRates:
    r"""Selection rates of categories whose members share clusters.

    With :math:`x_{cj}` of :math:`n_{cj}` selected in cluster c and category j, the influence of a cluster
    on the rate :math:`p_j = \sum_c x_{cj} / N_j` is :math:`u_{cj} = (x_{cj} - p_j n_{cj}) / N_j`, and

    .. math:: V_{jk} = \sqrt{\tfrac{A_j}{A_j - 1} \tfrac{A_k}{A_k - 1}} \sum_c u_{cj} u_{ck}

    with :math:`A_j` the clusters that hold anybody of j. The design effect of a pair is the variance of its
    log ratio, :math:`V_{jj}/p_j^2 + V_{kk}/p_k^2 - 2 V_{jk} / (p_j p_k)`, over what it would be with
    independent people. Koopman's score limits are taken at the critical value times its root. Where everybody
    or nobody of a category is selected there is no spread to measure: its clusters then count as one person each.

    Parameters
    ----------
    selected, totals : tuple of int
        Of each category.
    influence : ndarray of shape (categories, clusters)
        u, by category.
    shares : ndarray of shape (categories, clusters)
        n over N: how much of a category is in a cluster.
    occurs : ndarray of bool, of shape (categories, clusters)
        Which clusters hold anybody of a category.

    Notes
    -----
    Range: rounds of one candidate of each of two or of eight groups, one of whom wins, from 60 rounds on
    (``docs/coverage.md``). For applications in several versions, as for a single rate: where the clusters times
    the smaller rate are at least 10.
    Not where one cluster holds most of a category: one of 3,000 people next to 30 of five was covered in 44%; nor with
    15 selected a category in clusters of ten that share a fifth of the variance: 89%.

    References
    ----------
    Rao, J. N. K. & Scott, A. J. (1992). A simple method for the analysis of clustered binary data.
    Biometrics 48, 577-585. Koopman (1984), see :func:`audit_lib.stats.ratio_of_proportions`.
    """

    selected: tuple[int, ...]
    totals: tuple[int, ...]
    influence: Floats
    shares: Floats
    occurs: NDArray[np.bool_]

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
        size = n.sum(axis=1)
        divisor = np.maximum(size, 1)[:, None]
        return cls(
            selected=tuple(x.sum(axis=1).tolist()),
            totals=tuple(size.tolist()),
            influence=(x - x.sum(axis=1)[:, None] / divisor * n) / divisor,
            shares=n / divisor,
            occurs=n > 0,
        )

    def take(self, places: Sequence[int]) -> ClusteredRates:
        """Return some of the categories, in the order given."""
        chosen = list(places)
        return ClusteredRates(
            selected=tuple(self.selected[i] for i in chosen),
            totals=tuple(self.totals[i] for i in chosen),
            influence=self.influence[chosen],
            shares=self.shares[chosen],
            occurs=self.occurs[chosen],
        )

    def design_effect(self, i: int, j: int) -> float:
        """Return the variance of the log ratio of two rates over what independent people would give.

        Raises
        ------
        UndefinedMetricError
            If there is no spread between clusters to measure it by.
        """
        return self.variance_of_log(i, j) / self._independent(i, j)

    def variance_of_log(self, i: int, j: int) -> float:
        """Return the variance of the log ratio of two rates.

        Raises
        ------
        UndefinedMetricError
            As `design_effect`.
        """
        a, b = self._spread(i), self._spread(j)
        variance = a.variance / a.rate**2 + b.variance / b.rate**2
        if not (a.flat or b.flat):
            variance -= 2 * self._covariance(i, j) / (a.rate * b.rate)
        if variance <= 1e-12 * self._independent(i, j):
            raise UndefinedMetricError("every cluster shows the same ratio: no spread to estimate")
        return variance

    def _independent(self, i: int, j: int) -> float:
        rates = [(self._spread(at).rate, self.totals[at]) for at in (i, j)]
        return sum((1 - rate) / (n * rate) for rate, n in rates)

    def rate(self, i: int, level: float) -> Interval:
        """Interval of one rate: :func:`effective_wilson`.

        Raises
        ------
        UndefinedMetricError
            If a category is empty, or there is no spread between its clusters to measure.
        """
        x, n, units = self.selected[i], self.totals[i], int(np.count_nonzero(self.occurs[i]))
        if n == 0:
            raise UndefinedMetricError("nobody was assessed in a category")
        variance = self._covariance(i, i) if units > 1 else 0.0
        return effective_wilson(x, n, units, variance, level)

    def ratio(self, i: int, j: int, level: float) -> Interval:
        """Interval of rate i over rate j, a pair chosen beforehand.

        Raises
        ------
        UndefinedMetricError
            As `design_effect`.
        """
        low, high = self._limits(i, j, self._t(i, j, level))
        return Interval(low=low, high=high, level=level, method=_METHOD, kind="conditional")

    def ratios(self, level: float, *, draws: int = DRAWS, seed: int = 0) -> AllRatios:
        """Ratios of all pairs, and each over the highest, holding together, as `simultaneous_ratios`.

        Raises
        ------
        UndefinedMetricError
            With fewer than two categories, an empty one, or no spread at all.
        """
        k = len(self.totals)
        if k < 2:
            raise UndefinedMetricError("fewer than two categories: there is nothing to compare with")
        spreads = [self._spread(i) for i in range(k)]
        logs = np.diag([one.variance / one.rate**2 for one in spreads])
        for i, j in combinations(range(k), 2):
            if not (spreads[i].flat or spreads[j].flat):
                logs[i, j] = logs[j, i] = self._covariance(i, j) / (spreads[i].rate * spreads[j].rate)
        critical = max_t_quantile(logs, level, draws=draws, seed=seed)
        pairs = []
        for i, j in combinations(range(k), 2):
            (x, _), (y, m) = (self.selected[i], self.totals[i]), (self.selected[j], self.totals[j])
            value = x * m / (self.totals[i] * y) if y else Undefined("the comparator selected nobody")
            interval: Interval | Undefined
            conditional: Interval | Undefined
            try:
                conditional = self.ratio(i, j, level)
                # The wider of the normal quantile's and the t's, as in the pair's own interval.
                low, high = self._limits(i, j, critical * self._t(i, j, level) / z_quantile(level))
                method = f"{_METHOD}, max-|t| over all pairs"
                interval = Interval(low=low, high=high, level=level, method=method, kind="simultaneous")
            except UndefinedMetricError as error:
                interval = conditional = Undefined(str(error))
            pairs.append(
                PairInterval(first=i, second=j, value=value, interval=interval, conditional=conditional)
            )
        return ratios_to_highest(pairs, k, critical, level)

    def test(self, i: int, j: int) -> TestResult:
        """Test that two rates are equal, by the difference of the two and the clusters' sums.

        The variance is that under equal rates (a score test): each cluster's influence is taken at the common
        rate, so that a category of which nobody was selected is no certainty, and nobody of one against
        everybody of the other has a p-value. It is undefined where both rates are 0 or both are 1.
        """
        x, n, y, m = self.selected[i], self.totals[i], self.selected[j], self.totals[j]
        count = int(np.count_nonzero(self.occurs[i] | self.occurs[j]))
        try:
            if n == 0 or m == 0:
                raise UndefinedMetricError("nobody was assessed in a category")
            common = (x + y) / (n + m)
            a = self.influence[i] + (x / n - common) * self.shares[i]
            b = self.influence[j] + (y / m - common) * self.shares[j]
            spread = variance_of_sums(a, -b, self.occurs[i], self.occurs[j])
            if spread.variance == 0.0:
                raise UndefinedMetricError("no spread between clusters to estimate")
        except UndefinedMetricError as error:
            nothing = Undefined(str(error))
            return TestResult(
                name="cluster_t_test", p_value=nothing, statistic=nothing, n=count, method="not computed"
            )
        method = "difference of rates, cluster influence function at the common rate"
        found = t_test(x / n - y / m, math.sqrt(spread.variance), spread.df, count, method)
        return replace(found, name="cluster_t_test")

    def _limits(self, i: int, j: int, critical: float) -> tuple[float, float]:
        scaled = critical * math.sqrt(self.design_effect(i, j))
        return koopman_limits(self.selected[i], self.totals[i], self.selected[j], self.totals[j], scaled)

    def _t(self, i: int, j: int, level: float) -> float:
        units = [int(np.count_nonzero(self.occurs[at])) for at in (i, j) if not self._spread(at).flat]
        return t_quantile(level, min(units) - 1) if units else z_quantile(level)

    def _covariance(self, i: int, j: int) -> float:
        factor = 1.0
        for at in (i, j):
            units = int(np.count_nonzero(self.occurs[at]))
            factor *= units / (units - 1)
        return math.sqrt(factor) * float((self.influence[i] * self.influence[j]).sum())

    def _spread(self, i: int) -> _Spread:
        x, n, units = self.selected[i], self.totals[i], int(np.count_nonzero(self.occurs[i]))
        if n == 0:
            raise UndefinedMetricError("nobody was assessed in a category")
        if units == 1 and n > 1:
            raise UndefinedMetricError(
                f"all {n} people of a category are in one cluster: no spread to estimate"
            )
        if x in (0, n) or units == 1:
            rate = (x + 0.5) / (n + 1)
            return _Spread(rate=rate, variance=rate * (1 - rate) / units, flat=True)
        return _Spread(rate=x / n, variance=self._covariance(i, i), flat=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spread:
    """A rate above 0, its variance, and whether that is the binomial one for want of any spread."""

    rate: float
    variance: float
    flat: bool
