"""Rates of groups whose members are known as probabilities only: all that the probabilities allow, as bounds.

Of people with the same probabilities it is known which share belongs to a group and which share is selected, and not
how the two overlap. At least p + y - 1 of them are both, and at most the smaller of p and y (Frechet).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError

__all__ = ["imputed_gap_bounds", "imputed_rate_bounds", "imputed_ratio_bounds"]

LeastAndMost = tuple[float, float]
Floats = NDArray[np.float64]

SUM_TOLERANCE = 1e-3
"""How far the probabilities of one person may sum from 1: they are often rounded. They are used as they are."""


def imputed_rate_bounds(
    probabilities: Mapping[Hashable, ArrayLike], selected: ArrayLike, people: ArrayLike
) -> dict[Hashable, LeastAndMost]:
    r"""Sharp bounds of each group's selection rate, where membership is known as a share of each cell of people.

    Cells are people with the same probabilities. With w of all people in a cell, p of them in the group, and y of them
    selected,

    .. math:: \frac{\sum w \max(0, p + y - 1)}{\sum w p} \le P(\text{selected} \mid \text{group}) \le
              \frac{\sum w \min(p, y)}{\sum w p}

    and any rate between is possible. The cells' shares are taken as those of the population: where cells hold few
    people their chance errors make the bounds too narrow, and with one person a cell the two ends meet at the
    weighted estimate, which is no bound at all. The metrics of an audit allow for that.

    Parameters
    ----------
    probabilities : mapping of group to array_like of shape (cells,)
        Share of each cell's people who belong to the group; of each cell they sum to 1 over the groups.
    selected, people : array_like of shape (cells,)
        Counts, or weights.

    Returns
    -------
    dict of group to (low, high)

    Raises
    ------
    InputError
        If a share is negative or no number, shares of a cell do not sum to 1, or more are selected than there are.
    UndefinedMetricError
        If a group has no members by its probabilities.

    References
    ----------
    Kallus, N., Mao, X. & Zhou, A. (2022). Assessing algorithmic fairness with unobserved protected class using data
    combination. Management Science 68, 1959-1981, arXiv:1906.00285.

    Examples
    --------
    >>> cells = {"Black": [0.9, 0.1], "White": [0.1, 0.9]}
    >>> bounds = imputed_rate_bounds(cells, selected=[40, 60], people=[100, 100])
    >>> {group: (round(low, 2), round(high, 2)) for group, (low, high) in bounds.items()}
    {'Black': (0.3, 0.5), 'White': (0.5, 0.7)}
    """
    shares, won, all_of = _checked(probabilities, selected, people)
    rate = np.divide(won, all_of, out=np.zeros_like(won), where=all_of > 0)
    bounds: dict[Hashable, LeastAndMost] = {}
    for group, share in shares.items():
        members = math.fsum((all_of * share).tolist())
        if members == 0.0:
            raise UndefinedMetricError(f"{group}: nobody belongs to the group by the probabilities")
        both, either = overlap(share, rate, *binding(share, rate))
        low, high = (math.fsum((all_of * one).tolist()) / members for one in (both, either))
        bounds[group] = (low, high)
    return bounds


def overlap(share: Floats, selected: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return the least and the greatest share that is in the group and selected, by which bound is taken of each.

    Whatever is taken, the sums of the two over people bound the overlap in expectation, since 0 and p + y - 1 both hold
    below, p and y both above, and so does all between the two. Those of :func:`binding` are the sharp ones, where the
    rate is that of the people.

    Parameters
    ----------
    share : ndarray of float
        Of people like each row, how many are in the group.
    selected : ndarray of float
        Which share of each row is selected; 0 or 1 of a person.
    low, high : ndarray of float
        How much of p + y - 1 is taken below and not 0, and of p above and not y: from 0 to 1.

    Examples
    --------
    >>> one = np.array([1.0])
    >>> [part.tolist() for part in overlap(np.array([0.75]), one, *binding(np.array([0.75]), np.array([0.5])))]
    [[0.75], [1.0]]
    """
    return low * (selected - (1.0 - share)), selected + high * (share - selected)


def binding(share: Floats, rate: Floats, slack: Floats | float = 0.0) -> tuple[Floats, Floats]:
    """Return which bounds hold people of a rate, as :func:`overlap` takes them.

    Parameters
    ----------
    share : ndarray of float
        Of people like each row, how many are in the group.
    rate : ndarray of float
        Of people like each row, how many are selected, or are thought to be.
    slack : ndarray of float
        Within this distance of the point where both bounds are the same, a part of each is taken.

    Examples
    --------
    >>> [part.tolist() for part in binding(np.array([0.75, 0.5]), np.array([0.5, 0.5]), 0.2)]
    [[1.0, 0.5], [0.0, 0.5]]
    """
    return _ramp(share + rate - 1.0, slack), _ramp(rate - share, slack)


