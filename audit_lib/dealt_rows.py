"""Rows of a fixed width dealt to parts, each in a temporary file: how all are sorted where memory is not enough."""

from __future__ import annotations

from itertools import pairwise
from tempfile import SpooledTemporaryFile
from typing import Final

import numpy as np
from numpy.typing import NDArray

_HELD: Final = 1 << 20
"""Bytes of a part that are held."""


class DealtRows:
    """Rows that wait in files, by parts, in the order in which they came.

    Parameters
    ----------
    parts : int
        How many parts there are.
    width : int
        Bytes of a row.

    Examples
    --------
    >>> rows = DealtRows(2, 1)
    >>> rows.add(np.array([1, 0, 1]), np.array([[7], [8], [9]], np.uint8))
    >>> rows.rows(1).tolist()
    [[7], [9]]
    """

    def __init__(self, parts: int, width: int) -> None:
        self._width = width
        self._files = [SpooledTemporaryFile(_HELD) for _ in range(parts)]  # noqa: SIM115 - `rows` closes them

    def add(self, to: NDArray[np.integer], rows: NDArray[np.uint8]) -> None:
        """Deal rows to the parts that are named."""
        order = np.argsort(to, kind="stable")
        ends = np.searchsorted(to[order], np.arange(len(self._files) + 1))
        in_order = rows[order]
        for part, (start, end) in enumerate(pairwise(ends)):
            if start < end:
                self._files[part].write(in_order[start:end].tobytes())

    def rows(self, part: int) -> NDArray[np.uint8]:
        """Return the rows of a part, and let go of its file."""
        with self._files[part] as file:
            file.seek(0)
            return np.frombuffer(file.read(), np.uint8).reshape(-1, self._width)
