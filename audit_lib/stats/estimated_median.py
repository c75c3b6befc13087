"""Ratios of rates above the median of a sample, held against those above the population's median."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics.median import Median
from audit_lib.results import Interval
from audit_lib.stats._checks import finite_values
from audit_lib.stats.ratios import AllRatios, log_ratios_to_the_highest, simultaneous_log_ratios
from audit_lib.stats.simultaneous import DRAWS
from audit_lib.stats.two_sided import cluster_sums

__all__ = ["MedianRates", "rates_above_median"]

Floats = NDArray[np.float64]

_REACH: Final = 3.0
"""Standard errors of the median within which it is looked for."""
_MOST_TIED: Final = 2.0
"""In standard errors of the median: the largest share of scores with one value that still counts as no tie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MedianRates:
    """Shares of categories above the median of a sample, and their covariance, the median's error included.

    Parameters
    ----------
    above, totals : tuple of int
        People above the median, and all, of each category.
    local : ndarray, shape (categories,)
        How dense a category's scores are at the median, next to all scores; 0 where the median is beyond doubt.
    covariance : ndarray, shape (categories, categories)
        Of the rates.
    units : int
        Independent units of the category that is in the fewest: clusters, or people.
    """

    above: tuple[int, ...]
    totals: tuple[int, ...]
    local: Floats
    covariance: Floats
    units: int

    def ratios(self, level: float = 0.95, *, draws: int = DRAWS, seed: int = 0) -> AllRatios:
        """Ratios of all pairs, and each over the highest, holding together, as `simultaneous_log_ratios`.

        Parameters
        ----------
        level : float
            Nominal joint coverage.
        draws, seed : int
            As of `max_t_quantile`.

        Raises
        ------
        UndefinedMetricError
            If nobody of a category is above the median, there are fewer than two, or none varies.
        """
        return simultaneous_log_ratios(
            self._rates(), self.covariance, level, df=self.units - 1, draws=draws, seed=seed
        )

    def to_highest(self, level: float = 0.95, *, draws: int = DRAWS, seed: int = 0) -> tuple[Interval, ...]:
        """Ratios of each over the highest, as `ratios` has them.

        Parameters
        ----------
        level, draws, seed
            As of `ratios`.

        Raises
        ------
        UndefinedMetricError
            As there.
        """
        return log_ratios_to_the_highest(
            self._rates(), self.covariance, level, df=self.units - 1, draws=draws, seed=seed
        )

    def _rates(self) -> Floats:
        return np.asarray(np.array(self.above) / np.array(self.totals))


