"""Does a bias metric foresee the gaps that an allocation then shows, and does it pick the fairer model?

Source of the definitions: Chen, Ji and Evans, arXiv:2408.01285.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics._arrays import as_numbers, as_scores, is_missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Validity:
    """Correlation of a metric with the measured gap.

    Parameters
    ----------
    correlation : float
        Pearson's r, in [-1, 1].
    p_value : float
        Two-sided, of no correlation under normality; 1 where two points leave nothing to test.
    n : int
        Points (model, sub-task, group) used.
    left_out : int
        Points left out because their model answered too many pairs inconsistently.
    """

    correlation: float
    p_value: float
    n: int
    left_out: int

    def is_weak(self, level: float = 0.01) -> bool:
        """Whether the correlation gets the mark "p above the level" (0.01 in the paper)."""
        return self.p_value > level


def predictive_validity(metric: ArrayLike, gap: ArrayLike) -> float:
    """Pearson correlation of a metric with the measured allocation gap.

    Parameters
    ----------
    metric, gap : array_like, shape (n,)
        One entry a (model, sub-task, group). Compare an undirected metric (Jensen-Shannon, earth
        mover's) with the absolute value of the gap.

    Returns
    -------
    float
        In [-1, 1].

    Raises
    ------
    InputError
        If lengths differ.
    UndefinedMetricError
        If there are fewer than two points, one is missing or infinite, or a side is constant.

    Notes
    -----
    High validity of one metric is no property of it in general: on scores that are themselves ranks, a
    mean gap foresees the allocation as well as RABBI does.

    Examples
    --------
    >>> round(predictive_validity([0.1, 0.2, 0.4], [0.0, 0.1, 0.3]), 6)
    1.0
    """
    x, y = _points(metric, gap)
    return _pearson(x, y)


def predictive_validity_table(
    metric: ArrayLike, gap: ArrayLike, inconsistent_share: ArrayLike | None = None, limit: float = 0.55
) -> Validity:
    """Predictive validity with its p-value, inconsistent pairwise models left out.

    Parameters
    ----------
    metric, gap : array_like, shape (n,)
        As in `predictive_validity`.
    inconsistent_share : array_like, shape (n,), optional
        Share of inconsistent pairs of the model behind each point; NaN for a pointwise model.
    limit : float
        Points above this share are left out, and counted.

    Returns
    -------
    Validity
        Correlation, p-value, and how many points were used and left out.

    Raises
    ------
    InputError, UndefinedMetricError
        As `predictive_validity` does.

    Examples
    --------
    >>> predictive_validity_table([1, 2, 3, 9], [1, 3, 2, 0], inconsistent_share=[0, 0, 0, 0.6]).left_out
    1
    """
    x, y = _points(metric, gap)
    kept = np.ones(x.size, bool)
    if inconsistent_share is not None:
        share = as_numbers(inconsistent_share, "inconsistent_share")
        if share.shape != x.shape:
            raise InputError(f"inconsistent_share: shape {share.shape} for {x.size} points")
        kept = ~(share > limit)
    r = _pearson(x[kept], y[kept])
    n = int(np.count_nonzero(kept))
    return Validity(correlation=r, p_value=_pearson_p(r, n), n=n, left_out=int(x.size - n))


def fairness_ndcg(
    metric_by_model: Mapping[Hashable, ArrayLike],
    gap_by_model: Mapping[Hashable, ArrayLike],
    n: int,
    gain: Literal["distance", "rank"] = "distance",
    inconsistent_share: Mapping[Hashable, float] | None = None,
    limit: float = 0.50,
) -> float:
    """How well a metric orders models from the fairest on: NDCG at n against the measured gaps.

    Models are ranked ascending by the root mean square, over the non-reference groups, of the metric;
    the ideal ranking is the same of the measured gap. Gains are discounted by ``log2(i + 1)``, i = 1..n.

    Parameters
    ----------
    metric_by_model, gap_by_model : mapping of model to array_like
        Signed or absolute values of the non-reference groups; one number will do. The same models in
        both.
    n : int
        Length of the list that is judged; with fewer models, all of them.
    gain : {"distance", "rank"}
        Of M models, one with ideal rank r brings ``M - r`` (``distance``, so that the least fair brings
        nothing) or ``M + 1 - r`` (``rank``).
    inconsistent_share : mapping of model to float, optional
        Share of inconsistent pairs of pairwise models.
    limit : float
        Models above this share are left out.

    Returns
    -------
    float
        In [0, 1]; 1 if the n models listed first are the fairest, in order. Of several sub-tasks, take
        the mean.

    Raises
    ------
    InputError
        If the models differ, or n or gain is not what it may be.
    UndefinedMetricError
        If fewer than two models are left, or a value is missing.

    Notes
    -----
    Models that tie in the metric bring each the mean gain of the tied ones, the expectation over their
    orders; models that tie in the gap share their mean rank.

    Examples
    --------
    >>> metric = {"a": [0.1, -0.2], "b": [0.3, 0.1], "c": [0.0, 0.05]}
    >>> gap = {"a": [0.1, 0.1], "b": [0.4, 0.2], "c": [0.3, -0.2]}
    >>> round(fairness_ndcg(metric, gap, n=2), 4)
    0.8597
    """
    if set(metric_by_model) != set(gap_by_model):
        raise InputError("metric_by_model and gap_by_model do not name the same models")
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InputError(f"n: expected a whole number of at least 1, got {n!r}")
    if gain not in ("distance", "rank"):
        raise InputError(f'gain: expected "distance" or "rank", got {gain!r}')
    shares = {
        model: as_numbers(share, f"inconsistent_share[{model!r}]")
        for model, share in (inconsistent_share or {}).items()
    }
    for model, share in shares.items():
        if share.ndim or is_missing(share):
            raise InputError(
                f"inconsistent_share[{model!r}]: expected one share; leave the model out for none"
            )
    excluded = {model for model, share in shares.items() if share > limit}
    models = [model for model in metric_by_model if model not in excluded]
    if len(models) < 2:
        raise UndefinedMetricError(f"{len(models)} models left to rank; at least two are needed")
    metric = np.array([_root_mean_square(metric_by_model[model], "metric") for model in models])
    gap = np.array([_root_mean_square(gap_by_model[model], "gap") for model in models])
    best = len(models) if gain == "distance" else len(models) + 1
    gains = best - _mean_ranks(gap)
    # Models tied in the metric bring their mean gain.
    _, tie = np.unique(metric, return_inverse=True)
    expected = (np.bincount(tie, gains) / np.bincount(tie))[tie]
    listed = expected[np.argsort(metric, kind="stable")]
    discount = 1 / np.log2(np.arange(2, min(n, len(models)) + 2))
    ideal = math.fsum(np.sort(gains)[::-1][: discount.size] * discount)
    return math.fsum(listed[: discount.size] * discount) / ideal


def _points(metric: ArrayLike, gap: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    x, y = as_scores(metric, "metric", finite=True), as_scores(gap, "gap", finite=True)
    if x.size != y.size:
        raise InputError(f"metric and gap: {x.size} and {y.size} values")
    return x.astype(np.float64), y.astype(np.float64)


def _pearson(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    if x.size < 2:
        raise UndefinedMetricError(f"a correlation needs at least two points, got {x.size}")
    for name, values in (("metric", x), ("gap", y)):
        if values.min() == values.max():
            raise UndefinedMetricError(f"{name}: all {values.size} values are equal")
    dx, dy = _deviations(x), _deviations(y)
    # Sums, not matrix products, which depend on the number of BLAS threads.
    return float(np.clip((dx * dy).sum() / np.sqrt(np.square(dx).sum() * np.square(dy).sum()), -1.0, 1.0))


def _deviations(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Deviations from the mean, scaled to at most 1: huge ones would overflow, tiny ones underflow."""
    values = np.ldexp(values, -_exponent(values))
    deviations = values - values.mean()
    return np.asarray(deviations / np.abs(deviations).max())


def _exponent(values: NDArray[np.float64]) -> int:
    """Power of two that the largest absolute value stays just below."""
    return math.frexp(float(np.abs(values).max()))[1]


def _pearson_p(r: float, n: int) -> float:
    from scipy.special import stdtr

    if n == 2:
        return 1.0
    if abs(r) == 1.0:
        return 0.0
    return float(2 * stdtr(n - 2, -abs(r) * np.sqrt((n - 2) / ((1 - r) * (1 + r)))))


def _root_mean_square(values: ArrayLike, name: str) -> float:
    array = as_scores(np.atleast_1d(as_numbers(values, name)), name, finite=True).astype(np.float64)
    exponent = _exponent(array)
    squares = np.square(np.ldexp(array, -exponent))  # at most 1: no overflow
    # An exact sum does not depend on the order of groups, which must not break ties of models.
    return math.ldexp(math.sqrt(math.fsum(squares.tolist()) / array.size), exponent)


def _mean_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 1, ascending; equal values share their mean rank."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse]
