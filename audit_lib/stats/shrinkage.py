"""How much true effects differ between jobs, and each job's own, less what noise adds (empirical Bayes).

Estimates of many jobs differ more than their effects do: each has an error. What is left once the errors' variance is
taken off is the spread of the effects; each estimate is then drawn towards their mean by as much as it is noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtri

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.stats._checks import check_level, finite_values

__all__ = ["EffectSpread", "effect_spread"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectSpread:
    """Spread of true effects, and each of them as it is best foretold.

    Parameters
    ----------
    sd : float
        Standard deviation of the effects; 0 where estimates differ by no more than their errors.
    low, high : float
        Its interval.
    mean : float
        Of the effects, weighted by how well each is known.
    values, errors : ndarray
        Of each job, drawn towards the mean, and its error.
    """

    sd: float
    low: float
    high: float
    mean: float
    values: Floats
    errors: Floats


def effect_spread(estimates: ArrayLike, errors: ArrayLike, level: float = 0.95) -> EffectSpread:
    r"""Return how much effects differ beyond the errors of their estimates, and each effect shrunk.

    .. math:: \hat\tau^2 = \frac{\sum_j (\hat\theta_j - \bar\theta)^2}{J - 1} - \frac{1}{J} \sum_j s_j^2, \qquad
              \tilde\theta_j = \hat\mu + \frac{\hat\tau^2}{\hat\tau^2 + s_j^2} (\hat\theta_j - \hat\mu).

    The variance is unbiased whatever the law of the effects, as in Kline, Rose and Walters. The shrunken values are the
    posterior means of normal effects with normal errors, with :math:`\tau` taken as known. The interval takes the
    variance of the estimates as chi-squared with Satterthwaite's degrees of freedom, and the errors as known.

    Parameters
    ----------
    estimates, errors : array_like, shape (J,)
        Independent estimates, such as one a job, and their standard errors.
    level : float
        Nominal coverage.

    Raises
    ------
    InputError
        If there is not one positive error an estimate.
    UndefinedMetricError
        With fewer than two estimates.

    References
    ----------
    Kline, P., Rose, E. K. & Walters, C. R. (2022). Systemic discrimination among large U.S. employers. Quarterly J.
    Economics 137, 1963-2036. Morris, C. N. (1983). Parametric empirical Bayes inference. JASA 78, 47-55.

    Examples
    --------
    >>> found = effect_spread([0.0, 0.4, 0.8, 1.2], [0.2, 0.2, 0.2, 0.2])
    >>> round(found.sd, 3), [round(float(x), 3) for x in found.values]
    (0.476, [0.09, 0.43, 0.77, 1.11])
    """
    theta, s = finite_values(estimates, "estimates"), finite_values(errors, "errors")
    if theta.shape != s.shape or not (s > 0.0).all():
        raise InputError(f"{theta.size} estimates and {s.size} errors; give one positive error an estimate")
    if theta.size < 2:
        raise UndefinedMetricError(f"{theta.size} estimate: no spread of effects")
    noise = float(np.square(s).mean())
    total = float(theta.var(ddof=1))
    variance = max(total - noise, 0.0)
    own = variance + np.square(s)
    df = (theta.size - 1) / theta.size * float(own.sum()) ** 2 / float(np.square(own).sum())
    tail = (1 - check_level(level)) / 2
    low, high = (total * df / float(chdtri(df, p)) - noise for p in (tail, 1 - tail))
    weights = 1 / own
    mean = float((weights * theta).sum() / weights.sum())
    share = variance / own
    posterior = share * np.square(s) + np.square(1 - share) / weights.sum()
    return EffectSpread(
        sd=math.sqrt(variance),
        low=math.sqrt(max(low, 0.0)),
        high=math.sqrt(max(high, 0.0)),
        mean=mean,
        values=np.asarray(mean + share * (theta - mean)),
        errors=np.sqrt(posterior),
    )
