"""The smallest difference that an audit finds with its power: searched over simulated audits, with its error."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from audit_lib.plan.power.planned_design import PlannedDesign
from audit_lib.plan.power.simulated_comparison import PlannedTest, comparison_of
from audit_lib.results import Undefined
from audit_lib.seeds import generator
from audit_lib.stats.planned_tables import p_values_of_tables
from audit_lib.translation import mark

AUDITS: Final = 2_000
"""Simulated audits; fewer of large ones, and of those whose names are fitted."""
_LEAST_AUDITS: Final = 200
_SCORES: Final = 6_000_000
_ROWS: Final = 5_000
"""Rows of a simulated audit; above them the limit falls with the root of the number of applications."""
_NAMED_ROWS: Final = 400_000
_FIRST: Final = 250
"""Audits by which the search begins."""
_MOST: Final = 6.0
"""The largest difference that is tried, in standard deviations of merit."""
_GRID: Final = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 1)
_HALVINGS: Final = 5
_STEP: Final = 0.05
_AROUND: Final = (0.86, 0.93, 1.0, 1.07, 1.14)

OUT_OF_REACH: Final = mark(
    "even a difference of {most:g} standard deviations would be found with a probability of {found:.2f} only"
)
TOO_FEW: Final = mark("a category has fewer than two applications: no audit finds anything of it")
NO_RATIO: Final = mark("even a ratio of 0 would be found with a probability below {power:g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The smallest difference that is found with the power, and what chance makes of it in this simulation.

    Parameters
    ----------
    value : float
        A ratio, or a distance from parity.
    error : float
        Monte Carlo standard error of `value`.
    audits : int
        Simulated.
    rate : float or None
        Of the categories without the difference, where people are selected.
    """

    value: float
    error: float
    audits: int
    rate: float | None = None


Simulation = Callable[[float, int], NDArray[np.bool_]]
"""(difference, audits) -> in which of them it is found."""
ValueOf = Callable[[float, int], tuple[float, float | None]]
"""(difference, audits) -> the value of the metric, and the rate of the others; nothing is tested for it."""


@lru_cache(maxsize=512)
def limit_of(design: PlannedDesign, hypothesis: PlannedTest, power: float) -> Limit | Undefined:
    """Return the smallest difference between one category of a table and the others that the audit finds.

    Parameters
    ----------
    design : PlannedDesign
        What is planned.
    hypothesis : PlannedTest
        A metric of a comparison.
    power : float
        How often it is to be found.
    """
    named = design.names is not None and any(
        one.metric == "standardised_effect"
        for one, _ in comparison_of(design, hypothesis.axes).made(hypothesis)
    )
    # Names do not become more with applications: then nothing falls with the root of these.
    part = 1.0 if named else min(_ROWS / max(design.rows, 1), 1.0)
    simulated = (
        replace(design, applications=max(round(design.applications * part), 2)) if part < 1 else design
    )
    comparison = comparison_of(simulated, hypothesis.axes)
    if not comparison.is_testable():
        return Undefined(TOO_FEW)
    audits = min(AUDITS, max(_SCORES // max(design.rows, 1), _LEAST_AUDITS))
    if named:
        audits = min(audits, max(_NAMED_ROWS // max(design.rows, 1), _LEAST_AUDITS))

    def simulation(lower: float, number: int) -> NDArray[np.bool_]:
        found = comparison.adjusted(hypothesis, lower, number, precise=number > _FIRST)
        return np.asarray(found < design.tests.alpha)

    def value_of(lower: float, number: int) -> tuple[float, float]:
        return comparison.value(hypothesis, lower, number)

    shrink = (simulated.applications / design.applications) ** 0.5
    return _smallest(simulation, value_of, audits, power, shrink=shrink)


def _smallest(
    simulation: Simulation,
    value_of: ValueOf,
    audits: int,
    power: float,
    most: float = _MOST,
    shrink: float = 1.0,
) -> Limit | Undefined:
    first = min(_FIRST, audits)
    low = high = reached = 0.0
    # From small to large: differences so large that nobody is left on a side may not be found again.
    for part in _GRID:
        low, high = high, most * part
        share = float(simulation(high, first).mean())
        reached = max(reached, share)
        if share >= power:
            break
    else:
        return Undefined(OUT_OF_REACH.format(most=most, found=reached))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if simulation(middle, first).mean() >= power else (middle, high)
    tried = [min(high * part, most) for part in _AROUND]
    found = np.array([float(simulation(one, audits).mean()) for one in tried])
    # The limit is read off the line through the powers of differences near it, on the normal scale.
    z = ndtri(found.clip(0.5 / audits, 1 - 0.5 / audits))
    slope, start = (float(one) for one in np.polyfit(tried, z, 1))
    slope, target = max(slope, 1e-9), float(ndtri(power))
    at = float(np.clip((target - start) / slope, tried[0] * 0.8, min(tried[-1] * 1.25, most)))
    error = math.sqrt(power * (1 - power) / audits) / (
        slope * math.exp(-(target**2) / 2) / math.sqrt(2 * math.pi)
    )
    at, error = at * shrink, error * shrink
    value, rate = value_of(at, audits)
    step = at * _STEP
    slope_of_value = (value_of(at + step, audits)[0] - value_of(at - step, audits)[0]) / (2 * step)
    return Limit(value=value, error=abs(slope_of_value) * error, audits=audits, rate=rate)


@lru_cache(maxsize=512)
def smallest_ratio(
    n: int, categories: int, rate: float, level: float, power: float, seed: int
) -> Limit | Undefined:
    """Return the smallest ratio that a table of independent people finds: one category is lower than all others.

    Parameters
    ----------
    n, categories : int
        People of each category, and how many categories there are.
    rate : float
        Of the others.
    level : float
        Of the p-value.
    power : float
        How often it is to be found.
    seed : int
        The spec's.
    """
    from scipy.stats import binom  # which takes as long to load as all else that a plan needs

    people = np.full(categories, n, dtype=np.int64)

    def simulation(lower: float, audits: int) -> NDArray[np.bool_]:
        made = generator(seed, "plan", "power", n, categories, str(rate))
        others = made.binomial(n, rate, (AUDITS, categories - 1))[:audits]
        own = binom.ppf(made.random(AUDITS)[:audits], n, max(rate * (1 - lower), 0.0))
        tables = np.column_stack([own.astype(np.int64), others])
        return np.asarray(p_values_of_tables(tables, people, 0, seed=seed) <= level)

    found = _smallest(simulation, lambda lower, _: (1 - lower, rate), AUDITS, power, most=1.0)
    if isinstance(found, Undefined):
        return Undefined(NO_RATIO.format(power=power))
    return replace(found, value=max(found.value, 0.0))
