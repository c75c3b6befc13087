"""The median that scores are split at, exactly: the two middle scores, and their mean for people to read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics._arrays import is_missing


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


@dataclass(frozen=True, slots=True, kw_only=True)
class MedianSplit:
    """Scores split at the median of all of them, or of those with a known category.

    Parameters
    ----------
    median : Median
        What they were split at.
    scored : ndarray of bool, shape (n,)
        Who has a score.
    above, tied : ndarray of bool, shape (n,)
        Whose score is strictly above the median, and whose equals it.
    sample : ndarray of bool, shape (n,)
        Whose median it is.
    """

    median: Median
    scored: NDArray[np.bool_]
    above: NDArray[np.bool_]
    tied: NDArray[np.bool_]
    sample: NDArray[np.bool_]


def median_split(
    scores: NDArray[Any], known: NDArray[np.bool_], median: Literal["all", "known"] = "all"
) -> MedianSplit:
    """Split scores at their median: what a scoring rate counts (6 RCNY 5-300).

    Parameters
    ----------
    scores : ndarray, shape (n,)
        NaN for those who have none.
    known : ndarray of bool, shape (n,)
        Whose category is known.
    median : {"all", "known"}
        Whose median: everybody assessed ("the full sample", 5-301(c)(1)), or those with a known category.

    Returns
    -------
    MedianSplit
        The same whatever the categories are.

    Raises
    ------
    InputError
        If `median` is something else.
    UndefinedMetricError
        If there is no score to take the median of.

    Examples
    --------
    >>> split = median_split(np.array([1.0, 2.0, 3.0, np.nan]), np.ones(4, bool))
    >>> split.median.value, split.above.tolist()
    (2.0, [False, False, True, False])
    """
    if median not in ("all", "known"):
        raise InputError(f'median: expected "all" or "known", got {median!r}')
    scored = ~is_missing(scores)
    sample = scored if median == "all" else scored & known
    middle = Median.of(scores[sample])
    return MedianSplit(
        median=middle, scored=scored, above=middle.above(scores), tied=middle.tied(scores), sample=sample
    )
