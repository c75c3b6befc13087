"""One similarity a pair, for metrics that are a mean over pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import InputError, UndefinedMetricError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairScores:
    """The values behind a mean over pairs.

    Parameters
    ----------
    metric : str
        The metric's name.
    values : array of float, shape (pairs,)
        One value a pair; NaN exactly where `undefined` has the reason.
    undefined : mapping of int to str
        Pairs without a value, by their row, and why.
    """

    metric: str
    values: NDArray[np.float64]
    undefined: Mapping[int, str]

    @property
    def n(self) -> int:
        """How many pairs have a value."""
        return self.values.size - len(self.undefined)

    @property
    def mean(self) -> float:
        """The mean over the pairs that have a value; report `undefined` with it.

        Raises
        ------
        UndefinedMetricError
            If no pair has a value.
        """
        if not self.n:
            raise UndefinedMetricError(
                f"{self.metric}: no pair has a value ({len(self.undefined)} undefined)"
            )
        return float(np.mean(self.values[~np.isnan(self.values)]))

    def mean_of_all(self) -> float:
        """Return the mean over all pairs.

        Raises
        ------
        UndefinedMetricError
            If a pair has no value.
        """
        if self.undefined:
            row, reason = next(iter(self.undefined.items()))
            raise UndefinedMetricError(
                f"{self.metric}: {len(self.undefined)} of {self.values.size} pairs have no value "
                f"(row {row}: {reason}); leave them out and report how many, as `mean` and `undefined` do"
            )
        return self.mean


def check_aligned(group: Sized, reference: Sized, what: str) -> int:
    """Return the number of pairs.

    Parameters
    ----------
    group, reference : sized
        One item a pair, each; not one text.
    what : str
        What the items are, for messages.

    Raises
    ------
    InputError
        If the sides differ in length.
    UndefinedMetricError
        If there is no pair.

    Examples
    --------
    >>> check_aligned(["a text"], ["another"], "texts")
    1
    >>> check_aligned(["a text"], [], "texts")
    Traceback (most recent call last):
    audit_lib.errors.InputError: pairs of texts: 1 in the group, 0 in the reference
    """
    if isinstance(group, str) or isinstance(reference, str):
        raise InputError(f"expected lists of {what}, got one text; put it into a list")
    if len(group) != len(reference):
        raise InputError(f"pairs of {what}: {len(group)} in the group, {len(reference)} in the reference")
    if not len(group):
        raise UndefinedMetricError(f"no pairs of {what}")
    return len(group)
