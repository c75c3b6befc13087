r"""Is a new model inside its margins? Evidence for yes and for no, looked at after every batch.

Each question is a number and a margin: a group's mean difference or ratio of rates. Four e-processes follow it
(`audit_lib.stats.sequential`): that it lies above the margin's lower end, below its upper end, and beyond either.

*Equivalent* is said when for every question the evidence for both sides of "inside" has exceeded :math:`1/\alpha` at
some look. Where at least one number lies at its margin or beyond, one of these has to exceed it wrongly: that ever
happens with a probability of at most :math:`\alpha`, however many questions there are (intersection-union).

*Harm* is said when the e-Benjamini-Hochberg procedure at :math:`\alpha` over all sides of all questions tells any.
Where no number lies beyond its margin, that ever happens with a probability of at most :math:`\alpha`.

References
----------
Berger, R. L. (1982). Multiparameter hypothesis testing and acceptance sampling. Technometrics 24, 295-300.
Wang, R. & Ramdas, A. (2022). False discovery rate control with e-values. J. R. Stat. Soc. B 84, 822-852.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.gate import GateComparison, GateDecision
from audit_lib.errors import InputError
from audit_lib.stats.sequential import WindowSums, e_bh, evidence_above, evidence_below

Floats = NDArray[np.float64]

MOST_UNITS: Final = 10_000_000
"""Beyond it no number of further units is named."""
_HALVINGS: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class GateQuestion:
    """Does a number lie inside its margin?

    Parameters
    ----------
    metric : str
        What it is.
    group, reference : mapping of str to str
        Who is compared with whom.
    compared : {"margin", "deployed"}
        The new model's own number, or its change from the deployed model's.
    low, high : float
        The margin, in the metric's unit.
    below, above : tuple of (WindowSums, float)
        Of each batch, values and the number that their mean exceeds where the metric lies above `low`; and those that
        it stays below where the metric lies below `high`.
    """

    metric: str
    group: Mapping[str, str]
    reference: Mapping[str, str]
    compared: GateComparison
    low: float
    high: float
    below: tuple[WindowSums, float]
    above: tuple[WindowSums, float]

    @property
    def units(self) -> NDArray[np.int64]:
        """Units so far, at each look."""
        return np.cumsum(self.below[0].n)

    def inside(self) -> Floats:
        """Log evidence of "inside" at each look: the lesser of two sides, each the most so far."""
        sides = (evidence_above(*self.below), evidence_below(*self.above))
        return np.asarray(np.minimum(*(np.maximum.accumulate(side) for side in sides)))

    def outside(self) -> Floats:
        """Log evidence of "below the margin" and of "above it", at each look: shape (2, looks)."""
        return np.stack([evidence_below(*self.below), evidence_above(*self.above)])

    def together(self, times: float) -> GateQuestion:
        """All batches as one, as if there had been so many times as many units of the same kind."""

        def scaled(sums: WindowSums) -> WindowSums:
            n = max(round(float(sums.n.sum()) * times), 1)
            factor = n / max(int(sums.n.sum()), 1)
            return replace(
                sums,
                n=np.array([n], dtype=np.int64),
                total=np.array([sums.total.sum() * factor]),
                squares=np.array([sums.squares.sum() * factor]),
            )

        return replace(
            self,
            below=(scaled(self.below[0]), self.below[1]),
            above=(scaled(self.above[0]), self.above[1]),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GateVerdict:
    """What the evidence says at the first look that decides, or at the last.

    Parameters
    ----------
    decision : {"equivalent", "harm", "undecided"}
        What is decided.
    look : int
        At which look; the last where it is undecided.
    equivalent, harm : ndarray of bool, shape (questions,)
        What is said of each question there.
    """

    decision: GateDecision
    look: int
    equivalent: NDArray[np.bool_]
    harm: NDArray[np.bool_]


def verdict_of(questions: Sequence[GateQuestion], alpha: float, minimum: int = 1) -> GateVerdict:
    """Return the first look at which it is decided whether all numbers lie inside their margins, and how.

    Parameters
    ----------
    questions : sequence of GateQuestion
        All of the same looks.
    alpha : float
        Bound on either error.
    minimum : int
        Units of a question before anything is said of it.

    Raises
    ------
    InputError
        If there is no question, or no look.

    Examples
    --------
    >>> sums = WindowSums.of([[0.1, -0.1, 0.0, 0.1, -0.1] * 20] * 8)
    >>> asked = GateQuestion(
    ...     metric="score_gap", group={}, reference={}, compared="margin", low=-0.2, high=0.2,
    ...     below=(sums, -0.2), above=(sums, 0.2),
    ... )
    >>> found = verdict_of([asked], 0.05)
    >>> found.decision, found.look
    ('equivalent', 0)
    """
    if not questions or not questions[0].units.size:
        raise InputError("a gate needs a question, and a batch that was asked")
    enough = np.stack([one.units >= minimum for one in questions])
    inside = np.stack([one.inside() for one in questions])
    outside = np.stack([one.outside() for one in questions])
    bound = -math.log(alpha)
    looks = inside.shape[1]
    for look in range(looks):
        equivalent = (inside[:, look] >= bound) & enough[:, look]
        told = e_bh(outside[:, :, look].ravel(), alpha).reshape(-1, 2).any(axis=1)
        harm = told & enough[:, look]
        decision: GateDecision = "undecided"
        if harm.any():
            decision = "harm"
        elif equivalent.all():
            decision = "equivalent"
        if decision != "undecided" or look == looks - 1:
            return GateVerdict(decision=decision, look=look, equivalent=equivalent, harm=harm)
    raise AssertionError("unreachable")


def more_units(questions: Sequence[GateQuestion], alpha: float, minimum: int = 1) -> int | None:
    """Estimate how many more units would decide it, if gaps and spread stayed what they are; None beyond `MOST_UNITS`.

    No bound comes with it: it takes the estimates for the truth.

    Parameters
    ----------
    questions, alpha, minimum
        As of `verdict_of`, undecided so far.
    """
    units = [int(one.units[-1]) for one in questions]
    if min(units) == 0:
        return None
    bound = -math.log(alpha)
    harmful = bound + math.log(2 * len(questions))

    def times(one: GateQuestion, told: float, *, outside: bool) -> float:
        """Return how many times as many units the evidence needs."""

        def enough(factor: float) -> bool:
            scaled = one.together(factor)
            return bool((scaled.outside() if outside else scaled.inside()).max() >= told)

        low, high = 0.0, MOST_UNITS / int(one.units[-1])
        if not enough(high):
            return math.inf
        for _ in range(_HALVINGS):
            middle = math.sqrt(max(low, 1e-3) * high)
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high

    equivalent = max(
        max(times(one, bound, outside=False), minimum / n) for one, n in zip(questions, units, strict=True)
    )
    harm = min(
        max(times(one, harmful, outside=True), minimum / n) for one, n in zip(questions, units, strict=True)
    )
    factor = min(equivalent, harm)
    if math.isinf(factor):
        return None
    return max(math.ceil((factor - 1.0) * max(units)), 1)
