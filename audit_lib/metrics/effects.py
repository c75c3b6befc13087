"""Effects of what an experiment varied, with their covariance."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from audit_lib.results import Interval, Undefined

if TYPE_CHECKING:
    import pandas as pd


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
    n, clusters : int
        Rows and applications of the regression.
    degrees_of_freedom : int
        Of the t distribution for its interval and its test: applications minus one.
    """

    factor: str
    level: Hashable
    reference: Hashable
    estimate: float
    standard_error: float | Undefined
    n: int
    clusters: int
    degrees_of_freedom: int

    @property
    def method(self) -> str:
        """How its error was computed, in words."""
        return "least squares on main effects, per SD of the outcome; cluster-robust CR1"

    @property
    def interval(self) -> Interval | Undefined:
        """Its 95% interval, or why there is none."""
        return self.interval_at(0.95)

    def interval_at(self, level: float) -> Interval | Undefined:
        """Return its interval at another level."""
        from audit_lib.stats.t_intervals import t_interval

        if isinstance(self.standard_error, Undefined):
            return self.standard_error
        return t_interval(self.estimate, self.standard_error, self.degrees_of_freedom, level, self.method)

    @property
    def p_value(self) -> float | Undefined:
        """Of the two-sided t test that the effect is 0, or why there is none."""
        from audit_lib.stats.clusters import t_test

        if isinstance(self.standard_error, Undefined):
            return self.standard_error
        test = t_test(self.estimate, self.standard_error, self.degrees_of_freedom, self.clusters, self.method)
        return test.p_value


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

    def to_frame(self) -> pd.DataFrame:
        """Return one row an effect, with its 95% interval, p, n and method."""
        from audit_lib.metrics._frames import frame_of, limits_of

        return frame_of(
            {
                "factor": one.factor,
                "level": one.level,
                "reference": one.reference,
                "estimate": one.estimate,
                "standard_error": one.standard_error,
                **limits_of(one.interval),
                "p_value": one.p_value,
                "n": one.n,
                "clusters": one.clusters,
                "degrees_of_freedom": one.degrees_of_freedom,
                "method": one.method,
            }
            for one in self.effects
        )

    def __contains__(self, key: tuple[str, Hashable]) -> bool:
        return any((effect.factor, effect.level) == key for effect in self.effects)
