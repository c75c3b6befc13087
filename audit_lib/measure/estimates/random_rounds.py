"""Gaps of the shares of the k places of rounds drawn at random, averaged over the rounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.inference import NOBODY_QUALIFIED, Contrast, Estimator, compare
from audit_lib.measure.rows.drawn_rounds import DrawnRounds
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import Side, Variable, score_unit
from audit_lib.results import Estimate, Undefined
from audit_lib.spec import AuditSpec
from audit_lib.stats.clusters import difference_interval, t_test
from audit_lib.stats.random_rounds import DrawnShares, random_rounds_gap, random_rounds_variance
from audit_lib.stats.two_sided import TwoSidedVariance

_VARIANCE: Final = "jackknife of candidates, and variance of the draw"
_FEWEST: Final = 5
_TIMES: Final = 3
"""Of a side with fewer selected candidates than `_FEWEST` next to one `_TIMES` as large, intervals are too short."""


def random_round_gaps(
    name: str,
    rows: Rows,
    spec: AuditSpec,
    drawn: DrawnRounds,
    *,
    method: str,
    counted: NDArray[np.bool_] | None = None,
) -> list[Estimate]:
    """Compare groups over the drawn rounds, at every quota of the spec.

    Each candidate counts once for every round that it is in. The independent unit is the application: a candidate in
    many rounds is one (`audit_lib.stats.random_rounds`).

    Parameters
    ----------
    counted : ndarray of bool, shape (rows,), optional
        Which rows are counted; all compete.
    """
    size, rounds = drawn.members.shape[1], drawn.members.shape[0]
    number = np.full(int(max(rows.place.max(initial=-1), drawn.place.max(initial=-1))) + 1, -1)
    number[drawn.place] = np.arange(drawn.place.size)
    own = number[rows.place]
    times = np.bincount(drawn.members.ravel(), minlength=drawn.place.size)
    estimates = []
    for k in sorted(set(spec.measure.quotas)):
        reason = None
        if not rounds:
            reason = f"no position has more than {size} scored candidates, so no round of {size} was drawn"
        elif k > size:
            reason = f"no round has {k} scored candidates"
        elif counted is not None and (rows.qualified < 0).all():
            reason = NOBODY_QUALIFIED
        values = np.full(len(rows), np.nan)
        if reason is None:
            shares = drawn.shares(k)
            kept = (
                (own >= 0) & (times[own] > 0) if counted is None else (own >= 0) & (times[own] > 0) & counted
            )
            sums = np.bincount(shares.members.ravel(), shares.shares.ravel(), drawn.place.size)
            values[kept] = sums[own[kept]] / times[own[kept]]
            estimator = _estimator(drawn, shares, own)
        else:
            estimator = _nothing
        estimates += compare(
            name, Variable.of(rows, values, score_unit(spec)), spec, estimator, method=f"{method}; {_words(drawn)}",
            parameters=_parameters(drawn, k), reason=reason,
        )  # fmt: skip
    return estimates


def _words(drawn: DrawnRounds) -> str:
    return f"rounds of {drawn.members.shape[1]} drawn at random within positions, mean over all of them"


def _parameters(drawn: DrawnRounds, k: int) -> Mapping[str, int]:
    found = {"k": k, "rounds": drawn.members.shape[0], "rounds_left_out": 0}
    if drawn.unscored or drawn.too_few:
        found["not_drawn"] = drawn.unscored + drawn.too_few
    return found


def _estimator(drawn: DrawnRounds, shares: DrawnShares, own: NDArray[np.int64]) -> Estimator:
    def estimator(group: Side, reference: Side, level: float) -> Contrast:
        ours, theirs = (np.zeros(shares.rank.size, dtype=bool) for _ in range(2))
        ours[own[group.index]] = theirs[own[reference.index]] = True
        value = random_rounds_gap(shares, ours, theirs)
        try:
            spread = random_rounds_variance(shares, ours, theirs, drawn.application)
            _check_range(shares, ours, theirs, spread)
            interval = difference_interval(value, spread, level)
        except UndefinedMetricError as error:
            nothing = Undefined(str(error))
            return Contrast(value=value, interval=nothing, test=nothing, standard_error=nothing)
        deviation = math.sqrt(spread.variance)
        return Contrast(
            value=value,
            interval=replace(interval, method=f"{_VARIANCE}, t({spread.df:.4g})"),
            test=t_test(value, deviation, spread.df, spread.clusters, _VARIANCE),
            standard_error=deviation,
        )

    return estimator


def _check_range(
    shares: DrawnShares, group: NDArray[np.bool_], reference: NDArray[np.bool_], spread: TwoSidedVariance
) -> None:
    """Refuse an interval that simulations found too short: a small side, of whom few are selected, and a large one."""
    sides = [(spread.clusters_group, group), (spread.clusters_reference, reference)]
    (n, few), (n_other, _) = sorted(sides, key=lambda side: side[0])
    counted = few[shares.members]
    selected = n * float((shares.shares * counted).sum() / counted.sum())
    if selected < (fewest := _FEWEST) and n_other >= _TIMES * n:
        raise UndefinedMetricError(
            f"about {selected:.1f} of {n} candidates of the smaller side are selected, next to {n_other} candidates: "
            f"with fewer than {fewest} the interval would be too short"
        )


def _nothing(group: Side, reference: Side, level: float) -> Contrast:
    raise UndefinedMetricError("no round was drawn")
