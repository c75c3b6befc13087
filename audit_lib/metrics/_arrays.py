"""What every kernel asks of the arrays it is given, said once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError

_FIRST_ROWS = 64  # rows looked at for each possible level, before all of them are


def as_scores(values: ArrayLike, name: str, *, finite: bool = False) -> NDArray[Any]:
    """Return `values` as a one-dimensional numeric array without missing values.

    Parameters
    ----------
    values : array_like
        Numbers or booleans. Integers stay integers, so that large ones compare exactly.
    name : str
        How messages call the array, such as "group".
    finite : bool
        Whether infinite values leave the metric undefined too (means do; ranks do not).

    Raises
    ------
    InputError
        If the array is not one-dimensional or holds something else than numbers.
    UndefinedMetricError
        If it is empty or holds a missing (or, where asked, an infinite) value.
    """
    array = as_numbers(values, name)
    if array.ndim != 1:
        raise InputError(f"{name}: expected one dimension, got shape {array.shape}")
    if array.size == 0:
        raise UndefinedMetricError(f"{name}: no scores")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        missing = int(np.isnan(array).sum())
        if missing:
            raise UndefinedMetricError(f"{name}: {missing} of {array.size} scores are missing")
        infinite = int(np.isinf(array).sum())
        if finite and infinite:
            raise UndefinedMetricError(f"{name}: {infinite} of {array.size} scores are infinite")
    return array


def as_numbers(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return `values` as an array of integers, booleans or floats; None becomes NaN.

    Raises
    ------
    InputError
        If it holds anything else, such as digits as text.
    """
    _no_table(values, name)
    array = np.asarray(values)
    if array.dtype.kind in "biuf":
        return array
    if array.dtype.kind == "O" or array.size == 0:
        # float() reads "1_000" as a number; a text is none.
        if any(isinstance(item, str | bytes) for item in array.flat):
            raise InputError(f"{name}: expected numbers, got a text; convert the column first")
        try:
            numbers = array.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            pass
        else:
            pairs = zip(array.flat, numbers.flat, strict=True)
            # Compared as Python numbers, exactly: numpy would round the whole one first.
            if any(isinstance(item, int) and item != float(number) for item, number in pairs):
                raise InputError(f"{name}: a whole number is too large for 64 bits; rescale the scores")
            return numbers
    raise InputError(f"{name}: expected numbers, got values of type {array.dtype}")


def is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """NaN or not, for arrays of any number type."""
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, np.bool_)


def as_flags(values: ArrayLike, name: str, size: int | None = None) -> NDArray[np.bool_]:
    """Return `values` (booleans, or numbers that are 0 or 1) as a boolean array.

    Raises
    ------
    InputError
        If it is not one-dimensional, is not `size` long or holds another value.
    UndefinedMetricError
        If an entry is missing.
    """
    array = as_numbers(values, name)
    if array.ndim != 1:
        raise InputError(f"{name}: expected one dimension, got shape {array.shape}")
    if size is not None and array.size != size:
        raise InputError(f"{name}: {array.size} values where {size} are expected")
    if array.dtype.kind == "b":
        return array
    missing = int(np.count_nonzero(is_missing(array)))
    if missing:
        raise UndefinedMetricError(f"{name}: {missing} of {array.size} entries are missing")
    wrong = np.flatnonzero((array != 0) & (array != 1))
    if wrong.size:
        raise InputError(f"{name}, row {wrong[0]}: expected 0 or 1, got {array[wrong[0]]}")
    return array.astype(np.bool_)


def as_quotas(k: int | Sequence[int]) -> list[int]:
    """Return the quotas as a list of positive integers.

    Raises
    ------
    InputError
        If one is not a whole number of at least 1.
    """
    quotas = [k] if np.ndim(k) == 0 else list(k)  # type: ignore[arg-type]
    if not quotas or any(not isinstance(q, int | np.integer) or q < 1 for q in quotas):
        raise InputError(f"k: expected whole numbers of at least 1, got {k!r}")
    return [int(q) for q in quotas]  # type: ignore[arg-type]


