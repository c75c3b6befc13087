r"""Have windows changed since the baseline, and since when? Over all looks at once, as `sequential`.

Every window after the baseline may be the first of a change. Bets on each of them are kept up with all windows since;
their weighted average, or their sum, is the evidence: a step and a slow drift both leave some bets that win.

References
----------
Shin, J., Ramdas, A. & Rinaldo, A. (2024). E-detectors: a nonparametric framework for sequential change detection. New
England Journal of Statistics in Data Science 2, 229-260.
Shekhar, S. & Ramdas, A. (2023). Sequential changepoint detection via backward confidence sequences. ICML, PMLR 202.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from audit_lib.errors import InputError
from audit_lib.stats._checks import as_count
from audit_lib.stats.sequential import (
    BETS,
    STEPS,
    WindowSums,
    log_average,
    log_e_values,
    lower_limits,
    so_far,
)

__all__ = ["ChangeEvidence", "change_detector", "evidence_of_change"]

Floats = NDArray[np.float64]

_NEAR: Final = 1e-9
"""Of a minimum: how much lower, in logarithms, it can lie than where the search ends."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChangeEvidence:
    """Evidence that windows are not as those before them, at each look.

    Parameters
    ----------
    log_e : ndarray, shape (windows,)
        Natural logarithm of the evidence; minus infinity as long as there is nothing after the baseline.
    since : ndarray of int64, shape (windows,)
        Place of the first window after the change, were there one: where most of the evidence begins; -1 if none.
    """

    log_e: Floats
    since: NDArray[np.int64]


def evidence_of_change(sums: WindowSums, baseline: int, floor: float = 0.0) -> ChangeEvidence:
    r"""Return the evidence, at each look, that the mean is further than `floor` from what it was.

    For each window :math:`j` after the baseline, a bet that the windows from :math:`j` on have a mean above
    :math:`m + d`, times one that those before it have a mean below :math:`m`; and the same the other way round. The
    average over all :math:`j`, with weights that add up to 1 over an endless audit, is least favourable over
    :math:`m`. If the mean stays the same, this ever exceeds ``log(1 / alpha)`` with a probability of at most `alpha`,
    over the whole life of the audit. A step and a slow drift are both found, and all windows before a change serve as
    its baseline.

    Parameters
    ----------
    sums : WindowSums
        The values of all windows, from the first of the baseline on.
    baseline : int
        How many of them are the baseline: no change is looked for in them.
    floor : float
        The smallest change that matters, :math:`d`.

    Returns
    -------
    ChangeEvidence
        For each window.

    Examples
    --------
    >>> sums = WindowSums.of([[0.1, -0.1, 0.0, 0.1, -0.1] * 20] * 8 + [[0.6, 0.4, 0.5, 0.6, 0.4] * 20] * 4)
    >>> found = evidence_of_change(sums, baseline=4)
    >>> (found.log_e > math.log(20)).tolist().index(True), int(found.since[-1])
    (8, 8)
    """
    if as_count(baseline, "baseline") < 1:
        raise InputError("baseline is 0; give the number of its windows")
    if floor < 0:
        raise InputError(f"floor is {floor}; give 0 or more")
    up, down = _rises(sums, baseline, floor), _rises(sums.mirrored, baseline, floor)
    return ChangeEvidence(
        log_e=np.logaddexp(up.log_e, down.log_e) - math.log(2.0),
        since=np.where(up.log_e >= down.log_e, up.since, down.since),
    )


def change_detector(
    sums: WindowSums, baseline: int, floor: float = 0.0, missed: float = 0.01
) -> ChangeEvidence:
    r"""Return a detector of change whose false alarms are counted by the time between them.

    The sum over all windows :math:`j` after the baseline of the evidence that those from :math:`j` on have a mean
    further than `floor` from the confidence sequence of those before it (Shiryaev and Roberts' scheme, of e-values).
    An alarm at ``log(length)`` comes no sooner than after `length` looks on average where the mean stays the same,
    unless the confidence sequence misses, which it does in at most a share `missed` of histories.

    Parameters
    ----------
    sums, baseline, floor
        As in `evidence_of_change`.
    missed : float
        Probability that the mean before some window ever lies outside its confidence sequence.

    Examples
    --------
    >>> sums = WindowSums.of([[0.1, -0.1, 0.0, 0.1, -0.1] * 20] * 8 + [[0.6, 0.4, 0.5, 0.6, 0.4] * 20] * 4)
    >>> found = change_detector(sums, baseline=4)
    >>> (found.log_e > math.log(1000)).tolist().index(True)
    8
    """
    if as_count(baseline, "baseline") < 1:
        raise InputError("baseline is 0; give the number of its windows")
    up, down = (_sums_of_rises(one, baseline, floor, missed) for one in (sums, sums.mirrored))
    return ChangeEvidence(
        log_e=np.logaddexp(up.log_e, down.log_e) - math.log(2.0),
        since=np.where(up.log_e >= down.log_e, up.since, down.since),
    )


