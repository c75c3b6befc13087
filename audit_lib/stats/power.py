"""Power: how large an audit must be, and what an audit of this size could have found."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr, ndtri, xlog1py, xlogy

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.stats._checks import bisect, smallest_size, z_quantile
from audit_lib.stats.exact import fisher_p_values
from audit_lib.typed_json import as_json

__all__ = [
    "SampleSize",
    "design_effect",
    "power_of_two_proportions",
    "sample_size_for_means",
    "sample_size_for_proportions",
    "smallest_detectable_ratio",
]

Test = Literal["normal", "fisher", "fisher-midp"]

# the exact rejection region holds one entry for each pair of counts
_LARGEST_REGION = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSize:
    """People needed on each side.

    Parameters
    ----------
    n_group, n_reference : int
        The smallest numbers that reach the power.
    power : float
        What they reach.
    method : str
        The formula.
    """

    n_group: int
    n_reference: int
    power: float
    method: str

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {f.name: as_json(getattr(self, f.name)) for f in fields(self)}


def design_effect(cluster_size: float, icc: float, *, cv: float = 0.0) -> float:
    r"""Return by how much clusters inflate the variance of a rate: :math:`1 + ((1 + cv^2) m - 1) \rho`.

    Parameters
    ----------
    cluster_size : float
        Mean number of rows an application.
    icc : float
        Correlation of two rows of the same application.
    cv : float
        Coefficient of variation of the cluster sizes; 0 where all are equal.

    Raises
    ------
    InputError
        If the size is below 1, the variation negative, or the correlation outside [-1, 1].

    Notes
    -----
    This is for two groups made of different applications. Where each application stands on both
    sides, as in a counterfactual audit, the shared part cancels: the design effect of the comparison
    is 1 - icc with one row a side, below 1.

    References
    ----------
    Kish, L. (1965). Survey Sampling. Wiley. Eldridge, S. M., Ashby, D. & Kerry, S. (2006). Sample
    size for cluster randomized trials. Int. J. Epidemiol. 35, 1292-1300.

    Examples
    --------
    >>> round(design_effect(8, 0.05), 2)
    1.35
    """
    if cluster_size < 1 or cv < 0 or not -1 <= icc <= 1:
        raise InputError(f"cluster_size {cluster_size}, icc {icc} and cv {cv}: want >= 1, [-1, 1], >= 0")
    return 1.0 + ((1.0 + cv * cv) * cluster_size - 1.0) * icc


def power_of_two_proportions(
    p1: float,
    n1: int,
    p2: float,
    n2: int,
    *,
    alpha: float = 0.05,
    design_effect: float = 1.0,
    test: Test = "normal",
) -> float:
    r"""Probability that a two-sided test finds the difference between two rates.

    ``normal``: of the pooled z test,

    .. math:: \Phi\left(\frac{|p_1 - p_2| - z s_0}{s_1}\right)
              + \Phi\left(\frac{-|p_1 - p_2| - z s_0}{s_1}\right),

    with :math:`s_0^2 = \bar p (1 - \bar p)(1/n_1 + 1/n_2)` and
    :math:`s_1^2 = p_1 (1 - p_1)/n_1 + p_2 (1 - p_2)/n_2`, each n divided by the design effect.
    ``fisher`` and ``fisher-midp``: exact, by adding up the binomial probabilities of all tables
    that the test rejects; for independent rows only.

    Parameters
    ----------
    p1, n1, p2, n2
        Rate and size of the group, then of the comparator.
    alpha : float
        Level of the test.
    design_effect : float
        Of the clusters; see :func:`design_effect`.
    test : {"normal", "fisher", "fisher-midp"}
        Which test is meant.

    Raises
    ------
    UndefinedMetricError
        If a group is empty.

    References
    ----------
    Fleiss, J. L., Levin, B. & Paik, M. C. (2003). Statistical Methods for Rates and Proportions,
    3rd ed., ch. 4. Wiley.

    Examples
    --------
    >>> round(power_of_two_proportions(0.40, 200, 0.50, 200), 3)
    0.52
    >>> round(power_of_two_proportions(0.40, 200, 0.50, 200, test="fisher"), 3)
    0.481
    """
    _check_rates(p1, p2)
    _check_sizes(n1, n2)
    _check_design(alpha, design_effect)
    if test == "normal":
        return _normal_power(p1, n1 / design_effect, p2, n2 / design_effect, alpha)
    region = _fisher_region(n1, n2, alpha, test, design_effect)
    return _sum_of_products(_binomial(n1, p1), _given(region, _binomial(n2, p2)))


def sample_size_for_proportions(
    reference_rate: float,
    *,
    ratio: float | None = None,
    gap: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    allocation: float = 1.0,
    design_effect: float = 1.0,
) -> SampleSize:
    """Smallest audit that finds a given impact ratio or rate gap with the given power.

    The smallest integers for which :func:`power_of_two_proportions` (normal) reaches `power`.

    Parameters
    ----------
    reference_rate : float
        Expected rate of the comparator, in (0, 1).
    ratio, gap : float
        What to find; give one: rate of the group over the reference's, or minus it.
    power, alpha : float
        Wanted power, and level of the two-sided test.
    allocation : float
        Members of the group for each member of the reference.
    design_effect : float
        Of the clusters; see :func:`design_effect`.

    Raises
    ------
    UndefinedMetricError
        If the ratio is 1 or the gap 0: nothing to find.

    Examples
    --------
    >>> size = sample_size_for_proportions(0.5, ratio=0.8)
    >>> size.n_group, size.n_reference
    (388, 388)
    >>> sample_size_for_proportions(0.5, ratio=0.8, design_effect=1.35).n_group
    523
    """
    if (ratio is None) == (gap is None):
        raise InputError("give either a ratio or a gap")
    p2 = reference_rate
    p1 = p2 * ratio if ratio is not None else p2 + (gap or 0.0)
    _check_rates(p1, p2)
    _check_targets(power, alpha)
    _check_design(alpha, design_effect)
    if not 0.0 < allocation < math.inf:
        raise InputError(f"allocation is {allocation}; give a positive number")
    if p1 == p2:
        raise UndefinedMetricError("both rates are equal: there is nothing to find")

    def reached(n2: int) -> float:
        n1 = math.ceil(allocation * n2)
        return _normal_power(p1, n1 / design_effect, p2, n2 / design_effect, alpha)

    n2 = smallest_size(reached, power)
    return SampleSize(
        n_group=math.ceil(allocation * n2),
        n_reference=n2,
        power=reached(n2),
        method="two-sided pooled z test, normal approximation",
    )


def sample_size_for_means(
    standardised_gap: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    allocation: float = 1.0,
    design_effect: float = 1.0,
) -> SampleSize:
    """Smallest audit that finds a given difference of mean scores, in standard deviations.

    Normal approximation of Welch's test with equal variances: below some 20 a side, add one or two.

    Parameters
    ----------
    standardised_gap : float
        Difference of means over the standard deviation within groups.
    power, alpha, allocation, design_effect
        As in :func:`sample_size_for_proportions`.

    Raises
    ------
    UndefinedMetricError
        If the gap is 0.

    Examples
    --------
    >>> sample_size_for_means(0.2).n_group
    393
    """
    _check_targets(power, alpha)
    _check_design(alpha, design_effect)
    if not 0.0 < allocation < math.inf:
        raise InputError(f"allocation is {allocation}; give a positive number")
    if not math.isfinite(standardised_gap):
        raise InputError(f"standardised_gap is {standardised_gap}; give a finite number")
    if standardised_gap == 0.0:
        raise UndefinedMetricError("the gap is 0: there is nothing to find")
    z = z_quantile(1.0 - alpha)

    def reached(n2: int) -> float:
        error = math.sqrt(design_effect * (1 / math.ceil(allocation * n2) + 1 / n2))
        shift = abs(standardised_gap) / error
        return float(ndtr(shift - z) + ndtr(-shift - z))

    n2 = smallest_size(reached, power)
    return SampleSize(
        n_group=math.ceil(allocation * n2),
        n_reference=n2,
        power=reached(n2),
        method="two-sided test of means, normal approximation",
    )


def smallest_detectable_ratio(
    n1: int,
    n2: int,
    reference_rate: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    design_effect: float = 1.0,
    test: Test = "normal",
) -> float:
    """Return the impact ratio below 1, nearest to 1, that this audit would have found.

    The ratio at which :func:`power_of_two_proportions` equals `power`. An audit that could only have
    found 0.5 has not shown 0.8 to be absent.

    Parameters
    ----------
    n1, n2 : int
        Members of the group and of the comparator.
    reference_rate : float
        Rate of the comparator, in (0, 1].
    power, alpha, design_effect, test
        As in :func:`power_of_two_proportions`.

    Raises
    ------
    UndefinedMetricError
        If a group is empty, or if even a ratio of 0 would have been missed.

    Examples
    --------
    >>> round(smallest_detectable_ratio(100, 400, 0.5), 3)
    0.691
    >>> round(smallest_detectable_ratio(100, 400, 0.5, test="fisher"), 3)
    0.687
    """
    _check_rates(reference_rate, reference_rate)
    _check_targets(power, alpha)
    _check_sizes(n1, n2)
    _check_design(alpha, design_effect)
    if test == "normal":

        def reached(ratio: float) -> float:
            p2 = reference_rate
            return _normal_power(ratio * p2, n1 / design_effect, p2, n2 / design_effect, alpha)
    else:
        region = _fisher_region(n1, n2, alpha, test, design_effect)
        given_reference = _given(region, _binomial(n2, reference_rate))

        def reached(ratio: float) -> float:
            return _sum_of_products(_binomial(n1, ratio * reference_rate), given_reference)

    if reached(0.0) < power:
        raise UndefinedMetricError(f"even a ratio of 0 would be found with a probability below {power:g}")
    return bisect(lambda ratio: reached(ratio) - power, 0.0, 1.0)


def _normal_power(p1: float, n1: float, p2: float, n2: float, alpha: float) -> float:
    pooled = (n1 * p1 + n2 * p2) / (n1 + n2)
    under_null = -float(ndtri(alpha / 2)) * math.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    error = math.sqrt(p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2)
    gap = abs(p1 - p2)
    if error == 0.0:
        return 1.0 if gap > under_null else 0.0
    return float(ndtr((gap - under_null) / error) + ndtr((-gap - under_null) / error))


def _given(region: NDArray[np.float64], reference: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability of rejection for each number selected in the group, over the reference's numbers."""
    # Not a matrix product: its last digits would depend on the number of BLAS threads.
    return np.asarray(np.einsum("ij,j->i", region, reference))