def as_codes(labels: ArrayLike, name: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Number the distinct labels: ``levels[codes[i]]`` is label i, and -1 stands for a missing one.

    Missing are None, NaN, NaT and ``pandas.NA``. Levels are sorted (numbers by size, anything else
    by its text), so the numbering does not depend on the order of rows.

    Examples
    --------
    >>> codes, levels = as_codes(["woman", None, "man"], "groups")
    >>> codes.tolist(), levels.tolist()
    ([1, -1, 0], ['man', 'woman'])
    """
    if not isinstance(labels, Iterable) or isinstance(labels, str | bytes):
        raise InputError(f"{name}: expected one label a row, got {type(labels).__name__}")
    _no_table(labels, name)
    if not hasattr(labels, "take") and hasattr(labels, "to_list"):
        labels = labels.to_list()  # a column of a library that pandas does not know
    elif hasattr(labels, "to_pylist"):
        labels = labels.to_pylist()  # Arrow's
    dtype = getattr(labels, "dtype", None)
    if isinstance(dtype, np.dtype):
        array: Any = np.asarray(labels)
    else:
        array = _object_array(labels) if dtype is None else labels
    if np.ndim(array) != 1:
        raise InputError(f"{name}: expected one dimension, got shape {np.shape(array)}")
    if isinstance(dtype, np.dtype) and dtype.kind in "iu" and array.size:
        # Small non-negative integers are codes already; counting them is far faster than hashing.
        integers = array.astype(np.int64, copy=False)
        low, size = int(integers.min()), int(integers.max()) + 1
        if low >= 0 and size <= 4 * integers.size:
            # Often the first rows show every level, and the others need not be counted.
            shown = np.bincount(integers[: _FIRST_ROWS * size], minlength=size)
            if not shown.all():
                shown = np.bincount(integers, minlength=size)
            present = np.flatnonzero(shown)
            return (integers if present.size == size else _renumbered(integers, present, size)), present
    if str(dtype) == "category":
        categorical: Any = getattr(labels, "cat", labels)
        found = np.asarray(categorical.codes, dtype=np.int64)
        uniques = _object_array(categorical.categories)
        used = np.flatnonzero(np.bincount(found + 1, minlength=uniques.size + 1)[1:])
    else:
        from pandas import factorize

        hashed, values = factorize(array, use_na_sentinel=True)
        found, uniques = np.asarray(hashed, dtype=np.int64), _object_array(values)
        used = np.arange(uniques.size)
    place = {level: i for i, level in enumerate(uniques.tolist())}
    used = np.array([place[level] for level in in_order(uniques[used].tolist())], dtype=np.int64)
    return _renumbered(found, used, uniques.size), uniques[used]


def _no_table(values: ArrayLike, name: str) -> None:
    if hasattr(values, "columns"):
        raise InputError(
            f"{name}: got a table of {len(values.columns)} columns where one is meant; give one of them, such as "
            "table['name']"
        )


def in_order(levels: Iterable[Any]) -> list[Any]:
    """Sort levels: numbers by size, anything else by its text."""
    items = list(levels)
    numeric = all(isinstance(level, int | float | np.number) for level in items)
    # 1 and "1" have one text but are two labels; their types set the order, not their rows.
    return sorted(items) if numeric else sorted(items, key=lambda label: (str(label), type(label).__name__))


def _renumbered(codes: NDArray[np.int64], used: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Codes by the place of each in `used`; -1 stays."""
    if used.size == size and np.array_equal(used, np.arange(size)):
        return codes
    rank = np.full(size + 1, -1, dtype=np.int64)  # code -1 reads the last entry
    rank[used] = np.arange(used.size)
    return rank[codes]


def _object_array(labels: ArrayLike) -> NDArray[Any]:
    # numpy would turn a list of tuples into a matrix, and a mixed list into text.
    items = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)  # type: ignore[arg-type]
    array = np.empty(len(items), dtype=object)
    for row, label in enumerate(items):
        array[row] = label
    return array


def as_counts(counts: Any, name: str) -> dict[Hashable, int]:
    """Return numbers of people by category, as whole numbers.

    Raises
    ------
    InputError
        If one is no whole number or is negative, two have one name, or a table of several columns is given.

    Examples
    --------
    >>> as_counts({"a": 3.0, "b": 2}, "selected")
    {'a': 3, 'b': 2}
    """
    if hasattr(counts, "columns"):
        raise InputError(
            f"{name}: got a table of {len(counts.columns)} columns; give one, such as table['{name}']"
        )
    items = counts.items() if hasattr(counts, "items") else enumerate(counts)
    found: dict[Hashable, int] = {}
    for category, count in items:
        number = isinstance(count, int | float | np.integer | np.floating) and not isinstance(count, bool)
        # A count is 3.0 where a column has other rows without one, or was summed as such.
        if not number or not np.isfinite(count) or count != int(count) or count < 0:
            raise InputError(
                f"{name}, category {category!r}: expected a whole number of people, got {count!r} "
                "(5-300, Selection Rate)"
            )
        if category in found:
            raise InputError(f"{name}: two rows are named {category!r}")
        found[category] = int(count)
    return found
