r"""Have windows changed since the baseline, and since when? Over all looks at once, as `sequential`.

Every window after the baseline may be the first of a change. Bets on each of them are kept up with all windows since;
their weighted average is the evidence: a step and a slow drift both leave some bets that win.

References
----------
Shin, J., Ramdas, A. & Rinaldo, A. (2024). E-detectors: a nonparametric framework for sequential change detection. New
England Journal of Statistics in Data Science 2, 229-260.
Shekhar, S. & Ramdas, A. (2023). Reducing sequential change detection to sequential estimation. arXiv:2309.09111.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import InputError
from audit_lib.stats._bets import BETS, STEPS, WEIGHTS, log_average, log_e_values, log_sum, so_far
from audit_lib.stats._checks import as_count
from audit_lib.stats.sequential import WindowSums

__all__ = ["ChangeEvidence", "evidence_of_change", "evidence_since"]

Floats = NDArray[np.float64]

_NEAR: Final = 1e-9
"""Of a minimum: how much lower, in logarithms, it can lie than where the search ends."""
_PAIRS: Final = 40_000
"""Looks times starts at a time: what the processor's caches hold."""


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


def evidence_of_change(
    sums: WindowSums, baseline: int, floor: float = 0.0, marked: Sequence[int] = ()
) -> ChangeEvidence:
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
    marked : sequence of int
        Places of windows in which something was known to become another, such as the model, before their values were
        seen. Half of all weight is kept for these, so that a change with one of them is told sooner.

    Returns
    -------
    ChangeEvidence
        For each window.

    Raises
    ------
    InputError
        If the baseline has no window, or the floor is negative.

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
    weights = _weights_of_starts(sums.n.size, baseline, marked)
    up, down = (_rises(one, baseline, floor, weights) for one in (sums, sums.mirrored))
    return ChangeEvidence(
        log_e=np.logaddexp(up.log_e, down.log_e) - math.log(2.0),
        since=np.where(up.log_e >= down.log_e, up.since, down.since),
    )


def evidence_since(sums: WindowSums, null: float) -> ChangeEvidence:
    r"""Return the evidence, at each look, that from some window on values have lain above `null` on average.

    The average over all windows :math:`j` of `evidence_above` of the windows from :math:`j` on, with weights that add
    up to 1 over an endless audit: what was right for years does not hide what has been wrong since. Where no window's
    mean is above `null`, it ever exceeds ``log(1 / alpha)`` with a probability of at most `alpha`.

    Parameters
    ----------
    sums : WindowSums
        The values of all windows.
    null : float
        The largest mean of which one is content.

    Returns
    -------
    ChangeEvidence
        For each window.

    Examples
    --------
    >>> sums = WindowSums.of([[-0.5, -0.3, -0.4] * 30] * 20 + [[0.6, 0.4, 0.5] * 30] * 3)
    >>> found = evidence_since(sums, 0.0)
    >>> (found.log_e > math.log(20)).tolist().index(True), int(found.since[-1])
    (20, 20)
    """
    parts = _Parts.of(sums, _weights(np.arange(sums.n.size)))
    log_e, since = np.full(sums.n.size, -np.inf), np.full(sums.n.size, -1, dtype=np.int64)
    for look in range(sums.n.size):
        starts = np.arange(look + 1)
        told = parts.weights[starts] + log_average(log_e_values(*parts.after(starts, look), null, sums.reach))
        log_e[look], since[look] = log_sum(told), int(np.argmax(told))
    return ChangeEvidence(log_e=log_e, since=since)


