"""The number of a kernel that gives the values behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def mean_of_all(kernel: Callable[..., Any]) -> Callable[..., float]:
    """The mean over all pairs; refused where one has no value."""

    def number(*args: Any, **kwargs: Any) -> float:
        found: float = kernel(*args, **kwargs).mean_of_all()
        return found

    number.__name__ = kernel.__name__
    return number


def mean(kernel: Callable[..., Any]) -> Callable[..., float]:
    """The mean over what has a value."""

    def number(*args: Any, **kwargs: Any) -> float:
        found: float = kernel(*args, **kwargs).mean
        return found

    return number
