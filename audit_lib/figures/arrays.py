"""Arrays as figures take them: what is undefined is left out and counted, never drawn as 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from audit_lib.errors import InputError
from audit_lib.figures.drawing import Floats
from audit_lib.results import Undefined


def numbers(values: ArrayLike | Sequence[object], name: str) -> Floats:
    """Return one-dimensional floats; None, `Undefined` and infinities become NaN.

    Raises
    ------
    InputError
        If there is nothing, more than one dimension, or something else than numbers.
    """
    if isinstance(values, Sequence) and not isinstance(values, str):
        values = [np.nan if v is None or isinstance(v, Undefined) else v for v in values]
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: expected numbers") from error
    if array.ndim != 1:
        raise InputError(f"{name}: expected one dimension, got shape {array.shape}")
    if array.size == 0:
        raise InputError(f"{name}: nothing to draw")
    array[np.isinf(array)] = np.nan
    return array


def table(rows: Mapping[str, ArrayLike], columns: int, name: str) -> Floats:
    """Return one row a series, each with as many numbers as there are columns.

    Raises
    ------
    InputError
        If there is no series, or one has another length.
    """
    if not rows:
        raise InputError(f"{name}: nothing to draw")
    arrays = [numbers(values, f"{name}[{key!r}]") for key, values in rows.items()]
    for key, array in zip(rows, arrays, strict=True):
        if array.size != columns:
            raise InputError(f"{name}[{key!r}]: {array.size} values for {columns} places")
    return np.array(arrays)


def within(values: Floats, low: float, high: float, name: str) -> Floats:
    """Return the values if they are in their range (undefined ones aside).

    Raises
    ------
    InputError
        If one is not.
    """
    # Sums in floats may end a hair outside.
    outside = (values < low - 1e-9) | (values > high + 1e-9)
    if outside.any():
        raise InputError(f"{name}: expected values from {low:g} to {high:g}, got {values[outside].flat[0]:g}")
    return np.clip(values, low, high)


def undefined(count: int, total: int, what: str, by: Mapping[str, int] | None = None) -> str:
    """The sentence that says how many values were left out, and where."""
    verb = "is undefined and not drawn" if count == 1 else "are undefined and not drawn"
    where = ", ".join(f"{key} {n}" for key, n in (by or {}).items() if n)
    return f"{count:,} of {total:,} {what} {verb}{f' ({where})' if where else ''}."
