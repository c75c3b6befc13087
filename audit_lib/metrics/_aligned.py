"""Columns that hold one value a row: those with labels are put into one order, and doubtful orders are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from audit_lib.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def same_rows(**columns: Any) -> list[Any]:
    """Return columns whose rows are the same: each pandas Series in the order of the first one.

    Parameters
    ----------
    **columns
        One value a row each, by what messages call them; a mapping holds several.

    Raises
    ------
    InputError
        If a Series lacks rows of the first one, or an array is given next to a Series that was sorted or reordered:
        nothing then says which row is which.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = pd.Series([3.0, 1.0], index=["ann", "ben"])
    >>> same_rows(scores=scores, groups=pd.Series(["men", "women"], index=["ben", "ann"]))[1].tolist()
    ['women', 'men']
    """
    flat = {
        f"{name}[{key!r}]" if key is not None else name: one
        for name, column in columns.items()
        for key, one in (column.items() if isinstance(column, Mapping) else [(None, column)])
    }
    first = next(((name, one) for name, one in flat.items() if is_pandas(one, "Series")), None)
    if first is None:
        return list(columns.values())
    name, series = first
    for other, one in flat.items():
        if one is None or hasattr(one, "columns") or is_pandas(one, "Series") or _in_order(series.index):
            continue
        raise InputError(
            f"{other} has no labels, and those of {name} are not in order: it may have been sorted. Give both as "
            "Series, or both by .to_numpy() if their rows are in one order"
        )

    def aligned(called: str, one: Any) -> Any:
        return onto(one, series.index, called, name) if is_pandas(one, "Series") else one

    return [
        {key: aligned(f"{called}[{key!r}]", one) for key, one in column.items()}
        if isinstance(column, Mapping)
        else aligned(called, column)
        for called, column in columns.items()
    ]


def onto(series: pd.Series[Any], index: pd.Index, name: str, whose: str) -> pd.Series[Any]:
    """Return a Series in the order of an index.

    Raises
    ------
    InputError
        If it has not the same labels, or labels come twice.
    """
    if series.index is index or series.index.equals(index):
        return series
    if not (series.index.is_unique and index.is_unique):
        raise InputError(
            f"{name}: its index is not that of {whose}, and labels come twice: nothing says which row is which; put "
            "the values into one table first, or make the labels unique (reset_index)"
        )
    lacking, more = len(index.difference(series.index)), len(series.index.difference(index))
    if lacking or more:
        raise InputError(
            f"{name}: lacks {lacking} of the {len(index)} rows of {whose} and has {more} others; reindex it first"
        )
    return series.reindex(index)


def is_pandas(given: object, kind: str) -> bool:
    """Tell whether something is a pandas object of a kind, without importing pandas.

    Examples
    --------
    >>> is_pandas([1, 2], "Series")
    False
    """
    return any(
        base.__name__ == kind and base.__module__.split(".")[0] == "pandas" for base in type(given).__mro__
    )


def columns_of(table: Any) -> dict[str, Any] | None:
    """Return the columns of a table (pandas, Polars, Arrow) by name; None for what is no table."""
    if not hasattr(table, "columns"):
        return None
    names = getattr(table, "column_names", None) or list(table.columns)
    return {cast(str, name): table[name] for name in names}


def _in_order(index: pd.Index) -> bool:
    return bool(index.is_monotonic_increasing and index.is_unique)
