"""What the tables of target words have in common: a value for each word, or the reason why it has none."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

from audit_lib.errors import UndefinedMetricError
from audit_lib.results import Undefined


class WordTable(ABC):
    """Base of tables with a value for each target word."""

    __slots__ = ()

    words: tuple[str, ...]
    values: tuple[float | Undefined, ...]

    @abstractmethod
    def _none_defined(self) -> UndefinedMetricError:
        """Why there is no mean where none of the target words has a value."""

    @property
    def undefined(self) -> int:
        """How many target words have no value."""
        return sum(isinstance(value, Undefined) for value in self.values)

    @property
    def mean(self) -> float:
        """The metric: the mean over the target words that have a value.

        Raises
        ------
        UndefinedMetricError
            If none has.
        """
        defined = [value for value in self.values if not isinstance(value, Undefined)]
        if not defined:
            raise self._none_defined()
        return math.fsum(defined) / len(defined)
