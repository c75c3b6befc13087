"""Effects of what an experiment varied, with their covariance."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audit_lib.results import Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorEffect:
    """Effect of one level of a factor against the factor's reference level.

    Parameters
    ----------
    factor, level, reference : label
        What was varied, and the two levels compared.
    estimate : float
        In standard deviations of the outcome.
    standard_error : float or Undefined
        Likewise; undefined where no application departs from the model, which leaves nothing to
        estimate an error from.
    """

    factor: str
    level: Hashable
    reference: Hashable
    estimate: float
    standard_error: float | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class StandardisedEffects:
    """Main effects of a correspondence experiment.

    Parameters
    ----------
    effects : tuple of FactorEffect
        In the order of the factors, then of their levels.
    covariance : ndarray, shape (effects, effects)
        Cluster-robust covariance of the estimates.
    outcome_sd : float
        Sample standard deviation of the outcome (divisor n - 1), by which everything was divided.
    n, clusters : int
        Rows and applications.
    degrees_of_freedom : int
        Of the t distribution for intervals: applications minus one.
    """

    effects: tuple[FactorEffect, ...]
    covariance: NDArray[np.float64]
    outcome_sd: float
    n: int
    clusters: int
    degrees_of_freedom: int

    def __getitem__(self, key: tuple[str, Hashable]) -> FactorEffect:
        for effect in self.effects:
            if (effect.factor, effect.level) == key:
                return effect
        raise KeyError(key)

    def __contains__(self, key: tuple[str, Hashable]) -> bool:
        return any((effect.factor, effect.level) == key for effect in self.effects)