def _rises(sums: WindowSums, baseline: int, floor: float) -> ChangeEvidence:
    """Evidence that windows have a mean above that of those before them by more than the floor."""
    parts = _Parts.of(sums)
    log_e, since = np.full(sums.n.size, -np.inf), np.full(sums.n.size, -1, dtype=np.int64)
    for look in range(baseline, sums.n.size):
        starts = np.arange(baseline, look + 1)
        told = _least(parts, starts, look, floor)
        log_e[look], since[look] = logsumexp(told), starts[int(np.argmax(told))]
    return ChangeEvidence(log_e=log_e, since=since)


def _sums_of_rises(sums: WindowSums, baseline: int, floor: float, missed: float) -> ChangeEvidence:
    """Sum of the evidence of each start, against the upper limit of the mean of what was before it."""
    parts = _Parts.of(sums)
    n, total, squares = so_far(sums)
    upper = -lower_limits(n, -total, squares, sums.mirrored, -math.log(missed / 2.0))
    log_e, since = np.full(sums.n.size, -np.inf), np.full(sums.n.size, -1, dtype=np.int64)
    for look in range(baseline, sums.n.size):
        starts = np.arange(baseline, look + 1)
        told = log_average(log_e_values(*parts.after(starts, look), upper[starts - 1] + floor, sums))
        log_e[look], since[look] = logsumexp(told), starts[int(np.argmax(told))]
    return ChangeEvidence(log_e=log_e, since=since)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """Sums of what lies before a window, and from it on."""

    sums: WindowSums
    turned: WindowSums
    n: Floats
    total: Floats
    squares: Floats

    @classmethod
    def of(cls, sums: WindowSums) -> _Parts:
        n, total, squares = (np.concatenate([[0.0], part]) for part in so_far(sums))
        return cls(sums=sums, turned=sums.mirrored, n=n, total=total, squares=squares)

    def after(self, starts: NDArray[np.int64], look: int) -> tuple[Floats, Floats, Floats]:
        """Return the sums of the windows from each start to a look."""
        return (
            self.n[look + 1] - self.n[starts],
            self.total[look + 1] - self.total[starts],
            np.maximum(self.squares[look + 1] - self.squares[starts], 0.0),
        )

    def before(self, starts: NDArray[np.int64]) -> tuple[Floats, Floats, Floats]:
        """Return the sums of the windows before each start, of the values with their signs turned."""
        return self.n[starts], -self.total[starts], self.squares[starts]


def _least(parts: _Parts, starts: NDArray[np.int64], look: int, floor: float) -> Floats:
    """Evidence of a rise at each start, for the mean before it for which all of it together is least.

    The logarithm of the sum is convex in that mean: Newton's steps from the mean of all values, kept between the
    points where its slope is known to be negative and positive.
    """
    place = (starts - starts[0]).astype(np.float64)
    weights = -np.log(place + 1.0) - np.log(place + 2.0)
    before, after = parts.before(starts), parts.after(starts, look)
    n_before, n_after = before[0] / parts.turned.reach, after[0] / parts.sums.reach
    low, high = parts.sums.low, parts.sums.high
    mean = min(max(float(parts.total[look + 1] / max(parts.n[look + 1], 1.0)) - floor / 2.0, low), high)
    for _ in range(STEPS):
        earlier = log_e_values(*before, -mean, parts.turned)
        later = log_e_values(*after, mean + floor, parts.sums)
        told = weights + log_average(earlier) + log_average(later)
        share = np.exp(told - logsumexp(told))
        (e1, e2), (l1, l2) = _moments(earlier), _moments(later)
        slopes = n_before * e1 - n_after * l1
        slope = float(share @ slopes)
        bend = float(share @ (n_before**2 * e2 + n_after**2 * l2 + np.square(slopes - slope)))
        low, high = (mean, high) if slope < 0 else (low, mean)
        step = mean - slope / bend if bend > 0 else mean
        step = step if low < step < high else (low + high) / 2.0
        if abs(slope * (high - low)) < _NEAR or step in (low, high):
            break
        mean = step
    return np.asarray(told)


def _moments(log_e: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of the bets of each row, by what each of them has won."""
    share = np.exp(log_e - log_e.max(axis=-1, keepdims=True))
    share /= share.sum(axis=-1, keepdims=True)
    mean = share @ BETS
    return mean, np.maximum(share @ np.square(BETS) - np.square(mean), 0.0)
