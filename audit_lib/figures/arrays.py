"""Arrays as figures take them: what is undefined is left out and counted, never drawn as 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from audit_lib.errors import InputError
from audit_lib.figures.drawing import Floats
from audit_lib.results import Undefined
from audit_lib.translation import tn

What = Literal["AUCs", "intervals", "models", "correlations", "scores", "distributions", "points", "values"]


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


def undefined(count: int, total: int, what: What, by: Mapping[str, int] | None = None) -> str:
    """The sentence that says how many values were left out, and where; `what` names them, as below."""
    n = {"n": f"{count:,}", "total": f"{total:,}"}
    match what:
        case "AUCs":
            words = tn(
                "{n} of {total} AUCs is undefined and not drawn",
                "{n} of {total} AUCs are undefined and not drawn",
                count,
                **n,
            )
        case "intervals":
            words = tn(
                "{n} of {total} intervals is undefined and not drawn",
                "{n} of {total} intervals are undefined and not drawn",
                count,
                **n,
            )
        case "models":
            words = tn(
                "{n} of {total} models is undefined and not drawn",
                "{n} of {total} models are undefined and not drawn",
                count,
                **n,
            )
        case "correlations":
            words = tn(
                "{n} of {total} correlations is undefined and not drawn",
                "{n} of {total} correlations are undefined and not drawn",
                count,
                **n,
            )
        case "scores":
            words = tn(
                "{n} of {total} scores is undefined and not drawn",
                "{n} of {total} scores are undefined and not drawn",
                count,
                **n,
            )
        case "distributions":
            words = tn(
                "{n} of {total} distributions is undefined and not drawn",
                "{n} of {total} distributions are undefined and not drawn",
                count,
                **n,
            )
        case "points":
            words = tn(
                "{n} of {total} points is undefined and not drawn",
                "{n} of {total} points are undefined and not drawn",
                count,
                **n,
            )
        case "values":
            words = tn(
                "{n} of {total} values is undefined and not drawn",
                "{n} of {total} values are undefined and not drawn",
                count,
                **n,
            )
    where = ", ".join(f"{key} {number}" for key, number in (by or {}).items() if number)
    return f"{words} ({where})." if where else f"{words}."
