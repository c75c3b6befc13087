"""Two groups that meet in the same units, over many looks: difference and ratio of their rates, as `sequential`.

A unit is an application in several versions, a round, or a block of people of both groups. For each ratio :math:`r` the
group's value less :math:`r` times the comparator's is a bounded value whose mean is 0 where :math:`r` is the ratio of
means, so that no rate has to be estimated on the way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError
from audit_lib.results import Interval
from audit_lib.stats._checks import check_level
from audit_lib.stats.sequential import WindowSums, evidence_above, evidence_below

__all__ = ["PairSums"]

Floats = NDArray[np.float64]

_RATIOS: Final = 2.0 ** np.linspace(-8.0, 8.0, 513)
"""Ratios that are tried, a thirty-second of an octave apart."""
_HALVINGS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairSums:
    """Of each window: units in which two groups meet, and sums of their two values between 0 and 1.

    Parameters
    ----------
    n : ndarray of int64, shape (windows,)
        Units with a value of both groups.
    group, comparator : ndarray, shape (windows,)
        Sums of the values.
    group_squares, comparator_squares, products : ndarray, shape (windows,)
        Sums of their squares, and of the products of the two.

    Examples
    --------
    Three applications; two were selected as the group, three as the comparator.

    >>> pairs = PairSums.of([([1, 1, 0], [1, 1, 1])])
    >>> pairs.difference.total.tolist(), pairs.against(0.5).total.tolist()
    ([-1.0], [0.5])
    """

    n: NDArray[np.int64]
    group: Floats
    comparator: Floats
    group_squares: Floats
    comparator_squares: Floats
    products: Floats

    @classmethod
    def of(cls, windows: Sequence[tuple[ArrayLike, ArrayLike]]) -> PairSums:
        """Add up the values of each window: the group's, and the comparator's of the same units.

        Raises
        ------
        InputError
            If a window has other numbers of the two, or a value is not between 0 and 1.
        """
        arrays = [tuple(np.asarray(one, dtype=np.float64) for one in pair) for pair in windows]
        for place, (one, other) in enumerate(arrays):
            if one.shape != other.shape:
                raise InputError(
                    f"window {place + 1}: {one.size} values of the group, {other.size} of the other"
                )
            if not all(((side >= 0) & (side <= 1)).all() for side in (one, other)):
                raise InputError(f"window {place + 1}: a value is not between 0 and 1")
        return cls(
            n=np.array([one.size for one, _ in arrays], dtype=np.int64),
            group=np.array([math.fsum(one) for one, _ in arrays]),
            comparator=np.array([math.fsum(other) for _, other in arrays]),
            group_squares=np.array([math.fsum(one * one) for one, _ in arrays]),
            comparator_squares=np.array([math.fsum(other * other) for _, other in arrays]),
            products=np.array([math.fsum(one * other) for one, other in arrays]),
        )

    @property
    def difference(self) -> WindowSums:
        """The group's value less the comparator's."""
        return self.against(1.0)

    @property
    def together(self) -> PairSums:
        """All windows as one."""
        return PairSums(**{one.name: np.sum(getattr(self, one.name), keepdims=True) for one in fields(self)})

    def against(self, ratio: float) -> WindowSums:
        """Return the group's value less a multiple of the comparator's: 0 on average where the ratio of means is so."""
        return WindowSums(
            n=self.n,
            total=self.group - ratio * self.comparator,
            squares=np.maximum(
                self.group_squares - 2.0 * ratio * self.products + ratio**2 * self.comparator_squares, 0.0
            ),
            low=-ratio,
            high=1.0,
        )

    def ratios(self, level: float = 0.95) -> list[Interval]:
        """Return a confidence sequence of the ratio of the running means, one interval for each look.

        All ratios that the evidence against them leaves at the level: the outermost of them on a fine grid, which are
        then brought nearer by halving. A limit of 0, or none, where the evidence excludes nothing.

        Examples
        --------
        >>> pairs = PairSums.of([([1, 1, 0, 0, 1, 0], [1, 1, 1, 1, 1, 0])] * 60)
        >>> last = pairs.ratios()[-1]
        >>> round(last.low, 2), round(last.high, 2)
        (0.5, 0.7)
        """
        bound = -math.log((1.0 - check_level(level)) / 2.0)

        def lower(ratio: float) -> Floats:
            return evidence_above(self.against(ratio), 0.0)

        def upper(ratio: float) -> Floats:
            return evidence_below(self.against(ratio), 0.0)

        lows = _outermost(lower, _RATIOS, bound, self.n.size)
        highs = _outermost(upper, _RATIOS[::-1], bound, self.n.size)
        method = "confidence sequence of a ratio, empirical Bernstein, mixture of bets"
        return [
            Interval(
                low=0.0 if low <= _RATIOS[0] else low,
                high=math.inf if high >= _RATIOS[-1] else high,
                level=level,
                method=method,
            )
            for low, high in zip(lows.tolist(), highs.tolist(), strict=True)
        ]


def _outermost(evidence: Callable[[float], Floats], ratios: Floats, bound: float, looks: int) -> Floats:
    """Return, for each look, where the ratios begin that are not excluded, coming from one end."""
    excluded = np.stack([evidence(float(ratio)) >= bound for ratio in ratios])
    first = np.where(excluded.all(axis=0), len(ratios) - 1, np.argmin(excluded, axis=0))
    found = ratios[first].copy()
    for look in range(looks):
        if first[look] > 0:
            out, left = float(ratios[first[look] - 1]), float(ratios[first[look]])
            for _ in range(_HALVINGS):
                middle = math.sqrt(out * left)
                out, left = (middle, left) if evidence(middle)[look] >= bound else (out, middle)
            found[look] = out
    return found