def rates_above_median(
    scores: ArrayLike, category: ArrayLike, categories: int, clusters: ArrayLike | None = None
) -> MedianRates:
    r"""Estimate the rates above a median that was itself estimated.

    Where the sample's median :math:`\hat m` is above the population's, everybody's rate is too low, that of the
    category with the most scores there by most. With :math:`p_j` the rate of category j, :math:`q` that of all and
    :math:`d_j` the density of its scores at the median over that of all scores, person i adds

    .. math:: \frac{[i \in j] (a_i - p_j)}{N_j} - d_j \frac{a_i - q}{N}

    to the error of :math:`p_j`, with :math:`a_i` whether i is above. The covariance is that of the sums over clusters.
    :math:`d_j` is the category's share of the scores nearest to the median over its share of all, with the bandwidth
    of Hall and Sheather on the scale of ranks.

    Where scores are tied, the population's median is one of few values. If all scores within three standard errors
    of the median equal it, it is beyond doubt, and its error is 0.

    Parameters
    ----------
    scores : array_like, shape (n,)
        Of everybody in whose sample the median is.
    category : array_like of int, shape (n,)
        From 0; -1 where it is not known.
    categories : int
        How many there are.
    clusters : array_like of int, shape (n,), optional
        Who depends on whom, such as versions of one application.

    Returns
    -------
    MedianRates

    Raises
    ------
    InputError
        If lengths differ.
    UndefinedMetricError
        If a category is empty, all of one are in one cluster, or scores near the median are tied so that it may be
        one value or another.

    Notes
    -----
    Range: two to four categories of 50 people or more (``docs/coverage.md``).

    References
    ----------
    Ghosh, J. K. (1971). A new proof of the Bahadur representation of quantiles. Ann. Math. Stat. 42, 1957-1961.
    Hall, P. & Sheather, S. J. (1988). On the distribution of a studentized quantile. J. R. Stat. Soc. B 50, 381-391.
    Preston, I. (1995). Sampling distributions of relative poverty statistics. Appl. Stat. 44, 91-99.

    Examples
    --------
    A narrow category next to a wide one: the median lies among the scores of the narrow one.

    >>> rng = np.random.Generator(np.random.PCG64(0))
    >>> scores = np.concatenate([rng.normal(0, 1, 300), rng.normal(0, 5, 300)])
    >>> found = rates_above_median(scores, np.repeat([0, 1], 300), 2)
    >>> found.local.round(1).tolist()
    [1.7, 0.3]
    >>> interval = found.ratios().pairs[0].interval
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.83, 1.23)
    """
    values = finite_values(scores, "scores")
    codes = np.asarray(category)
    own = None if clusters is None else _numbered(np.asarray(clusters))
    if codes.shape != values.shape or (own is not None and own.shape != values.shape):
        raise InputError(f"{values.size} scores for {codes.size} categories; give one of each a person")
    above = Median.of(values).above(values)
    totals = np.bincount(codes[codes >= 0], minlength=categories)
    if (totals == 0).any():
        raise UndefinedMetricError("nobody was assessed in a category")
    counts = np.bincount(codes[(codes >= 0) & above], minlength=categories)
    sample = _Sample(
        values=values, codes=codes, above=above, clusters=own, totals=totals, counts=counts,
        members=[_members(codes, j) for j in range(categories)],
    )  # fmt: skip
    local = _local_shares(sample)
    return MedianRates(
        above=tuple(counts.tolist()),
        totals=tuple(totals.tolist()),
        local=local,
        covariance=_covariance(sample, local),
        units=sample.fewest_units(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    values: Floats
    codes: NDArray[Any]
    above: NDArray[np.bool_]
    clusters: NDArray[Any] | None
    totals: NDArray[np.int64]
    counts: NDArray[np.int64]
    members: Sequence[slice | NDArray[np.intp]]
    """Where the people of each category are."""

    def units(self) -> int:
        return self.values.size if self.clusters is None else int(self.clusters.max()) + 1

    def fewest_units(self) -> int:
        """Return the units of the category that is in the fewest."""
        found = [self.units_of(j) for j in range(self.totals.size)]
        if min(found) < 2:
            raise UndefinedMetricError("a category has one person, or one cluster: no spread to estimate")
        return min(found)

    def units_of(self, category: int) -> int:
        """Return the units that hold people of a category."""
        if self.clusters is None:
            return int(self.totals[category])
        occurs = np.zeros(self.units(), dtype=bool)
        occurs[self.clusters[self.members[category]]] = True
        return int(np.count_nonzero(occurs))

    def error_of_all(self) -> Floats:
        """Return what each unit adds to the error of the share of all that is above the median."""
        own = (self.above - self.above.mean()) / self.values.size
        return own if self.clusters is None else cluster_sums(own, self.clusters, self.units())


def _numbered(clusters: NDArray[Any]) -> NDArray[Any]:
    """Number clusters from 0 in the order of their codes."""
    if clusters.dtype.kind not in "iu" or clusters.size == 0 or int(clusters.min()) < 0:
        return np.unique(clusters, return_inverse=True)[1]
    if int(clusters.max()) > 4 * clusters.size:
        return np.unique(clusters, return_inverse=True)[1]
    place = np.cumsum(np.bincount(clusters) > 0) - 1
    return clusters if place[-1] + 1 == place.size else place[clusters]


def _members(codes: NDArray[Any], category: int) -> slice | NDArray[np.intp]:
    """Return where a category is: a slice where it is in one piece, which is read without a copy."""
    places = np.flatnonzero(codes == category)
    first, last = (int(places[0]), int(places[-1])) if places.size else (0, -1)
    return slice(first, last + 1) if last - first + 1 == places.size else places


def _local_shares(sample: _Sample) -> Floats:
    """Return how dense each category is at the median, next to all scores."""
    n = sample.values.size
    error = math.sqrt(float(np.square(sample.error_of_all()).sum()))
    # Hall and Sheather's bandwidth at one half, for 95%; the normal density is that of their rule.
    h = sample.units() ** (-1 / 3) * 1.959963984540054 ** (2 / 3) * (1.5 / (2 * math.pi)) ** (1 / 3)
    near, band = _between(n, _REACH * error), _between(n, h)
    placed = np.partition(sample.values, sorted({*near, *band}))  # sorted as far as it is looked at
    if placed[near[0]] == placed[near[1]]:
        return np.zeros(sample.totals.size)
    values, counts = np.unique(placed[near[0] : near[1] + 1], return_counts=True)
    often = values[counts.argmax()]
    tied = int(np.count_nonzero(sample.values == often))
    if tied > max(_MOST_TIED * error * n, 1.0):
        raise UndefinedMetricError(
            f"{tied} of {n} scores near the median are equal: it may be one value or another"
        )
    low, high = (placed[place] for place in band)
    inside = (sample.values >= low) & (sample.values <= high)
    there = np.bincount(sample.codes[inside & (sample.codes >= 0)], minlength=sample.totals.size)
    shares: Floats = there / float(inside.sum()) / (sample.totals / n)
    return shares


def _between(size: int, reach: float) -> tuple[int, int]:
    """Return the places of ordered scores so far, in shares, below and above the median."""
    last = size - 1
    return max(math.floor((0.5 - reach) * last), 0), min(math.ceil((0.5 + reach) * last), last)


def _covariance(sample: _Sample, local: Floats) -> Floats:
    rates, n, k = sample.counts / sample.totals, sample.values.size, sample.totals.size
    of_all = sample.error_of_all()
    if sample.clusters is None:
        own = np.diag(rates * (1 - rates) / sample.totals)
        with_all = rates * (1 - rates) / n
        factors = np.sqrt(sample.totals / np.maximum(sample.totals - 1, 1))
    else:
        sums = np.empty((k, of_all.size))
        units = np.empty(k)
        for j in range(k):
            where = sample.members[j]
            error = (sample.above[where] - rates[j]) / sample.totals[j]
            sums[j] = np.bincount(sample.clusters[where], error, of_all.size)
            units[j] = sample.units_of(j)
        own, with_all = sums @ sums.T, sums @ of_all
        factors = np.sqrt(units / np.maximum(units - 1, 1))
    found: Floats = (
        own - np.outer(local, with_all) - np.outer(with_all, local)
        + np.outer(local, local) * float(of_all @ of_all)
    ) * np.outer(factors, factors)  # fmt: skip
    return found
