"""Are scores that are probabilities right on average, in every group?

Sources: Kleinberg, Mullainathan and Raghavan, "Inherent Trade-Offs in the Fair Determination of Risk Scores" (2016),
arXiv:1609.05807 (calibration within groups); Van Calster et al. (2016), J. Clin. Epidemiol. 74 (in the large).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics._aligned import same_rows
from audit_lib.metrics._arrays import as_flags, as_scores


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityRow:
    """One bin of scores.

    Parameters
    ----------
    low, high : float
        Its edges; the last bin holds its right edge too.
    n : int
        People whose score lies in it.
    score, outcome : float
        Their mean score, and the share of them with outcome 1.
    """

    low: float
    high: float
    n: int
    score: float
    outcome: float


def calibration_gap(
    group_scores: ArrayLike,
    group_outcomes: ArrayLike,
    reference_scores: ArrayLike,
    reference_outcomes: ArrayLike,
) -> float:
    """Mean of score minus outcome in the group, less the same in the reference: calibration in the large.

    Parameters
    ----------
    group_scores, reference_scores : array_like, shape (n,) and (m,)
        Probabilities, in [0, 1].
    group_outcomes, reference_outcomes : array_like, shape (n,) and (m,)
        True outcome of each person: bool, 0 or 1.

    Returns
    -------
    float
        In [-2, 2]; 0 where scores are as right for both, above 0 where the group is judged more favourably than it
        turned out, next to the reference.

    Raises
    ------
    InputError
        If lengths differ, or an outcome is neither 0 nor 1.
    UndefinedMetricError
        If a side is empty, an entry is missing, or a score is no probability.

    Examples
    --------
    >>> calibration_gap([0.75, 0.25], [1, 1], [0.5, 0.5], [1, 0])
    -0.5
    """
    return _in_the_large(group_scores, group_outcomes, "group") - _in_the_large(
        reference_scores, reference_outcomes, "reference"
    )


def reliability_table(scores: ArrayLike, outcomes: ArrayLike, bins: int = 10) -> list[ReliabilityRow]:
    """Mean score and share of outcome 1 in bins of equal width: the points of a reliability diagram.

    Parameters
    ----------
    scores : array_like, shape (n,)
        Probabilities, in [0, 1].
    outcomes : array_like, shape (n,)
        True outcome of each person.
    bins : int
        Bins from 0 to 1.

    Returns
    -------
    list of ReliabilityRow
        The bins that hold somebody, from the lowest.

    Raises
    ------
    InputError
        If lengths differ, an outcome is neither 0 nor 1, or there is no bin.
    UndefinedMetricError
        If there is nobody, an entry is missing, or a score is no probability.

    Notes
    -----
    A score on the edge of two bins is in the upper one; `sklearn.calibration.calibration_curve` has it in the lower.

    Examples
    --------
    >>> [(row.low, row.n, row.score, row.outcome) for row in reliability_table([0.1, 0.3, 0.9], [0, 1, 1], bins=2)]
    [(0.0, 2, 0.2, 0.5), (0.5, 1, 0.9, 1.0)]
    """
    if bins < 1:
        raise InputError(f"bins: expected at least 1, got {bins}")
    values, flags = _probabilities(scores, outcomes, "scores")
    edges = np.arange(bins + 1) / bins
    places = np.minimum(np.searchsorted(edges, values, "right") - 1, bins - 1)
    rows = []
    for place in np.unique(places).tolist():
        own = places == place
        rows.append(
            ReliabilityRow(
                low=float(edges[place]), high=float(edges[place + 1]), n=int(own.sum()),
                score=float(values[own].mean()), outcome=float(flags[own].mean()),
            )
        )  # fmt: skip
    return rows


def _in_the_large(scores: ArrayLike, outcomes: ArrayLike, side: str) -> float:
    values, flags = _probabilities(scores, outcomes, side)
    return float((values - flags).mean())


def _probabilities(
    scores: ArrayLike, outcomes: ArrayLike, side: str
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    given: Any = same_rows(scores=scores, outcomes=outcomes)
    values = as_scores(given[0], side, finite=True).astype(np.float64)
    flags = as_flags(given[1], f"{side}_outcomes", values.size)
    require_probabilities(values)
    return values, flags


def require_probabilities(scores: NDArray[np.float64]) -> None:
    """Refuse scores that are no probabilities.

    Parameters
    ----------
    scores : ndarray, shape (n,)
        Without NaN.

    Raises
    ------
    UndefinedMetricError
        If one lies outside [0, 1].

    Examples
    --------
    >>> require_probabilities(np.array([0.0, 0.5, 1.0]))
    """
    if scores.size and not (scores.min() >= 0.0 and scores.max() <= 1.0):
        raise UndefinedMetricError(
            f"scores from {float(scores.min()):.6g} to {float(scores.max()):.6g}: calibration is of probabilities, "
            "from 0 to 1"
        )
