"""Going on when memory runs out: half the rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch

from audit_lib.errors import BackendError

Item = TypeVar("Item")
Found = TypeVar("Found")


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error of torch says that memory ran out, on whatever device."""
    return isinstance(error, torch.OutOfMemoryError) or "not enough memory" in str(error)


def no_memory() -> BackendError:
    """Return the error of a device that cannot hold even one prompt."""
    return BackendError("no memory for a single prompt; use a smaller model or another device")


def in_halves(
    items: Sequence[Item], work: Callable[[Sequence[Item]], list[Found]]
) -> tuple[list[Found], int]:
    """Return ``work(items)``, and how often it had to be halved for want of memory.

    Raises
    ------
    BackendError
        If not even one item fits.

    Examples
    --------
    >>> def work(items):
    ...     if len(items) > 2:
    ...         raise torch.OutOfMemoryError
    ...     return [i * i for i in items]
    >>> in_halves([1, 2, 3, 4, 5], work)
    ([1, 4, 9, 16, 25], 2)
    """
    try:
        return work(items), 0
    except RuntimeError as error:  # torch.OutOfMemoryError is one
        if not is_out_of_memory(error):
            raise
    if len(items) == 1:
        raise no_memory()
    middle = len(items) // 2
    first, halved = in_halves(items[:middle], work)
    second, again = in_halves(items[middle:], work)
    return first + second, 1 + halved + again