def _rises(sums: WindowSums, baseline: int, floor: float, weights: Floats) -> ChangeEvidence:
    """Evidence that windows have a mean above that of those before them by more than the floor."""
    parts, looks = _Parts.of(sums, weights), sums.n.size
    log_e, since = np.full(looks, -np.inf), np.full(looks, -1, dtype=np.int64)
    means = np.clip(parts.total[1:] / np.maximum(parts.n[1:], 1.0) - floor / 2.0, sums.low, sums.high)
    for some in np.array_split(np.arange(baseline, looks), looks * looks // _PAIRS + 1):
        if not some.size:
            continue
        # All starts of all these looks at once, in one long row; those of a look are next to each other.
        counts = some - baseline + 1
        starts = np.concatenate([np.arange(baseline, look + 1) for look in some.tolist()])
        ends = np.repeat(some, counts)
        told = _bets(parts, starts, ends, means[ends], floor)[0]
        for look, own in zip(some.tolist(), np.split(told, np.cumsum(counts)[:-1]), strict=True):
            if log_sum(own) >= 0:
                own = _least(parts, np.arange(baseline, look + 1), look, float(means[look]), floor)
            log_e[look], since[look] = log_sum(own), baseline + int(np.argmax(own))
    return ChangeEvidence(log_e=log_e, since=since)


def _weights(place: NDArray[np.int64]) -> Floats:
    """Logarithms of the weights of the windows that a change may begin with, by their place: together they are 1."""
    return np.asarray(-np.log(place + 1.0) - np.log(place + 2.0))


def _weights_of_starts(windows: int, baseline: int, marked: Sequence[int]) -> Floats:
    """Logarithms of the weights of all windows: half for any after the baseline, half for those that are marked."""
    found = np.full(windows, -np.inf)
    found[baseline:] = _weights(np.arange(max(windows - baseline, 0))) - math.log(2.0)
    later = sorted({place for place in marked if baseline <= place < windows})
    found[later] = np.logaddexp(found[later], _weights(np.arange(len(later))) - math.log(2.0))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """Sums of what lies before a window, and from it on."""

    sums: WindowSums
    turned: WindowSums
    n: Floats
    total: Floats
    squares: Floats
    weights: Floats

    @classmethod
    def of(cls, sums: WindowSums, weights: Floats) -> _Parts:
        n, total, squares = (
            np.concatenate([[0.0], part]) for part in so_far(sums.n, sums.total, sums.squares)
        )
        return cls(sums=sums, turned=sums.mirrored, n=n, total=total, squares=squares, weights=weights)

    def after(
        self, starts: NDArray[np.int64], look: int | NDArray[np.int64]
    ) -> tuple[Floats, Floats, Floats]:
        """Return the sums of the windows from each start to a look."""
        return (
            self.n[look + 1] - self.n[starts],
            self.total[look + 1] - self.total[starts],
            np.maximum(self.squares[look + 1] - self.squares[starts], 0.0),
        )

    def before(self, starts: NDArray[np.int64]) -> tuple[Floats, Floats, Floats]:
        """Return the sums of the windows before each start, of the values with their signs turned."""
        return self.n[starts], -self.total[starts], self.squares[starts]


def _bets(
    parts: _Parts,
    starts: NDArray[np.int64],
    looks: int | NDArray[np.int64],
    mean: float | Floats,
    floor: float,
) -> tuple[Floats, Floats, Floats]:
    """Return the weighted evidence of a rise at each start for a mean before it, and that of each bet on both parts."""
    earlier = log_e_values(*parts.before(starts), -mean, parts.turned.reach)
    later = log_e_values(*parts.after(starts, looks), mean + floor, parts.sums.reach)
    return parts.weights[starts] + log_average(earlier) + log_average(later), earlier, later


def _least(parts: _Parts, starts: NDArray[np.int64], look: int, mean: float, floor: float) -> Floats:
    """Evidence of a rise at each start, for the mean before it for which all of it together is least.

    The logarithm of the sum is convex in that mean: Newton's steps, kept between the points where its slope is known to
    be negative and positive. Once it is below 0 it can raise no alarm: it is told as it is there, which is at least as
    much as the least.
    """
    n_before = parts.n[starts] / parts.turned.reach
    n_after = (parts.n[look + 1] - parts.n[starts]) / parts.sums.reach
    low, high = parts.sums.low, parts.sums.high
    for _ in range(STEPS):
        told, earlier, later = _bets(parts, starts, look, mean, floor)
        whole = log_sum(told)
        if whole < 0:
            break
        share = np.exp(told - whole)
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
    return told


def _moments(log_e: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of the bets of each row, by what each of them has won."""
    share = np.exp(log_e - log_e.max(axis=-1, keepdims=True)) * WEIGHTS
    share /= share.sum(axis=-1, keepdims=True)
    mean = share @ BETS
    return mean, np.maximum(share @ np.square(BETS) - np.square(mean), 0.0)
