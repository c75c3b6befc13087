"""Influence values by independent unit, kept for who compares the same estimate of several runs.

How much each application (or round) moves an estimate is what its interval is made of. Two models that judged the same
applications are compared by the same sums: the difference of two estimates has, for each unit, the difference of the
two sums. Nothing is kept unless somebody asks (`keeping`), since it takes a number a unit and estimate.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from audit_lib.measure.sides import ClusterUnit
from audit_lib.results import Estimate

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Influence:
    """The influence of each unit on an estimate.

    Parameters
    ----------
    estimate : Estimate
        What they moved.
    unit : {"application", "round"}
        What the units are.
    names : ndarray of str, shape (units,)
        The units, as the tables name them; empty for rows without a round, which are one unit together.
    group, reference : ndarray of float, shape (units,)
        Sums of the influence values of each unit's rows on either side; each side adds up to zero.
    group_rows, reference_rows : ndarray of float, shape (units,)
        How many rows each unit has there.
    scale : {"identity", "log"}
        ``log``: they move the logarithm of the estimate, a ratio.
    """

    estimate: Estimate
    unit: ClusterUnit
    names: NDArray[Any]
    group: Floats
    reference: Floats
    group_rows: Floats
    reference_rows: Floats
    scale: Literal["identity", "log"] = "identity"


_kept: ContextVar[list[Influence] | None] = ContextVar("influence", default=None)


@contextmanager
def keeping() -> Iterator[list[Influence]]:
    """Keep the influence values of all estimates that are computed inside.

    Examples
    --------
    >>> with keeping() as found:
    ...     is_kept()
    True
    >>> found, is_kept()
    ([], False)
    """
    found: list[Influence] = []
    token = _kept.set(found)
    try:
        yield found
    finally:
        _kept.reset(token)


def is_kept() -> bool:
    """Whether somebody asks for influence values."""
    return _kept.get() is not None


def keep(influence: Influence) -> None:
    """Hand influence values to whoever asks for them."""
    found = _kept.get()
    if found is not None:
        found.append(influence)
