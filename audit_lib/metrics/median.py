"""The median that scores are split at, exactly: the two middle scores, and their mean for people to read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import UndefinedMetricError


@dataclass(frozen=True, slots=True, kw_only=True)
class Median:
    """The median of a sample of scores.

    Parameters
    ----------
    lower, upper : scalar
        The two middle scores, in the type of the scores; the same one twice where the sample is odd.

    Examples
    --------
    The mean of two neighbouring floats rounds onto one of them. The split does not:

    >>> low = float(np.nextafter(0.5, 0))
    >>> median = Median.of([0, low, np.nextafter(low, 1), 1])
    >>> median.above([0, low, 0.5, 1]).tolist()
    [False, False, True, True]
    """

    lower: Any
    upper: Any

    @classmethod
    def of(cls, sample: ArrayLike) -> Median:
        """Return the median of scores without missing values.

        Raises
        ------
        UndefinedMetricError
            If there is no score, or the middle ones are minus and plus infinity.
        """
        scores = np.asarray(sample)
        if scores.size == 0:
            raise UndefinedMetricError("no score to take the median of")
        low, high = (scores.size - 1) // 2, scores.size // 2
        ordered = np.partition(scores, [low, high])
        median = cls(lower=ordered[low], upper=ordered[high])
        if math.isnan(median.value):
            raise UndefinedMetricError("the two middle scores are minus and plus infinity")
        return median

    @property
    def value(self) -> float:
        """The mean of the two middle scores, rounded to a float: for printing."""
        if self.lower == self.upper:
            return float(self.lower)
        return float(self.lower) / 2 + float(self.upper) / 2

    def above(self, scores: ArrayLike) -> NDArray[np.bool_]:
        """Tell which scores are strictly above the median; a missing one is not.

        No score of the sample lies between the two middle ones. So "above their mean" is "at or above the
        upper one" where they differ, whatever the mean rounds to.
        """
        if self.lower == self.upper:
            return np.asarray(np.greater(scores, self.lower))
        return np.asarray(np.greater_equal(scores, self.upper))

    def tied(self, scores: ArrayLike) -> NDArray[np.bool_]:
        """Tell which scores equal the median. None does where the two middle scores differ."""
        if self.lower == self.upper:
            return np.asarray(np.equal(scores, self.lower))
        return np.zeros(np.shape(scores), np.bool_)
