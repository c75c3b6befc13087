"""Standardised effects in simulated experiments: errors by application, and by the names that are shown."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.plan.names import FEW_NAMES
from audit_lib.plan.power.planned_design import PlannedDesign
from audit_lib.plan.power.simulated_audits import SimulatedAudits, SimulatedSides
from audit_lib.plan.power.simulated_tests import difference_of_means, spread
from audit_lib.stats.crossed import NameDesign, two_way

Floats = NDArray[np.float64]


def effects(
    simulated: SimulatedAudits, scores: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Return each audit's estimate without any difference, its variance and its degrees of freedom.

    A difference moves the estimate and none of its errors. Where names are part of the design, errors allow for other
    names (`audit_lib.measure.experiment.names`).
    """
    if simulated.design.names is not None:
        return _with_names(simulated, scores, rng)
    sides = simulated.sides(scores, simulated.axes)
    value, a, b = difference_of_means(sides)
    return value, *spread(a, b, shared=sides.shared)


def _with_names(
    simulated: SimulatedAudits, scores: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    design = simulated.design
    shown = _Shown(design, np.random.Generator(np.random.PCG64(design.seed)))
    audits = len(scores)
    moved = design.name_sd * rng.standard_normal((audits, design.groups * shown.names))
    scores = scores + moved[:, shown.codes].reshape(scores.shape)
    sides = simulated.sides(scores, simulated.axes)
    value, a, b = difference_of_means(sides)
    variance, df = spread(a, b, shared=sides.shared)
    weights = shown.weights(simulated.design.categories(simulated.axes), sides)
    added = shown.dealt.added(weights)
    if added <= 0.0:
        return value, variance, df
    of_level = design.groups // (int(simulated.design.categories(simulated.axes).max()) + 1)
    own = None if of_level * shown.names < FEW_NAMES else weights
    for one in range(audits):
        try:
            names = shown.dealt.spread(shown.dealt.residuals(scores[one].ravel()), own)
        except UndefinedMetricError:
            variance[one] = np.inf
            continue
        both = two_way(float(np.sqrt(variance[one])), float(df[one]), names, added)
        variance[one], df[one] = both.standard_error**2, both.df
    return value, variance, df


class _Shown:
    """Which name each row shows: the names of a group in turn, so that each is shown about as often."""

    def __init__(self, design: PlannedDesign, rng: np.random.Generator) -> None:
        assert design.names is not None
        each = design.applications * design.copies
        self.names = min(design.names, each)
        shape = (design.applications, design.copies, design.groups if design.within else 1)
        dealt = np.stack(
            [rng.permutation(np.arange(each) % self.names) for _ in range(shape[2])], axis=1
        ).reshape(shape)
        in_turn = (np.arange(design.applications) % design.groups)[:, None, None]
        groups = np.broadcast_to(np.arange(design.groups) if design.within else in_turn, shape)
        self.groups = groups.ravel()
        self.codes = (groups * self.names + dealt).ravel()
        clusters = np.repeat(np.arange(design.applications), shape[1] * shape[2])
        self.dealt = NameDesign(self.codes, self.groups, clusters, within=design.within)

    def weights(self, of: NDArray[np.intp], sides: SimulatedSides) -> Floats:
        """Return the weight of each row in the effect of the first category against the second."""
        n, m = (side.shape[1] * side.shape[2] for side in (sides.group, sides.reference))
        own = of[self.groups]
        return np.asarray((own == 0) / n - (own == of.max()) / m, dtype=np.float64)
