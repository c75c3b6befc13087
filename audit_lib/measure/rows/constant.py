"""Arrays with one value for every row, of which one is held: what nobody said of anybody takes no memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


def constant(value: Any, size: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return an array that holds a value once and shows it for every row; it cannot be written to.

    Examples
    --------
    >>> constant(0, 3, np.int8).tolist(), constant(0, 3, np.int8).strides
    ([0, 0, 0], (0,))
    """
    return np.broadcast_to(np.array(value, dtype=dtype), size)


def taken(values: NDArray[Any], index: NDArray[Any]) -> NDArray[Any]:
    """Return the values of some of the rows; of a constant nothing is copied.

    Examples
    --------
    >>> taken(constant(7, 3, np.int8), np.array([2, 0])).strides
    (0,)
    >>> taken(np.array([5, 6, 7]), np.array([2, 0])).tolist()
    [7, 5]
    """
    if values.strides == (0,) and values.size and index.dtype != bool:
        return np.broadcast_to(values[0], index.size)
    found: NDArray[Any] = values[index]
    return found
