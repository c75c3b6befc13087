"""One comparison of simulated audits: the p-values of its metrics, adjusted as those of the audit are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from audit_lib.plan.power.planned_design import PlannedDesign
from audit_lib.plan.power.simulated_audits import Chosen, Selected, SimulatedAudits, SimulatedSides
from audit_lib.plan.power.simulated_names import effects
from audit_lib.plan.power.simulated_tests import (
    adjusted,
    laws_of,
    p_values_of_gap,
    p_values_of_index,
    p_values_of_lower,
    t_p_values,
)
from audit_lib.stats.planned_tables import LawOfTables

Floats = NDArray[np.float64]

SIMULATED: Final = (
    "impact_ratio", "standardised_effect", "rabbi", "score_gap", "decision_rate_gap", "demographic_parity_gap",
)  # fmt: skip
_LITTLE: Final = 0.05
"""Share of the audit's other tests that are of the same difference: below it, what is found first changes nothing."""
FEWEST: Final = 2
"""Applications that a spread is measured by: with fewer of a category no audit finds anything of it."""
_LAWS: Final = (2, 12)
"""Laws that are drawn while the limit is searched, and near it: the audit's own is one of many, too."""
_KEPT_CELLS: Final = 2_000_000
"""Scores of a number of audits are kept from one difference to the next up to this many: 16 MB."""


class PlannedTest(NamedTuple):
    """A metric of a comparison by some attributes, and its quota where it has one."""

    metric: str
    axes: tuple[str, ...]
    quota: int = 0


class _Scores(NamedTuple):
    """Scores of some audits without the difference, their place among all, and the generator that drew them."""

    values: Floats
    start: int
    rng: np.random.Generator

    @property
    def place(self) -> tuple[int, int]:
        """Which audits they are of: the same place has the same scores."""
        return self.start, len(self.values)


class _Drawn(NamedTuple):
    """Scores of some audits with the difference, and what is searched in them."""

    scores: _Scores
    lowered: Floats
    lower: float
    searched: PlannedTest
    precise: bool
    chosen: Chosen


