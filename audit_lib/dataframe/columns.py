"""Columns of a table that somebody holds in Python: pandas, Polars, Arrow or a dict, and arrays next to it.

Anything that offers Arrow's C stream (the PyCapsule interface) is read by pyarrow, which is here anyway: Polars, DuckDB
and others come in without a library of their own. Rows of pandas have labels, so that a Series next to a table is put
into the table's order, and an array, which has none, is refused where the order is in doubt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from audit_lib.errors import ColumnTypeError, InputError, MissingColumnError
from audit_lib.metrics._aligned import is_pandas, onto
from audit_lib.records import NO_AND_YES
from audit_lib.registry import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

_TABLES: Final = "a pandas or Polars DataFrame, an Arrow table, or a dict of columns"
_MOST_PEOPLE: Final = 10**8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GivenTable:
    """A table, and the labels of its rows where it has any.

    Parameters
    ----------
    held : pandas.DataFrame, pyarrow.Table or dict of str to object
        The columns.
    index : pandas.Index or None
        Labels of the rows; None where rows have none.
    size : int
        Rows.
    """

    held: Any
    index: pd.Index | None
    size: int

    @classmethod
    def read(cls, given: object) -> GivenTable:
        """Read a table.

        Raises
        ------
        InputError
            If it is none.

        Examples
        --------
        >>> GivenTable.read({"sex": ["f", "m", "m"]}).size
        3
        """
        if is_pandas(given, "DataFrame"):
            held = cast("pd.DataFrame", given)
            return cls(held=held, index=held.index, size=len(held))
        if isinstance(given, pa.Table) or hasattr(given, "__arrow_c_stream__"):
            held = pa.table(given)
            return cls(held=held, index=None, size=held.num_rows)
        if isinstance(given, Mapping):
            columns = {str(name): _array(column, str(name)) for name, column in given.items()}
            sizes = {name: len(column) for name, column in columns.items()}
            if len(set(sizes.values())) != 1:
                raise InputError(f"the table's columns have {sizes} rows; give as many of each")
            return cls(held=pa.table(columns), index=None, size=next(iter(sizes.values())))
        lazy = "; collect() it first" if hasattr(given, "collect") else ""
        raise InputError(f"expected {_TABLES}; got {type(given).__name__}{lazy}")

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [
            str(name) for name in (self.held.columns if self.index is not None else self.held.column_names)
        ]

    def column(self, given: object, role: str) -> pa.ChunkedArray:
        """Return a column by its name, or an array with as many rows.

        Parameters
        ----------
        given : str or array_like
            A name, or the values: a Series is put into the order of the table's index.
        role : str
            What the column is for, in messages.

        Raises
        ------
        MissingColumnError
            If no column has the name.
        InputError
            If the values are not one a row, or nothing says which row each is of.
        """
        if isinstance(given, str):
            if (count := self.names.count(given)) != 1:
                wrong = f"{count} columns are" if count else "no column is"
                raise MissingColumnError(
                    f"{role}: {wrong} named {given!r}{did_you_mean(given, self.names) if not count else ''}"
                )
            return _array(self.held[given], f"{role} ({given})")
        if hasattr(given, "columns"):
            raise InputError(
                f"{role}: got a table of {len(given.columns)} columns where one is meant; give its name, or one column "
                "of it"
            )
        if is_pandas(given, "Series"):
            return _array(self._aligned(cast("pd.Series[Any]", given), role), role)
        found = _array(given, role)
        if len(found) != self.size:
            raise InputError(f"{role}: {len(found)} values for a table of {self.size} rows")
        if self.index is not None and not _counts_rows(self.index):
            raise InputError(
                f"{role}: an array has no labels, and the table's rows are labelled otherwise than 0, 1, ...: they may "
                "have been sorted or taken from more. Put the values into the table (df.assign), or give a Series with "
                "the table's index"
            )
        return found

    def _aligned(self, series: pd.Series[Any], role: str) -> pd.Series[Any]:
        index = self.index
        if index is None:
            if len(series) != self.size:
                raise InputError(f"{role}: {len(series)} values for a table of {self.size} rows")
            if not _counts_rows(series.index):
                raise InputError(
                    f"{role}: the Series has labels and the table's rows have none; give .to_numpy() if both are in "
                    "one order"
                )
            return series
        return onto(series, index, role, "the table")


def yes_or_no(column: pa.ChunkedArray, role: str) -> pa.Array:
    """Return a column of true, false, 1 and 0 as booleans; missing stays missing.

    Raises
    ------
    ColumnTypeError
        If it holds another value; a word is neither.

    Examples
    --------
    >>> yes_or_no(pa.chunked_array([[1.0, None, 0.0]]), "decision").to_pylist()
    [True, None, False]
    """
    kind = column.type
    if pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return column.cast(pa.bool_()).combine_chunks()
    if not _is_number(kind):
        raise ColumnTypeError(
            f"{role}: expected true and false, or 1 and 0, got {kind}; say which values mean yes, such as "
            "df['outcome'].map({'hired': True, 'rejected': False}), which leaves missing ones missing"
        )
    numbers = _without_nan(column)
    wrong = pc.invert(pc.is_in(numbers, value_set=pa.array([0.0, 1.0]), skip_nulls=True))
    wrong = pc.and_(wrong, pc.is_valid(numbers))
    if pc.any(wrong).as_py():
        raise ColumnTypeError(
            f"{role}: {pc.sum(wrong).as_py()} values are neither 0 nor 1, such as "
            f"{numbers.filter(wrong)[0].as_py():g}; a score goes to `score`, with a rule as `decision`"
        )
    return pc.equal(numbers, 1.0).combine_chunks()


def numbers(column: pa.ChunkedArray, role: str) -> pa.Array:
    """Return a column as floats; missing stays missing.

    Raises
    ------
    ColumnTypeError
        If it holds something else, or an infinite number.
    """
    if not (_is_number(column.type) or pa.types.is_boolean(column.type) or pa.types.is_null(column.type)):
        raise ColumnTypeError(f"{role}: expected numbers, got {column.type}; convert the column first")
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    found = _without_nan(column)
    if pc.any(pc.is_inf(found)).as_py():
        raise ColumnTypeError(
            f"{role}: {pc.sum(pc.is_inf(found)).as_py()} values are infinite; make them missing, or finite"
        )
    return found.combine_chunks()


def labels(column: pa.ChunkedArray, role: str) -> pa.Array:
    """Return a column as texts: 1 and 1.0 are ``1``, true is ``yes``; missing stays missing.

    Raises
    ------
    ColumnTypeError
        If it holds lists, bytes or the like, or a text without any letter.

    Examples
    --------
    >>> labels(pa.chunked_array([[1.0, None, 2.0]]), "sex").to_pylist()
    ['1', None, '2']
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        # Arrow cannot decode every kind of text that others code.
        known = [(_plain_text(chunk.dictionary), chunk.indices) for chunk in column.chunks]
        column = pa.chunked_array(
            [levels.take(codes) for levels, codes in known] or [pa.nulls(0, pa.string())]
        )
        kind = column.type
    if pa.types.is_boolean(kind):
        no, yes = NO_AND_YES
        return pc.if_else(column, yes, no).combine_chunks()
    if pa.types.is_floating(kind):
        column = _without_nan(column)
        if pc.all(pc.equal(column, pc.floor(column))).as_py() is not False:
            column = column.cast(pa.int64())
    elif pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise ColumnTypeError(f"{role}: expected a label a row, got {kind}; make texts of the values first")
    found = column.cast(pa.string()).combine_chunks()
    blank = pc.equal(pc.utf8_trim_whitespace(found), "")
    if pc.any(blank).as_py():
        raise ColumnTypeError(
            f"{role}: {pc.sum(blank).as_py()} labels are blank; make them missing (None) if the group is not known"
        )
    return found