def _ramp(distance: Floats, slack: Floats | float) -> Floats:
    slack = np.maximum(slack, 1e-300)
    return np.asarray(np.clip(0.5 + distance / (2.0 * slack), 0.0, 1.0))


def imputed_gap_bounds(group: LeastAndMost, reference: LeastAndMost) -> LeastAndMost:
    """Bounds of the difference of two groups' rates from the bounds of each.

    They are sharp: where one group has as many of the selected as its probabilities allow, the other can have as few.

    Parameters
    ----------
    group, reference : pair of float
        Bounds of the two rates.

    Examples
    --------
    >>> tuple(round(end, 2) for end in imputed_gap_bounds((0.3, 0.5), (0.5, 0.7)))
    (-0.4, 0.0)
    """
    return group[0] - reference[1], group[1] - reference[0]


def imputed_ratio_bounds(rates: Mapping[Any, LeastAndMost]) -> dict[Any, LeastAndMost]:
    """Bounds of each group's rate over the highest rate, whichever group has it, from the bounds of all.

    The lower one is sharp. The upper one holds, and with more than two groups it may be higher than what is possible:
    not all others can have as few of the selected as each of them can.

    Parameters
    ----------
    rates : mapping of group to pair of float
        Bounds of the rates of all groups.

    Raises
    ------
    InputError
        If there are fewer than two groups.
    UndefinedMetricError
        If no group can have anybody selected.

    Examples
    --------
    >>> {group: tuple(round(end, 2) for end in ends)
    ...  for group, ends in imputed_ratio_bounds({"Black": (0.3, 0.5), "White": (0.5, 0.7)}).items()}
    {'Black': (0.43, 1.0), 'White': (1.0, 1.0)}
    """
    if len(rates) < 2:
        raise InputError(f"rates: a ratio needs two groups or more, got {len(rates)}")
    if all(high <= 0.0 for _, high in rates.values()):
        raise UndefinedMetricError("nobody is selected: there is no highest rate")
    found = {}
    for group, (low, high) in rates.items():
        others = [ends for other, ends in rates.items() if other != group]
        least = min(_over(low, top) for _, top in others)
        most = min(_over(high, bottom) for bottom, _ in others)
        found[group] = (min(1.0, least), min(1.0, most))
    return found


def _over(rate: float, other: float) -> float:
    if rate <= 0.0:
        return 0.0
    return rate / other if other > 0.0 else math.inf


def _checked(
    probabilities: Mapping[Hashable, ArrayLike], selected: ArrayLike, people: ArrayLike
) -> tuple[dict[Hashable, Floats], Floats, Floats]:
    won, all_of = (np.asarray(one, dtype=np.float64) for one in (selected, people))
    if won.ndim != 1 or won.shape != all_of.shape:
        raise InputError(
            f"selected and people: one number a cell is needed, got shapes {won.shape} and {all_of.shape}"
        )
    if not (np.isfinite(won) & np.isfinite(all_of) & (won >= 0) & (won <= all_of)).all():
        raise InputError("selected: of a cell from 0 to all its people are selected")
    shares = {group: np.asarray(share, dtype=np.float64) for group, share in probabilities.items()}
    for group, share in shares.items():
        if share.shape != won.shape:
            raise InputError(
                f"probabilities[{group!r}]: {share.shape} shares of {won.size} cells; give one a cell"
            )
    if (fault := shares_fault(list(shares.values()))) is not None:
        raise InputError(f"probabilities: {fault}")
    return shares, won, all_of


def shares_fault(shares: Sequence[Floats]) -> str | None:
    """Say what is wrong with the probabilities of some people or cells; None where nothing is.

    Parameters
    ----------
    shares : sequence of ndarray
        One array a group.

    Examples
    --------
    >>> shares_fault([np.array([0.5, 0.2]), np.array([0.5, 0.7])])
    '1 of 2 do not sum to 1 over the groups, such as one with 0.9'
    >>> shares_fault([np.array([0.5]), np.array([0.5])])
    """
    if len(shares) < 2:
        return f"two groups or more are needed, got {len(shares)}"
    table = np.vstack(shares)
    with np.errstate(invalid="ignore"):
        wrong = ~((table >= 0.0) & (table <= 1.0)).all(axis=0)
    if wrong.any():
        return f"{int(wrong.sum())} of {wrong.size} have a probability that is missing, no number, below 0 or above 1"
    total = table.sum(axis=0)
    off = np.abs(total - 1.0) > SUM_TOLERANCE
    if off.any():
        first = float(total[off][0])
        return f"{int(off.sum())} of {off.size} do not sum to 1 over the groups, such as one with {first:.4g}"
    return None
