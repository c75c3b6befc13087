"""The small-cell policy: a small cell is marked, never dropped, and an impossible one says why."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Number

import numpy as np

from audit_lib.errors import InputError

__all__ = ["class_reason", "flags", "pair_reason"]

SMALL_CELL = "small_cell"


def flags(*sizes: int, threshold: int) -> tuple[str, ...]:
    """Return ``("small_cell",)`` where any of the sizes is below `threshold`, else nothing.

    Parameters
    ----------
    *sizes : int
        People in each cell that the number rests on.
    threshold : int
        From the policy or the spec; a cell of exactly this size is not small.

    Raises
    ------
    InputError
        If a size or the threshold is negative, or no size is given.

    Examples
    --------
    >>> flags(4, 120, threshold=5), flags(5, 120, threshold=5)
    (('small_cell',), ())
    """
    if not sizes or min(sizes) < 0 or threshold < 0:
        raise InputError(f"sizes {sizes} and threshold {threshold} must be counts")
    return (SMALL_CELL,) if min(sizes) < threshold else ()


def pair_reason(n_group: int, n_reference: int, *, minimum: int = 1) -> str | None:
    """Return why two groups cannot be compared, or None where they can.

    Parameters
    ----------
    n_group, n_reference : int
        Members.
    minimum : int
        The least number a side: 1 for a value, 2 for a variance.

    Examples
    --------
    >>> pair_reason(0, 12)
    'no one in the group'
    >>> pair_reason(12, 1, minimum=2)
    'one member in the reference; at least 2 are needed'
    >>> pair_reason(12, 10) is None
    True
    """
    for size, name in ((n_group, "the group"), (n_reference, "the reference")):
        if size < minimum:
            return _too_few(size, name, minimum)
    return None


def class_reason(outcomes: Iterable[object], *, minimum: int = 1) -> str | None:
    """Return why a two-class measure such as an AUC does not exist in a cell, or None.

    Parameters
    ----------
    outcomes : iterable
        The class of each member, true or false.
    minimum : int
        The least number of each class.

    Raises
    ------
    InputError
        If an outcome is neither true nor false.

    Examples
    --------
    >>> class_reason([1, 1, 1])
    'one class only: 3 positive, 0 negative'
    >>> class_reason([])
    'no one in the cell'
    >>> class_reason([1, 0, 0], minimum=2)
    '1 positive, 2 negative; at least 2 of each are needed'
    """
    members = list(outcomes)
    for row, outcome in enumerate(members):
        # A NaN or a text would count as positive.
        if not isinstance(outcome, Number | np.bool_) or outcome not in (0, 1):
            raise InputError(f"outcomes, row {row}: expected true or false (0 or 1)")
    classes = [bool(outcome) for outcome in members]
    positive, negative = sum(classes), len(classes) - sum(classes)
    if not classes:
        return "no one in the cell"
    if min(positive, negative) == 0:
        return f"one class only: {positive} positive, {negative} negative"
    if min(positive, negative) < minimum:
        return f"{positive} positive, {negative} negative; at least {minimum} of each are needed"
    return None


def _too_few(size: int, name: str, minimum: int) -> str:
    if size == 0:
        return f"no one in {name}"
    count = "one member" if size == 1 else f"{size} members"
    return f"{count} in {name}; at least {minimum} are needed"