def frequencies(column: pa.ChunkedArray, role: str) -> NDArray[np.int64]:
    """Return how many people each row stands for.

    Raises
    ------
    InputError
        If a weight is missing, negative or not whole, or all together are more than can be laid out.

    Examples
    --------
    >>> frequencies(pa.chunked_array([[2.0, 1.0]]), "weights").tolist()
    [2, 1]
    """
    found = numbers(column, role)
    if found.null_count:
        raise InputError(f"{role}: {found.null_count} are missing; give each row a weight, 0 to leave it out")
    weights = found.to_numpy(zero_copy_only=False)
    if (weights < 0).any():
        raise InputError(f"{role}: {int((weights < 0).sum())} are negative; a weight is a number of people")
    if (broken := weights != np.floor(weights)).any():
        raise InputError(
            f"{role}: {int(broken.sum())} of {weights.size} are not whole, such as {weights[broken][0]:g}: these are "
            "sampling weights. Weights here are frequencies, the number of people that a row stands for; give sampling "
            "weights as sampling_weights="
        )
    if weights.sum() > _MOST_PEOPLE:
        raise InputError(
            f"{role}: they sum to {weights.sum():.3g} people; more than {_MOST_PEOPLE:.0e} are not laid out"
        )
    return np.asarray(weights, dtype=np.int64)


def _plain_text(levels: pa.Array) -> pa.Array:
    return levels.cast(pa.string()) if pa.types.is_string_view(levels.type) else levels


def _array(given: Any, role: str) -> pa.ChunkedArray:
    if isinstance(given, str | bytes) or not (
        hasattr(given, "__len__") or hasattr(given, "__arrow_c_stream__")
    ):
        raise InputError(f"{role}: expected a column, got {type(given).__name__}")
    if np.ndim(given) > 1 and not hasattr(given, "__arrow_c_stream__"):
        raise InputError(f"{role}: expected one value a row, got an array of shape {np.shape(given)}")
    try:
        if isinstance(given, pa.ChunkedArray):
            return given
        if hasattr(given, "__arrow_c_stream__") and not is_pandas(given, "Series"):
            return pa.chunked_array(given)
        found = pa.array(given, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        raise ColumnTypeError(
            f"{role}: its values are of several types, or of one that no table holds; convert the column first"
        ) from None
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])


def _counts_rows(index: pd.Index) -> bool:
    """Tell whether rows are labelled 0, 1, 2, ..."""
    return index.nlevels == 1 and np.array_equal(np.asarray(index), np.arange(len(index)))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _without_nan(column: pa.ChunkedArray) -> pa.ChunkedArray:
    found = column.cast(pa.float64())
    return pc.if_else(pc.is_nan(found), pa.scalar(None, pa.float64()), found)
