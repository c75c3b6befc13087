r"""Evidence that may be looked at after every window, for as long as the audit runs.

An interval made for one look is too short for many: with weekly looks at 95% an unchanged system is "changed"
within a year. Everything here holds at all looks at once, whenever one stops looking.

The values are bounded, one for each independent unit (an application, a round, a block of people); of each window
only their number, sum and sum of squares are needed, so windows may be of any size and be counted in any order of
arrival. For values in :math:`[a, b]`, a centre :math:`c` between them, null mean :math:`m` and a bet
:math:`0 < \lambda < 1`,

.. math::
    \log E_\lambda = \lambda \sum_i \frac{x_i - m}{c - a} - \psi(\lambda) \sum_i \frac{(x_i - c)^2}{(c - a)^2},
    \qquad \psi(\lambda) = -\log(1 - \lambda) - \lambda,

is the logarithm of a test supermartingale where each value's mean, given the past, is at most :math:`m` (Fan's
inequality; Howard et al., corollary 3(c)); an average over a fixed grid of bets, with fixed weights, is one, too. By
Ville's inequality it ever exceeds :math:`1/\alpha` with a probability of at most :math:`\alpha`. No distribution is
assumed, and means may differ between windows.

References
----------
Fan, X., Grama, I. & Liu, Q. (2015). Exponential inequalities for martingales with applications. Electron. J. Probab.
20(1).
Howard, S. R., Ramdas, A., McAuliffe, J. & Sekhon, J. (2021). Time-uniform, nonparametric, nonasymptotic confidence
sequences. Ann. Statist. 49, 1055-1080.
Waudby-Smith, I. & Ramdas, A. (2024). Estimating means of bounded random variables by betting. J. R. Stat. Soc. B 86.
Wang, R. & Ramdas, A. (2022). False discovery rate control with e-values. J. R. Stat. Soc. B 84, 822-852.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError
from audit_lib.results import Interval
from audit_lib.stats._bets import log_average, log_e_values, lower_limits, so_far
from audit_lib.stats._checks import check_level

__all__ = [
    "WindowSums",
    "confidence_sequence",
    "e_bh",
    "evidence_above",
    "evidence_below",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WindowSums:
    """Number, sum and sum of squares of the values of each window, in the windows' order.

    Parameters
    ----------
    n : ndarray of int64, shape (windows,)
        Independent units with a value; 0 where a window has none.
    total, squares : ndarray, shape (windows,)
        Sum of the values, and of their squared distances from `centre`.
    low, high, centre : float
        Bounds of a value, and a point between them that was chosen before the values were seen. The nearer to their
        mean, the more the evidence is worth.

    Examples
    --------
    >>> sums = WindowSums.of([[0.2, -0.1], [], [0.4]])
    >>> sums.n.tolist(), sums.total.round(2).tolist()
    ([2, 0, 1], [0.1, 0.0, 0.4])
    """

    n: NDArray[np.int64]
    total: Floats
    squares: Floats
    low: float = -1.0
    high: float = 1.0
    centre: float = 0.0

    def __post_init__(self) -> None:
        if not self.low < self.centre < self.high:
            raise InputError(
                f"bounds {self.low} and {self.high}: the centre {self.centre} is not between them"
            )
        if not self.n.shape == self.total.shape == self.squares.shape or self.n.ndim != 1:
            raise InputError("n, total and squares: give one number for each window")
        rounding = 1e-9 * np.maximum(self.n, 1) * max(self.high - self.low, 1.0)
        if (self.n < 0).any() or (
            (self.total < self.n * self.low - rounding) | (self.total > self.n * self.high + rounding)
        ).any():
            raise InputError(f"a window's sum is not one of values between {self.low} and {self.high}")

    @classmethod
    def of(
        cls,
        windows: list[list[float]] | list[Floats],
        low: float = -1.0,
        high: float = 1.0,
        centre: float = 0.0,
    ) -> WindowSums:
        """Add up the values of each window.

        Raises
        ------
        InputError
            If a value is out of bounds.
        """
        arrays = [np.asarray(values, dtype=np.float64) for values in windows]
        for place, values in enumerate(arrays):
            if not ((values >= low) & (values <= high)).all():
                raise InputError(f"window {place + 1}: a value is not between {low} and {high}")
        return cls(
            n=np.array([values.size for values in arrays], dtype=np.int64),
            total=np.array([math.fsum(values) for values in arrays]),
            squares=np.array([math.fsum(np.square(values - centre)) for values in arrays]),
            low=low,
            high=high,
            centre=centre,
        )

    @property
    def mirrored(self) -> WindowSums:
        """The same of the values with their signs turned."""
        return WindowSums(
            n=self.n, total=-self.total, squares=self.squares,
            low=-self.high, high=-self.low, centre=-self.centre,
        )  # fmt: skip

    @property
    def reach(self) -> float:
        """Distance of the centre from the lower bound."""
        return self.centre - self.low


def evidence_above(sums: WindowSums, null: float) -> Floats:
    """Return the log of the evidence, at each look, that values lie above `null` on average.

    It exceeds ``log(1 / alpha)`` at any look with a probability of at most `alpha` where no window's mean is above.

    Parameters
    ----------
    sums : WindowSums
        The values of all windows so far.
    null : float
        The largest mean of which one is content.

    Returns
    -------
    ndarray, shape (windows,)
        An e-process.

    Examples
    --------
    >>> sums = WindowSums.of([[0.3, 0.5, 0.4, 0.2]] * 10)
    >>> evidence_above(sums, 0.0)[[0, 4, 9]].round(1).tolist()
    [0.2, 1.6, 4.3]
    """
    return log_average(log_e_values(*so_far(sums.n, sums.total, sums.squares), null, sums.reach))


def evidence_below(sums: WindowSums, null: float) -> Floats:
    """Return the log of the evidence, at each look, that values lie below `null` on average; as `evidence_above`.

    Parameters
    ----------
    sums : WindowSums
        The values of all windows so far.
    null : float
        The smallest mean of which one is content.

    Returns
    -------
    ndarray, shape (windows,)
        An e-process.

    Examples
    --------
    >>> sums = WindowSums.of([[0.3, 0.5, 0.4, 0.2]] * 10)
    >>> bool(evidence_below(sums, 0.0).max() < 0)
    True
    """
    return evidence_above(sums.mirrored, -null)


def confidence_sequence(sums: WindowSums, level: float = 0.95) -> list[Interval]:
    """Return intervals that all cover the running mean at once, one for each look.

    The running mean is that of the means of all values so far. Where they are equal, it is theirs.

    Parameters
    ----------
    sums : WindowSums
        The values of all windows.
    level : float
        With this probability no look's interval misses.

    Examples
    --------
    >>> looks = confidence_sequence(WindowSums.of([[0.3, 0.5, 0.4, 0.2]] * 100))
    >>> [(round(looks[k].low, 2), round(looks[k].high, 2)) for k in (0, 9, 99)]
    [(-1.0, 1.0), (0.03, 0.67), (0.28, 0.42)]
    """
    parts, bound = so_far(sums.n, sums.total, sums.squares), -math.log((1.0 - check_level(level)) / 2.0)
    turned = sums.mirrored
    lower = lower_limits(*parts, (sums.low, sums.high), sums.reach, bound)
    upper = -lower_limits(parts[0], -parts[1], parts[2], (turned.low, turned.high), turned.reach, bound)
    method = "confidence sequence, empirical Bernstein, mixture of bets"
    return [
        Interval(low=float(low), high=float(high), level=level, method=method)
        for low, high in zip(lower, upper, strict=True)
    ]


def e_bh(log_e: ArrayLike, level: float = 0.05) -> NDArray[np.bool_]:
    """Tell which of several pieces of evidence hold when the share of false ones shall be at most `level`.

    The e-Benjamini-Hochberg procedure; however the pieces depend on each other. At any look, and stopped whenever one
    likes; if nothing is the matter anywhere, anything is ever told with a probability of at most `level`.

    Parameters
    ----------
    log_e : array_like, shape (hypotheses,)
        Natural logarithms of e-values.
    level : float
        Bound of the false discovery rate.

    Raises
    ------
    InputError
        If one is no number, or the level no share.

    Examples
    --------
    >>> e_bh(np.log([100.0, 30.0, 1.0, 0.2]), level=0.1).tolist()
    [True, True, False, False]
    """
    values = np.asarray(log_e, dtype=np.float64)
    check_level(level)
    if np.isnan(values).any():
        raise InputError("an e-value is no number; leave out what has none")
    ordered = np.sort(values)[::-1]
    ranks = np.arange(1, ordered.size + 1)
    told = np.flatnonzero(ordered >= np.log(ordered.size / (level * ranks)))
    return values >= (ordered[told[-1]] if told.size else np.inf)