def _sum_of_products(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    return float(np.einsum("i,i->", a, b))


def _fisher_region(n1: int, n2: int, alpha: float, test: str, design_effect: float) -> NDArray[np.float64]:
    """1 where the test rejects, by count of the group (rows) and of the comparator (columns)."""
    if test not in ("fisher", "fisher-midp"):
        raise InputError(f"test is {test!r}; give 'normal', 'fisher' or 'fisher-midp'")
    if design_effect != 1.0:
        raise InputError("exact power is for independent rows; use test='normal' with a design effect")
    if (n1 + 1) * (n2 + 1) > _LARGEST_REGION:
        raise InputError(f"exact power of {n1} against {n2} is too large; use test='normal', near it there")
    region = np.ones((n1 + 1, n2 + 1))
    for selected in range(n1 + n2 + 1):
        counts, p_values = fisher_p_values(selected, n1, n2, midp=test == "fisher-midp")
        region[counts, selected - counts] = p_values < alpha
    return region


def _binomial(n: int, p: float) -> NDArray[np.float64]:
    k = np.arange(n + 1)
    logs = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + xlogy(k, p) + xlog1py(n - k, -p)
    return np.asarray(np.exp(logs), dtype=np.float64)


def _check_rates(p1: float, p2: float) -> None:
    if not (0.0 <= p1 <= 1.0 and 0.0 <= p2 <= 1.0):
        raise InputError(f"rates {p1:g} and {p2:g} must lie in [0, 1]")


def _check_targets(power: float, alpha: float) -> None:
    if not (0.0 < alpha < power < 1.0):
        raise InputError(f"alpha {alpha} and power {power}: want 0 < alpha < power < 1")


def _check_sizes(n1: int, n2: int) -> None:
    if not (math.isfinite(n1) and math.isfinite(n2)):
        raise InputError(f"groups of {n1} and {n2}: give finite numbers of members")
    if n1 < 1 or n2 < 1:
        raise UndefinedMetricError(f"groups of {n1} and {n2}: each needs at least one member")


def _check_design(alpha: float, design_effect: float) -> None:
    if not 0.0 < alpha < 1.0:
        raise InputError(f"alpha is {alpha}; give a level between 0 and 1, such as 0.05")
    if not 0.0 < design_effect < math.inf:
        raise InputError(f"design_effect is {design_effect}; give a positive number, 1 without clusters")
