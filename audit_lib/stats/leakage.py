"""Leakage: can the attribute be told from the material, and is it gone once the material is redacted?

Source: Gaebler, Goel, Huq and Tambe (2024), arXiv:2404.03086, appendix (Figure A6): penalised logistic regression of
each attribute on text embeddings, and the AUC out of sample by 10-fold cross-validation. An AUC of 0.5 says that
this predictor finds nothing; it does not say that there is nothing to find.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics.group_auc import auc
from audit_lib.results import Interval, Undefined
from audit_lib.seeds import generator
from audit_lib.stats.auc import auc_interval

Floats = NDArray[np.float64]

_STEPS = 100
_ENOUGH = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """How well one level of an attribute is told from all others.

    Parameters
    ----------
    level : str
        The level.
    value : float or Undefined
        AUC out of sample; 0.5 is chance.
    interval : Interval or Undefined
        DeLong's, on the logit scale, clustered by application; of folds widened by Nadeau and Bengio's correction.
    n, positives, clusters : int
        Rows that were predicted, those of the level, and applications.
    """

    level: str
    value: float | Undefined
    interval: Interval | Undefined
    n: int
    positives: int
    clusters: int


def leakage(
    embeddings: ArrayLike,
    labels: Sequence[str | None],
    applications: Sequence[str],
    *,
    penalty: float = 1.0,
    folds: int = 10,
    split: Literal["folds", "half"] = "folds",
    seed: int = 0,
    level: float = 0.95,
) -> list[Leak]:
    """Predict each level of an attribute from embeddings, out of sample.

    Every application is whole in one fold; folds are drawn by the seed, the commonest label of an application dealt
    evenly. Each fold is predicted by `fit_logistic` on the others, features scaled by their mean and SD there.
    Of two levels only the first is predicted: the other's AUC is the same.

    Parameters
    ----------
    embeddings : array_like, shape (n, features)
        Of the material, a row a document.
    labels : sequence of str or None, length n
        Level of each; None is left out.
    applications : sequence of str, length n
        Rows of one application are no independent evidence.
    penalty : float
        Of `fit_logistic`.
    folds : int
        Parts, where `split` is ``folds``.
    split : {"folds", "half"}
        Predict every fold from the others; or one half of the applications from the other half, which leaves the
        predicted ones independent of how the predictor was made, at the price of half the data. The paper trains on
        one half; ten folds are its out-of-sample AUC.
    seed : int
        Of the draw.
    level : float
        Nominal coverage.

    Returns
    -------
    list of Leak
        By level, sorted.

    Raises
    ------
    InputError
        If lengths differ.
    UndefinedMetricError
        If there are fewer applications than folds.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> sex = ["woman", "man"] * 100
    >>> x = rng.normal(size=(200, 5))
    >>> x[::2, 0] += 2
    >>> leak, = leakage(x, sex, [str(i) for i in range(200)])
    >>> leak.level, leak.value > 0.85
    ('man', True)
    """
    x = np.asarray(embeddings, dtype=np.float64)
    if x.ndim != 2 or not len(x) == len(labels) == len(applications):
        raise InputError(
            f"{len(x)} embeddings, {len(labels)} labels, {len(applications)} applications: not one a row"
        )
    kept = np.array([label is not None for label in labels], dtype=bool)
    x, own = x[kept], np.array([label for label in labels if label is not None])
    names, clusters = np.unique(np.array(applications)[kept], return_inverse=True)
    check_applications(names.size, folds, split)
    part = _folds(own, clusters, folds if split == "folds" else 2, seed)
    outs = [part == fold for fold in range(folds)] if split == "folds" else [part == 1]
    told = np.logical_or.reduce(outs)
    levels = sorted(set(own.tolist()))
    found = []
    for name in levels[:1] if len(levels) == 2 else levels:
        y = own == name
        scores = np.empty(y.size)
        value: float | Undefined
        interval: Interval | Undefined
        try:
            # On small matrices threads of linear algebra mostly wait for each other: one takes a tenth of their time.
            with threadpool_limits(1, user_api="blas"):
                for out in outs:
                    scores[out] = _predicted(x[~out], y[~out], x[out], penalty)
            value = float(auc(scores[told], y[told]))
            interval = _interval(scores[told], y[told], clusters[told], level)
            if split == "folds" and isinstance(interval, Interval):
                interval = _widened(interval, value, folds)
        except UndefinedMetricError as error:
            value = interval = Undefined(str(error))
        found.append(
            Leak(
                level=name, value=value, interval=interval, n=int(told.sum()), positives=int(y[told].sum()),
                clusters=int(np.unique(clusters[told]).size),
            )
        )  # fmt: skip
    return found


def check_applications(count: int, folds: int = 10, split: Literal["folds", "half"] = "folds") -> None:
    """Refuse to predict from too few applications, before anything is embedded.

    Parameters
    ----------
    count : int
        Applications that there are.
    folds : int
        Parts in which each is whole, where the split is by folds.
    split : {"folds", "half"}
        Whether they are split into `folds` parts or into two halves.

    Raises
    ------
    UndefinedMetricError
        If there are fewer than folds, or than four for two halves.

    Examples
    --------
    >>> check_applications(10)
    """
    least, parts = (folds, f"{folds} folds") if split == "folds" else (4, "two halves")
    if count < least:
        raise UndefinedMetricError(
            f"{count} applications for {parts}: at least {least} are needed, as each is whole in one part; "
            "enlarge sample.size or the source"
        )


def fit_logistic(x: ArrayLike, y: ArrayLike, penalty: float = 1.0) -> tuple[Floats, float]:
    """Fit a logistic regression with a ridge penalty, by Newton's method from 0: the same bytes each time.

    Minimises ``sum log(1 + exp(-s (b + x w))) + penalty |w|^2 / 2`` with s = 1 or -1; the constant b is free.

    Parameters
    ----------
    x : array_like, shape (n, features)
        Features.
    y : array_like of bool, shape (n,)
        Class.
    penalty : float
        Above 0; the C of other libraries is its inverse.

    Returns
    -------
    ndarray, float
        Weights and constant.

    Raises
    ------
    InputError
        If the penalty is not above 0.
    UndefinedMetricError
        If there is one class only.

    Examples
    --------
    >>> weights, constant = fit_logistic([[-1.0], [0.0], [1.0], [2.0]], [0, 0, 1, 1])
    >>> weights.round(4).tolist(), round(constant, 4)
    ([0.9583], -0.4791)
    """
    if not penalty > 0:
        raise InputError(f"penalty: {penalty} is not above 0")
    features, target = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=bool)
    if target.all() or not target.any():
        raise UndefinedMetricError("one class only: nothing to tell apart")
    design = np.column_stack([features, np.ones(len(features))])
    ridge = np.append(np.full(features.shape[1], penalty), 0.0)
    beta = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        chance = 1.0 / (1.0 + np.exp(-np.clip(design @ beta, -500, 500)))
        gradient = design.T @ (chance - target) + ridge * beta
        curvature = (design.T * (chance * (1 - chance))) @ design + np.diag(ridge)
        step = np.linalg.solve(curvature, gradient)
        # Half steps until the loss falls: Newton's own may overshoot where classes are nearly apart.
        size, before = 1.0, _loss(design, target, beta, ridge)
        while _loss(design, target, beta - size * step, ridge) > before + 1e-12 and size > 1e-6:
            size /= 2
        beta = beta - size * step
        if float(np.abs(size * step).max()) < _ENOUGH:
            break
    return beta[:-1], float(beta[-1])


def _loss(design: Floats, target: NDArray[np.bool_], beta: Floats, ridge: Floats) -> float:
    margin = np.where(target, 1.0, -1.0) * (design @ beta)
    return float(np.logaddexp(0.0, -margin).sum() + 0.5 * (ridge * beta**2).sum())


def _predicted(x: Floats, y: NDArray[np.bool_], new: Floats, penalty: float) -> Floats:
    mean, sd = x.mean(axis=0), x.std(axis=0)
    sd = np.where(sd > 1e-12, sd, 1.0)
    # Scaled by the root of their number too: the penalty then does not depend on the width of the embedding.
    scale = sd * np.sqrt(x.shape[1])
    x, new = (x - mean) / scale, (new - mean) / scale
    if x.shape[1] > x.shape[0]:
        # The penalised weights lie in the span of the rows: as few unknowns as there are rows give the same fit.
        basis = np.linalg.qr(x.T)[0]
        x, new = x @ basis, new @ basis
    weights, constant = fit_logistic(x, y, penalty)
    # Rounded, so that equal texts tie whatever the order in which a processor adds.
    return np.asarray((new @ weights + constant).round(9))


def _folds(labels: NDArray[np.str_], clusters: NDArray[np.int64], folds: int, seed: int) -> NDArray[np.int64]:
    """Deal the applications, label by label, each label in an order drawn by the seed."""
    count = int(clusters.max()) + 1
    names, codes = np.unique(labels, return_inverse=True)
    table = np.bincount(clusters * names.size + codes, minlength=count * names.size).reshape(count, -1)
    common = table.argmax(axis=1)
    order = generator(seed, "leakage", "folds").permutation(count)
    order = order[np.argsort(common[order], kind="stable")]
    fold = np.empty(count, dtype=np.int64)
    fold[order] = np.arange(count) % folds
    return fold[clusters]


def _widened(interval: Interval, value: float, folds: int) -> Interval:
    """Allow for folds that were predicted from much the same rows: they go wrong together.

    The standard error times sqrt(1 + K / (K - 1)) for K folds, on the logit scale (Nadeau and Bengio 2003, Machine
    Learning 52, 239-281; Bouckaert and Frank 2004 for cross-validation). Without it an interval that promises 95%
    holds 0.5 in 82 to 85% of materials without a leak.
    """
    if not 0 < value < 1:
        return interval
    factor, middle = math.sqrt(1 + folds / (folds - 1)), _logit(value)
    low, high = (
        1 / (1 + math.exp(-(middle + factor * (_logit(end) - middle)))) if 0 < end < 1 else end
        for end in (interval.low, interval.high)
    )
    return replace(interval, low=low, high=high, method=f"{interval.method}; corrected for {folds} folds")


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


def _interval(
    scores: Floats, y: NDArray[np.bool_], clusters: NDArray[np.int64], level: float
) -> Interval | Undefined:
    try:
        repeated = int(np.bincount(clusters).max()) > 1
        return auc_interval(scores, y.astype(int), clusters if repeated else None, level)
    except UndefinedMetricError as error:
        return Undefined(str(error))
