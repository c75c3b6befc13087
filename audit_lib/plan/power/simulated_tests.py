"""The tests of many simulated audits at once: the formulas of the metric stage, over arrays of audits.

A test holds them against the stage's own functions, audit by audit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from audit_lib.plan.power.simulated_audits import Selected, SimulatedSides
from audit_lib.stats._cluster_tables import MOST_ROWS
from audit_lib.stats.equal_rates import PERMUTATIONS
from audit_lib.stats.planned_tables import (
    LawOfTables,
    evidence_of_tables,
    p_values_of_pairs,
    p_values_of_tables,
)

Floats = NDArray[np.float64]


def p_values_of_lower(drawn: Selected, laws: Sequence[LawOfTables], seed: int) -> Floats:
    """Return the p-value of the first category of each table: that no other has a higher rate.

    Where people share units, the tables have the laws (`laws_of`) in turn.
    """
    if not laws:
        people = drawn.people.sum(axis=1).astype(np.int64)
        return p_values_of_tables(drawn.selected.sum(axis=2).astype(np.int64), people, 0, seed=seed)
    evidence = evidence_of_tables(drawn.selected, drawn.people, 0)
    found = np.ones(evidence.size)
    for place, law in enumerate(laws):
        found[place :: len(laws)] = law.p_values(evidence[place :: len(laws)])
    pairs = drawn.people.shape[0] == 2 and bool((drawn.people == 1).all()) and drawn.people.size <= MOST_ROWS
    if not pairs:
        return found
    # As in the stage, what draws cannot tell is left to the bound of the law.
    own, told = p_values_of_pairs(drawn.selected, evidence), 10 / (PERMUTATIONS + 1)
    return np.where(evidence <= 0.0, 1.0, np.where(own > told, own, np.minimum(found, told)))


def laws_of(drawn: Selected, seed: int, count: int) -> list[LawOfTables]:
    """Draw the laws of some of the tables, each with permutations of its own; none where each unit has one person."""
    if drawn.people.sum(axis=0).max() <= 1:
        return []
    whole = drawn.people.sum()
    typical = [one for one in drawn.selected[: 2 * count] if 0 < one.sum() < whole][:count]
    return [LawOfTables(one, drawn.people, 0, seed=seed + number) for number, one in enumerate(typical)]


def p_values_of_gap(sides: SimulatedSides) -> Floats:
    """Return the p-value of each audit's difference of means (`gap_of_means`)."""
    value, a, b = difference_of_means(sides)
    return t_p_values(value, *spread(a, b, shared=sides.shared))


def difference_of_means(sides: SimulatedSides) -> tuple[Floats, Floats, Floats]:
    """Return the difference of each audit, and the influence sums of its units on both sides."""
    means = [side.mean(axis=(1, 2)) for side in (sides.group, sides.reference)]
    sums = [
        (side - mean[:, None, None]).sum(axis=2) / (side.shape[1] * side.shape[2])
        for side, mean in zip((sides.group, sides.reference), means, strict=True)
    ]
    return means[0] - means[1], sums[0], -sums[1]


def p_values_of_index(sides: SimulatedSides) -> Floats:
    """Return the p-value of each audit's rank index (`rank_index`)."""
    n, m = (side.shape[1] * side.shape[2] for side in (sides.group, sides.reference))
    audits = len(sides.group)
    both = np.concatenate([side.reshape(audits, -1) for side in (sides.group, sides.reference)], axis=1)
    order = np.argsort(both, axis=1)
    of_reference = order >= n
    # Of the other side, how many are below each.
    below = np.where(of_reference, np.cumsum(~of_reference, axis=1), np.cumsum(of_reference, axis=1))
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, below, axis=1)
    won, lost = ranks[:, :n], ranks[:, n:]
    theta = won.sum(axis=1) / (n * m)
    a = ((won / m - theta[:, None]) / n).reshape(sides.group.shape).sum(axis=2)
    b = ((1 - lost / n - theta[:, None]) / m).reshape(sides.reference.shape).sum(axis=2)
    variance, df = spread(a, b, shared=sides.shared)
    apart = (theta <= 0.0) | (theta >= 1.0)
    inside = np.where(apart, 0.5, theta)
    found = t_p_values(np.log(inside / (1 - inside)), variance / np.square(inside * (1 - inside)), df)
    return np.where(apart, 0.0, found)


def spread(a: Floats, b: Floats, *, shared: bool) -> tuple[Floats, Floats]:
    """Return variance and degrees of freedom of each audit, from sums by unit (`variance_of_sums`)."""
    units = a.shape[1], b.shape[1]
    if min(units) < 2:  # one round: nothing to measure the spread by
        return np.full(len(a), np.inf), np.ones(len(a))
    factors = [n / (n - 1) for n in units]
    v_a, v_b = (factor * np.square(sums).sum(axis=1) for factor, sums in zip(factors, (a, b), strict=True))
    if shared:
        return v_a + v_b + 2 * factors[0] * (a * b).sum(axis=1), np.full(len(a), float(units[0] - 1))
    df = np.square(v_a + v_b) / (np.square(v_a) / (units[0] - 1) + np.square(v_b) / (units[1] - 1))
    return v_a + v_b, df


def t_p_values(value: Floats, variance: Floats, df: Floats) -> Floats:
    """Return two-sided p-values of values whose parity is 0; 1 where nothing varies."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(value) / np.sqrt(variance)
    return np.where(variance > 0.0, 2 * stdtr(df, -np.nan_to_num(t, posinf=0.0)), 1.0)


def adjusted(p_values: Floats, weights: Floats, gone: Floats) -> Floats:
    """Adjust p-values by Holm's steps with weights (`audit_lib.stats.holm`), a row an audit.

    All weights of an audit add up to 1; hypotheses that are not here are never found. `gone` is the weight that falls
    out where one is found: none of a table, which has others left; several of one that stands for hypotheses like it.
    """
    order = np.argsort(p_values / weights, axis=1)
    spent = np.take_along_axis(np.broadcast_to(gone, p_values.shape), order, axis=1)
    left = 1.0 - np.cumsum(spent, axis=1) + spent
    steps = np.take_along_axis(p_values / weights, order, axis=1) * left
    found = np.empty_like(p_values)
    np.put_along_axis(found, order, np.minimum(np.maximum.accumulate(steps, axis=1), 1.0), axis=1)
    return found