@dataclass
class SimulatedComparison:
    """One category against the others, in audits in which it is lower; and what else is found of it.

    The metrics of a comparison are searched in the same audits, each for its own difference: scores and p-values are
    kept from one search for the next.

    Parameters
    ----------
    design : PlannedDesign
        What is planned.
    axes : tuple of str
        Attributes of the comparison.
    """

    design: PlannedDesign
    axes: tuple[str, ...]

    def __post_init__(self) -> None:
        self._simulated = SimulatedAudits(self.design, self.axes)
        self._laws: dict[tuple[PlannedTest, bool, int], list[LawOfTables]] = {}
        self._effects: dict[tuple[int, int], tuple[Floats, Floats, Floats]] = {}
        self._scores: dict[int, list[_Scores]] = {}
        self._p_values: dict[tuple[PlannedTest, float, tuple[int, int]], Floats] = {}

    def hypotheses(self, axes: tuple[str, ...]) -> list[PlannedTest]:
        """Return what of a comparison is tested, as far as it is simulated."""
        found = []
        for metric in (name for name in SIMULATED if name in self.design.metrics):
            if metric == "demographic_parity_gap":
                found += [PlannedTest(metric, axes, k) for k in self.design.quotas if self.design.competes]
            elif metric != "standardised_effect" or len(axes) == 1:
                found.append(PlannedTest(metric, axes))
        return found

    def made(self, hypothesis: PlannedTest) -> list[tuple[PlannedTest, int]]:
        """Return the hypotheses whose p-values are made for one, and of how many each stands for.

        What is found before it leaves it more of the error: other metrics of the comparison, and comparisons whose
        groups are a part of the category, which all fare alike, or hold it.
        """
        found = [(one, 1) for one in self.hypotheses(self.axes) if one != hypothesis]
        for axes in dict.fromkeys([*((axis,) for axis in self.design.axes), self.design.axes]):
            if axes == self.axes or not (set(axes) <= set(self.axes) or set(axes) >= set(self.axes)):
                continue
            count = max(self._size(axes) // self._size(self.axes), 1)
            found += [
                (one, count)
                for one in self.hypotheses(axes)
                if one.metric not in ("impact_ratio", "standardised_effect")
            ]
        estimates = sum(count for one, count in found if one.metric != "impact_ratio")
        return [(hypothesis, 1), *(found if estimates > _LITTLE * self.design.tests.others else [])]

    def _size(self, axes: tuple[str, ...]) -> int:
        """Return how many categories the table of some attributes has."""
        return int(self.design.categories(axes).max()) + 1

    def is_testable(self) -> bool:
        """Tell whether each category has applications enough for a test."""
        return self._simulated.fewest(self.axes) >= FEWEST

    def value(self, hypothesis: PlannedTest, lower: float, audits: int) -> tuple[float, float]:
        """Return the metric's value, and the rate of the others, in audits that are not tested."""
        values, rates, sizes = [], [], []
        for scores in self._parts(audits):
            lowered = self._simulated.lowered(scores.values, lower)
            own, others = self._simulated.selected(lowered, self.axes).rates
            values.append(self._value(hypothesis, lowered, lower, (own, others)))
            rates.append(others)
            sizes.append(len(lowered))
        value, rate = (float(np.average(part, weights=sizes)) for part in (values, rates))
        return value, rate

    def _value(self, one: PlannedTest, lowered: Floats, lower: float, rates: tuple[float, float]) -> float:
        design, (own, others) = self.design, rates
        if one.metric == "decision_rate_gap":
            return others - own
        if one.metric == "impact_ratio":
            return own / others if others else math.nan
        if one.metric == "demographic_parity_gap":
            sides = self._simulated.shares(lowered, one.axes, one.quota)
            return float(sides.reference.mean() - sides.group.mean())
        if one.metric == "standardised_effect":
            named = design.name_sd if design.names is not None else 0.0
            return lower / math.hypot(design.score_sd, named)
        if one.metric == "score_gap":
            return lower / design.score_sd
        return float(2 * ndtr(lower / math.sqrt(2) / design.score_sd) - 1)

    def adjusted(self, hypothesis: PlannedTest, lower: float, audits: int, *, precise: bool) -> Floats:
        """Return the adjusted p-values of a hypothesis."""
        tests, every = self.design.tests, self.made(hypothesis)
        tables = np.array([one.metric == "impact_ratio" for one, _ in every])
        weights = np.where(tables, tests.level_of_a_table, tests.level_of_an_estimate) / tests.alpha
        # Of a table of two, one category alone can be found below: then the table has nothing left.
        kept = tables & (self._size(self.axes) > 2)
        gone = np.where(kept, 0.0, weights) * np.array([count for _, count in every])
        found = []
        for scores in self._parts(audits):
            lowered = self._simulated.lowered(scores.values, lower)
            drawn = _Drawn(scores, lowered, lower, hypothesis, precise, {})
            made = [self._made(one, drawn) for one, _ in every]
            found.append(adjusted(np.stack(made, axis=1), weights, gone)[:, 0])
        return np.concatenate(found)

    def _parts(self, audits: int) -> Iterator[_Scores]:
        """Yield the scores of so many audits, some at a time; those of few rows are drawn once."""
        if audits in self._scores:
            yield from self._scores[audits]
            return
        made = self._simulated.parts(audits)
        drawn: Iterator[_Scores] = (
            _Scores(self._simulated.scores(rng, number), start, rng)
            for start, (rng, number) in enumerate(made)
        )
        if audits * self.design.rows <= _KEPT_CELLS:
            self._scores[audits] = list(drawn)
            drawn = iter(self._scores[audits])
        yield from drawn

    def _made(self, one: PlannedTest, drawn: _Drawn) -> Floats:
        """Return the p-values of a hypothesis."""
        if self._simulated.fewest(one.axes) < FEWEST:
            return np.ones(len(drawn.lowered))
        if one.metric == "impact_ratio":
            selected = self._simulated.selected(drawn.lowered, one.axes, drawn.chosen)
            return p_values_of_lower(selected, self._law(selected, drawn), self.design.seed)
        key = one, drawn.lower, drawn.scores.place
        if key not in self._p_values:
            self._p_values[key] = self._without_law(one, drawn)
        return self._p_values[key]

    def _without_law(self, one: PlannedTest, drawn: _Drawn) -> Floats:
        """Return the p-values of a hypothesis whose test needs no drawn law: no matter what is searched."""
        simulated = self._simulated
        if one.metric == "decision_rate_gap":
            return p_values_of_gap(_rates(simulated.selected(drawn.lowered, one.axes, drawn.chosen)))
        if one.metric == "demographic_parity_gap":
            return p_values_of_gap(simulated.shares(drawn.lowered, one.axes, one.quota, drawn.chosen))
        if one.metric == "standardised_effect":
            place = drawn.scores.place
            if place not in self._effects:
                self._effects[place] = effects(simulated, drawn.scores.values, drawn.scores.rng)
            value, variance, df = self._effects[place]
            return t_p_values(value - drawn.lower, variance, df)
        sides = simulated.sides(drawn.lowered, one.axes)
        return p_values_of_gap(sides) if one.metric == "score_gap" else p_values_of_index(sides)

    def _law(self, selected: Selected, drawn: _Drawn) -> list[LawOfTables]:
        """The law of such tables; it hardly moves with the difference, so it is drawn once an octave."""
        key = drawn.searched, drawn.precise, round(math.log2(max(drawn.lower, 0.01)))
        if key not in self._laws:
            self._laws[key] = laws_of(selected, self.design.seed, _LAWS[drawn.precise])
        return self._laws[key]


@lru_cache(maxsize=2)
def comparison_of(design: PlannedDesign, axes: tuple[str, ...]) -> SimulatedComparison:
    """Return the comparison of some attributes: the same one for each metric that is searched in turn."""
    return SimulatedComparison(design, axes)


def _rates(drawn: Selected) -> SimulatedSides:
    """Return the share selected of each unit's people, of the first and of the last category."""
    held = drawn.people > 0
    shares = drawn.selected / np.maximum(drawn.people, 1.0)
    group, reference = (shares[:, place][:, held[place]][:, :, None] for place in (0, -1))
    return SimulatedSides(group, reference, shared=bool((held[0] & held[-1]).any()))
